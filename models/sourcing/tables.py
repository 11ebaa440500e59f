"""Intents, search plans, runs, search checkpoints and candidates."""

from datetime import datetime

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    UniqueConstraint,
    false,
    text,
)
from sqlmodel import Field

from models.base.statuses import RunStatus, StopReason
from models.base.tables import JSON, TEXTS, TIME, OwnedRow, Payload, Row, WaitingRow, one_of, waiting, waiting_indexes
from models.sourcing.rules.jobs import ContactKind, ContactStatus, JobStatus
from models.sourcing.rules.raw_calls import CallKind, CallStatus, RowStatus


class IntentRow(OwnedRow, table=True):
    """An editable search profile; `reading` is what the description gave: evidence, warnings, ignored fields."""

    __tablename__ = "intents"
    __table_args__ = (Index("ix_intents_tenant_id_created_at_id", "tenant_id", "created_at", "id"),)

    id: str = Field(primary_key=True)
    content: Payload = Field(sa_type=JSON)
    reading: Payload = Field(sa_type=JSON)
    created_at: datetime = Field(sa_type=TIME)
    updated_at: datetime = Field(sa_type=TIME)


class SearchPlan(OwnedRow, table=True):
    """An immutable plan: tiers, estimate, summary, warnings, as shown."""

    __tablename__ = "search_plans"
    __table_args__ = (Index("ix_search_plans_tenant_id_created_at_id", "tenant_id", "created_at", "id"),)

    id: str = Field(primary_key=True)
    intent_id: str
    content: Payload = Field(sa_type=JSON)
    created_at: datetime = Field(sa_type=TIME)


@waiting("run", open_when="finished_at is null")
class Run(OwnedRow, WaitingRow, table=True):
    """A run: what was asked, how far it is, what it spent and may still spend.

    `tier`, `page` and `page_offset` are the checkpoint: the tier worked on (0-based), its page (0-based) and how many
    people of that page are dealt with. `chunk` holds the profile ids being fetched, with `reserved_credits` and
    `reserved_fetches` set aside for them.
    """

    __tablename__ = "runs"
    __table_args__ = (
        *waiting_indexes("runs"),
        Index("ix_runs_tenant_id_created_at_id", "tenant_id", "created_at", "id"),
        Index("ix_runs_plan_id", "plan_id"),
        Index("ix_runs_open", "workspace_id", postgresql_where=text("finished_at is null")),
        one_of("status", RunStatus),
        one_of("stop_reason", StopReason),
        CheckConstraint("spent_credits + reserved_credits <= max_credits", name="budget"),
    )

    id: str = Field(primary_key=True)
    api_key_id: str
    plan_id: str = Field(foreign_key="search_plans.id")
    intent_id: str
    status: str = "queued"
    stop_reason: str | None = None
    finish_detail: str | None = None
    failure_code: str | None = None
    retry_at: datetime | None = Field(default=None, sa_type=TIME)
    target: int
    max_credits: int
    max_pages: int | None = None
    max_profile_fetches: int | None = None
    mark_seen: bool = True
    spent_credits: int = 0
    spent_pages: int = 0
    spent_profile_fetches: int = 0
    reserved_credits: int = 0
    reserved_fetches: int = 0
    tier: int = 0
    page: int = 0
    page_offset: int = 0
    chunk: list[str] | None = Field(default=None, sa_type=TEXTS)
    chunk_offset: int = 0
    """`page_offset` once the chunk is dealt with."""
    call_number: int = 0
    call_started_at: datetime | None = Field(default=None, sa_type=TIME)
    failures: int = 0
    """Failed upstream calls in a row."""
    people_looked_at: int = 0
    duplicates_skipped: int = 0
    candidates_delivered: int = 0
    omitted_suppressed: int = 0
    tiers: int
    """How many the plan has."""
    query_key: str | None = None
    suggestions: list[Payload] | None = Field(default=None, sa_type=JSON)
    """Demands that keep people out, once the ladder is exhausted below the target."""
    deadline_at: datetime | None = Field(default=None, sa_type=TIME)
    cancel_requested_at: datetime | None = Field(default=None, sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)
    started_at: datetime | None = Field(default=None, sa_type=TIME)
    finished_at: datetime | None = Field(default=None, sa_type=TIME)


class SearchPageRow(Row, table=True):
    """A page of a search already paid for: unique per workspace, `query_key` and number, kept for 30 days."""

    __tablename__ = "search_pages"
    __table_args__ = (Index("ix_search_pages_created_at", "created_at"),)

    workspace_id: str = Field(primary_key=True)
    query_key: str = Field(primary_key=True)
    number: int = Field(primary_key=True)
    size: int
    next_token: str | None = None
    profile_ids: list[str] = Field(sa_type=TEXTS)
    total: int | None = None
    created_at: datetime = Field(sa_type=TIME)


class QueryTotal(Row, table=True):
    """How many people a query matched when last asked; remembered for estimates, 30 days, for the installation."""

    __tablename__ = "query_totals"
    __table_args__ = (Index("ix_query_totals_created_at", "created_at"),)

    query_key: str = Field(primary_key=True)
    total: int
    created_at: datetime = Field(sa_type=TIME)


class Candidate(OwnedRow, table=True):
    """A person delivered by a run, with a snapshot of the profile and the facts derived from it."""

    __tablename__ = "candidates"
    __table_args__ = (
        UniqueConstraint("run_id", "profile_id"),
        UniqueConstraint("run_id", "position"),
        Index("ix_candidates_profile_id", "profile_id"),
    )

    id: str = Field(primary_key=True)
    run_id: str = Field(foreign_key="runs.id")
    profile_id: str = Field(foreign_key="people.id")
    position: int
    tier: int
    """As shown: counted from 1."""
    distance_km: float | None = None
    experience_years: int | None = None
    tenure_months: int | None = None
    nice_met: list[str] | None = Field(default=None, sa_type=TEXTS)
    """The wishes of the plan that the profile meets, in words; null when the plan has none."""
    charged_credits: int
    content: Payload = Field(sa_type=JSON)
    created_at: datetime = Field(sa_type=TIME)


# What the installation holds towards its people sources: slots, synchronous calls, and scrolls of raw searches.


class UpstreamSlot(Row, table=True):
    """The right to one upstream call at a time; as many rows as calls may run in the whole installation.

    `busy_until` is wall time: a row whose time has passed may be taken over. `fence` rises with every taking, so that
    a former holder notices that it lost the row. `working` is true while a call runs, false while the holder only
    waits for work.
    """

    __tablename__ = "upstream_slots"

    slot: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    holder: str | None = None
    fence: int = Field(default=0, sa_type=BigInteger, sa_column_kwargs={"server_default": text("0")})
    busy_until: datetime | None = Field(default=None, sa_type=TIME)
    working: bool = Field(default=False, sa_column_kwargs={"server_default": false()})


class UpstreamCall(OwnedRow, table=True):
    """A synchronous call to the people source, which a standalone activity `call/<id>` makes.

    `ask` and `result` are sealed and emptied once the answer is handed over or the call has failed. `until` is wall
    time: while the call waits, how long its caller waits for it; while it runs, when it counts as lost.
    """

    __tablename__ = "upstream_calls"
    __table_args__ = (
        Index(
            "ix_upstream_calls_open",
            "tenant_id",
            "idempotency_key",
            unique=True,
            postgresql_where=text("status in ('waiting', 'running', 'done')"),
        ),
        Index("ix_upstream_calls_waiting", "workspace_id", postgresql_where=text("status = 'waiting'")),
        Index("ix_upstream_calls_created_at", "created_at"),
        Index(
            "ix_upstream_calls_about",
            "about",
            postgresql_using="gin",
            postgresql_where=text("status in ('waiting', 'running', 'done')"),
        ),
        one_of("kind", CallKind),
        one_of("status", CallStatus),
    )

    id: str = Field(primary_key=True)
    api_key_id: str
    idempotency_key: str
    fingerprint: bytes = Field(sa_type=LargeBinary)
    """Of the request: what the same key must come with again."""
    kind: str
    status: str
    ask: bytes | None = Field(default=None, sa_type=LargeBinary)
    result: bytes | None = Field(default=None, sa_type=LargeBinary)
    about: list[str] = Field(default_factory=list, sa_type=TEXTS)
    """Marks of the people whom `ask` or `result` names (`people.marks`), by which an erasure finds the row."""
    failure: Payload | None = Field(default=None, sa_type=JSON)
    until: datetime = Field(sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)


class ScrollPage(OwnedRow, table=True):
    """A page of a raw search: the source's token of the page behind it, null on the last."""

    __tablename__ = "scroll_pages"
    __table_args__ = (Index("ix_scroll_pages_created_at", "created_at"),)

    scroll_id: str = Field(primary_key=True)
    number: int = Field(primary_key=True)
    next_token: str | None = None
    created_at: datetime = Field(sa_type=TIME)


class ScrollPerson(OwnedRow, table=True):
    """A person who was on a page of a raw search, and is not shown again on a later one."""

    __tablename__ = "scroll_people"
    __table_args__ = (
        Index("ix_scroll_people_profile_id", "profile_id"),
        ForeignKeyConstraint(
            ["scroll_id", "number"], ["scroll_pages.scroll_id", "scroll_pages.number"], ondelete="CASCADE"
        ),
    )

    scroll_id: str = Field(primary_key=True)
    number: int = Field(primary_key=True)
    profile_id: str = Field(primary_key=True)


# Work on people in the background: fetch jobs and contact lookups, and the contacts that an account has paid for.


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


@waiting("job", open_when="finished_at is null")
class Job(BackgroundRow, table=True):
    """Profiles fetched in the background; `total` is the number of its inputs."""

    __tablename__ = "jobs"
    __table_args__ = (
        *waiting_indexes("jobs"),
        Index("ix_jobs_created_at", "created_at"),
        one_of("status", JobStatus),
    )

    view: str
    max_age_days: int
    total: int


class JobInput(OwnedRow, table=True):
    """One person a job is to fetch, and what became of it; `status` is null before the first answer.

    What was given is sealed. An erasure empties it, together with `url_hash` (the keyed hash of a profile URL, by
    which it is found when no person is known by the URL yet) and `profile_id`.
    """

    __tablename__ = "job_inputs"
    __table_args__ = (
        Index("ix_job_inputs_profile_id", "profile_id", postgresql_where=text("profile_id is not null")),
        Index("ix_job_inputs_url_hash", "url_hash", postgresql_where=text("url_hash is not null")),
        one_of("status", RowStatus),
    )

    job_id: str = Field(primary_key=True, foreign_key="jobs.id", ondelete="CASCADE")
    position: int = Field(primary_key=True)
    sealed: bytes | None = Field(default=None, sa_type=LargeBinary)
    url_hash: bytes | None = Field(default=None, sa_type=LargeBinary)
    profile_id: str | None = None
    status: str | None = None
    charged_credits: int = 0


@waiting("contacts", open_when="finished_at is null")
class ContactLookup(BackgroundRow, table=True):
    """Contact details asked for."""

    __tablename__ = "contact_lookups"
    __table_args__ = (
        *waiting_indexes("contact_lookups"),
        Index("ix_contact_lookups_created_at", "created_at"),
        one_of("status", JobStatus),
    )


class ContactAsked(OwnedRow, table=True):
    """One person and kind of a lookup, and what became of it; `status` is null before the answer."""

    __tablename__ = "contacts_asked"
    __table_args__ = (
        Index("ix_contacts_asked_profile_id", "profile_id"),
        one_of("kind", ContactKind),
        one_of("status", ContactStatus),
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
        one_of("kind", ContactKind),
    )

    workspace_id: str = Field(primary_key=True)
    profile_id: str = Field(primary_key=True)
    kind: str = Field(primary_key=True)
    sealed: bytes = Field(sa_type=LargeBinary)
    found_at: datetime = Field(sa_type=TIME)
