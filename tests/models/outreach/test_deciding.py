"""An enrollment's next step is decided from its rows: planned, held, skipped, waited for, or at its end."""

from datetime import timedelta

import pytest

from models.base import outbox
from models.base.database import Database
from models.base.secrets import Vault
from models.base.steps import Do
from models.outreach.engine.context import Learned
from models.outreach.engine.record import Done
from tests.models.conftest import Member
from tests.models.outreach.sending_world import FOLLOW_UP, INVITE, MESSAGE, WITHDRAW, World


@pytest.fixture
def world(database: Database, vault: Vault, member: Member) -> World:
    return World(database, vault, member)


async def invited(world: World) -> str:
    enrollment = await world.enroll()
    claimed = await world.when_due(enrollment)
    await world.result(claimed, Done(learned=Learned(network_id="ACo1", connected=False, pending=True)))
    return enrollment


async def accept(world: World, enrollment_id: str) -> None:
    row = await world.enrollment(enrollment_id)
    await world.sql(
        "update network_people set relation = 'connected', connected_at = service_now() where profile_id = :id",
        id=row.profile_id,
    )
    await world.sql("update enrollments set accepted_at = service_now() where id = :id", id=enrollment_id)


async def test_a_planned_invite_is_rendered_sent_and_the_next_step_waits_for_acceptance(world: World) -> None:
    await world.open(INVITE, MESSAGE, WITHDRAW)
    enrollment = await world.enroll()
    claimed = await world.when_due(enrollment)
    assert claimed.text == "Hi Jo, glad to meet you."
    assert (await world.enrollment(enrollment)).status == "active"
    after = await world.result(claimed, Done(learned=Learned(network_id="ACo1", connected=False, pending=True)))
    assert after.do is Do.WAIT
    assert after.reason.startswith("waits for acceptance until 21 Dec")
    row = await world.enrollment(enrollment)
    assert (row.status, row.wake_at, row.current_step) == ("waiting_for_accept", after.until, 0)
    assert row.invited_at is not None
    sent = await world.last(enrollment)
    assert (sent.outcome, sent.attempts) == ("sent", 1)
    assert await world.told() == ["action.sent"]


async def test_an_acceptance_brings_the_message_a_day_later_and_then_the_end(world: World) -> None:
    await world.open(INVITE, MESSAGE)
    enrollment = await invited(world)
    await world.later(days=2)
    await accept(world, enrollment)
    claimed = await world.when_due(enrollment)
    assert (claimed.text, claimed.person) == ("Hi Jo!", "ACo1")
    end = await world.result(claimed, Done("m1", learned=Learned(chat_id="c1")))
    assert end.do is Do.DONE
    row = await world.enrollment(enrollment)
    assert (row.status, row.reason, row.wake_at) == ("completed", None, None)
    assert await world.told() == ["action.sent", "action.sent", "enrollment.completed"]


async def test_without_acceptance_the_messages_are_skipped_and_the_invite_is_withdrawn(world: World) -> None:
    await world.open(INVITE, MESSAGE, FOLLOW_UP, WITHDRAW)
    enrollment = await invited(world)
    claimed = await world.when_due(enrollment)
    assert claimed.type == "withdraw_invite"
    skipped = (await world.actions(enrollment))[1:3]
    assert [(one.outcome, one.reason) for one in skipped] == [("skipped", "accept_timeout")] * 2
    assert await world.now() - (await world.enrollment(enrollment)).invited_at > timedelta(days=21)  # type: ignore[operator]  # it is set
    await world.result(claimed, Done())
    known = await world.known((await world.enrollment(enrollment)).profile_id)
    assert known.relation == "none"
    assert known.withdrawn_at is not None


async def test_the_dispatcher_knows_account_and_sequence_of_whom_it_starts(world: World) -> None:
    await world.open(INVITE)
    enrollment = await world.enroll()
    rows = await world.run(lambda session: outbox.rows_due(session, limit=10))
    (row,) = [one for one in rows if one.subject.id == enrollment]
    assert (row.sequence_id, row.account_id) == (world.sequence_id, world.account_id)
    await world.decide(enrollment)
    assert [one for one in await world.run(lambda session: outbox.rows_due(session, limit=10)) if one == row] == []


async def test_an_operator_reads_why_it_waits(world: World) -> None:
    await world.open(INVITE, MESSAGE)
    first = await world.enroll()
    claimed = await world.when_due(first)
    await world.result(claimed, Done())
    await world.sql("update actions set seed = :seed", seed="act_01jd3v8k5xe9q8w2r7t6y5u4p1")  # it rests for 139 s
    second = await world.enroll()
    planned = await world.decide(second)
    assert planned.reason.startswith("invite goes out at 30 Nov 10:")
    assert planned.reason.endswith("moved by: spacing")
    assert planned.details is not None
    assert "- moved: spacing to 30 Nov 10:" in planned.details
    assert "**scheduled**" in planned.details
    assert "Jo" not in planned.details + planned.reason
