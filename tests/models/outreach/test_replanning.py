"""An account's plan is recomputed once in its old order, and enrollments that become due earlier are woken."""

import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database
from models.base.secrets import Vault
from models.outreach.engine import account_states, account_steps
from models.outreach.rules.answers import Signal
from models.outreach.store import accounts
from models.outreach.tables import Action
from tests.models.conftest import Member
from tests.models.outreach.sending_world import INVITE, World

PEOPLE = 12


@pytest.fixture
async def world(database: Database, member: Member, vault: Vault) -> World:
    """Twelve people enrolled one after the other, each with a time."""
    made = World(database, vault, member)
    await made.open(INVITE)
    for _ in range(PEOPLE):
        await made.decide(await made.enroll())
    return made


async def planned(world: World) -> list[Action]:
    """In the order in which they were enrolled."""
    rows = await world.sql("select id from enrollments order by position")
    return [await world.last(row.id) for row in rows]


async def next_step(world: World) -> None:
    await world.run(lambda session: account_steps.decide_account(session, world.account_id))


async def replanned(world: World) -> None:
    async def ask(session: AsyncSession) -> None:
        held = await accounts.lock_account_by_id(session, world.account_id)
        account_states.ask_replanning(held)

    await world.run(ask)
    await next_step(world)


def times(actions: list[Action]) -> list[datetime]:
    return [one.scheduled_at for one in actions if one.scheduled_at is not None]


async def capped(world: World, value: int | None) -> None:
    caps = "{}" if value is None else json.dumps({"invites_per_day": value})
    change = "update outreach_accounts set caps = cast(:caps as jsonb) where id = :id"
    await world.sql(change, caps=caps, id=world.account_id)


async def woken(world: World) -> int:
    return len(await world.sql("select id from enrollments where rings > answered"))


async def test_without_a_change_nothing_moves_and_no_enrollment_is_woken(world: World) -> None:
    before = times(await planned(world))
    await replanned(world)
    assert times(await planned(world)) == before
    assert await woken(world) == 0


async def test_a_network_pause_moves_what_lies_before_its_end_behind_it_with_its_gaps(world: World) -> None:
    async def pause(session: AsyncSession) -> None:
        held = await accounts.lock_account_by_id(session, world.account_id)
        await account_states.limit_reached(session, held, Signal.WEEKLY)

    await world.run(pause)
    await next_step(world)
    until = (await world.account()).paused_until
    assert until is not None
    after = times(await planned(world))
    assert len(after) == PEOPLE
    assert min(after) >= until
    assert all(later - earlier >= timedelta(seconds=45) for earlier, later in pairwise(sorted(after)))
    assert await woken(world) == 0, "a later time wakes no enrollment"


async def test_a_higher_cap_moves_times_forward_and_wakes_those_enrollments(world: World) -> None:
    await world.sql(
        "update outreach_accounts set caps = '{\"invites_per_day\": 2}' where id = :id", id=world.account_id
    )
    await replanned(world)
    slow = times(await planned(world))
    assert max(sum(1 for at in slow if at.date() == day) for day in {at.date() for at in slow}) <= 2
    await capped(world, None)
    await replanned(world)
    fast = times(await planned(world))
    assert fast == sorted(fast)
    assert fast[-1] < slow[-1]
    assert await woken(world) == sum(1 for before, after in zip(slow, fast, strict=True) if after < before)


async def test_a_cap_of_zero_leaves_no_time_and_lifting_it_gives_times_in_the_old_order(world: World) -> None:
    await capped(world, 0)
    await replanned(world)
    assert times(await planned(world)) == []
    await capped(world, None)
    await replanned(world)
    after = times(await planned(world))
    assert len(after) == PEOPLE
    assert after == sorted(after)
    assert await woken(world) == PEOPLE


async def test_other_working_hours_hold_for_what_is_planned(world: World) -> None:
    await world.sql(
        "update outreach_settings set time_zone = 'America/Los_Angeles', end_hour = 12 where tenant_id = :id",
        id=world.member.tenant.id,
    )
    await replanned(world)
    for at in times(await planned(world)):
        assert 16 <= at.astimezone(UTC).hour < 20, "8 to 12 in Los Angeles"


async def test_a_held_enrollment_gets_no_time(world: World) -> None:
    (row, *_) = await world.sql("select id from enrollments order by position")
    await world.sql("update enrollments set status = 'paused', reason = 'manual' where id = :id", id=row.id)
    await world.sql("update actions set scheduled_at = null where enrollment_id = :id", id=row.id)
    await replanned(world)
    assert (await world.last(row.id)).scheduled_at is None
    assert len(times(await planned(world))) == PEOPLE - 1
