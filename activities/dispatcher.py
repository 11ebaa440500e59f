"""The dispatcher: rings every row that was rung and not answered, or that should have woken by now.

It makes a commit without its ring harmless: whatever dies between the two, the row is found here.
"""

import asyncio
import contextlib
from dataclasses import dataclass

import asyncpg
import structlog
from sqlalchemy.engine import make_url
from temporalio.service import RPCError

import models.tables  # noqa: F401 - makes the register of waiting rows whole
from models.base import outbox
from models.base.database import CONNECT_SECONDS, Database
from models.base.outbox import DueRow
from models.base.tenants import customer_of
from workflows.outbox import WorkflowWaker

log = structlog.get_logger(__name__)

POLL_SECONDS = 1.0
BATCH = 200
AT_ONCE = 10
LEFT_ALONE_SECONDS = 5.0
LEFT_ALONE_AT_MOST_SECONDS = 60.0
"""A row that was rung and does not answer is left alone for so long, then twice as long, up to this much: a workflow
that queues on an overloaded system has its ring already. One that is rung anew, or waits anew, is rung at once."""


@dataclass(frozen=True, slots=True)
class _Rung:
    """When a row was rung last, in vain or not, and for how long it is left alone since (seconds)."""

    at: float
    left_alone: float

    @property
    def next(self) -> float:
        """For how long it is left alone after the next ring."""
        return min(max(self.left_alone * 2, LEFT_ALONE_SECONDS), LEFT_ALONE_AT_MOST_SECONDS)

    def over(self, now: float) -> bool:
        return now >= self.at + self.left_alone


class Dispatcher:
    """One per worker process; any number may run at once, since a ring too many does no harm."""

    def __init__(self, database: Database, waker: WorkflowWaker, *, listen_url: str, overdue_seconds: float) -> None:
        self._database = database
        self._waker = waker
        self._listen_url = listen_url
        self._overdue_seconds = overdue_seconds
        self._woken = asyncio.Event()
        self._rung: dict[str, _Rung] = {}

    async def run(self) -> None:
        """Ring until cancelled: at once when told, and with what is told meanwhile in the next round."""
        listening = asyncio.create_task(self._listen())
        try:
            while True:
                self._woken.clear()
                try:
                    found = await self._round()
                except Exception as error:  # noqa: BLE001 - the database is away: look again in a second
                    log.warning("dispatcher.round_failed", error=type(error).__name__)
                    found = 0
                    await asyncio.sleep(POLL_SECONDS)
                if found < BATCH:
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(POLL_SECONDS):
                            await self._woken.wait()
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def _round(self) -> int:
        """Ring what is due; how many rows were."""
        now = asyncio.get_running_loop().time()
        quiet = [state for state, rung in self._rung.items() if not rung.over(now)]
        async with self._database.transaction() as session:
            rows = await outbox.rows_due(session, limit=BATCH, overdue_seconds=self._overdue_seconds, quiet=quiet)
        if len(rows) < BATCH:
            self._forget({row.state for row in rows}, now)
        gate = asyncio.Semaphore(AT_ONCE)
        await asyncio.gather(*(self._ring(row, gate) for row in rows))
        return len(rows)

    def _forget(self, due: set[str], now: float) -> None:
        """Forget the rows that are due no more: they have answered."""
        self._rung = {state: rung for state, rung in self._rung.items() if state in due or not rung.over(now)}

    async def _ring(self, row: DueRow, gate: asyncio.Semaphore) -> None:
        before = self._rung.get(row.state)
        left_alone = LEFT_ALONE_SECONDS if before is None else before.next
        async with gate:
            try:
                await self._waker.wake(
                    row.subject,
                    workspace_id=row.workspace_id,
                    customer_id=customer_of(row.tenant_id) if row.tenant_id else None,
                    fairness_key=row.fairness_key,
                    sequence_id=row.sequence_id,
                    account_id=row.account_id,
                )
            except RPCError as error:
                log.warning("dispatcher.ring_failed", kind=row.subject.kind, status=error.status.name)
                left_alone = POLL_SECONDS
        self._rung[row.state] = _Rung(asyncio.get_running_loop().time(), left_alone)

    def _told(self, *notification: object) -> None:
        """A notification has come; its payload is the last argument."""
        if notification[-1] == outbox.AGAIN:
            self._rung.clear()
        self._woken.set()

    async def _listen(self) -> None:
        """Wake at every notification; a lost connection is opened again, the poll covers the gap."""
        while True:
            try:
                await self._listen_once()
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
                log.warning("dispatcher.listen_failed", error=type(error).__name__)
            await asyncio.sleep(POLL_SECONDS)

    async def _listen_once(self) -> None:
        url = make_url(self._listen_url).set(drivername="postgresql")
        connection = await asyncpg.connect(url.render_as_string(hide_password=False), timeout=CONNECT_SECONDS)
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        try:
            await connection.add_listener(outbox.CHANNEL, self._told)
            await lost.wait()
        finally:
            await connection.close(timeout=2)
