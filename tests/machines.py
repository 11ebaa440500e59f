"""Running state machines: shortly in `make test`, for as many `EXAMPLES` as are asked for in `make machines`."""

import asyncio
import os
from collections.abc import Callable
from functools import partial

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from models.database import Database
from models.reach import everywhere

EXAMPLES = int(os.environ.get("EXAMPLES", "0"))
SETTINGS = settings(
    max_examples=EXAMPLES or 5,
    stateful_step_count=30 if EXAMPLES else 16,
    # shrinking repeats a failing history for minutes: only the long form has them
    phases=tuple(Phase) if EXAMPLES else (Phase.generate,),
    deadline=None,
    derandomize=not EXAMPLES,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def run(
    machine: Callable[[asyncio.Runner, Database], RuleBasedStateMachine],
    database_url: str,
    *,
    pool_size: int = 0,
    examples: int = SETTINGS.max_examples,
    steps: int = SETTINGS.stateful_step_count,
) -> None:
    """Run a machine on a database; its rules call the stores by the runner.

    `pool_size`: connections that are kept, 0 to open one for each transaction. Kept ones cost a tenth of the time.
    `examples` and `steps` are those of the short form.
    """
    numbers = SETTINGS if EXAMPLES else settings(SETTINGS, max_examples=examples, stateful_step_count=steps)
    with asyncio.Runner() as runner:
        database = Database(database_url, pool_size=pool_size).within(everywhere("tests"))
        try:
            run_state_machine_as_test(
                partial(machine, runner, database),  # type: ignore[arg-type] # a class, or whatever makes one
                settings=numbers,
            )
        finally:
            runner.run(database.close())
