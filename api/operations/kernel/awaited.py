"""Answers that an upstream call gives: admitted in one transaction, waited for outside of any, answered in another."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import structlog
from temporalio.service import RPCError

from api.operations.kernel.context import Context
from models.database import Database
from models.errors import UpstreamBusy
from models.rules.raw_calls import BUSY_RETRY_SECONDS, WAIT_SECONDS
from models.stores.upstream_calls import rows
from workflows.upstream_calls import UpstreamCalls

B = TypeVar("B")

FIRST_LOOK_SECONDS = 0.03
LOOK_SECONDS = 0.25
START_SECONDS = 5

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Awaited(Generic[B]):
    """What a handler answers after it has admitted an upstream call or found the one of an earlier attempt.

    `answer` makes the operation's answer of the call's result, in the transaction that completes the record of the
    Idempotency-Key.
    """

    call_id: str
    answer: Callable[[Context], Awaitable[B]]


class StillRunning(Exception):
    """The caller has waited long enough, the call goes on: an equal request attaches to it."""


class UpstreamCaller:
    """Starts upstream calls and waits for their rows; `seconds` is how long a caller is kept waiting."""

    def __init__(self, database: Database, calls: UpstreamCalls, *, seconds: float = WAIT_SECONDS) -> None:
        self._database = database
        self._calls = calls
        self._seconds = seconds

    async def until_done(self, call_id: str, *, workspace_id: str) -> None:
        """Return when the call is done.

        Raises the error it ended with, `UpstreamBusy` when it has not begun within the time, `StillRunning` when it
        has.
        """
        deadline = asyncio.get_running_loop().time() + self._seconds
        if not await self._started(call_id, workspace_id):
            await self._give_up(call_id, UpstreamBusy(status=503, retry_after=BUSY_RETRY_SECONDS))
        pause = FIRST_LOOK_SECONDS
        while not await rows.ended(self._database.statements, call_id):
            if asyncio.get_running_loop().time() >= deadline:
                await self._give_up(call_id, UpstreamBusy(status=429, retry_after=BUSY_RETRY_SECONDS))
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

    async def _give_up(self, call_id: str, busy: UpstreamBusy) -> None:
        if await self._database.run(lambda session: rows.give_up(session, call_id)):
            raise busy
        if not await rows.ended(self._database.statements, call_id):
            raise StillRunning
