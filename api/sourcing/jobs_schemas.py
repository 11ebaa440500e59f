"""Jobs: people fetched in the background, and what came of it (contract, section 5 "Raw layer")."""

from typing import Annotated, Literal

from pydantic import Field

from api.kernel.schemas import Answer, Ask
from api.sourcing.candidates_schemas import CandidateShape
from models.base.times import Time
from models.sourcing.rules.jobs import FAILURE_MESSAGES, JobFailure, JobStatus
from models.sourcing.tables import Job


class JobFailureView(Answer):
    """Why it failed."""

    code: JobFailure
    message: str


class JobView(Answer):
    """A job; `counts` is of its inputs by status."""

    id: str
    object: Literal["job"] = "job"
    type: Literal["people_fetch"] = "people_fetch"
    status: JobStatus
    failure: JobFailureView | None
    retry_at: Time | None
    total: int
    counts: dict[str, int]
    spent_credits: int
    created_at: Time
    finished_at: Time | None

    @classmethod
    def of(cls, row: Job, counts: dict[str, int]) -> "JobView":
        """The row as shown."""
        code = None if row.failure_code is None else JobFailure(row.failure_code)
        return cls(
            id=row.id,
            status=JobStatus(row.status),
            failure=JobFailureView(code=code, message=FAILURE_MESSAGES[code]) if code else None,
            retry_at=row.retry_at,
            total=row.total,
            counts=counts,
            spent_credits=row.spent_credits,
            created_at=row.created_at,
            finished_at=row.finished_at,
        )


class ResultsQuery(Ask):
    """Which results to show, in input order."""

    cursor: Annotated[str, Field(max_length=2000)] | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 25
    view: CandidateShape | None = Field(default=None, description="By default the view the job was started with.")


class ListResults(ResultsQuery):
    """The results of one job."""

    job_id: str
