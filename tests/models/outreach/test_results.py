"""What came of a call is written once, and says what is next for person, enrollment and account."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database
from models.base.secrets import Vault
from models.base.steps import Do
from models.outreach.engine import actions, inbox, stop
from models.outreach.engine.account_states import AccountStanding
from models.outreach.engine.claim import ClaimedAction
from models.outreach.engine.context import Learned, lock_enrollment_context
from models.outreach.engine.inbox import ChatLine
from models.outreach.engine.plan import OUTREACH_RECONCILE
from models.outreach.engine.record import (
    Again,
    ChannelReading,
    Done,
    Limited,
    NotNeeded,
    RefusedSend,
    Troubled,
    Unclear,
)
from models.outreach.rules.answers import ReadingBack, Seen, Signal
from models.outreach.rules.states import ActionReason
from models.outreach.tables import Enrollment
from models.people.store import people, suppressions
from tests.models.conftest import Member
from tests.models.outreach.sending_world import INVITE, MESSAGE, WITHDRAW, World

Hold = Callable[[World, str], Awaitable[None]]


@pytest.fixture
async def world(database: Database, vault: Vault, member: Member) -> World:
    made = World(database, vault, member)
    await made.open(INVITE, MESSAGE, WITHDRAW)
    return made


async def claim_one(world: World) -> tuple[str, ClaimedAction]:
    enrollment = await world.enroll()
    return enrollment, await world.when_due(enrollment)


async def test_a_result_counts_once_and_only_from_the_holder_of_its_number(world: World) -> None:
    enrollment, claimed = await claim_one(world)
    await world.result(claimed, Again("busy", timedelta(minutes=1)))
    second = await world.when_due(enrollment)
    await world.result(claimed, Done())  # the first call's answer comes late
    assert (await world.last(enrollment)).outcome == "sending"
    await world.result(second, Done())
    await world.result(second, RefusedSend("not_allowed"))
    first = (await world.actions(enrollment))[0]
    assert (first.outcome, first.attempts) == ("sent", 2)
    assert await world.told() == ["action.sent"]


async def test_a_result_that_comes_after_the_call_was_given_up_still_counts(world: World) -> None:
    enrollment, claimed = await claim_one(world)
    await world.later(seconds=140)
    assert (await world.decide(enrollment)).need == OUTREACH_RECONCILE
    await world.result(claimed, Done())
    assert (await world.actions(enrollment))[0].outcome == "sent"


async def test_an_unexecuted_action_is_replanned_with_growing_delay(world: World) -> None:
    enrollment, claimed = await claim_one(world)
    waits = []
    for _ in range(4):
        before = await world.now()
        await world.result(claimed, Again("busy"))
        action = await world.last(enrollment)
        assert action.outcome == "scheduled"
        assert action.not_before is not None
        waits.append(round((action.not_before - before).total_seconds() / 60))
        claimed = await world.when_due(enrollment)
    assert waits == [1, 2, 4, 8]
    assert await world.told() == []


async def test_a_daily_limit_pauses_the_account_until_midnight_and_the_action_goes_out_after_it(world: World) -> None:
    enrollment, claimed = await claim_one(world)
    answer = await world.result(claimed, Limited(Signal.DAILY))
    account = await world.account()
    assert (account.status, account.pause_reason) == ("paused", "daily_limit")
    assert account.paused_until is not None
    assert answer.until is not None
    assert answer.until >= account.paused_until
    assert "account paused" in answer.reason
    assert (await world.last(enrollment)).outcome == "scheduled"
    assert await world.told() == ["account.paused"]


async def test_a_limit_that_leaves_a_doubt_is_read_back_before_anything_is_repeated(world: World) -> None:
    enrollment, claimed = await claim_one(world)
    answer = await world.result(claimed, Limited(Signal.DAILY, doubtful=True))
    assert (await world.last(enrollment)).outcome == "reconciling"
    assert answer.do is Do.WAIT


async def test_the_providers_own_limit_holds_one_kind_of_call_and_no_account(world: World) -> None:
    enrollment, claimed = await claim_one(world)
    answer = await world.result(claimed, Limited(Signal.VENDOR_LIMIT, timedelta(minutes=40)))
    account = await world.account()
    assert (account.status, list(account.holds)) == ("active", ["invite"])
    assert answer.until is not None
    assert answer.until - await world.now() > timedelta(minutes=39)
    assert await world.told() == []
    assert (await world.last(enrollment)).outcome == "scheduled"


@pytest.mark.parametrize(
    ("standing", "status", "event"),
    [
        (AccountStanding.DISCONNECTED, "disconnected", ["account.disconnected"]),
        (AccountStanding.RESTRICTED, "needs_review", ["account.paused"]),
        (AccountStanding.INTERRUPTED, "active", []),
    ],
)
async def test_an_account_in_trouble_holds_what_is_planned(
    world: World, standing: AccountStanding, status: str, event: list[str]
) -> None:
    enrollment, claimed = await claim_one(world)
    answer = await world.result(claimed, Troubled(standing))
    assert (await world.account()).status == status
    assert (await world.last(enrollment)).outcome == "scheduled"
    assert answer.do is Do.WAIT
    assert (answer.until is None) == (status != "active")
    assert await world.told() == event


async def test_three_recently_invited_recipients_in_a_row_are_a_limit_of_the_account(world: World) -> None:
    for number in range(3):
        assert (await world.account()).status == "active", number
        _, claimed = await claim_one(world)
        await world.result(claimed, RefusedSend(ActionReason.RECENTLY_WITHDRAWN.value))
    account = await world.account()
    assert (account.status, account.pause_reason) == ("paused", "daily_limit")


async def test_a_refused_person_ends_the_enrollment_and_leaves_the_account_alone(world: World) -> None:
    enrollment, claimed = await claim_one(world)
    end = await world.result(claimed, RefusedSend("not_found"))
    assert end.do is Do.DONE
    row, action = await world.enrollment(enrollment), await world.last(enrollment)
    assert (action.outcome, action.reason) == ("failed", "not_found")
    assert (row.status, row.reason, row.wake_at) == ("failed", "action_failed", None)
    assert await world.told() == ["action.failed", "enrollment.failed"]
    assert (await world.account()).status == "active"


async def test_a_step_that_is_not_needed_is_passed_over_silently_and_gives_its_place_back(world: World) -> None:
    enrollment, claimed = await claim_one(world)
    await world.result(claimed, NotNeeded(ActionReason.NO_VISIT_TOKEN))
    action = (await world.actions(enrollment))[0]
    assert (action.outcome, action.reason) == ("skipped", "no_visit_token")
    assert "action.failed" not in await world.told()


async def test_a_stop_during_the_call_keeps_its_result_and_sends_nothing_more(world: World) -> None:
    enrollment, claimed = await claim_one(world)
    await world.sql("update enrollments set status = 'stopped', finished_at = service_now(), rings = rings + 1")
    end = await world.result(claimed, Done())
    assert end.do is Do.DONE
    assert [one.outcome for one in await world.actions(enrollment)] == ["sent"]


async def test_a_stop_during_a_call_that_was_not_executed_cancels_it(world: World) -> None:
    enrollment, claimed = await claim_one(world)
    await world.sql("update enrollments set status = 'stopped', finished_at = service_now()")
    end = await world.result(claimed, Again("busy"))
    assert end.do is Do.DONE
    assert (await world.last(enrollment)).outcome == "cancelled"


async def unclear(world: World) -> str:
    enrollment, claimed = await claim_one(world)
    await world.result(claimed, Unclear())
    return enrollment


async def read(world: World, enrollment: str, seen: Seen, **more: Any) -> None:
    """Make the next reading at its time."""
    decision = await world.decide(enrollment)
    if decision.until is not None:
        await world.at(decision.until + timedelta(milliseconds=5))
        decision = await world.decide(enrollment)
    assert decision.need == OUTREACH_RECONCILE
    await world.record(enrollment, decision.number, ChannelReading(ReadingBack(await world.now(), seen), **more))


async def test_an_unclear_invite_is_looked_for_at_one_five_fifteen_and_sixty_minutes(world: World) -> None:
    enrollment = await unclear(world)
    claimed_at = (await world.last(enrollment)).claimed_at
    assert claimed_at is not None
    for _ in range(4):
        await read(world, enrollment, Seen.UNREADABLE)
    action = await world.last(enrollment)
    waits = [datetime.fromisoformat(one["at"]) - claimed_at for one in action.readings]
    assert [round(wait / timedelta(minutes=1)) for wait in waits] == [1, 5, 15, 60]


async def test_a_found_invite_is_sent_with_the_networks_time(world: World) -> None:
    enrollment = await unclear(world)
    at = await world.now()
    await read(world, enrollment, Seen.DONE, done_at=at)
    action = (await world.actions(enrollment))[0]
    assert (action.outcome, action.sent_at, action.attempts) == ("sent", at, 1)
    assert (await world.enrollment(enrollment)).invited_at == at


async def test_an_absent_invite_goes_out_again_only_after_two_readings_and_fifteen_minutes(world: World) -> None:
    enrollment = await unclear(world)
    first_claim = (await world.last(enrollment)).claimed_at
    await read(world, enrollment, Seen.ABSENT)  # before claim + 130 s: does not count
    await read(world, enrollment, Seen.ABSENT)
    assert (await world.last(enrollment)).outcome == "reconciling"
    await read(world, enrollment, Seen.ABSENT)
    assert (await world.last(enrollment)).outcome == "scheduled"
    again = await world.when_due(enrollment)
    assert first_claim is not None
    assert again.claimed_at - first_claim >= timedelta(minutes=15)


async def unknown(world: World) -> str:
    enrollment = await unclear(world)
    for _ in range(4):
        await read(world, enrollment, Seen.UNREADABLE)
    return enrollment


async def test_an_outcome_that_cannot_be_read_back_is_left_to_a_person(world: World) -> None:
    enrollment = await unknown(world)
    row, action = await world.enrollment(enrollment), await world.last(enrollment)
    assert (action.outcome, action.reason) == ("unknown", "outcome_unknown")
    assert (row.status, row.reason, row.wake_at) == ("paused", "outcome_unknown", None)
    assert (await world.event("action.failed")).data["reason"] == "outcome_unknown"
    decision = await world.decide(enrollment)
    assert (decision.do, decision.until) == (Do.WAIT, None)
    await world.later(days=30)
    decision = await world.decide(enrollment)
    assert (decision.do, decision.until) == (Do.WAIT, None)


async def test_an_unclear_action_blocks_only_its_person_and_counts_for_caps(world: World) -> None:
    await world.sql("update outreach_accounts set caps = '{\"invites_per_day\": 2}'")
    await unclear(world)
    second = await world.enroll()
    claimed = await world.when_due(second)
    await world.result(claimed, Done())
    third = await world.enroll()
    decision = await world.decide(third)
    assert decision.until is not None
    assert decision.until.date() > (await world.now()).date()


@pytest.mark.parametrize(
    ("sent", "outcome", "status"), [(True, "sent", "waiting_for_accept"), (False, "failed", "failed")]
)
async def test_a_person_settles_it(world: World, outcome: str, status: str, *, sent: bool) -> None:
    enrollment = await unknown(world)
    action = await world.last(enrollment)
    await world.run(lambda session: actions.settle(session, world.member.tenant, action.id, sent=sent))
    await world.decide(enrollment)
    assert (await world.actions(enrollment))[0].outcome == outcome
    assert (await world.enrollment(enrollment)).status == status


async def pause(world: World, enrollment_id: str) -> None:
    async def work(session: AsyncSession) -> None:
        context = await lock_enrollment_context(session, enrollment_id)
        assert context is not None
        assert context.enrollment is not None
        stop.pause_enrollment_by_hand(context, context.enrollment)

    await world.run(work)


async def owner_writes(world: World, enrollment_id: str) -> None:
    profile_id = (await world.enrollment(enrollment_id)).profile_id
    line = ChatLine("msg_owner", "Hello from me", await world.now(), from_owner=True)
    await world.run(
        lambda session: inbox.take_messages(session, world.account_id, profile_id, "chat", [line], writer=world.writer)
    )


@pytest.mark.parametrize("when", ["while it is read back", "when it is unknown"])
@pytest.mark.parametrize(("hold", "reason"), [(pause, "manual"), (owner_writes, "owner_wrote")])
async def test_settling_an_outcome_ends_no_other_pause(world: World, hold: Hold, reason: str, when: str) -> None:
    enrollment = await unclear(world)
    if when == "while it is read back":
        await hold(world, enrollment)
    for _ in range(4):
        await read(world, enrollment, Seen.UNREADABLE)
    if when == "when it is unknown":
        await hold(world, enrollment)
    action = await world.last(enrollment)
    assert action.outcome == "unknown"
    await world.run(lambda session: actions.settle(session, world.member.tenant, action.id, sent=True))
    decision = await world.decide(enrollment)
    assert (decision.do, decision.until) == (Do.WAIT, None)
    row = await world.enrollment(enrollment)
    assert (row.status, row.reason) == ("paused", reason)


async def test_a_reading_counts_once(world: World) -> None:
    enrollment = await unclear(world)
    await read(world, enrollment, Seen.UNREADABLE)
    await world.record(enrollment, 0, ChannelReading(ReadingBack(await world.now(), Seen.DONE)))
    action = await world.last(enrollment)
    assert (action.outcome, len(action.readings)) == ("reconciling", 1)


@pytest.mark.parametrize("unclear", [False, True])
async def test_a_calls_facts_about_a_person_erased_meanwhile_are_not_stored(world: World, *, unclear: bool) -> None:
    enrollment, claimed = await claim_one(world)

    async def erase(session: AsyncSession) -> None:
        profile_id = (await session.get_one(Enrollment, enrollment)).profile_id
        await people.lock_people(session, [profile_id])
        await suppressions.erase_person(session, world.member.tenant.workspace_id, profile_id)

    await world.run(erase)
    learned = Learned(network_id="ACoJo", connected=False, pending=True)
    if unclear:
        await world.result(claimed, Unclear())
        await world.record(
            enrollment, 0, ChannelReading(ReadingBack(await world.now(), Seen.DONE), learned, message_id="msg_1")
        )
    else:
        await world.result(claimed, Done("msg_1", learned=learned))
    action = (await world.actions(enrollment))[0]
    assert (action.outcome, action.provider_message_id) == ("sent", None)  # caps count it
    assert await world.sql("select 1 from network_people") == []
