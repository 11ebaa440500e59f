"""Work on people in the background: fetch jobs and contact lookups, and the contacts that an account has paid for."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, LargeBinary, text
from sqlmodel import Field

from models.tables.base import TIME, OwnedRow, WaitingRow, waiting_indexes

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
    """Profiles fetched in the background; `total` is the number of its inputs."""

    __tablename__ = "jobs"
    __table_args__ = (
        *waiting_indexes("jobs"),
        Index("ix_jobs_created_at", "created_at"),
        CheckConstraint(STATUS, name="status"),
    )

    view: str
    max_age_days: int
    total: int


class JobInput(OwnedRow, table=True):
    """One person a job is to fetch, and what became of it; `status` is null before the first answer.

    What was given is sealed. An erasure empties it, together with `url_hash` (the keyed hash of a profile URL, by
    which it is found when nobody is known by the URL yet) and `profile_id`.
    """

    __tablename__ = "job_inputs"
    __table_args__ = (
        Index("ix_job_inputs_profile_id", "profile_id", postgresql_where=text("profile_id is not null")),
        Index("ix_job_inputs_url_hash", "url_hash", postgresql_where=text("url_hash is not null")),
        CheckConstraint(
            "status in ('found', 'cached', 'not_found', 'suppressed', 'duplicate', 'error')", name="status"
        ),
    )

    job_id: str = Field(primary_key=True, foreign_key="jobs.id", ondelete="CASCADE")
    position: int = Field(primary_key=True)
    sealed: bytes | None = Field(default=None, sa_type=LargeBinary)
    url_hash: bytes | None = Field(default=None, sa_type=LargeBinary)
    profile_id: str | None = None
    status: str | None = None
    charged_credits: int = 0


class ContactLookup(BackgroundRow, table=True):
    """Contact details asked for."""

    __tablename__ = "contact_lookups"
    __table_args__ = (
        *waiting_indexes("contact_lookups"),
        Index("ix_contact_lookups_created_at", "created_at"),
        CheckConstraint(STATUS, name="status"),
    )


class ContactAsked(OwnedRow, table=True):
    """One person and kind of a lookup, and what became of it; `status` is null before the answer."""

    __tablename__ = "contacts_asked"
    __table_args__ = (
        Index("ix_contacts_asked_profile_id", "profile_id"),
        CheckConstraint("kind in ('email', 'phone')", name="kind"),
        CheckConstraint("status in ('found', 'not_found', 'suppressed', 'error')", name="status"),
    )

    lookup_id: str = Field(primary_key=True, foreign_key="contact_lookups.id", ondelete="CASCADE")
    position: int = Field(primary_key=True)
    profile_id: str
    kind: str
    status: str | None = None
    charged_credits: int = 0


class Contact(OwnedRow, table=True):
    """A person's addresses or numbers that an account has paid for, sealed for that account alone."""

    __tablename__ = "contacts"
    __table_args__ = (
        Index("ix_contacts_profile_id", "profile_id"),
        Index("ix_contacts_found_at", "found_at"),
        CheckConstraint("kind in ('email', 'phone')", name="kind"),
    )

    workspace_id: str = Field(primary_key=True)
    profile_id: str = Field(primary_key=True)
    kind: str = Field(primary_key=True)
    sealed: bytes = Field(sa_type=LargeBinary)
    found_at: datetime = Field(sa_type=TIME)
