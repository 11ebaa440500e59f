"""Drives background work as its workflow does, without the waits."""

from collections.abc import Awaitable, Callable

from temporalio.testing import ActivityEnvironment

from models.base.database import Database
from models.base.steps import Do, NextStep, Step
from tests.api.conftest import run_sql

StepFunction = Callable[[Step], Awaitable[NextStep]]


async def drive(
    ask_next: StepFunction, call: StepFunction, database: Database, row_id: str, *, times: int = 1
) -> list[NextStep]:
    """Run the work and return its steps; each call is made `times` times, as after workers died or froze."""
    taken: list[NextStep] = []
    step = await ActivityEnvironment().run(ask_next, Step(id=row_id))
    while step.do is not Do.DONE:
        taken.append(step)
        if step.call is not None:
            ask = Step(id=row_id, number=step.call.number)
            for _ in range(times):
                step = await ActivityEnvironment().run(call, ask)
            continue
        move = "update service_clock set shift = shift + make_interval(secs => :s)"
        await run_sql(database, move, s=(step.wait_seconds or 0) + 1)
        step = await ActivityEnvironment().run(ask_next, Step(id=row_id))
    return taken
