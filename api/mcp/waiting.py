"""Waiting for a run: the answer is held back while nothing that would change it has happened."""

import asyncio

from api.kernel.schemas import Listing
from api.mcp.invocation import Invocation
from api.sourcing import runs
from api.sourcing.candidates_schemas import CandidateQuery, CandidateRow, ListCandidates
from api.sourcing.runs_schemas import RunView
from models.sourcing.rules.runs import FINAL

LOOK_SECONDS = 0.5


async def until_final(
    call: Invocation, run_id: str, query: CandidateQuery, *, seconds: float
) -> tuple[RunView, Listing[CandidateRow]]:
    """The run and the page asked for, once the run has ended, the page is full, or `seconds` have passed.

    Nobody waits for a caller who hung up, or for longer than the process may run. The page is read after the run, so
    that of an ended run it misses nobody.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    ask = ListCandidates.model_validate({"run_id": run_id, **dict(query)})
    told, wait = -1, True
    while True:
        run = await call.read(runs.get_run, run_id)
        delivered = run.progress.candidates_delivered
        last = run.status in FINAL or not wait or loop.time() >= deadline
        if last or delivered != told:
            page = await call.read(runs.list_candidates, ask)
            if last or page.has_more:
                return run, page
            told = delivered
            await call.report(delivered, run.progress.target, _words(run))
        wait = await call.line.rest(min(LOOK_SECONDS, max(0.0, deadline - loop.time())))


def _words(run: RunView) -> str:
    return f"{run.status}: {run.progress.candidates_delivered} of {run.progress.target} people"
