"""Intents, search plans, runs, search checkpoints and candidates."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, text
from sqlmodel import Field

from models.tables.base import JSON, TEXTS, TIME, OwnedRow, Payload, Row, WaitingRow, waiting_indexes


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
        CheckConstraint(
            "status in ('queued', 'running', 'fetching', 'waiting_for_quota', 'completed', 'completed_no_audience',"
            " 'failed', 'aborted')",
            name="status",
        ),
        CheckConstraint("stop_reason in ('finish', 'budget', 'profile_cap', 'time')", name="stop_reason"),
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
    charged_credits: int
    content: Payload = Field(sa_type=JSON)
    created_at: datetime = Field(sa_type=TIME)
