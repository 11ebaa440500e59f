"""The dispatcher: rings every row that was rung and not answered, or that should have woken by now.

It makes a commit without its ring harmless: whatever dies between the two, the row is found here.
"""

import asyncio
import contextlib

import asyncpg
import structlog
from sqlalchemy.engine import make_url
from temporalio.service import RPCError

from models.database import Database
from models.stores import doorbells
from models.stores.doorbells import Due
from models.tenancy import customer_of
from workflows.doorbell import Doorbell

log = structlog.get_logger(__name__)

POLL_SECONDS = 1.0
BATCH = 200
AT_ONCE = 10
SETTLE_SECONDS = 0.05
"""Notifications that come together are looked after together."""
RING_AGAIN_SECONDS = 3.0
"""A row just rung is left alone for so long, unless it has answered meanwhile and is due again."""


class Dispatcher:
    """One per worker process; any number may run at once, since a ring too many does no harm."""

    def __init__(self, database: Database, doorbell: Doorbell, *, listen_url: str, overdue_seconds: float) -> None:
        self._database = database
        self._doorbell = doorbell
        self._listen_url = listen_url
        self._overdue_seconds = overdue_seconds
        self._woken = asyncio.Event()
        self._rung: dict[Due, float] = {}

    async def run(self) -> None:
        """Ring until cancelled."""
        listening = asyncio.create_task(self._listen())
        try:
            while True:
                self._woken.clear()
                try:
                    rung = await self._round()
                except Exception as error:  # noqa: BLE001 - the database is away: look again in a second
                    log.warning("dispatcher.round_failed", error=type(error).__name__)
                    rung = 0
                if rung < BATCH:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._woken.wait(), POLL_SECONDS)
                    await asyncio.sleep(SETTLE_SECONDS)
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def _round(self) -> int:
        async with self._database.transaction() as session:
            rows = await doorbells.due(session, limit=BATCH, overdue_seconds=self._overdue_seconds)
        now = asyncio.get_running_loop().time()
        self._rung = {row: at for row, at in self._rung.items() if now - at < RING_AGAIN_SECONDS}
        fresh = [row for row in rows if row not in self._rung]
        gate = asyncio.Semaphore(AT_ONCE)
        await asyncio.gather(*(self._ring(row, gate) for row in fresh))
        return len(fresh)

    async def _ring(self, row: Due, gate: asyncio.Semaphore) -> None:
        async with gate:
            try:
                await self._doorbell.ring(
                    row.subject,
                    workspace_id=row.workspace_id,
                    customer_id=customer_of(row.tenant_id) if row.tenant_id else None,
                    sequence_id=row.sequence_id,
                    account_id=row.account_id,
                )
            except RPCError as error:
                log.warning("dispatcher.ring_failed", kind=row.subject.kind, status=error.status.name)
                return
        self._rung[row] = asyncio.get_running_loop().time()

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
        connection = await asyncpg.connect(url.render_as_string(hide_password=False))
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        try:
            await connection.add_listener(doorbells.CHANNEL, lambda *_: self._woken.set())
            await lost.wait()
        finally:
            await connection.close(timeout=2)
