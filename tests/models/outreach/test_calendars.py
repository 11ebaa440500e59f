"""Calendars: what counts on which day, for whom, and that limits and calendar count the same."""

import random
from datetime import datetime, timedelta
from typing import Any

import pytest

from models.base.database import Database
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.tenants import Tenant
from models.outreach.rules.actions import OutreachCap
from models.outreach.rules.caps import WEEK_DAYS, WEEKLY, monday, utc_day
from models.outreach.rules.slots import Calendar, Pause
from models.outreach.store import accounts, calendars
from models.outreach.tables import Action
from tests.models.conftest import Member
from tests.models.outreach.account_world import Accounts
from tests.models.outreach.enrolling_world import crowd, execute
from tests.models.outreach.sending_world import INVITE, MONDAY, World

WEDNESDAY = MONDAY + timedelta(days=2)
TODAY = utc_day(WEDNESDAY)
ACTIVE = {"status": "active"}


@pytest.fixture
async def world(database: Database, vault: Vault, member: Member) -> World:
    made = World(database, vault, member)
    await made.open(INVITE, at=WEDNESDAY)
    return made


async def act(world: World, at: datetime, *, account_id: str | None = None, **given: Any) -> str:
    """An action of the account: done, or planned where its outcome says so."""
    profile_id = await world.person()
    async with world.database.transaction() as session:
        account = await accounts.lock_account_by_id(session, account_id or world.account_id)
        planned = given.get("outcome") in ("scheduled", "awaiting_approval")
        times: dict[str, Any] = {"scheduled_at": at}
        if not planned:
            times = {"claimed_at": at, "ended_at": at, "outcome": "sent"}
        values: dict[str, Any] = {"type": "invite", "text": "Hi", "first_touch": True} | times | given
        action_id = new_id("act", WEDNESDAY)
        row = Action(
            id=action_id,
            workspace_id=account.tenant.workspace_id,
            tenant_id=account.tenant.id,
            seed=action_id,
            account_id=account.account.id,
            profile_id=profile_id,
            created_at=WEDNESDAY,
            **values,
        )
        session.add(row)
        return action_id


async def load(world: World, **how: Any) -> Calendar:
    async with world.database.transaction() as session:
        return await calendars.load_calendar(
            session, await accounts.lock_account_by_id(session, world.account_id), **how
        )


async def test_done_and_booked_actions_count_and_the_others_do_not(world: World) -> None:
    await act(world, WEDNESDAY)
    await act(world, WEDNESDAY + timedelta(hours=1), outcome="scheduled")
    await act(world, WEDNESDAY, outcome="awaiting_approval")
    await act(world, WEDNESDAY, outcome="skipped")
    await act(world, WEDNESDAY, outcome="refused")
    await world.sql("update actions set scheduled_at = null where outcome = 'awaiting_approval'")
    timeless = await act(world, WEDNESDAY, outcome="scheduled")
    await world.sql("update actions set scheduled_at = null where id = :id", id=timeless)
    assert (await load(world)).used_on(OutreachCap.INVITES_PER_DAY, TODAY) == 2
    assert (await load(world, used_only=True)).used_on(OutreachCap.INVITES_PER_DAY, TODAY) == 1


async def test_an_actions_own_place_can_be_left_out(world: World) -> None:
    own = await act(world, WEDNESDAY + timedelta(hours=1), outcome="scheduled")
    assert (await load(world)).used_on(OutreachCap.INVITES_PER_DAY, TODAY) == 1
    assert (await load(world, without=own)).used_on(OutreachCap.INVITES_PER_DAY, TODAY) == 0


async def test_a_result_on_another_day_than_its_claim_counts_on_both(world: World) -> None:
    midnight = WEDNESDAY.replace(hour=0)
    await act(world, midnight - timedelta(minutes=3), ended_at=midnight + timedelta(minutes=1))
    calendar = await load(world)
    assert calendar.used_on(OutreachCap.INVITES_PER_DAY, TODAY) == 1
    assert calendar.used_on(OutreachCap.INVITES_PER_DAY, TODAY - timedelta(days=1)) == 1
    week = sum(
        calendar.used_on(OutreachCap.INVITES_PER_WEEK, monday(TODAY) + timedelta(days=n)) for n in range(WEEK_DAYS)
    )
    assert week == 1


async def test_what_is_overdue_will_count_today(world: World) -> None:
    await act(world, WEDNESDAY - timedelta(days=1), outcome="scheduled")
    calendar = await load(world)
    assert calendar.used_on(OutreachCap.INVITES_PER_DAY, TODAY) == 1
    assert calendar.used_on(OutreachCap.INVITES_PER_DAY, TODAY - timedelta(days=1)) == 0


async def test_what_the_network_account_did_elsewhere_counts_here(world: World) -> None:
    elsewhere = Tenant("ws_other")
    old = await Accounts(world.database, elsewhere).made(tenant=elsewhere, status="removed", network_user_id="ACoOwner")
    await act(world, WEDNESDAY, account_id=old)
    await act(world, WEDNESDAY + timedelta(hours=1), account_id=old, outcome="scheduled")
    assert (await load(world)).used_on(OutreachCap.INVITES_PER_DAY, TODAY) == 1


async def test_an_erased_text_still_counts_as_an_invite_with_a_note(world: World) -> None:
    await act(world, WEDNESDAY, text="")
    assert (await load(world)).used_on(OutreachCap.INVITES_WITHOUT_NOTE_PER_WEEK, TODAY) == 0
    await act(world, WEDNESDAY, text=None)
    assert (await load(world)).used_on(OutreachCap.INVITES_WITHOUT_NOTE_PER_WEEK, TODAY) == 1


@pytest.mark.parametrize(
    ("account", "pause"),
    [
        (ACTIVE, None),
        ({"status": "paused", "paused_until": None}, Pause(None)),
        ({"status": "paused", "paused_until": WEDNESDAY + timedelta(days=1)}, Pause(WEDNESDAY + timedelta(days=1))),
        ({"status": "paused", "paused_until": WEDNESDAY - timedelta(days=1)}, None),
        ({"status": "needs_review"}, Pause(None)),
        ({"status": "disconnected"}, Pause(None)),
    ],
)
async def test_an_account_rests_until_the_end_of_its_pause(
    world: World, account: dict[str, Any], pause: Pause | None
) -> None:
    await world.sql(
        "update outreach_accounts set status = :status, paused_until = :until",
        status=account["status"],
        until=account.get("paused_until"),
    )
    assert (await load(world)).pause == pause


async def test_accounts_of_a_tenant_share_new_outreach_and_keep_each_other_a_share(world: World) -> None:
    other = await Accounts(world.database, world.member.tenant).made()
    idle = await Accounts(world.database, world.member.tenant).made()
    await act(world, WEDNESDAY, account_id=other)
    await act(world, WEDNESDAY + timedelta(days=1), account_id=other, outcome="scheduled")
    await act(world, WEDNESDAY, account_id=other, first_touch=False)
    calendar = await load(world)
    neighbours = {one.caps.account_id: one for one in calendar.neighbours}
    assert neighbours.keys() == {other, idle}
    assert dict(neighbours[other].new_outreach) == {TODAY: 1, TODAY + timedelta(days=1): 1}
    assert (neighbours[other].competes, neighbours[idle].competes) == (True, False)
    assert calendar.used_on(OutreachCap.NEW_OUTREACH_PER_DAY, TODAY) == 0


async def test_an_account_competes_while_a_person_of_its_sequences_has_no_message_yet(world: World) -> None:
    first = world.account_id
    await execute(world, await crowd(world, 1))
    await world.sql("update actions set first_touch = false, type = 'profile_visit'")  # the invite comes later
    world.account_id = await Accounts(world.database, world.member.tenant).made()
    assert [one.competes for one in (await load(world)).neighbours] == [True]
    await world.sql("update enrollments set invited_at = service_now() where account_id = :id", id=first)
    assert [one.competes for one in (await load(world)).neighbours] == [False]


@pytest.mark.parametrize("seed", range(3))
async def test_limits_and_calendar_count_the_same(world: World, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(25):
        outcome = chance.choice(["sent", "unknown", "reconciling", "scheduled", "scheduled", "skipped"])
        hours = chance.randint(-80, 80) if outcome == "scheduled" else chance.randint(-80, -1)
        at = WEDNESDAY + timedelta(hours=hours)
        kind = chance.choice(["invite", "invite", "profile_visit", "message", "withdraw_invite"])
        given: dict[str, Any] = {"outcome": outcome, "type": kind, "first_touch": False}
        given |= {"text": chance.choice(["Hi", None]) if kind == "invite" else None}
        given |= {"first_touch": chance.random() < 0.5} if kind in ("invite", "message") else {}
        await act(world, at, **given)
    async with world.database.transaction() as session:
        held = await accounts.lock_account_by_id(session, world.account_id)
        usage = (await calendars.usage(session, [held.account], held.now))[world.account_id]
        calendar = await calendars.load_calendar(session, held)
    for cap in OutreachCap:
        days = [monday(TODAY) + timedelta(days=n) for n in range(WEEK_DAYS)] if cap in WEEKLY else [TODAY]
        counted = usage.counts[cap].used + usage.counts[cap].reserved
        assert sum(calendar.used_on(cap, day) for day in days) == counted, cap
