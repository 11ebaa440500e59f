"""Waiting for a run: the answer is held back while nothing that would change it has happened."""

import asyncio

from api.mcp.invocation import Invocation
from api.operations import candidates, runs
from api.schemas.candidates import CandidateQuery, CandidateRow, ListCandidates
from api.schemas.lists import Listing
from api.schemas.runs import RunView
from models.rules.run_states import FINAL

LOOK_SECONDS = 0.5


async def until_final(
    call: Invocation, run_id: str, query: CandidateQuery, *, seconds: float
) -> tuple[RunView, Listing[CandidateRow]]:
    """The run and the page asked for, once the run has ended, the page is full, or `seconds` have passed.

    The page is read after the run, so that of an ended run it misses nobody.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    ask = ListCandidates.model_validate({"run_id": run_id, **dict(query)})
    told = -1
    while True:
        run = await call.read(runs.get_run, run_id)
        delivered = run.progress.candidates_delivered
        last = run.status in FINAL or loop.time() >= deadline
        if last or delivered != told:
            page = await call.read(candidates.list_candidates, ask)
            if last or page.has_more:
                return run, page
            told = delivered
            await call.report(delivered, run.progress.target, _words(run))
        await asyncio.sleep(min(LOOK_SECONDS, max(0.0, deadline - loop.time())))


def _words(run: RunView) -> str:
    return f"{run.status}: {run.progress.candidates_delivered} of {run.progress.target} people"
