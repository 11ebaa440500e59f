"""What runs and credits tell: an event in the transaction of the change, once, with ids, statuses and counts only."""

import asyncio
import random
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.access.tables import Customer
from models.base.database import Database, service_time
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.tenants import Tenant
from models.billing.engine import callbacks
from models.billing.store import credits
from models.operate import housekeeping
from models.sourcing import store as sourcing_store
from models.sourcing.engine import decide
from models.sourcing.engine.decide import RUN_READ_PAGE
from models.sourcing.store import RunBudget
from tests.models.billing.test_credits import spend
from tests.models.conftest import Member
from tests.models.sourcing.run_world import World


@pytest.fixture
def world(database: Database, vault: Vault, member: Member) -> World:
    return World(database, vault, member, "w")


async def told(database: Database) -> list[tuple[str, str, dict[str, Any]]]:
    """Type, tenant and data of every event, oldest first."""
    async with database.transaction() as session:
        rows = await session.execute(text("select type, tenant_id, data from events order by created_at"))
        return [tuple(row) for row in rows]


async def duty(database: Database, name: str) -> None:
    await database.run(housekeeping.ensure_duties)
    await database.run(lambda session: housekeeping.do(session, name))


async def top_up(database: Database, member: Member, amount: int, *, reference: str, days: int = 60) -> None:
    async def work(session: AsyncSession) -> None:
        await credits.grant_credits(
            session,
            workspace_id=member.tenant.workspace_id,
            source="top_up",
            reference=reference,
            credits=amount,
            expires_at=await service_time(session) + timedelta(days=days),
        )

    await database.run(work)


async def test_a_completed_run_emits_an_event_with_its_counts(world: World) -> None:
    run = await world.drive(await world.start(target=60))
    ended = {
        "run_id": run.id,
        "plan_id": run.plan_id,
        "status": "completed",
        "stop_reason": "finish",
        "candidates": 60,
        "spent_credits": 180,
    }
    assert await told(world.database) == [("run.completed", world.member.tenant.id, ended)]


@pytest.mark.parametrize("seed", range(3))
async def test_a_run_emits_its_event_once_whatever_crashes_and_repeats(world: World, seed: int) -> None:
    await world.drive(await world.start(target=60), chaos=random.Random(seed))
    assert [kind for kind, _, _ in await told(world.database)] == ["run.completed"]


async def test_each_extension_emits_an_event_when_it_ends(world: World) -> None:
    run = await world.drive(await world.start(target=30))
    async with world.database.transaction() as session:
        await sourcing_store.raise_bounds(
            session,
            world.member.tenant,
            run.id,
            api_key_id=world.member.api_key_id,
            add_target=20,
            add_budget=RunBudget(),
        )
    await world.drive(run.id)
    assert [data["candidates"] for _, _, data in await told(world.database)] == [30, 50]


async def test_a_run_without_an_audience_is_reported_as_completed_without_a_reason(world: World) -> None:
    world.tiers = (0, 0)
    await world.drive(await world.start())
    ((kind, _, data),) = await told(world.database)
    assert (kind, data["status"], data["stop_reason"]) == ("run.completed", "completed_no_audience", None)


async def test_a_cancelled_and_a_failed_run_emit_events(world: World, database: Database) -> None:
    cancelled = await world.start()
    async with database.transaction() as session:
        await sourcing_store.request_cancellation(session, world.member.tenant, cancelled)
    await world.drive(cancelled)
    failed = await world.start()
    decision = await database.run(lambda session: decide.decide_run(session, failed))
    assert decision.need == RUN_READ_PAGE
    async with database.transaction() as session:
        await decide.unusable(session, failed, decision.number, final=True)
    assert [(kind, data["run_id"], data["status"]) for kind, _, data in await told(database)] == [
        ("run.cancelled", cancelled, "aborted"),
        ("run.failed", failed, "failed"),
    ]


async def test_a_customers_run_emits_its_event_to_the_customer(
    database: Database, vault: Vault, member: Member
) -> None:
    async with database.transaction() as session:
        now = await service_time(session)
        customer = Customer(id=new_id("cus", now), workspace_id=member.tenant.workspace_id, name="C", created_at=now)
        session.add(customer)
    inside = Member(Tenant(member.tenant.workspace_id, customer.id), member.api_key_id)
    world = World(database, vault, inside, "c")
    await world.drive(await world.start())
    assert [(kind, tenant) for kind, tenant, _ in await told(database)] == [("run.completed", customer.id)]


async def test_credits_low_is_emitted_on_crossing_and_once_for_each_newest_grant(
    database: Database, member: Member
) -> None:
    await spend(database, member, "a", 1000)  # 250 left: not below the threshold
    assert await told(database) == []
    await spend(database, member, "b", 1)
    await spend(database, member, "c", 9)
    ((kind, tenant, data),) = await told(database)
    assert (kind, tenant) == ("credits.low", member.tenant.workspace_id)
    assert (data["balance_credits"], data["threshold_credits"]) == (249, 250)
    await top_up(database, member, 100, reference="pay_1")  # 340
    await spend(database, member, "d", 100)
    await top_up(database, member, 5, reference="pay_2")  # 245: no crossing follows
    await spend(database, member, "e", 5)
    grants = [data["grant_id"] for _, _, data in await told(database)]
    assert len(grants) == len(set(grants)) == 2


async def test_a_second_crossing_under_the_same_newest_grant_emits_no_event(database: Database, member: Member) -> None:
    await spend(database, member, "a", 1001)
    async with database.transaction() as session:
        await session.execute(text("update workspaces set low_balance_credits = 100"))
    await spend(database, member, "b", 200)  # from 249 to 49
    assert [data["balance_credits"] for _, _, data in await told(database)] == [249]


async def test_credits_low_is_emitted_once_by_a_hundred_concurrent_spends(database: Database, member: Member) -> None:
    await asyncio.gather(*(spend(database, member, f"r{n}", 17) for n in range(100)))
    assert [kind for kind, _, _ in await told(database)] == ["credits.low"]


async def test_a_balance_that_falls_because_credits_expire_is_low_too(database: Database, member: Member) -> None:
    await top_up(database, member, 100, reference="pay_1")
    async with database.transaction() as session:
        await session.execute(text("update service_clock set shift = shift + interval '31 days'"))
    await duty(database, "expiry")
    ((kind, _, data),) = await told(database)
    assert (kind, data["balance_credits"]) == ("credits.low", 100)


async def test_a_balance_that_falls_because_a_purchase_was_refunded_is_low_too(
    database: Database, member: Member
) -> None:
    await top_up(database, member, 100, reference="pay_1")
    await spend(database, member, "a", 1050)  # 300 left
    await database.run(lambda session: callbacks.take_back_purchase(session, member.tenant.workspace_id, "pay_1"))
    ((kind, _, data),) = await told(database)
    assert (kind, data["balance_credits"]) == ("credits.low", 200)


async def test_credits_expiring_is_emitted_once_for_each_grant_within_seven_days(
    database: Database, member: Member
) -> None:
    await top_up(database, member, 40, reference="soon", days=6)
    await top_up(database, member, 50, reference="later", days=8)
    await duty(database, "expiry")
    await duty(database, "expiry")
    assert [(kind, data["credits"]) for kind, _, data in await told(database)] == [("credits.expiring", 40)]
    async with database.transaction() as session:
        await session.execute(text("update service_clock set shift = shift + interval '25 hours'"))
    await duty(database, "expiry")
    assert [data["credits"] for _, _, data in await told(database)] == [40, 50]
    assert set((await told(database))[0][2]) == {"grant_id", "credits", "expires_at"}


async def test_credits_expiring_is_not_emitted_for_a_grant_without_credits(database: Database, member: Member) -> None:
    await spend(database, member, "all", 1250)
    async with database.transaction() as session:
        await session.execute(text("update service_clock set shift = shift + interval '25 days'"))
    await duty(database, "expiry")
    assert "credits.expiring" not in [kind for kind, _, _ in await told(database)]


async def test_events_and_deliveries_are_removed_after_thirty_days(
    database: Database, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(housekeeping, "BATCH", 2)
    for n in range(5):
        await top_up(database, member, 40, reference=f"soon {n}", days=6)
    await duty(database, "expiry")
    assert len(await told(database)) == 5
    async with database.transaction() as session:
        await session.execute(
            text(
                "insert into deliveries (id, workspace_id, tenant_id, event_id, event_type, endpoint_id, generation,"
                " status, single, made, attempts, created_at, rings, answered)"
                " select 'dlv_' || id, workspace_id, tenant_id, id, type, 'whe_1', 0, 'failed', false, 6, '[]',"
                " created_at, 1, 1 from events"
            )
        )
        await session.execute(text("update service_clock set shift = shift + interval '30 days 1 second'"))
    await duty(database, "retention")
    async with database.transaction() as session:
        assert await session.scalar(text("select count(*) from events")) == 0
        assert await session.scalar(text("select count(*) from deliveries")) == 0
