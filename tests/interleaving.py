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
class Interleaved:
    """`at` counts statements from 0. `reached`: there were so many. `first`: the other transaction was over first."""

    database: Database
    at: int
    other: Callable[[], Awaitable[object]]
    reached: bool = False
    first: bool = False
    _task: "asyncio.Task[object] | None" = None
    _count: int = 0

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Count statements of the engine meanwhile, and let the other transaction in before one of them."""
        engine = self.database.engine.sync_engine
        event.listen(engine, "before_cursor_execute", self._before)
        try:
            yield
        finally:
            event.remove(engine, "before_cursor_execute", self._before)

    def _before(self, *_: Any) -> None:
        self._count += 1
        if self.reached or self._count <= self.at:
            return
        self.reached = True
        await_only(self._let_in())

    async def _let_in(self) -> None:
        """Return when the other transaction is over, or waits for a lock of what is tested."""
        self._task = asyncio.ensure_future(self.other())
        async with asyncio.timeout(LIMIT_SECONDS), self.database.autocommit() as connection:
            while not self._task.done() and not await connection.scalar(BLOCKED):
                await asyncio.wait({self._task}, timeout=LOOK_SECONDS)
        self.first = self._task.done()

    async def over(self) -> None:
        """Return when the other transaction is over. Raises what it raised."""
        if self._task is not None:
            await self._task
