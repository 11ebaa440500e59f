"""Two transactions interleaved at one statement: the first pauses there while the second runs as far as it can.

What the second cannot do because the first holds locks, it does once the first continues, as two processes would.
Trying every statement in turn covers every order in which the two can meet.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import asyncpg
from sqlalchemy import event, text
from sqlalchemy.util import await_only

from models.base.database import Database
from models.base.tenants import all_tenants

A = TypeVar("A")
B = TypeVar("B")

LOOK_SECONDS = 0.01
BLOCKED = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"


async def is_blocked(database: Database) -> bool:
    """Return whether a transaction of this database waits for a lock."""
    async with database.transaction() as session:
        await session.execute(text("set local role none"))  # the service's role does not see other sessions
        return bool(await session.scalar(text(BLOCKED)))


async def until_blocked(database: Database, task: "asyncio.Task[Any]") -> None:
    """Wait until `task` waits for a lock of this database; fail if it ends without having waited."""
    while not await is_blocked(database):
        assert not task.done(), "it did not wait"
        await asyncio.sleep(LOOK_SECONDS)
    assert not task.done(), "it did not wait"


@dataclass(slots=True)
class Meeting(Generic[A, B]):
    """The result: both answers, and whether the second ended before the first began to commit.

    `reached` is false if the first has fewer statements.
    """

    first: A
    second: B
    second_came_first: bool
    reached: bool


@dataclass(slots=True)
class _Stop:
    """Counts the statements of one engine, and runs a function right before one of them."""

    at: int
    act: Callable[[], Awaitable[None]]
    seen: int = 0
    committing_at: float | None = None
    done: bool = field(default=False)

    def before_statement(self, *_: Any) -> None:
        if self.seen == self.at:
            self.done = True
            await_only(self.act())
        self.seen += 1

    def before_commit(self, _: Any) -> None:
        self.committing_at = time.monotonic()


async def meet(
    url: str,
    first: Callable[[Database], Awaitable[A]],
    second: Callable[[], Awaitable[B]],
    *,
    at: int,
) -> Meeting[A, B]:
    """Run `first` on a separate engine, paused before its statement `at` (from 0) while `second` runs."""
    running: list[asyncio.Task[tuple[B, float]]] = []

    async def timed() -> tuple[B, float]:
        answer = await second()
        return answer, time.monotonic()

    async def start() -> None:
        running.append(asyncio.create_task(timed()))
        owner = await asyncpg.connect(url.replace("+asyncpg", ""))
        while not running[0].done() and not await owner.fetchval(BLOCKED):
            await asyncio.wait(running, timeout=LOOK_SECONDS)
        await owner.close()

    stop = _Stop(at, start)
    async with _watched(url, stop) as database:
        answer = await first(database)
    if not running:
        running.append(asyncio.create_task(timed()))
    other, ended_at = await running[0]
    before = stop.done and stop.committing_at is not None and ended_at < stop.committing_at
    return Meeting(answer, other, before, stop.done)


@asynccontextmanager
async def _watched(url: str, stop: _Stop) -> AsyncIterator[Database]:
    database = Database(url, pool_size=1).within(all_tenants("tests"))
    event.listen(database.engine.sync_engine, "before_cursor_execute", stop.before_statement)
    event.listen(database.engine.sync_engine, "commit", stop.before_commit)
    try:
        yield database
    finally:
        await database.close()


@dataclass
class Interleaving:
    """Watches the statements of one database's engine. `reached` and `first` belong to the last started race."""

    database: Database
    reached: bool = True
    first: bool = False
    _left: int = 0
    _other: Callable[[], Awaitable[object]] | None = None
    _task: "asyncio.Task[object] | None" = None

    def start(self, at: int, other: Callable[[], Awaitable[object]]) -> None:
        """Run `other` before the next statement number `at`, counted from 0."""
        self._left, self._other, self._task = at, other, None
        self.reached = self.first = False

    async def over(self) -> bool:
        """Wait for the other transaction; return whether statement `at` was reached. Raises its exception."""
        reached, self.reached = self.reached, True
        if self._task is not None:
            await self._task
        return reached

    def _before(self, *_: Any) -> None:
        if self.reached:
            return
        self._left -= 1
        if self._left < 0:
            self.reached = True
            await_only(self._let_in())

    async def _let_in(self) -> None:
        """Wait until the other transaction has ended, or waits for a lock of the tested one."""
        assert self._other is not None
        self._task = asyncio.ensure_future(self._other())
        while not self._task.done() and not await is_blocked(self.database):
            await asyncio.wait({self._task}, timeout=LOOK_SECONDS)
        self.first = self._task.done()


@contextlib.contextmanager
def interleaving(database: Database) -> Iterator[Interleaving]:
    """Watch the statements of a database."""
    made = Interleaving(database)
    engine = database.engine.sync_engine
    event.listen(engine, "before_cursor_execute", made._before)
    yield made
    made.reached = True  # the listener ends with the engine, because it may be waiting in a statement
