"""Answers that a worker gives: asked for in one transaction, waited for outside of any, answered in another."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import structlog
from temporalio.service import RPCError

from api.kernel.context import Context
from models.base.database import Database
from models.base.errors import UpstreamBusy
from models.base.tenants import scope_of_workspace
from models.sourcing.engine import calls as engine_calls
from models.sourcing.rules.raw_calls import BUSY_RETRY_SECONDS, WAIT_SECONDS
from workflows.upstream_calls import UpstreamCalls

B = TypeVar("B")

FIRST_LOOK_SECONDS = 0.03
LOOK_SECONDS = 0.25
START_SECONDS = 5
LEFT_SECONDS = 3
"""How long somebody is kept waiting by a process that is to stop: less than it gives its requests."""

log = structlog.get_logger()


class StillRunning(Exception):
    """The caller has waited long enough, the call goes on: an equal request attaches to it."""


class UpstreamCaller:
    """Starts upstream calls and waits for their rows; `seconds` is how long a caller is kept waiting.

    Once `stopping` is set, nobody is kept for more than `LEFT_SECONDS`: the call goes on without this process.
    """

    def __init__(
        self,
        database: Database,
        calls: UpstreamCalls,
        *,
        seconds: float = WAIT_SECONDS,
        stopping: asyncio.Event | None = None,
    ) -> None:
        self._database = database
        self._calls = calls
        self._seconds = seconds
        self._stopping = stopping or asyncio.Event()

    async def until_done(self, call_id: str, *, workspace_id: str) -> None:
        """Return when the call is done.

        Raises the error it ended with, `UpstreamBusy` when it has not begun within the time, `StillRunning` when it
        has.
        """
        clock = asyncio.get_running_loop()
        deadline = clock.time() + self._seconds
        database = self._database.within(scope_of_workspace(workspace_id))
        if not await self._started(call_id, workspace_id):
            await _give_up(database, call_id, UpstreamBusy(status=503, retry_after=BUSY_RETRY_SECONDS))
        pause = FIRST_LOOK_SECONDS
        is_stopping = False
        while not await engine_calls.ended(database.statements, call_id):
            if self._stopping.is_set() and not is_stopping:
                is_stopping, deadline = True, min(deadline, clock.time() + LEFT_SECONDS)
            if clock.time() >= deadline:
                await _give_up(database, call_id, UpstreamBusy(status=429, retry_after=BUSY_RETRY_SECONDS))
            await asyncio.sleep(pause)
            pause = min(2 * pause, LOOK_SECONDS)

    async def _started(self, call_id: str, workspace_id: str) -> bool:
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._calls.start(call_id, workspace_id=workspace_id)
        except (RPCError, RuntimeError, TimeoutError) as error:
            log.warning("upstream call not started", call_id=call_id, error=type(error).__name__)
            return False
        return True


async def _give_up(database: Database, call_id: str, busy: UpstreamBusy) -> None:
    if await database.run(lambda session: engine_calls.give_up_call(session, call_id)):
        raise busy
    if not await engine_calls.ended(database.statements, call_id):
        raise StillRunning


@dataclass(frozen=True, slots=True)
class Waiter:
    """What waiting needs; `upstream` is null in a process that makes no upstream calls."""

    database: Database
    upstream: UpstreamCaller | None
    workspace_id: str

    async def upstream_call(self, call_id: str) -> None:
        """Return when the call is done; raises as `UpstreamCaller.until_done` does."""
        if self.upstream is None:
            raise UpstreamBusy(status=503, retry_after=BUSY_RETRY_SECONDS)
        await self.upstream.until_done(call_id, workspace_id=self.workspace_id)


@dataclass(frozen=True, slots=True)
class Awaited(Generic[B]):
    """What a handler answers after it has written a row that a worker has to do something about, or has found it.

    `wait` returns when the row says that it was done, or raises a documented error; `answer` makes the operation's
    answer in the transaction that completes the record of the Idempotency-Key. An equal request finds the row by
    `ctx.use`.
    """

    wait: Callable[[Waiter], Awaitable[None]]
    answer: Callable[[Context], Awaitable[B]]


def after_call(call_id: str, answer: Callable[[Context], Awaitable[B]]) -> Awaited[B]:
    """The answer that an upstream call gives, which was admitted or found."""
    return Awaited(lambda waiter: waiter.upstream_call(call_id), answer)
