"""Routes of runs and their candidates."""

from typing import Annotated

from fastapi import Header, Query
from starlette.responses import Response

from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing
from api.kernel.spreadsheet import AS_CSV, spreadsheet, wants_csv
from api.sourcing import runs
from api.sourcing.candidates_schemas import (
    COMPACT_COLUMNS,
    CandidateQuery,
    CandidateRow,
    CandidateShape,
    FullCandidate,
    ListCandidates,
)
from api.sourcing.runs import RunExtension
from api.sourcing.runs_schemas import ExtendRun, ExtensionPreview, ListRuns, RunPreview, RunStarted, RunView, StartRun

router = Router(tags=["Runs"])


@router.post("/runs", status_code=202, operation_id="runs.start", response_model=RunStarted | RunPreview)
async def start_run(ask: StartRun, invoke: Invoke) -> Response:
    """Start a run, or preview its plan and price with `?dry_run=true`."""
    return await invoke(runs.start_run, ask, location=_address)


@router.get("/runs", operation_id="runs.list", response_model=Listing[RunView])
async def list_runs(ask: Annotated[ListRuns, Query()], invoke: Invoke) -> Response:
    """Every run, newest first."""
    return await invoke(runs.list_runs, ask)


@router.get("/runs/{run_id:id}", operation_id="runs.get", response_model=RunView)
async def get_run(run_id: str, invoke: Invoke) -> Response:
    """One run: its state, progress and spending."""
    return await invoke(runs.get_run, run_id)


@router.post(
    "/runs/{run_id:id}/extend",
    status_code=202,
    operation_id="runs.extend",
    response_model=RunView | ExtensionPreview,
)
async def extend_run(run_id: str, ask: ExtendRun, invoke: Invoke) -> Response:
    """Let a finished run go on; pages already read are not paid again. Preview with `?dry_run=true`."""
    return await invoke(runs.extend_run, RunExtension(run_id, ask), location=_address)


@router.post("/runs/{run_id:id}/cancel", operation_id="runs.cancel", response_model=RunView)
async def cancel_run(run_id: str, invoke: Invoke) -> Response:
    """Stop a run after its current step. Delivered candidates stay."""
    return await invoke(runs.cancel_run, run_id)


@router.get(
    "/runs/{run_id:id}/candidates",
    operation_id="candidates.list",
    response_model=Listing[FullCandidate | CandidateRow],
    responses=AS_CSV,
)
async def list_candidates(
    run_id: str,
    query: Annotated[CandidateQuery, Query()],
    invoke: Invoke,
    accept: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> Response:
    """A run's candidates in delivery order; with `Accept: text/csv` a spreadsheet of every one that matches."""
    ask = ListCandidates(run_id=run_id, **dict(query))
    if not wants_csv(accept):
        return await invoke(runs.list_candidates, ask)
    pages = invoke.pages(runs.list_candidates, ask.model_copy(update={"view": CandidateShape.COMPACT}))
    return await spreadsheet(pages, COMPACT_COLUMNS, name=run_id)


def _address(answer: RunStarted | RunPreview | RunView | ExtensionPreview) -> str | None:
    match answer:
        case RunStarted():
            return f"/v1/runs/{answer.run.id}"
        case RunView():
            return f"/v1/runs/{answer.id}"
        case _:
            return None
