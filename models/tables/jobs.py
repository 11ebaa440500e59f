"""Work on people in the background: fetch jobs."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, LargeBinary
from sqlmodel import Field

from models.tables.base import JSON, TIME, OwnedRow, Payload, WaitingRow, waiting_indexes


class Job(OwnedRow, WaitingRow, table=True):
    """Profiles fetched in the background.

    `ask` is sealed, for inputs may name people. `rows` has one entry for each input, in input order: `status`,
    `profile_id` and `charged_credits`; it is null before the first answer. `call_number` fences the upstream call.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        *waiting_indexes("jobs"),
        Index("ix_jobs_created_at", "created_at"),
        CheckConstraint("status in ('queued', 'running', 'waiting_for_quota', 'completed', 'failed')", name="status"),
    )

    id: str = Field(primary_key=True)
    api_key_id: str
    status: str = "queued"
    failure_code: str | None = None
    ask: bytes = Field(sa_type=LargeBinary)
    view: str
    total: int
    rows: list[Payload] | None = Field(default=None, sa_type=JSON)
    spent_credits: int = 0
    call_number: int = 0
    failures: int = 0
    """Calls in a row that gave nothing."""
    retry_at: datetime | None = Field(default=None, sa_type=TIME)
    deadline_at: datetime = Field(sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)
    finished_at: datetime | None = Field(default=None, sa_type=TIME)
