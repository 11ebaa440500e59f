"""Credit grants, the ledger, daily counters and the register of leads already charged."""

from datetime import date, datetime

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, false, text
from sqlmodel import Field

from models.tables.base import TIME, Row


class Grant(Row, table=True):
    """A block of credits with an expiry. `reference` is what granted it, once."""

    __tablename__ = "grants"
    __table_args__ = (
        UniqueConstraint("workspace_id", "reference"),
        Index("ix_grants_workspace_id_expires_at_id", "workspace_id", "expires_at", "id"),
        Index("ix_grants_expires_at", "expires_at", postgresql_where=text("remaining_credits > 0")),
        CheckConstraint("remaining_credits between 0 and granted_credits", name="remaining"),
        CheckConstraint("source in ('signup', 'plan', 'top_up', 'adjustment')", name="source"),
    )

    id: str = Field(primary_key=True)
    workspace_id: str = Field(foreign_key="workspaces.id")
    source: str
    reference: str
    granted_credits: int
    remaining_credits: int
    expires_at: datetime = Field(sa_type=TIME)
    low_told: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    """Whether `credits.low` was told while this was the newest grant."""
    expiry_told: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    created_at: datetime = Field(sa_type=TIME)


class LedgerEntry(Row, table=True):
    """One movement of one grant; `credits` is signed."""

    __tablename__ = "ledger_entries"
    __table_args__ = (
        UniqueConstraint("workspace_id", "reference", "grant_id"),
        Index("ix_ledger_entries_workspace_id_created_at_id", "workspace_id", "created_at", "id"),
        CheckConstraint("kind in ('grant', 'charge', 'expiry', 'refund', 'adjustment')", name="kind"),
    )

    id: str = Field(primary_key=True)
    workspace_id: str = Field(foreign_key="workspaces.id")
    customer_id: str | None = None
    kind: str
    credits: int
    grant_id: str = Field(foreign_key="grants.id")
    reference: str
    reason: str
    subject_id: str | None = None
    api_key_id: str | None = None
    created_at: datetime = Field(sa_type=TIME)


class DailySpend(Row, table=True):
    """Credits spent on one UTC day by a key, a customer or the whole workspace."""

    __tablename__ = "daily_spends"

    subject_id: str = Field(primary_key=True)
    day: date = Field(primary_key=True)
    workspace_id: str
    credits: int


class Lead(Row, table=True):
    """A person whose lead this workspace has paid for; never charged twice."""

    __tablename__ = "leads"
    __table_args__ = (Index("ix_leads_profile_id", "profile_id"),)

    workspace_id: str = Field(primary_key=True)
    profile_id: str = Field(primary_key=True)
    created_at: datetime = Field(sa_type=TIME)
