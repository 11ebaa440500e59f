"""Letting another transaction commit, or try to, before any one statement of what is tested."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import event, text
from sqlalchemy.util import await_only

from models.database import Database

LOOK_SECONDS = 0.01
LIMIT_SECONDS = 20
BLOCKED = text("select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")


@dataclass
class Interleaving:
    """Watches the statements of one database's engine. `reached` and `first` are of the race that was last started."""

    database: Database
    reached: bool = True
    first: bool = False
    _left: int = 0
    _other: Callable[[], Awaitable[object]] | None = None
    _task: "asyncio.Task[object] | None" = None

    def start(self, at: int, other: Callable[[], Awaitable[object]]) -> None:
        """Let `other` in before the statement number `at` from now on, counted from 0."""
        self._left, self._other, self._task = at, other, None
        self.reached = self.first = False

    async def over(self) -> bool:
        """Return when the other transaction is over: whether there were so many statements. Raises what it raised."""
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
        """Return when the other transaction is over, or waits for a lock of what is tested."""
        assert self._other is not None
        self._task = asyncio.ensure_future(self._other())
        async with asyncio.timeout(LIMIT_SECONDS), self.database.autocommit() as connection:
            while not self._task.done() and not await connection.scalar(BLOCKED):
                await asyncio.wait({self._task}, timeout=LOOK_SECONDS)
        self.first = self._task.done()


@contextlib.contextmanager
def interleaving(database: Database) -> Iterator[Interleaving]:
    """Watch the statements of a database."""
    made = Interleaving(database)
    engine = database.engine.sync_engine
    event.listen(engine, "before_cursor_execute", made._before)
    yield made
    made.reached = True  # the listener goes with the engine: it may be waiting in a statement
