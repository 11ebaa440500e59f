"""Workspaces, their verification links, customers, and outgoing mail."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, LargeBinary, UniqueConstraint
from sqlmodel import Field

from models.tables.base import JSON, TIME, Payload, Row, WaitingRow, waiting_indexes


class Workspace(Row, table=True):
    """An account. `email_key` is the address in one letter case: what makes two sign-ups the same person."""

    __tablename__ = "workspaces"
    __table_args__ = (Index("ix_workspaces_email_key", "email_key"),)

    id: str = Field(primary_key=True)
    name: str
    email: str
    email_key: str
    first_name: str | None = None
    marketing_opt_in: bool = False
    attribution: Payload | None = Field(default=None, sa_type=JSON)
    verified_at: datetime | None = Field(default=None, sa_type=TIME)
    low_balance_credits: int = 250
    suspended_at: datetime | None = Field(default=None, sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)


class Verification(Row, table=True):
    """A mailed confirmation link; only the SHA-256 of its token is kept. Single use."""

    __tablename__ = "verifications"
    __table_args__ = (
        Index("ix_verifications_workspace_id", "workspace_id"),
        Index("ix_verifications_expires_at", "expires_at"),
    )

    token_hash: bytes = Field(primary_key=True, sa_type=LargeBinary)
    workspace_id: str = Field(foreign_key="workspaces.id")
    created_at: datetime = Field(sa_type=TIME)
    expires_at: datetime = Field(sa_type=TIME)
    used_at: datetime | None = Field(default=None, sa_type=TIME)


class Customer(Row, table=True):
    """A sub-workspace for one end customer."""

    __tablename__ = "customers"
    __table_args__ = (
        UniqueConstraint("workspace_id", "external_id"),
        Index("ix_customers_workspace_id_created_at_id", "workspace_id", "created_at", "id"),
        CheckConstraint("status in ('active', 'disabled')", name="status"),
    )

    id: str = Field(primary_key=True)
    workspace_id: str = Field(foreign_key="workspaces.id")
    name: str
    external_id: str | None = None
    daily_cap_credits: int | None = None
    status: str = "active"
    created_at: datetime = Field(sa_type=TIME)


class Mail(WaitingRow, table=True):
    """One mail to send. `secret` (encrypted) is what its link carries; it is cleared once the mail is sent."""

    __tablename__ = "mails"
    __table_args__ = (
        *waiting_indexes("mails"),
        Index("ix_mails_created_at", "created_at"),
        CheckConstraint("kind in ('verification', 'sign_in')", name="kind"),
    )

    id: str = Field(primary_key=True)
    workspace_id: str = Field(foreign_key="workspaces.id")
    kind: str
    secret: bytes | None = Field(default=None, sa_type=LargeBinary)
    attempts: int = 0
    sent_at: datetime | None = Field(default=None, sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)
