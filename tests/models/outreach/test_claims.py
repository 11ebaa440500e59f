"""A claim takes what is due only when nothing is in its way; whatever is gives a new time or an end, never silence."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from models.base.database import Database
from models.base.secrets import Vault
from models.base.steps import Decision, Do
from models.outreach.engine.claim import ClaimedAction
from models.outreach.engine.plan import OUTREACH_SEND
from models.outreach.engine.record import Again, Done
from models.outreach.rules.answers import SENDING_LIVES
from models.outreach.rules.sequences import text_hash
from tests.models.conftest import Member
from tests.models.outreach.sending_world import INVITE, MESSAGE, MONDAY, World


@pytest.fixture
async def world(database: Database, vault: Vault, member: Member) -> World:
    made = World(database, vault, member)
    await made.open(INVITE, MESSAGE)
    return made


async def due(world: World) -> tuple[str, int]:
    """A person whose invite may be claimed now."""
    enrollment = await world.enroll()
    decision = await world.decide(enrollment)
    while decision.until is not None:
        await world.at(decision.until)
        decision = await world.decide(enrollment)
    return enrollment, decision.number


async def moved(world: World, enrollment: str, number: int) -> Decision:
    """The claim is not given; says what is next."""
    answer = await world.claim(enrollment, number)
    assert isinstance(answer, Decision), answer
    assert (await world.last(enrollment)).outcome == "scheduled"
    return answer


async def test_a_claim_notes_all_that_a_reading_back_needs(world: World) -> None:
    enrollment, number = await due(world)
    claimed = await world.claim(enrollment, number)
    assert isinstance(claimed, ClaimedAction)
    action, row = await world.last(enrollment), await world.enrollment(enrollment)
    assert (action.outcome, action.attempts, action.text_fixed) == ("sending", 1, True)
    assert action.text is not None
    assert action.text_hash == text_hash(action.text) == claimed.text_hash
    assert action.claimed_at == claimed.claimed_at
    assert row.wake_at is not None
    assert row.wake_at - claimed.claimed_at >= SENDING_LIVES  # otherwise the dispatcher finds it
    assert (claimed.provider_id, claimed.person) == ("acc_provider", None)
    assert claimed.profile_url == "https://www.linkedin.com/in/person-1"


async def test_an_older_call_does_not_claim_a_replanned_action(world: World) -> None:
    enrollment, number = await due(world)
    claimed = await world.claim(enrollment, number)
    assert isinstance(claimed, ClaimedAction)
    await world.result(claimed, Again("busy", timedelta()))
    decision = await world.decide(enrollment)
    while decision.until is not None:
        await world.at(decision.until)
        decision = await world.decide(enrollment)
    assert isinstance(await world.claim(enrollment, number), Decision)
    assert (await world.last(enrollment)).attempts == 1
    assert isinstance(await world.claim(enrollment, decision.number), ClaimedAction)


async def test_what_is_late_by_a_moment_waits_where_it_stands(world: World) -> None:
    first, number = await due(world)
    claimed = await world.claim(first, number)
    assert isinstance(claimed, ClaimedAction)
    await world.result(claimed, Done())
    others = [await world.enroll() for _ in range(3)]
    for other in others:
        await world.decide(other)
    planned = [(await world.last(other)).scheduled_at for other in others]
    assert planned[0] is not None
    await world.at(planned[0] - timedelta(seconds=1))
    await world.sql(
        "update actions set scheduled_at = service_now(), not_before = null where id = :id",
        id=(await world.last(others[0])).id,
    )
    await world.sql("update actions set ended_at = ended_at + interval '20 seconds' where outcome = 'sent'")
    answer = await moved(world, others[0], (await world.last(others[0])).call_number)
    assert answer.until is not None
    assert planned[1] is not None
    assert answer.until < planned[1]  # not behind all others


async def test_an_unprocessed_callback_of_the_account_makes_it_wait_five_seconds(world: World) -> None:
    enrollment, number = await due(world)
    await world.sql(
        "insert into network_callbacks (id, event_id, type, account_id, failures, due_at, received_at)"
        " values ('ncb_1', 'evt_1', 'message.new', :account, 0, service_now(), service_now())",
        account=world.account_id,
    )
    answer = await moved(world, enrollment, number)
    assert answer.do is Do.WAIT
    assert answer.wait_seconds == 5
    await world.sql("update network_callbacks set processed_at = service_now()")
    await world.later(seconds=5)
    assert isinstance(await world.claim(enrollment), ClaimedAction)


async def test_only_one_action_of_an_account_is_sending(world: World) -> None:
    first, number = await due(world)
    second = await world.enroll()
    assert isinstance(await world.claim(first, number), ClaimedAction)
    await world.sql("update actions set scheduled_at = service_now(), not_before = null where outcome = 'scheduled'")
    answer = await moved(world, second, (await world.last(second)).call_number)
    assert answer.until is not None
    with pytest.raises(IntegrityError, match="uq_actions_sending"):
        await world.sql("update actions set outcome = 'sending' where outcome = 'scheduled'")


async def test_a_sending_older_than_its_call_becomes_reconciling_and_is_woken(world: World) -> None:
    first, number = await due(world)
    claimed = await world.claim(first, number)
    assert isinstance(claimed, ClaimedAction)
    rings = (await world.enrollment(first)).rings
    second, number = await due(world)
    await world.at(claimed.claimed_at + SENDING_LIVES + timedelta(minutes=9))
    assert isinstance(await world.claim(second), ClaimedAction)
    assert (await world.last(first)).outcome == "reconciling"
    assert (await world.enrollment(first)).rings == rings + 1


async def test_the_rest_after_an_action_is_kept_and_named(world: World) -> None:
    first, number = await due(world)
    claimed = await world.claim(first, number)
    assert isinstance(claimed, ClaimedAction)
    await world.result(claimed, Done())
    second = await world.enroll()
    await world.sql("update actions set scheduled_at = service_now() where outcome = 'scheduled'")
    answer = await moved(world, second, (await world.last(second)).call_number)
    assert answer.until is not None
    action = await world.last(second)
    assert {entry["rule"] for entry in action.why} == {"spacing"}
    assert answer.reason.startswith("invite goes out at 30 Nov")
    assert "moved by: spacing" in answer.reason
    sent = await world.last(first)
    assert sent.ended_at is not None
    assert answer.until - sent.ended_at >= timedelta(seconds=45)


@pytest.mark.parametrize(
    ("at", "inside"),
    [
        (datetime(2026, 11, 30, 17, 57, 50, tzinfo=UTC), True),
        (datetime(2026, 11, 30, 17, 58, 10, tzinfo=UTC), False),  # the last 120 seconds before 19:00 in Brussels
        (datetime(2026, 11, 30, 19, 0, tzinfo=UTC), False),
        (datetime(2026, 12, 5, 10, 0, tzinfo=UTC), False),  # Saturday
    ],
)
async def test_nothing_is_claimed_outside_hours_or_in_their_last_moments(
    world: World, at: datetime, *, inside: bool
) -> None:
    enrollment, number = await due(world)
    await world.at(at)
    answer = await world.claim(enrollment, number)
    assert isinstance(answer, ClaimedAction) is inside
    if isinstance(answer, Decision):
        assert answer.until is not None
        assert answer.until.hour == 7
        action = await world.last(enrollment)
        assert (action.outcome, action.why[-1]["rule"]) == ("scheduled", "working_hours")


async def test_a_cap_without_room_moves_it_to_the_next_day_and_is_reported_once(world: World) -> None:
    await world.sql("update outreach_accounts set caps = '{\"invites_per_day\": 1}'")
    first, number = await due(world)
    claimed = await world.claim(first, number)
    assert isinstance(claimed, ClaimedAction)
    await world.result(claimed, Done())
    await world.later(minutes=30)
    for _ in range(2):
        other = await world.enroll()
        await world.sql("update actions set scheduled_at = service_now() where outcome = 'scheduled'")
        answer = await moved(world, other, (await world.last(other)).call_number)
        assert answer.until is not None
        assert answer.until.date() == MONDAY.date() + timedelta(days=1)
    told = await world.event("outreach.cap_reached")
    assert told.data["cap"] == "invites_per_day"


async def test_a_cap_of_zero_lets_it_wait_without_a_time_until_it_changes(world: World) -> None:
    enrollment, number = await due(world)
    await world.sql("update outreach_accounts set caps = '{\"invites_per_day\": 0}'")
    answer = await moved(world, enrollment, number)
    assert (answer.need, (await world.last(enrollment)).scheduled_at) == (Do.WAIT, None)
    assert (await world.enrollment(enrollment)).wake_at is None
    await world.sql("update outreach_accounts set caps = '{}'")
    assert isinstance(await world.when_due(enrollment), ClaimedAction)


async def test_its_own_reservation_does_not_take_its_place(world: World) -> None:
    await world.sql("update outreach_accounts set caps = '{\"invites_per_day\": 1}'")
    enrollment, number = await due(world)
    assert isinstance(await world.claim(enrollment, number), ClaimedAction)


async def test_a_person_contacted_meanwhile_is_skipped(world: World) -> None:
    enrollment, number = await due(world)
    await world.sql("update seen_entries set contacted_at = contacted_at - interval '3 days'")
    answer = await world.claim(enrollment, number)
    assert isinstance(answer, Decision)
    action = (await world.actions(enrollment))[0]
    assert (action.outcome, action.reason) == ("skipped", "already_contacted")


async def test_a_person_without_an_address_is_skipped(world: World) -> None:
    enrollment, number = await due(world)
    await world.sql("update person_keys set value = null where kind = 'url'")
    await world.claim(enrollment, number)
    action = (await world.actions(enrollment))[0]
    assert (action.outcome, action.reason) == ("skipped", "not_found")


UNPAID = (
    "insert into outreach_plans (id, workspace_id, rings, answered, charged, past_due, failures, created_at,"
    " unpaid_since) select id, id, 0, 0, 0, false, 0, service_now(), service_now() - interval '{days} days'"
    " from workspaces"
    " on conflict (id) do update set unpaid_since = excluded.unpaid_since"
)
HOLDS: list[tuple[str, dict[str, Any]]] = [
    ("update enrollments set status = 'paused', reason = 'manual'", {}),
    ("update sequences set status = 'paused'", {}),
    ("update sequences set status = 'archived'", {}),
    ("update outreach_accounts set status = 'paused', pause_reason = 'manual'", {}),
    ("update outreach_accounts set status = 'needs_review', pause_reason = 'restricted'", {}),
    ("update outreach_accounts set status = 'disconnected', pause_reason = 'disconnected'", {}),
    ("update outreach_accounts set trouble = 'interrupted', trouble_since = service_now()", {}),
    ("update workspaces set suspended_at = service_now()", {}),
    (UNPAID.format(days=15), {}),
    ("update outreach_accounts set status='paused', pause_reason='daily_limit', paused_until=:at", {"at": MONDAY}),
]


@pytest.mark.parametrize("number", range(len(HOLDS)))
async def test_whatever_holds_the_account_sequence_or_enrollment_holds_the_claim(world: World, number: int) -> None:
    enrollment, call = await due(world)
    statement, values = HOLDS[number]
    if "at" in values:
        values = {"at": await world.now() + timedelta(hours=20)}
    await world.sql(statement, **values)
    answer = await moved(world, enrollment, call)
    assert answer.do is Do.WAIT
    assert answer.reason
    assert (await world.last(enrollment)).attempts == 0


async def test_a_disabled_customer_holds_its_sends_until_it_is_active_again(
    database: Database, vault: Vault, inside: Member
) -> None:
    world = World(database, vault, inside)
    await world.open(INVITE, MESSAGE)
    enrollment, call = await due(world)
    await world.sql("update customers set status = 'disabled'")
    assert (await moved(world, enrollment, call)).reason
    await world.sql("update customers set status = 'active'")
    await world.when_due(enrollment)
    assert (await world.last(enrollment)).attempts == 1


async def test_an_account_that_is_unpaid_for_less_than_the_grace_goes_on(world: World) -> None:
    enrollment, call = await due(world)
    await world.sql(UNPAID.format(days=13))
    assert not isinstance(await world.claim(enrollment, call), Decision)
    assert (await world.last(enrollment)).attempts == 1


async def test_a_paused_sequence_holds_and_goes_on_from_now_when_it_is_active_again(world: World) -> None:
    enrollment, call = await due(world)
    await world.sql("update sequences set status = 'paused'")
    await moved(world, enrollment, call)
    row = await world.enrollment(enrollment)
    assert (row.status, row.reason, row.next_action_at) == ("paused", "sequence_paused", None)
    await world.later(days=3)
    await world.sql("update sequences set status = 'active'")
    again = await world.decide(enrollment)
    row = await world.enrollment(enrollment)
    assert (row.status, row.reason) == ("scheduled", None)
    planned = (await world.last(enrollment)).scheduled_at
    assert planned is not None
    assert planned >= await world.now() - timedelta(seconds=5)
    assert again.need in {Do.WAIT, OUTREACH_SEND}


@pytest.mark.parametrize(
    ("statement", "status", "reason"),
    [
        ("update seen_entries set do_not_contact = true", "stopped", "do_not_contact"),
        ("update outreach_accounts set status = 'removed'", "failed", "account_removed"),
        (
            "insert into suppressions (id, key_hash, profile_id, reason, created_at)"
            " select 'sup_1', hash, profile_id, 'opt_out', service_now() from person_keys where kind = 'url'",
            "stopped",
            "suppressed",
        ),
    ],
)
async def test_a_forbidden_recipient_is_dropped_at_the_claim_too(
    world: World, statement: str, status: str, reason: str
) -> None:
    enrollment, number = await due(world)
    await world.sql(statement)
    answer = await world.claim(enrollment, number)
    assert isinstance(answer, Decision)
    assert answer.do is Do.DONE
    row, action = await world.enrollment(enrollment), await world.last(enrollment)
    assert (row.status, row.reason, action.outcome, action.reason) == (status, reason, "cancelled", reason)
    assert "enrollment.failed" in await world.told()


async def test_an_edited_text_is_rendered_again_until_it_is_claimed(world: World) -> None:
    enrollment, _ = await due(world)
    await world.sql(
        "update sequences set steps = jsonb_set(steps, '{0,note}', cast(:note as jsonb))",
        note='"Hello {{first_name}}."',
    )
    claimed = await world.claim_one(enrollment)
    assert claimed.text == "Hello Jo."


async def test_a_step_taken_away_is_cancelled_and_the_next_one_follows(world: World) -> None:
    enrollment, number = await due(world)
    await world.sql("update sequences set steps = steps - 0")
    await world.claim(enrollment, number)
    first = (await world.actions(enrollment))[0]
    assert (first.outcome, first.reason) == ("cancelled", "step_removed")


@pytest.mark.usefixtures("database_limits")
async def test_a_busy_account_is_not_waited_for_longer_than_two_seconds(world: World) -> None:
    enrollment, number = await due(world)
    async with world.database.transaction() as session:
        await session.execute(text("select 1 from outreach_accounts for update"))
        with pytest.raises(Exception, match="lock timeout"):
            await world.claim(enrollment, number)
