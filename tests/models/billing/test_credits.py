"""The ledger: exact under concurrency, soonest expiry first, caps that hold."""

import asyncio
from datetime import datetime, timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database, service_time
from models.billing.rules.prices import CreditCharge
from models.billing.store import credits
from tests.models.conftest import Member


async def spend(database: Database, member: Member, reference: str, amount: int) -> int:
    """Spend up to `amount`, as a run does: as much as is available."""

    async def work(session: AsyncSession) -> int:
        purse = await credits.open_spending_limit(session, member.payer)
        paid = min(amount, purse.available)
        await purse.spend([CreditCharge(reference, "lead", "run_1", paid)])
        return paid

    return await database.run(work)


async def sums(database: Database, member: Member) -> list[tuple[int, int, int]]:
    """Per grant: granted, entries, remaining."""
    async with database.transaction() as session:
        rows = await session.execute(
            text(
                "select g.granted_credits, sum(l.credits)::int, g.remaining_credits"
                " from grants g join ledger_entries l on l.grant_id = g.id"
                " where g.workspace_id = :w group by g.id order by g.expires_at"
            ),
            {"w": member.tenant.workspace_id},
        )
        return [tuple(row) for row in rows]


async def test_100_concurrent_spends_never_overdraw_and_the_entries_sum_to_what_remains(
    database: Database, member: Member
) -> None:
    paid = await asyncio.gather(*(spend(database, member, f"r{n}", 17) for n in range(100)))
    assert sum(paid) == 1250
    for granted, entries, remaining in await sums(database, member):
        assert (entries, remaining) == (0, 0)
        assert granted == 1250


async def top_up(session: AsyncSession, member: Member, *, expires_at: datetime) -> int:
    """Ten credits under one reference."""
    return await credits.grant_credits(
        session,
        workspace_id=member.tenant.workspace_id,
        source="top_up",
        reference="pay_1",
        credits=10,
        expires_at=expires_at,
    )


async def test_the_grant_that_expires_soonest_pays_first(database: Database, member: Member) -> None:
    async def add(session: AsyncSession) -> None:
        soon = await service_time(session) + timedelta(days=3)
        await top_up(session, member, expires_at=soon)

    await database.run(add)
    await spend(database, member, "r", 12)
    assert await sums(database, member) == [(10, 0, 0), (1250, 1248, 1248)]


async def test_the_same_reference_grants_once_even_ten_at_a_time(database: Database, member: Member) -> None:
    async def add(session: AsyncSession) -> int:
        later = await service_time(session) + timedelta(days=3)
        return await top_up(session, member, expires_at=later)

    added = await asyncio.gather(*(database.run(add) for _ in range(10)))
    assert sorted(added) == [0] * 9 + [10]


async def test_the_same_charge_is_never_paid_twice(database: Database, member: Member) -> None:
    await spend(database, member, "lead:prof_1", 1)
    with pytest.raises(Exception, match="uq_ledger_entries"):
        await spend(database, member, "lead:prof_1", 1)
    async with database.transaction() as session:
        assert await credits.balance(session, member.tenant.workspace_id) == 1249


async def test_a_daily_cap_binds_the_key_and_leaves_the_next_day_free(database: Database, member: Member) -> None:
    async with database.transaction() as session:
        await session.execute(text("update api_keys set daily_cap_credits = 50"))
    paid = await asyncio.gather(*(spend(database, member, f"r{n}", 7) for n in range(20)))
    assert sum(paid) == 50
    async with database.transaction() as session:
        await session.execute(text("update service_clock set shift = interval '1 day'"))
    assert await spend(database, member, "next-day", 7) == 7


async def test_expired_credits_cannot_be_spent_and_expire_with_an_entry_once(
    database: Database, member: Member
) -> None:
    async with database.transaction() as session:
        await session.execute(text("update service_clock set shift = interval '31 days'"))
    assert await spend(database, member, "late", 5) == 0
    assert await database.run(credits.expire_grants) == 1
    assert await database.run(credits.expire_grants) == 0
    assert await sums(database, member) == [(1250, 0, 0)]


async def capped(database: Database, *, key: int | None, customer: int | None) -> None:
    async with database.transaction() as session:
        await session.execute(text("update api_keys set daily_cap_credits = :cap"), {"cap": key})
        await session.execute(text("update customers set daily_cap_credits = :cap"), {"cap": customer})


async def test_200_concurrent_charges_at_the_edge_of_a_cap_take_exactly_what_it_leaves(
    database: Database, member: Member, inside: Member
) -> None:
    await capped(database, key=1000, customer=100)
    payers = [inside, member] * 100
    paid = await asyncio.gather(*(spend(database, payer, f"r{n}", 7) for n, payer in enumerate(payers)))
    assert sum(paid[::2]) == 100
    assert sum(paid[1::2]) == 700
    assert await spend(database, member, "more", 1000) == 200
    async with database.transaction() as session:
        for subject, spent in ((inside.tenant.id, 100), (member.api_key_id, 1000), (member.tenant.id, 1000)):
            assert await credits.spent_today(session, subject) == spent
        assert await credits.balance(session, member.tenant.id) == 250


async def move_to(database: Database, moment: datetime) -> None:
    async with database.transaction() as session:
        move = text("update service_clock set shift = shift + (cast(:moment as timestamptz) - service_now())")
        await session.execute(move, {"moment": moment})


async def test_a_cap_holds_until_the_end_of_its_utc_day_and_resets_at_midnight(
    database: Database, member: Member
) -> None:
    await capped(database, key=50, customer=None)
    async with database.transaction() as session:
        midnight = credits.caps_reset_at(await service_time(session))
    await move_to(database, midnight - timedelta(seconds=30))
    assert await spend(database, member, "before", 80) == 50
    assert await spend(database, member, "still", 1) == 0
    async with database.transaction() as session:
        assert credits.caps_reset_at(await service_time(session)) == midnight
    await move_to(database, midnight)
    paid = await asyncio.gather(*(spend(database, member, f"after{n}", 20) for n in range(5)))
    assert sum(paid) == 50
    async with database.transaction() as session:
        assert credits.caps_reset_at(await service_time(session)) == midnight + timedelta(days=1)


async def test_two_runs_that_race_for_the_last_credit_do_not_both_get_it(database: Database, member: Member) -> None:
    await spend(database, member, "most", 1249)
    assert sorted(await asyncio.gather(*(spend(database, member, f"last{n}", 1) for n in range(2)))) == [0, 1]
