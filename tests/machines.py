"""State machines over a database: few examples in `make test`, `EXAMPLES` of them in `make machines`."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol, TypeVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database, service_time
from models.base.errors import Conflict, NotFound
from models.base.tenants import all_tenants

T = TypeVar("T")

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


class Died(Exception):
    """The process dies before its commit."""


class Event(Protocol):
    """An event in one transaction, which may die before its commit."""

    @property
    def work(self) -> Callable[[AsyncSession], Awaitable[Any]]:
        """Return the service's part of the event."""

    @property
    def dies(self) -> bool:
        """Whether the process dies, so that nothing is kept."""


class Machine(RuleBasedStateMachine):
    """A machine whose events are transactions of one database, in service time that its rules move."""

    def __init__(self, runner: asyncio.Runner, database: Database) -> None:
        super().__init__()
        self._runner, self._database = runner, database
        self._now: datetime | None = None

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def now(self) -> datetime:
        """Return the time of the last read of the rows, unless time was advanced since."""
        self._now = self._now or self.do(self._database.run(service_time))
        return self._now

    def advance(self, by: timedelta) -> None:
        async def work(session: AsyncSession) -> None:
            await session.execute(text("update service_clock set shift = shift + :by"), {"by": by})

        self.do(self._database.run(work))
        self._now = None

    async def together(self, events: Sequence[Event]) -> list[Any]:
        """Run events concurrently, and return each answer; null for one that died, the error code for a refused one."""
        return await asyncio.gather(*(self.outcome_of(one) for one in events))

    async def outcome_of(self, event: Event) -> Any:
        async def work(session: AsyncSession) -> Any:
            done = await event.work(session)
            if event.dies:
                raise Died
            return done

        try:
            return await self._database.run(work)
        except Died:
            return None
        except (Conflict, NotFound) as error:
            return error.code


def run(
    machine: Callable[[asyncio.Runner, Database], RuleBasedStateMachine],
    database_url: str,
    *,
    pool_size: int = 0,
    examples: int | None = None,
    steps: int | None = None,
) -> None:
    """Run a machine on a database; its rules call the stores by the runner.

    `pool_size`: connections that are kept, 0 to open one for each transaction. Kept ones take a tenth of the time.
    `examples`, `steps`: override the defaults of the short form.
    """
    asked = settings(
        SETTINGS,
        max_examples=EXAMPLES or examples or SETTINGS.max_examples,
        stateful_step_count=SETTINGS.stateful_step_count if EXAMPLES else steps or SETTINGS.stateful_step_count,
    )
    with asyncio.Runner() as runner:
        database = Database(database_url, pool_size=pool_size).within(all_tenants("tests"))
        try:
            run_state_machine_as_test(
                partial(machine, runner, database),  # type: ignore[arg-type] # a class, or a factory of one
                settings=asked,
            )
        finally:
            runner.run(database.close())
