"""The dispatcher: wakes the workflow of every row that has an unanswered wake or is past its time to wake.

The rows are the outbox: if a process dies between its commit and its signal, the row is found here.
"""

import asyncio
import contextlib
from dataclasses import dataclass

import asyncpg
import structlog
from sqlalchemy.engine import make_url
from temporalio.service import RPCError

import models.tables  # noqa: F401 - registers every waiting row
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
"""Maximum of the growing pause after waking a row that does not answer: on an overloaded system its workflow already
has the signal. A row whose state changes is woken at once."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """When a row was last woken (loop time), and for how many seconds it is left alone from then on."""

    at: float
    left_alone: float

    @property
    def next_left_alone(self) -> float:
        """The seconds for which the row is left alone after the next wake."""
        return min(max(self.left_alone * 2, LEFT_ALONE_SECONDS), LEFT_ALONE_AT_MOST_SECONDS)

    def is_over(self, now: float) -> bool:
        return now >= self.at + self.left_alone


class Dispatcher:
    """One per worker process. Any number may run at once: waking a workflow too often does no harm."""

    def __init__(self, database: Database, waker: WorkflowWaker, *, listen_url: str, overdue_seconds: float) -> None:
        self._database = database
        self._waker = waker
        self._listen_url = listen_url
        self._overdue_seconds = overdue_seconds
        self._notified = asyncio.Event()
        self._attempts: dict[str, _Attempt] = {}

    async def run(self) -> None:
        """Wake rows until cancelled: a notification starts the next round at once, and the poll covers lost ones."""
        listening = asyncio.create_task(self._listen())
        try:
            while True:
                self._notified.clear()
                try:
                    found = await self._round()
                except Exception as error:  # noqa: BLE001 - the database is unreachable: look again in a second
                    log.warning("dispatcher.round_failed", error=type(error).__name__)
                    found = 0
                    await asyncio.sleep(POLL_SECONDS)
                if found < BATCH:
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(POLL_SECONDS):
                            await self._notified.wait()
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def _round(self) -> int:
        """Wake the rows that are due; return how many there were."""
        now = asyncio.get_running_loop().time()
        quiet = [state for state, attempt in self._attempts.items() if not attempt.is_over(now)]
        async with self._database.transaction() as session:
            rows = await outbox.rows_due(session, limit=BATCH, overdue_seconds=self._overdue_seconds, quiet=quiet)
        if len(rows) < BATCH:
            self._forget({row.state for row in rows}, now)
        gate = asyncio.Semaphore(AT_ONCE)
        await asyncio.gather(*(self._wake(row, gate) for row in rows))
        return len(rows)

    def _forget(self, due: set[str], now: float) -> None:
        """Forget the rows that are no longer due: they have answered."""
        self._attempts = {
            state: attempt for state, attempt in self._attempts.items() if state in due or not attempt.is_over(now)
        }

    async def _wake(self, row: DueRow, gate: asyncio.Semaphore) -> None:
        before = self._attempts.get(row.state)
        left_alone = LEFT_ALONE_SECONDS if before is None else before.next_left_alone
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
        self._attempts[row.state] = _Attempt(asyncio.get_running_loop().time(), left_alone)

    def _on_notification(self, *notification: object) -> None:
        """Start the next round. The payload is the last argument."""
        if notification[-1] == outbox.AGAIN:
            self._attempts.clear()
        self._notified.set()

    async def _listen(self) -> None:
        """Listen for notifications. A lost connection is opened again; the poll covers the gap."""
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
            await connection.add_listener(outbox.CHANNEL, self._on_notification)
            await lost.wait()
        finally:
            await connection.close(timeout=2)
