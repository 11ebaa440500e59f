"""Events are written with the change they tell of, stamped in commit order, and queued for the endpoints that ask."""

import asyncio
import contextlib
import itertools
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.access.tables import Customer
from models.base.database import Database, service_time
from models.base.errors import NotFound
from models.base.ids import new_id
from models.base.paging import Page
from models.base.tenants import Tenant
from models.events.rules.catalogue import CreditsLow, EventType, Pinged
from models.events.store import events
from models.events.tables import Event, WebhookEndpoint
from tests.models.conftest import Member, join
from tests.models.events.webhook_world import endpoint

LOW = CreditsLow(grant_id="grt_1", balance_credits=1, threshold_credits=2)
WRITERS = 12
EACH = 25


async def emit(session: AsyncSession, tenant: Tenant, *, count: int = 1) -> list[str]:
    now = await service_time(session)
    return [events.emit(session, tenant, EventType.CREDITS_LOW, LOW, now=now) for _ in range(count)]


async def customer(session: AsyncSession, workspace_id: str) -> str:
    now = await service_time(session)
    row = Customer(id=new_id("cus", now), workspace_id=workspace_id, name="C", created_at=now)
    session.add(row)
    await session.flush()
    return row.id


async def newer(database: Database, tenant: Tenant, seen: datetime | None) -> list[Event]:
    """All events behind the newest one seen, oldest first, as a poller reads them: page by page, newest first."""
    found: list[Event] = []
    after: Any = None
    while True:
        async with database.transaction() as session:
            part = await events.page_of_events(session, tenant, Page(25, after, created_after=seen))
        found += part.rows
        if part.next is None:
            return found[::-1]
        after = part.next


async def queued(database: Database) -> list[tuple[str, str]]:
    """Event type and endpoint of every delivery."""
    async with database.transaction() as session:
        rows = await session.execute(text("select event_type, endpoint_id from deliveries order by created_at, id"))
        return [(kind, endpoint_id) for kind, endpoint_id in rows]


async def test_a_poller_that_goes_on_from_the_newest_stamp_misses_none_of_twelve_writers(
    database: Database, member: Member
) -> None:
    async def write(seed: int) -> None:
        for turn in range(EACH):
            async with database.transaction() as session:
                await emit(session, member.tenant, count=1 + (turn + seed) % 3)
                await asyncio.sleep(0.001 * ((turn * seed) % 4))

    async def poll() -> list[str]:
        seen: datetime | None = None
        read: list[str] = []
        while True:
            last_round = writing.done()
            for event in await newer(database, member.tenant, seen):
                read.append(event.id)
                seen = event.created_at
            if last_round:
                return read
            await asyncio.sleep(0.001)

    writing = asyncio.gather(*(write(seed) for seed in range(WRITERS)))
    read = await poll()
    await writing
    assert read == [event.id for event in await newer(database, member.tenant, None)]
    assert len(read) == len(set(read)) == WRITERS * EACH * 2


async def test_stamps_are_unique_and_never_run_ahead_by_more_than_the_events_of_a_moment(
    database: Database, member: Member
) -> None:
    async with database.transaction() as session:
        ids = await emit(session, member.tenant, count=30)
        before = await service_time(session)
    rows = await newer(database, member.tenant, None)
    stamps = [row.created_at for row in rows]
    assert [row.id for row in rows] == ids
    assert all(later - earlier == timedelta(milliseconds=1) for earlier, later in itertools.pairwise(stamps))
    assert abs(stamps[-1] - before) < timedelta(seconds=1)


async def test_an_event_is_there_if_and_only_if_its_change_is(database: Database, member: Member) -> None:
    with contextlib.suppress(ZeroDivisionError):
        async with database.transaction() as session:
            await emit(session, member.tenant)
            _ = 1 / 0
    async with database.transaction() as session:
        await emit(session, member.tenant)
        await session.rollback()  # as a preview does
    assert await newer(database, member.tenant, None) == []
    async with database.transaction() as session:
        (kept,) = await emit(session, member.tenant)
    assert [event.id for event in await newer(database, member.tenant, None)] == [kept]


async def test_a_repeated_transaction_tells_once(database: Database, member: Member) -> None:
    attempts = 0

    async def work(session: AsyncSession) -> None:
        nonlocal attempts
        attempts += 1
        await emit(session, member.tenant)
        if attempts < 3:
            await session.execute(text("do $$ begin raise exception using errcode = '40001'; end $$"))

    await database.run(work)
    assert attempts == 3
    assert len(await newer(database, member.tenant, None)) == 1


async def test_a_session_that_commits_nothing_cannot_emit(database: Database, member: Member) -> None:
    async with database.reading() as session:
        with pytest.raises(RuntimeError):
            await emit(session, member.tenant)


async def test_data_of_another_type_is_refused(database: Database, member: Member) -> None:
    async with database.transaction() as session:
        now = await service_time(session)
        with pytest.raises(TypeError):
            events.emit(session, member.tenant, EventType.CREDITS_LOW, Pinged(endpoint_id="whe_1"), now=now)


async def test_the_clock_lock_is_taken_after_everything_else(database: Database, member: Member) -> None:
    """Two transactions that emit first and then want the same row do not wait for each other's clock."""
    async with database.transaction() as first:
        await emit(first, member.tenant)
        async with database.transaction() as second:
            await second.execute(text("set local lock_timeout = '200ms'"))
            await emit(second, member.tenant)
        assert len(await newer(database, member.tenant, None)) == 1
    assert len(await newer(database, member.tenant, None)) == 2


async def test_every_endpoint_that_wants_the_event_gets_a_woken_delivery(database: Database, member: Member) -> None:
    workspace_id = member.tenant.workspace_id

    async def prepare(session: AsyncSession) -> dict[str, str]:
        other = await join(session)
        own, foreign = await customer(session, workspace_id), await customer(session, workspace_id)
        return {
            "customer": own,
            "all": await endpoint(session, workspace_id),
            "low": await endpoint(session, workspace_id, events=["run.failed", "credits.low"]),
            "runs": await endpoint(session, workspace_id, events=["run.completed"]),
            "off": await endpoint(session, workspace_id, status="disabled"),
            "own": await endpoint(session, workspace_id, customer_id=own),
            "foreign": await endpoint(session, workspace_id, customer_id=foreign),
            "elsewhere": await endpoint(session, other.tenant.workspace_id),
        }

    made = await database.run(prepare)
    async with database.transaction() as session:
        await emit(session, member.tenant)
    assert sorted(await queued(database)) == sorted(("credits.low", made[name]) for name in ("all", "low"))
    async with database.transaction() as session:
        await emit(session, Tenant(workspace_id, made["customer"]), count=2)
    wanted = ["all", "low"] * 3 + ["own"] * 2
    assert sorted(await queued(database)) == sorted(("credits.low", made[name]) for name in wanted)
    async with database.transaction() as session:
        unrung = await session.scalar(text("select count(*) from deliveries where rings <> answered + 1"))
    assert unrung == 0


async def test_a_ping_goes_to_its_endpoint_alone(database: Database, member: Member) -> None:
    async def prepare(session: AsyncSession) -> WebhookEndpoint:
        await endpoint(session, member.tenant.workspace_id)
        chosen = await endpoint(session, member.tenant.workspace_id, events=["run.failed"])
        return await session.get_one(WebhookEndpoint, chosen)

    chosen = await database.run(prepare)
    async with database.transaction() as session:
        event_id, delivery_id = events.emit_ping(session, chosen, now=await service_time(session))
    assert await queued(database) == [("ping", chosen.id)]
    async with database.transaction() as session:
        row = (await session.execute(text("select id, event_id, single from deliveries"))).one()
    assert tuple(row) == (delivery_id, event_id, True)


async def test_a_customer_sees_its_own_events_and_the_account_sees_all(database: Database, member: Member) -> None:
    workspace_id = member.tenant.workspace_id
    customer_id = await database.run(lambda session: customer(session, workspace_id))
    inside = Tenant(workspace_id, customer_id)
    async with database.transaction() as session:
        (of_customer,) = await emit(session, inside)
    async with database.transaction() as session:
        (of_account,) = await emit(session, member.tenant)
    async with database.transaction() as session:
        page = Page(10)

        async def seen(tenant: Tenant, customer_id: str | None = None) -> list[str]:
            found = await events.page_of_events(session, tenant, page, customer_id=customer_id)
            return [event.id for event in found.rows]

        assert await seen(member.tenant) == [of_account, of_customer]
        assert await seen(member.tenant, "none") == [of_account]
        assert await seen(member.tenant, customer_id) == [of_customer]
        assert await seen(inside) == [of_customer]
        assert await seen(inside, "none") == []
        stranger = (await join(session)).tenant
        assert await seen(stranger) == []
        with pytest.raises(NotFound):
            await events.load_event(session, inside, of_account)
        with pytest.raises(NotFound):
            await events.load_event(session, stranger, of_account)
        assert (await events.load_event(session, member.tenant, of_customer)).id == of_customer


async def test_events_are_readable_for_thirty_days(database: Database, member: Member) -> None:
    async with database.transaction() as session:
        (event_id,) = await emit(session, member.tenant)

    async def later(days: float) -> None:
        async with database.transaction() as session:
            await session.execute(text("update service_clock set shift = shift + :by"), {"by": timedelta(days=days)})

    await later(29.99)
    assert [event.id for event in await newer(database, member.tenant, None)] == [event_id]
    await later(0.02)
    assert await newer(database, member.tenant, None) == []
    async with database.transaction() as session:
        with pytest.raises(NotFound):
            await events.load_event(session, member.tenant, event_id)
