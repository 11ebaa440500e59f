"""API keys, rate windows, idempotency records and the audit trail."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, LargeBinary, UniqueConstraint, text
from sqlmodel import Field

from models.tables.base import JSON, TEXTS, TIME, OwnedRow, Payload, Row


class ApiKey(Row, table=True):
    """A key. Secrets are kept as SHA-256; after a rotation the previous one works until `previous_expires_at`.

    One of kind `oauth` is what somebody granted to a client by signing in: it has tokens instead of a secret.
    """

    __tablename__ = "api_keys"
    __table_args__ = (
        UniqueConstraint("secret_hash"),
        UniqueConstraint("previous_hash"),
        Index("ix_api_keys_workspace_id", "workspace_id"),
        Index(
            "ix_api_keys_grants_revoked",
            "revoked_at",
            postgresql_where=text("kind = 'oauth' and revoked_at is not null"),
        ),
        Index("ix_api_keys_grants_expires_at", "expires_at", postgresql_where=text("kind = 'oauth'")),
        CheckConstraint("kind in ('key', 'oauth')", name="kind"),
        CheckConstraint("(kind = 'key') = (secret_hash is not null)", name="secret"),
    )

    id: str = Field(primary_key=True)
    kind: str = "key"
    workspace_id: str = Field(foreign_key="workspaces.id")
    customer_id: str | None = Field(default=None, foreign_key="customers.id")
    name: str
    prefix: str
    last4: str
    secret_hash: bytes | None = Field(default=None, sa_type=LargeBinary)
    previous_hash: bytes | None = Field(default=None, sa_type=LargeBinary)
    previous_expires_at: datetime | None = Field(default=None, sa_type=TIME)
    scopes: list[str] = Field(sa_type=TEXTS)
    daily_cap_credits: int | None = None
    version: str
    expires_at: datetime | None = Field(default=None, sa_type=TIME)
    last_used_at: datetime | None = Field(default=None, sa_type=TIME)
    revoked_at: datetime | None = Field(default=None, sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)


class RateWindow(Row, table=True):
    """Hits of one key or network in its current minute (wall clock). Unlogged: losing it loses nothing."""

    __tablename__ = "rate_windows"
    __table_args__ = ({"prefixes": ["UNLOGGED"], "postgresql_with": {"fillfactor": 50}},)

    id: str = Field(primary_key=True)
    started_at: datetime = Field(sa_type=TIME)
    hits: int


class IdempotencyRecord(Row, table=True):
    """One use of an Idempotency-Key in a tenant.

    While running, `lock` fences the holder and `locked_until` (wall clock) is its lease. A finished record holds the
    encrypted answer until `expires_at` (service time), without `body` once somebody it names may not be shown any more.
    """

    __tablename__ = "idempotency_records"
    __table_args__ = (Index("ix_idempotency_records_expires_at", "expires_at"),)

    tenant_id: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    workspace_id: str
    fingerprint: bytes = Field(sa_type=LargeBinary)
    lock: str
    locked_until: datetime = Field(sa_type=TIME)
    status: int | None = None
    headers: Payload | None = Field(default=None, sa_type=JSON)
    body: bytes | None = Field(default=None, sa_type=LargeBinary)
    subject_id: str | None = None
    expires_at: datetime = Field(sa_type=TIME)


class IdempotencyMark(OwnedRow, table=True):
    """Somebody whom the kept body of an idempotency record names, by a mark (`models.stores.marks`)."""

    __tablename__ = "idempotency_marks"
    __table_args__ = (
        Index("ix_idempotency_marks_mark", "mark"),
        ForeignKeyConstraint(
            ["tenant_id", "key"], ["idempotency_records.tenant_id", "idempotency_records.key"], ondelete="CASCADE"
        ),
    )

    tenant_id: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    mark: str = Field(primary_key=True)


class AuditEntry(OwnedRow, table=True):
    """Who changed what on the account; never personal data of candidates."""

    __tablename__ = "audit_entries"
    __table_args__ = (
        Index("ix_audit_entries_workspace_id_created_at_id", "workspace_id", "created_at", "id"),
        CheckConstraint("action <> ''", name="action"),
    )

    id: str = Field(primary_key=True)
    api_key_id: str | None = None
    action: str
    subject_id: str | None = None
    data: Payload = Field(default_factory=dict, sa_type=JSON)
    created_at: datetime = Field(sa_type=TIME)
