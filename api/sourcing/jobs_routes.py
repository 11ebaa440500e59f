"""Routes of jobs."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing
from api.sourcing import jobs
from api.sourcing.jobs_schemas import JobView, ListResults, ResultsQuery
from api.sourcing.raw_schemas import FetchedPerson

router = Router(tags=["Raw layer"])


@router.get("/jobs/{job_id:id}", operation_id="jobs.get", response_model=JobView)
async def get_job(job_id: str, invoke: Invoke) -> Response:
    """One job: its state, counts and spending."""
    return await invoke(jobs.get_job, job_id)


@router.get("/jobs/{job_id:id}/results", operation_id="jobs.results", response_model=Listing[FetchedPerson])
async def list_results(job_id: str, query: Annotated[ResultsQuery, Query()], invoke: Invoke) -> Response:
    """What became of each input, in input order, once the job has ended."""
    return await invoke(jobs.list_results, ListResults(job_id=job_id, **dict(query)))
