"""Work on people in the background: fetch jobs and contact lookups, and the contacts that an account has paid for."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, LargeBinary
from sqlmodel import Field

from models.tables.base import JSON, TEXTS, TIME, OwnedRow, Payload, WaitingRow, waiting_indexes

STATUS = "status in ('queued', 'running', 'waiting_for_quota', 'completed', 'failed')"


class BackgroundRow(OwnedRow, WaitingRow):
    """What both kinds of work have. `call_number` fences the call, `failures` counts calls that gave nothing."""

    id: str = Field(primary_key=True)
    api_key_id: str
    status: str = "queued"
    failure_code: str | None = None
    spent_credits: int = 0
    call_number: int = 0
    failures: int = 0
    retry_at: datetime | None = Field(default=None, sa_type=TIME)
    deadline_at: datetime = Field(sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)
    finished_at: datetime | None = Field(default=None, sa_type=TIME)


class Job(BackgroundRow, table=True):
    """Profiles fetched in the background.

    `ask` is sealed, for inputs may name people. `rows` has one entry for each input, in input order: `status`,
    `profile_id` and `charged_credits`; it is null before the first answer.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        *waiting_indexes("jobs"),
        Index("ix_jobs_created_at", "created_at"),
        CheckConstraint(STATUS, name="status"),
    )

    ask: bytes = Field(sa_type=LargeBinary)
    view: str
    total: int
    rows: list[Payload] | None = Field(default=None, sa_type=JSON)


class ContactLookup(BackgroundRow, table=True):
    """Contact details asked for. `rows` has one entry for each person and kind; it is null before the answer."""

    __tablename__ = "contact_lookups"
    __table_args__ = (
        *waiting_indexes("contact_lookups"),
        Index("ix_contact_lookups_created_at", "created_at"),
        CheckConstraint(STATUS, name="status"),
    )

    profile_ids: list[str] = Field(sa_type=TEXTS)
    want: list[str] = Field(sa_type=TEXTS)
    rows: list[Payload] | None = Field(default=None, sa_type=JSON)


class Contact(OwnedRow, table=True):
    """A person's addresses or numbers that an account has paid for, sealed for that account alone."""

    __tablename__ = "contacts"
    __table_args__ = (
        Index("ix_contacts_profile_id", "profile_id"),
        CheckConstraint("kind in ('email', 'phone')", name="kind"),
    )

    workspace_id: str = Field(primary_key=True)
    profile_id: str = Field(primary_key=True)
    kind: str = Field(primary_key=True)
    sealed: bytes = Field(sa_type=LargeBinary)
    found_at: datetime = Field(sa_type=TIME)
