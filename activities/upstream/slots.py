"""At most so many upstream calls at once in the whole installation, however many workers there are.

A worker takes a row of `upstream_slots` before it asks Temporal for a task and frees it when the task is done, so that
Temporal's queue stays the only queue and its fairness holds. Rows are leased for a few seconds and renewed while they
are held; for a call the lease reaches past the call's limit. A worker that was frozen past its lease finds another
fence in the row and makes no call.
"""

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy.ext.asyncio import AsyncSession
from temporalio.worker import (
    CustomSlotSupplier,
    FixedSizeSlotSupplier,
    SlotMarkUsedContext,
    SlotPermit,
    SlotReleaseContext,
    SlotReserveContext,
    WorkerTuner,
)

from models.sourcing import store as sourcing_store
from models.sourcing.store import SlotLease

log = structlog.get_logger(__name__)

LEASE_SECONDS = 8.0
RENEW_SECONDS = 2.0
LOOK_AGAIN_SECONDS = 0.25
GRACE_SECONDS = 5.0
RETAKE_SECONDS = 10.0

Transactions = Callable[[], AbstractAsyncContextManager[AsyncSession]]


class SlotLost(Exception):
    """This worker holds no slot any more: it was out of touch for longer than its lease. Ask again later."""


@dataclass(frozen=True, slots=True)
class HeldSlot:
    """A slot during one call."""

    hold: SlotLease
    seconds: float
    slots: "UpstreamSlots"

    async def still_ours(self) -> bool:
        """Return whether the row is still held; if it is, its lease again covers a whole call from now."""
        return await self.slots.begin(self.hold, seconds=self.seconds)


class UpstreamSlots:
    """The slots this process holds. One instance per process: `open`, then `close`, which gives everything back.

    `slots` is how many calls may run in the installation; leases are in seconds. A task calls with any row that the
    process holds and does not use: there are never more tasks than rows, and tasks do not know their permit.
    """

    def __init__(
        self,
        transactions: Transactions,
        *,
        slots: int,
        lease_seconds: float = LEASE_SECONDS,
        renew_seconds: float = RENEW_SECONDS,
    ) -> None:
        self._transactions = transactions
        self._slots = slots
        self._lease = lease_seconds
        self._renew_every = renew_seconds
        self._holder = f"{os.getpid()}-{secrets.token_hex(6)}"
        self._permits = 0  # given to Temporal; fewer rows than permits means that rows were lost
        self._idle: list[SlotLease] = []
        self._calling: set[SlotLease] = set()
        self._looking = asyncio.Lock()
        self._freed = asyncio.Event()
        self._renewing: asyncio.Task[None] | None = None
        self._background: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Create the missing rows and begin to renew what is held."""
        async with self._transactions() as session:
            await sourcing_store.ensure_slots(session, slots=self._slots)
        self._renewing = asyncio.create_task(self._renew_for_ever())

    async def close(self) -> None:
        """Stop renewing and give back every row. The worker has ended by then."""
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.gather(self._renewing, return_exceptions=True)
        await asyncio.gather(*self._background, return_exceptions=True)
        held, self._idle, self._calling, self._permits = [*self._idle, *self._calling], [], set(), 0
        for hold in held:
            await self._free(hold)

    async def take(self) -> None:
        """Wait until one more row is held; a cancelled wait holds nothing."""
        async with self._looking:  # one look at a time is enough for a whole process
            while True:
                self._freed.clear()
                attempt = asyncio.create_task(self._take_permit())
                try:
                    if await asyncio.shield(attempt):
                        return
                except asyncio.CancelledError:
                    attempt.add_done_callback(self._give_back_if_taken)
                    raise
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._freed.wait(), LOOK_AGAIN_SECONDS)

    def give_back(self) -> None:
        """Hold one row less; to be called on the loop. The row is freed in the background."""
        self._permits -= 1
        self._shed()

    @contextlib.asynccontextmanager
    async def calling(self, *, limit_seconds: float) -> AsyncIterator[HeldSlot]:
        """Hold a slot for one upstream call, which must end within `limit_seconds`.

        Raises:
            SlotLost: this process holds no slot that is still its own.
        """
        seconds = limit_seconds + GRACE_SECONDS
        hold = await self._begin_with_any(seconds)
        try:
            yield HeldSlot(hold, seconds, self)
        finally:
            # In the background, for a cancelled call too: a row left `working` is lost to every worker.
            await asyncio.shield(self._in_background(self._end(hold)))

    async def begin(self, hold: SlotLease, *, seconds: float) -> bool:
        """Check the fence and lengthen the lease, in one statement."""
        async with self._transactions() as session:
            return await sourcing_store.begin_slot_call(session, hold, seconds=seconds)

    async def _begin_with_any(self, seconds: float) -> SlotLease:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + RETAKE_SECONDS
        while True:
            while self._idle:
                hold = self._idle.pop()
                if await self._begin(hold, seconds):
                    return hold
            if loop.time() > deadline:
                raise SlotLost("no upstream slot is held")
            if not await self._retake():
                await asyncio.sleep(LOOK_AGAIN_SECONDS)

    async def _begin(self, hold: SlotLease, seconds: float) -> bool:
        self._calling.add(hold)
        try:
            ours = await self.begin(hold, seconds=seconds)
        except BaseException:
            self._put_aside(hold)
            raise
        if not ours:
            self._lose(hold)
        return ours

    async def _end(self, hold: SlotLease) -> None:
        try:
            async with self._transactions() as session:
                ours = await sourcing_store.end_slot_call(session, hold, seconds=self._lease)
        except Exception as error:  # noqa: BLE001 - whatever it was, the row is ours until a renewal says otherwise
            log.warning("upstream_slots.end_failed", slot=hold.slot, error=type(error).__name__)
            ours = True
        if ours:
            self._put_aside(hold)
        else:
            self._lose(hold)

    def _put_aside(self, hold: SlotLease) -> None:
        self._calling.discard(hold)
        self._idle.append(hold)
        self._shed()

    def _lose(self, hold: SlotLease) -> None:
        log.warning("upstream_slots.lost", slot=hold.slot)
        self._calling.discard(hold)
        self._idle = [other for other in self._idle if other != hold]

    def _shed(self) -> None:
        while self._idle and len(self._idle) + len(self._calling) > self._permits:
            self._in_background(self._free(self._idle.pop()))

    async def _take_permit(self) -> bool:
        try:
            hold = await self._take_row()
        except Exception as error:  # noqa: BLE001 - the database is out of reach: look again
            log.warning("upstream_slots.take_failed", error=type(error).__name__)
            return False
        if hold is None:
            return False
        self._permits += 1
        self._idle.append(hold)
        return True

    async def _retake(self) -> bool:
        """Take a row in place of a lost one."""
        if len(self._idle) + len(self._calling) >= self._permits:
            return False
        hold = await self._take_row()
        if hold is None:
            return False
        self._put_aside(hold)
        return True

    async def _take_row(self) -> SlotLease | None:
        async with self._transactions() as session:
            return await sourcing_store.take_slot(session, holder=self._holder, slots=self._slots, seconds=self._lease)

    async def _free(self, hold: SlotLease) -> None:
        try:
            async with self._transactions() as session:
                await sourcing_store.free_slot(session, hold)
        except Exception as error:  # noqa: BLE001 - no caller waits for this; the row's lease ends by itself
            log.warning("upstream_slots.free_failed", slot=hold.slot, error=type(error).__name__)
        self._freed.set()

    async def _renew_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self._renew_every)
            try:
                await self._renew()
            except Exception as error:  # noqa: BLE001 - renewing goes on when the database is back
                log.warning("upstream_slots.renewal_failed", error=type(error).__name__)

    async def _renew(self) -> None:
        held = [*self._idle, *self._calling]
        if held:
            async with self._transactions() as session:
                kept = await sourcing_store.keep_slots(session, held, seconds=self._lease)
            for hold in held:
                if hold not in kept and hold in self._idle:
                    self._lose(hold)
        while await self._retake():
            pass

    def _give_back_if_taken(self, attempt: asyncio.Task[bool]) -> None:
        if not attempt.cancelled() and attempt.exception() is None and attempt.result():
            self.give_back()

    def _in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task


class UpstreamSlotSupplier(CustomSlotSupplier):
    """Lets Temporal poll for an upstream task only while this process holds a slot for it."""

    def __init__(self, slots: UpstreamSlots) -> None:
        self._slots = slots
        self._loop: asyncio.AbstractEventLoop | None = None

    async def reserve_slot(self, ctx: SlotReserveContext) -> SlotPermit:
        """Wait for a slot of the installation."""
        del ctx
        self._loop = asyncio.get_running_loop()
        await self._slots.take()
        return SlotPermit()

    def try_reserve_slot(self, ctx: SlotReserveContext) -> SlotPermit | None:
        """Return none: an eager task would jump the fair queue."""
        del ctx
        return None

    def mark_slot_used(self, ctx: SlotMarkUsedContext) -> None:
        """Nothing to note: `UpstreamSlots.calling` marks the row."""

    def release_slot(self, ctx: SlotReleaseContext) -> None:
        """Give one slot back; called from Temporal's own threads, so the loop does it."""
        del ctx
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._slots.give_back)


def upstream_tuner(slots: UpstreamSlots) -> WorkerTuner:
    """Return the tuner of the worker on queue `upstream`, which runs activities only."""
    idle = FixedSizeSlotSupplier(1)
    return WorkerTuner.create_composite(
        workflow_supplier=FixedSizeSlotSupplier(2),
        activity_supplier=UpstreamSlotSupplier(slots),
        local_activity_supplier=idle,
        nexus_supplier=idle,
    )
