"""Enrolling: what a preview promises is what an execution does, within the caps, in a fixed number of queries."""

import asyncio
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database
from models.base.secrets import Vault
from models.outreach.engine import decide
from models.outreach.engine.enroll import Given
from models.outreach.rules.actions import ActionType, OutreachCap
from models.outreach.rules.caps import CAPS, WorkingHours, gap_after
from models.outreach.rules.sequences import SequenceStep
from models.outreach.store import sequences
from models.outreach.store.sequences import DraftSequence
from models.people.rules.registers import SuppressionReason
from models.people.store import people, suppressions
from tests.interleaving import until_blocked
from tests.models.conftest import Member
from tests.models.outreach.account_world import Accounts
from tests.models.outreach.enrolling_world import Statements, crowd, enrollments, enter, execute, preview
from tests.models.outreach.sending_world import INVITE, MONDAY, VISIT, World

FRIDAY_EVENING = MONDAY + timedelta(days=4, hours=8)
NEW_YEARS_EVE = datetime.fromisoformat("2026-12-31T17:41:00+00:00")
BARE_INVITE = SequenceStep(ActionType.INVITE, "s_bare")


@pytest.fixture
def world(database: Database, vault: Vault, member: Member) -> World:
    return World(database, vault, member)


async def fresh(world: World) -> None:
    """Make the account one that has never written."""
    await world.sql("update outreach_accounts set warmup_started_at = null")


@pytest.mark.parametrize("moment", [MONDAY, FRIDAY_EVENING, NEW_YEARS_EVE])
@pytest.mark.parametrize("steps", [(INVITE,), (BARE_INVITE,), (VISIT, INVITE)], ids=["note", "bare", "visit"])
async def test_an_execution_does_what_a_preview_of_the_same_moment_promised(
    world: World, moment: datetime, steps: tuple[SequenceStep, ...]
) -> None:
    await world.open(*steps, at=moment, daily_pace_limit=9)
    booked, given = await crowd(world, 20), await crowd(world, 70)
    await execute(world, booked)
    now = await world.now()
    promised = await preview(world, given, now)
    assert await preview(world, given, now) == promised
    assert await execute(world, given, now) == promised
    planned = await world.sql(
        "select e.profile_id, a.scheduled_at from enrollments e join actions a on a.enrollment_id = e.id"
    )
    kept = {row.profile_id: row.scheduled_at for row in planned}
    assert {one.profile_id: one.at for one in promised if one.reason is None}.items() <= kept.items()
    assert len(kept) == sum(one.reason is None for one in promised) + len(booked)


async def test_a_fresh_account_takes_what_its_warm_up_allows_of_500_people(world: World) -> None:
    await world.open(INVITE)
    await fresh(world)
    given = await crowd(world, 500)
    promised = await preview(world, given, await world.now())
    done = await execute(world, given)
    for decided in (promised, done):
        scheduled = [one for one in decided if one.reason is None]
        assert 115 <= len(scheduled) <= 155
        skipped = [one for one in decided if one.reason is not None]
        assert {one.reason for one in skipped} <= {cap.value for cap in OutreachCap}
        horizon = MONDAY + timedelta(days=14)
        assert all(one.next_available_at is not None and one.next_available_at > horizon for one in skipped)
        assert all(one.at is not None and one.at <= horizon + timedelta(minutes=1) for one in scheduled)
    await _keeps_gaps_and_days(world)
    told = await world.sql("select cap from cap_notices")
    assert {row.cap for row in told} & {"invites_per_day", "new_outreach_per_day"}


async def _keeps_gaps_and_days(world: World) -> None:
    """Recomputed from the rows alone: gaps, hours, and no day above the defaults."""
    hours = WorkingHours()
    rows = await world.sql("select seed, scheduled_at from actions order by scheduled_at")
    for one, other in pairwise(rows):
        assert other.scheduled_at - one.scheduled_at >= gap_after(one.seed, one.scheduled_at, hours)
    assert all(hours.inside(row.scheduled_at) for row in rows)
    days = Counter(row.scheduled_at.date() for row in rows)
    assert max(days.values()) <= CAPS[OutreachCap.INVITES_PER_DAY].default
    assert days[min(days)] <= 0.4 * CAPS[OutreachCap.INVITES_PER_DAY].default


async def test_a_held_first_step_starts_the_warm_up_and_a_skipped_one_does_not(world: World) -> None:
    await world.open(INVITE, approve_every_message=True)
    await fresh(world)
    (given,) = await crowd(world, 1)
    await execute(world, [Given(profile_id=given.profile_id)])
    assert (await world.sql("select warmup_started_at from outreach_accounts"))[0].warmup_started_at is None
    await execute(world, [given])
    assert (await world.sql("select warmup_started_at from outreach_accounts"))[0].warmup_started_at is not None
    assert [row.status for row in await enrollments(world)] == ["awaiting_approval"]


async def test_the_first_step_waits_its_days_and_may_then_take_fourteen(world: World) -> None:
    await world.open(SequenceStep(ActionType.INVITE, "s_later", wait_days=20))
    (one,) = await execute(world, await crowd(world, 1))
    assert one.at is not None
    assert MONDAY + timedelta(days=20) <= one.at <= MONDAY + timedelta(days=21)


@pytest.mark.parametrize(
    ("step", "approve", "status"),
    [
        (INVITE, False, "scheduled"),
        (SequenceStep(ActionType.INVITE, "s_later", note="Hi {{first_name}}", wait_days=3), False, "scheduled"),
        (INVITE, True, "awaiting_approval"),
    ],
    ids=["at once", "later", "held"],
)
async def test_the_workflow_keeps_what_enrolling_planned(
    world: World, step: SequenceStep, *, approve: bool, status: str
) -> None:
    await world.open(step, approve_every_message=approve)
    (promised,) = await execute(world, await crowd(world, 1))
    planned = await world.sql("select text, outcome, scheduled_at, why, values_hash from actions")
    (enrollment,) = await enrollments(world)
    decision = await world.run(lambda session: decide.decide_send(session, world.writer, enrollment.id))
    assert decision.until == promised.at
    assert await world.sql("select text, outcome, scheduled_at, why, values_hash from actions") == planned
    (after,) = await enrollments(world)
    assert (after.status, after.next_action_at) == (status, promised.at)
    assert after.answered == after.rings


async def test_the_number_of_queries_does_not_depend_on_the_number_of_people(world: World) -> None:
    await world.open(INVITE)
    few, many = await crowd(world, 2), await crowd(world, 200)
    counted = Statements(world.database)
    now = await world.now()
    numbers = []
    for given in (few, many):
        before = counted.count
        await preview(world, given, now)
        numbers.append(counted.count - before)
    assert numbers[0] == numbers[1]
    await execute(world, many)
    before = counted.count
    await preview(world, few, now)
    assert counted.count - before == numbers[0]  # nor on what is booked


async def test_two_equal_concurrent_enrollments_enroll_each_person_once(world: World) -> None:
    await world.open(INVITE)
    given = await crowd(world, 12)
    done = await asyncio.gather(execute(world, given), execute(world, given[::-1]))
    reasons = sorted(min(str(one.reason) for one in each) for each in done)
    assert reasons == ["None", "already_contacted"]
    assert len(await enrollments(world)) == len(given)


async def test_one_person_enters_one_of_two_sequences_at_once(world: World) -> None:
    await world.open(INVITE)
    account_id = await Accounts(world.database, world.member.tenant).made()
    draft = DraftSequence(account_id=account_id, name="Another", steps=[INVITE])
    made = await world.run(lambda s: sequences.add_sequence(s, world.member.tenant, draft, now=MONDAY))
    second = World(world.database, world.vault, world.member, account_id, made.id)
    given = await crowd(world, 1)
    one, other = await asyncio.gather(execute(world, given), execute(second, given))
    assert sorted([str(one[0].reason), str(other[0].reason)]) == ["None", "already_contacted"]
    assert len(await enrollments(world)) == 1


@pytest.mark.parametrize("first", ["suppression", "enrollment"])
async def test_the_first_commit_of_an_enrollment_and_a_suppression_wins(world: World, first: str) -> None:
    await world.open(INVITE)
    (given,) = await crowd(world, 1)
    assert given.profile_id is not None
    profile_id = given.profile_id

    async def forbid(session: AsyncSession) -> None:
        await people.lock_people(session, [profile_id])
        await suppressions.suppress(session, world.member.tenant, profile_id, reason=SuppressionReason.MANUAL)

    second: asyncio.Task[Any]
    async with world.database.transaction() as session:
        if first == "suppression":
            await forbid(session)
            second = asyncio.create_task(execute(world, [given]))
        else:
            await enter(session, world, [given])
            second = asyncio.create_task(world.run(forbid))
        await until_blocked(world.database, second)  # for the person
    await second
    rows = await enrollments(world)
    assert [(row.status, row.reason) for row in rows] == ([] if first == "suppression" else [("stopped", "suppressed")])
    planned = await world.sql("select outcome from actions")
    assert [row.outcome for row in planned] == ([] if first == "suppression" else ["cancelled"])
