"""Upstream slots: never more calls than slots, even if a worker dies, freezes or loses the database."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime

import pytest
from sqlalchemy import text

from activities.upstream import slots as upstream_slots
from activities.upstream.slots import SlotLost, UpstreamSlots
from models.base.database import Database
from models.base.tenants import all_tenants

OpenSlots = Callable[..., Awaitable[UpstreamSlots]]
LONG = {"lease_seconds": 60.0, "renew_seconds": 0.15}
"""Renewed often enough on the slowest machine."""
SHORT_SECONDS = 0.6
"""The lease of a process that a test freezes."""


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url, pool_size=0).within(all_tenants("tests"))
    yield database
    await database.close()


@pytest.fixture
async def open_slots(database: Database) -> AsyncIterator[OpenSlots]:
    async with contextlib.AsyncExitStack() as stack:

        async def open_(slots: int, **settings: float) -> UpstreamSlots:
            opened = UpstreamSlots(database.transaction, slots=slots, **(LONG | settings))
            await opened.open()
            stack.push_async_callback(opened.close)
            return opened

        yield open_


async def rows(database: Database) -> list[tuple[int, bool, bool]]:
    """(slot, held, working) of every row."""
    async with database.transaction() as session:
        found = await session.execute(
            text(
                "select slot, coalesce(busy_until > clock_timestamp(), false), working"
                " from upstream_slots order by slot"
            )
        )
        return [(slot, held, working) for slot, held, working in found]


async def held(database: Database) -> int:
    return sum(is_held for _, is_held, _ in await rows(database))


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    while not await condition():  # noqa: ASYNC110 - the state is in the database
        await asyncio.sleep(0.02)


async def leased(database: Database) -> tuple[datetime, datetime]:
    """When the lease of the only slot ends, and the present moment of the same clock."""
    async with database.transaction() as session:
        found = (await session.execute(text("select busy_until, clock_timestamp() from upstream_slots"))).one()
        return found[0], found[1]


def freeze(slots: UpstreamSlots) -> None:
    """What SIGSTOP does to a process: nothing is renewed any more."""
    assert slots._renewing is not None
    slots._renewing.cancel()


async def test_two_processes_share_the_rows(database: Database, open_slots: OpenSlots) -> None:
    one, other = await open_slots(3), await open_slots(3)
    await one.take()
    await other.take()
    await one.take()
    waiting = asyncio.create_task(other.take())
    await asyncio.sleep(0.4)
    assert not waiting.done()
    one.give_back()
    await waiting
    assert await held(database) == 3


async def test_an_idle_slot_is_kept_past_its_lease(database: Database, open_slots: OpenSlots) -> None:
    one, other = await open_slots(1), await open_slots(1)
    await one.take()
    first, _ = await leased(database)
    waiting = asyncio.create_task(other.take())

    async def renewed() -> bool:
        return (await leased(database))[0] > first

    await until(renewed)
    assert not waiting.done()
    async with one.calling(limit_seconds=1) as slot:
        assert await slot.still_ours()
        assert await rows(database) == [(1, True, True)]
    assert await rows(database) == [(1, True, False)]
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


async def test_a_cancelled_wait_holds_nothing(database: Database, open_slots: OpenSlots) -> None:
    one = await open_slots(1)
    for delay in (0, 0.001, 0.005, 0.01, 0.02):
        wait = asyncio.create_task(one.take())
        await asyncio.sleep(delay)
        wait.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await wait
            one.give_back()

    async def nothing_held() -> bool:
        return await held(database) == 0

    await until(nothing_held)
    assert one._permits == 0


async def test_a_process_that_vanished_blocks_its_slot_for_the_call_and_no_longer(
    database: Database, open_slots: OpenSlots
) -> None:
    gone, other = await open_slots(1), await open_slots(1)
    await gone.take()
    call = gone.calling(limit_seconds=upstream_slots.GRACE_SECONDS * -1 + 1.5)  # the lease ends 1.5 s from now
    await call.__aenter__()
    freeze(gone)
    ends, _ = await leased(database)
    await other.take()
    _, now = await leased(database)
    assert now >= ends


async def test_a_process_frozen_past_its_lease_makes_no_call(
    open_slots: OpenSlots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upstream_slots, "RETAKE_SECONDS", 0.3)
    frozen, other = await open_slots(1, lease_seconds=SHORT_SECONDS), await open_slots(1)
    await frozen.take()
    freeze(frozen)
    await other.take()
    with pytest.raises(SlotLost):
        async with frozen.calling(limit_seconds=1):
            pytest.fail("the call was made without a slot")


async def test_a_call_that_waited_past_its_lease_is_refused_as_expired(open_slots: OpenSlots) -> None:
    frozen, other = await open_slots(1), await open_slots(1)
    await frozen.take()
    async with frozen.calling(limit_seconds=-4.5) as slot:  # the lease ends half a second from now
        freeze(frozen)
        await other.take()
        assert not await slot.still_ours()


async def test_a_lost_slot_is_replaced_when_one_is_free(database: Database, open_slots: OpenSlots) -> None:
    one = await open_slots(1)
    await one.take()
    async with database.transaction() as session:
        await session.execute(text("update upstream_slots set fence = fence + 1, holder = null, busy_until = null"))
    async with one.calling(limit_seconds=1) as slot:
        assert await slot.still_ours()
    one.give_back()

    async def freed() -> bool:
        return await held(database) == 0

    await until(freed)


async def test_a_cancelled_call_leaves_its_slot_idle(database: Database, open_slots: OpenSlots) -> None:
    one = await open_slots(1)
    await one.take()

    async def call() -> None:
        async with one.calling(limit_seconds=30):
            await asyncio.sleep(30)

    running = asyncio.create_task(call())

    async def working() -> bool:
        return (await rows(database))[0][2]

    await until(working)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    one.give_back()

    async def freed() -> bool:
        return await rows(database) == [(1, False, False)]

    await until(freed)


async def test_giving_back_frees_no_row_that_is_calling(database: Database, open_slots: OpenSlots) -> None:
    one = await open_slots(2)
    await one.take()
    await one.take()
    async with one.calling(limit_seconds=30):
        one.give_back()

        async def only_the_call_holds_one() -> bool:
            return [working for _, is_held, working in await rows(database) if is_held] == [True]

        await until(only_the_call_holds_one)
        one.give_back()  # released before its call has ended
        await asyncio.sleep(0.1)
        assert await held(database) == 1

    async def freed() -> bool:
        return await held(database) == 0

    await until(freed)


async def test_slots_survive_a_database_that_is_away(
    database: Database, open_slots: OpenSlots, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await open_slots(1)
    await one.take()
    real = one._transactions

    @contextlib.asynccontextmanager
    async def away() -> AsyncIterator[None]:
        raise ConnectionRefusedError
        yield

    monkeypatch.setattr(one, "_transactions", away)
    with pytest.raises(ConnectionRefusedError):
        async with one.calling(limit_seconds=1):
            pass
    await asyncio.sleep(0.5)
    monkeypatch.setattr(one, "_transactions", real)
    async with one.calling(limit_seconds=1) as slot:
        assert await slot.still_ours()
    assert len(one._idle) == 1


async def test_random_traffic_never_exceeds_the_slots(database: Database, open_slots: OpenSlots) -> None:
    running = most = done = 0
    as_many_as_may = asyncio.Event()

    async def worker(slots: UpstreamSlots) -> None:
        nonlocal running, most, done
        for _ in range(4):
            await slots.take()
            async with slots.calling(limit_seconds=5):
                running += 1
                most = max(most, running)
                if running == 3:
                    as_many_as_may.set()
                await as_many_as_may.wait()
                await asyncio.sleep(0.02)
                running -= 1
                done += 1
            slots.give_back()

    processes = [await open_slots(3) for _ in range(2)]
    await asyncio.gather(*(worker(slots) for slots in processes for _ in range(4)))
    assert done == 32
    assert most == 3

    async def freed() -> bool:
        return await held(database) == 0

    await until(freed)
