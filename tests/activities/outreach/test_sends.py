"""What is due is done once on the network, whatever the worker, the wire or the network does meanwhile."""

import asyncio
import itertools
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from activities.outreach.inbox import NetworkInbox
from activities.upstream.unipile.network import UnipileNetwork
from models.base.steps import Do
from models.outreach.engine import actions, claim
from models.outreach.engine.actions import DraftSend
from models.outreach.engine.claim import ClaimedAction
from models.outreach.rules.actions import ActionType
from models.outreach.rules.sequences import SequenceStep
from tests.activities.outreach.sending import Stage
from tests.models.outreach.sending_world import FOLLOW_UP, INVITE, MESSAGE, VISIT, WITHDRAW

GREETING = SequenceStep(ActionType.MESSAGE, "s_only", body="Hello {{first_name}}")

pytestmark = pytest.mark.timeout(120)


async def test_a_sequence_goes_from_invite_to_message_and_ends(sending: Stage) -> None:
    await sending.connect(VISIT, INVITE, MESSAGE, FOLLOW_UP)
    profile, person = await sending.stranger()
    enrollment = await sending.enroll(profile)
    waits = await sending.drive(enrollment, until=timedelta(days=2))
    assert waits.reason.startswith("waits for acceptance")
    sending.far.act("accept", person)
    await sending.sql("update network_people set relation = 'connected', connected_at = service_now()")
    await sending.sql("update enrollments set accepted_at = service_now()")
    end = await sending.drive(enrollment)
    assert end.do is Do.DONE
    assert sending.written() == [
        ("visit", person, None),
        ("invite", person, "Hi Jo, glad to meet you."),
        ("message", person, "Hi Jo!"),
        ("message", person, "Still there?"),
    ]
    assert (await sending.enrollment(enrollment)).status == "completed"
    assert (await sending.known(profile)).network_id == person


async def test_an_invite_without_acceptance_is_withdrawn(sending: Stage) -> None:
    await sending.connect(INVITE, MESSAGE, WITHDRAW)
    profile, _ = await sending.stranger()
    end = await sending.drive(await sending.enroll(profile))
    assert end.do is Do.DONE
    assert [kind for kind, _, _ in sending.written()] == ["invite", "withdraw"]
    assert (await sending.known(profile)).withdrawn_at is not None


async def test_a_person_already_connected_is_not_invited_and_counts_as_accepted(sending: Stage) -> None:
    await sending.connect(INVITE, MESSAGE)
    profile, person = await sending.stranger()
    sending.far.tie(person, "connected")
    enrollment = await sending.enroll(profile)
    await sending.drive(enrollment)
    first, second = await sending.actions(enrollment)
    assert (first.outcome, first.reason, second.outcome) == ("skipped", "already_connected", "sent")
    assert [kind for kind, _, _ in sending.written()] == ["message"]
    assert "invite.accepted" not in await sending.told()


async def test_an_invite_of_the_owner_stands_for_ours(sending: Stage) -> None:
    await sending.connect(INVITE, MESSAGE)
    profile, person = await sending.stranger()
    sending.far.tie(person, "pending")
    enrollment = await sending.enroll(profile)
    await sending.drive(enrollment, until=timedelta(days=1))
    first = (await sending.actions(enrollment))[0]
    assert (first.outcome, first.reason) == ("skipped", "already_invited")
    assert sending.written() == []
    row = await sending.enrollment(enrollment)
    assert row.status == "waiting_for_accept"
    assert row.invited_at is not None


async def test_a_frozen_worker_sends_nothing(sending: Stage) -> None:
    await sending.connect(INVITE)
    profile, _ = await sending.stranger()
    enrollment = await sending.enroll(profile)
    call = await sending.until_call(enrollment)
    await sending.act(enrollment, call, worker=sending.worker(sleeps=10.5))
    assert sending.written() == []
    action = await sending.last(enrollment)
    assert (action.outcome, action.attempts) == ("scheduled", 1)
    await sending.drive(enrollment)
    assert len(sending.written()) == 1


async def test_a_worker_that_slept_less_sends(sending: Stage) -> None:
    await sending.connect(INVITE)
    profile, _ = await sending.stranger()
    enrollment = await sending.enroll(profile)
    call = await sending.until_call(enrollment)
    await sending.act(enrollment, call, worker=sending.worker(sleeps=9.5))
    assert len(sending.written()) == 1


async def test_two_workers_with_the_same_enrollment_send_once(sending: Stage) -> None:
    await sending.connect(INVITE)
    profile, _ = await sending.stranger()
    enrollment = await sending.enroll(profile)
    call = await sending.until_call(enrollment)
    again = await sending.ask(enrollment)
    assert again.call is not None
    await asyncio.gather(*(sending.act(enrollment, one) for one in (call, again.call, again.call)))
    assert len(sending.written()) == 1
    assert (await sending.last(enrollment)).attempts == 1


async def test_a_call_made_again_after_its_claim_does_nothing(sending: Stage) -> None:
    await sending.connect(INVITE)
    profile, _ = await sending.stranger()
    enrollment = await sending.enroll(profile)
    call = await sending.until_call(enrollment)
    await sending.act(enrollment, call)
    await sending.act(enrollment, call)
    assert len(sending.written()) == 1


async def killed_after_claim(sending: Stage, enrollment: str) -> ClaimedAction:
    """The worker dies between claim and call."""
    call = await sending.until_call(enrollment)
    claimed = await sending.run(lambda session: claim.claim_action(session, sending.writer, enrollment, call.number))
    assert isinstance(claimed, ClaimedAction)
    return claimed


async def test_a_kill_between_claim_and_call_is_read_back_and_sent_once(sending: Stage) -> None:
    await sending.connect(INVITE)
    profile, _ = await sending.stranger()
    enrollment = await sending.enroll(profile)
    claimed = await killed_after_claim(sending, enrollment)
    waits = await sending.ask(enrollment)
    assert waits.do is Do.WAIT
    assert 125 < (waits.wait_seconds or 0) < 132
    await sending.drive(enrollment)
    assert len(sending.written()) == 1
    action = await sending.last(enrollment)
    assert (action.outcome, action.attempts) == ("sent", 2)
    assert action.claimed_at is not None
    assert action.claimed_at - claimed.claimed_at >= timedelta(minutes=15)


async def test_a_kill_between_call_and_result_is_read_back_and_never_repeated(
    sending: Stage, network: UnipileNetwork
) -> None:
    await sending.connect(INVITE)
    profile, person = await sending.stranger()
    enrollment = await sending.enroll(profile)
    claimed = await killed_after_claim(sending, enrollment)
    await network.invite(claimed.provider_id, person, claimed.text)
    await sending.drive(enrollment)
    assert len(sending.written()) == 1
    action = await sending.last(enrollment)
    assert (action.outcome, action.attempts) == ("sent", 1)
    assert (await sending.told()).count("action.sent") == 1


async def test_a_withdrawal_that_died_is_not_said_to_be_done_when_the_person_has_accepted(sending: Stage) -> None:
    await sending.connect(INVITE, WITHDRAW)
    profile, person = await sending.stranger()
    enrollment = await sending.enroll(profile)
    await sending.act(enrollment, await sending.until_call(enrollment))
    claimed = await killed_after_claim(sending, enrollment)
    assert claimed.type is ActionType.WITHDRAW_INVITE
    sending.far.act("accept", person)
    end = await sending.drive(enrollment)
    assert end.do is Do.DONE
    action = await sending.last(enrollment)
    assert (action.outcome, action.reason) == ("skipped", "invite_not_pending")
    assert [kind for kind, _, _ in sending.written()] == ["invite"]
    assert (await sending.known(profile)).relation == "connected"
    assert "invite.accepted" in await sending.told()


@pytest.mark.parametrize("fault", ["timeout", "server_error", "connection_lost", "truncated_json"])
async def test_a_lost_answer_after_execution_is_reconciled(sending: Stage, fault: str) -> None:
    await sending.connect(INVITE)
    profile, _ = await sending.stranger()
    enrollment = await sending.enroll(profile)
    more = {"latency_ms": 50} if fault == "timeout" else {}
    sending.far.order("users/invite", fault, count=1, after_execution=True, **more)
    await sending.drive(enrollment)
    assert len(sending.written()) == 1
    assert (await sending.last(enrollment)).outcome == "sent"


async def test_an_account_that_is_busy_while_the_call_ends_does_not_lose_its_result(sending: Stage) -> None:
    await sending.connect(INVITE)
    profile, _ = await sending.stranger()
    enrollment = await sending.enroll(profile)
    call = await sending.until_call(enrollment)
    sending.far.order("users/invite", "latency", count=1, latency_ms=1500)
    calling = asyncio.create_task(sending.act(enrollment, call))
    for _ in range(100):
        if (await sending.last(enrollment)).outcome == "sending":
            break
        await asyncio.sleep(0.02)
    async with sending.database.transaction() as session:
        await session.execute(text("select 1 from outreach_accounts for update"))
        await asyncio.sleep(5)
    await calling
    action = await sending.last(enrollment)
    assert (action.outcome, action.attempts) == ("sent", 1)


async def test_a_lost_message_is_found_in_the_chat(sending: Stage) -> None:
    await sending.connect(GREETING)
    profile, person = await sending.stranger()
    sending.far.tie(person, "connected")
    enrollment = await sending.enroll(profile)
    sending.far.order("chats/send", "server_error", count=1, after_execution=True)
    await sending.drive(enrollment)
    assert [text for _, _, text in sending.written()] == ["Hello Jo"]
    action = await sending.last(enrollment)
    assert (action.outcome, action.attempts) == ("sent", 1)
    assert action.provider_message_id is not None


async def test_an_invite_that_was_not_executed_goes_out_once_more(sending: Stage) -> None:
    await sending.connect(INVITE)
    profile, _ = await sending.stranger()
    enrollment = await sending.enroll(profile)
    sending.far.order("users/invite", "server_error", count=1)
    await sending.drive(enrollment)
    assert len(sending.written()) == 1
    assert (await sending.last(enrollment)).attempts == 2


async def test_a_reply_without_a_callback_is_found_before_the_message(sending: Stage) -> None:
    await sending.connect(INVITE, MESSAGE, FOLLOW_UP)
    profile, person = await sending.stranger()
    enrollment = await sending.enroll(profile)
    await sending.drive(enrollment, until=timedelta(hours=12))
    sending.far.act("accept", person)
    await sending.sql("update network_people set relation = 'connected', connected_at = service_now()")
    await sending.sql("update enrollments set accepted_at = service_now()")
    await sending.later(hours=1)
    sending.far.act("reply", person, text="Tell me more")
    end = await sending.drive(enrollment)
    assert end.do is Do.DONE
    assert [kind for kind, _, _ in sending.written()] == ["invite"]
    row = await sending.enrollment(enrollment)
    assert (row.status, row.reason) == ("replied", None)
    assert row.replied_at is not None
    last = await sending.last(enrollment)
    assert (last.outcome, last.reason) == ("cancelled", "replied")
    assert (await sending.account()).rings > 0  # it reads its chats


async def test_the_owners_own_message_holds_the_enrollment_until_it_is_resumed(sending: Stage) -> None:
    await sending.connect(INVITE, MESSAGE, FOLLOW_UP)
    profile, person = await sending.stranger()
    enrollment = await sending.enroll(profile)
    await sending.drive(enrollment, until=timedelta(hours=12))
    sending.far.act("accept", person)
    await sending.sql("update network_people set relation = 'connected', connected_at = service_now()")
    await sending.sql("update enrollments set accepted_at = service_now()")
    sending.far.act("owner_message", person, text="It is me")
    await sending.drive(enrollment)
    row = await sending.enrollment(enrollment)
    assert (row.status, row.reason) == ("paused", "owner_wrote")
    assert (await sending.last(enrollment)).outcome == "cancelled"
    assert [kind for kind, _, _ in sending.written()] == ["invite"]
    await sending.sql("update enrollments set status = 'active', reason = null")
    end = await sending.drive(enrollment)
    assert end.do is Do.DONE
    assert [text for kind, _, text in sending.written() if kind == "message"] == ["Still there?"]


async def test_an_erased_persons_lost_message_is_still_recognised(sending: Stage) -> None:
    await sending.connect(GREETING)
    profile, person = await sending.stranger()
    sending.far.tie(person, "connected")
    enrollment = await sending.enroll(profile)
    sending.far.order("chats/send", "server_error", count=1, after_execution=True)
    call = await sending.until_call(enrollment)
    await sending.act(enrollment, call)
    await sending.sql("update actions set text = ''")
    await sending.sql("update enrollments set status = 'stopped', finished_at = service_now()")
    await sending.drive(enrollment)
    assert (await sending.last(enrollment)).outcome == "sent"


async def direct(sending: Stage, type: ActionType, profile_id: str, written: str | None = None) -> str:
    """Queue a direct send, as the API does."""
    tenant = sending.member.tenant

    async def work(session: AsyncSession) -> str:
        draft = DraftSend(sending.account_id, type, profile_id, written, {"first_name": "Jo"})
        planned = await actions.prepare_send(session, sending.writer, tenant, draft, api_key_id=None)
        return actions.queue_send(session, planned).id

    return await sending.run(work)


async def test_direct_sends_go_out_once_each_with_a_rest_between_them(sending: Stage) -> None:
    await sending.connect(INVITE)
    first, person = await sending.stranger()
    second, other = await sending.stranger(1)
    sending.far.tie(other, "connected")
    visit = await direct(sending, ActionType.PROFILE_VISIT, first)
    invite = await direct(sending, ActionType.INVITE, first, "Hi {{first_name}}")
    message = await direct(sending, ActionType.MESSAGE, second, "Hello {{first_name}}")
    for subject in (visit, invite, message):
        end = await sending.drive(subject)
        assert end.do is Do.DONE
    assert sending.written() == [("visit", person, None), ("invite", person, "Hi Jo"), ("message", other, "Hello Jo")]
    done = [await sending.action(one) for one in (visit, invite, message)]
    times = [one.sent_at for one in done if one.sent_at is not None]
    assert all(later - earlier >= timedelta(seconds=45) for earlier, later in itertools.pairwise(times))
    assert [one.wake_at for one in done] == [None] * 3
    assert await sending.told() == ["action.sent"] * 3


async def test_a_direct_message_is_not_sent_over_a_reply_that_came_meanwhile(sending: Stage) -> None:
    await sending.connect(INVITE)
    profile, person = await sending.stranger()
    sending.far.tie(person, "connected")
    message = await direct(sending, ActionType.MESSAGE, profile, "Hello")
    await sending.later(seconds=5)
    sending.far.act("reply", person, text="I was about to write")
    await sending.drive(message)
    assert sending.written() == []
    action = await sending.action(message)
    assert (action.outcome, action.reason) == ("refused", "replied")
    assert await sending.told() == ["action.failed"]


async def test_a_cancelled_direct_send_is_not_made(sending: Stage) -> None:
    await sending.connect(INVITE)
    profile, _ = await sending.stranger()
    visit = await direct(sending, ActionType.PROFILE_VISIT, profile)
    call = await sending.until_call(visit)
    await sending.run(lambda session: actions.cancel_send(session, sending.member.tenant, visit))
    end = await sending.act(visit, call)
    assert end.do is Do.DONE
    assert sending.written() == []


async def test_an_acceptance_and_a_reply_are_taken_over_from_the_network(
    sending: Stage, network: UnipileNetwork
) -> None:
    await sending.connect(INVITE, MESSAGE, FOLLOW_UP)
    profile, person = await sending.stranger()
    enrollment = await sending.enroll(profile)
    await sending.drive(enrollment, until=timedelta(hours=12))
    inbox = NetworkInbox(sending.database, network, sending.vault, public_url="https://svc.example")
    sending.far.act("accept", person)
    await inbox.read_invites(sending.account_id, sending.far.account)
    await inbox.read_invites(sending.account_id, sending.far.account)
    row = await sending.enrollment(enrollment)
    assert row.accepted_at is not None
    assert (await sending.told()).count("invite.accepted") == 1
    await sending.drive(enrollment, until=timedelta(days=3))
    assert [kind for kind, _, _ in sending.written()] == ["invite", "message"]
    sending.far.act("reply", person, text="Tell me more")
    await inbox.read_chats(sending.account_id, sending.far.account, None)
    end = await sending.drive(enrollment)
    assert end.do is Do.DONE
    assert (await sending.enrollment(enrollment)).status == "replied"
    assert len(sending.written()) == 2


async def test_our_own_messages_and_notes_are_no_news(sending: Stage, network: UnipileNetwork) -> None:
    await sending.connect(INVITE, MESSAGE, FOLLOW_UP)
    profile, person = await sending.stranger()
    enrollment = await sending.enroll(profile)
    await sending.drive(enrollment, until=timedelta(hours=12))
    inbox = NetworkInbox(sending.database, network, sending.vault, public_url="https://svc.example")
    sending.far.act("accept", person)
    await inbox.read_chats(sending.account_id, sending.far.account, None)
    await sending.drive(enrollment, until=timedelta(days=3))
    await inbox.read_chats(sending.account_id, sending.far.account, None)
    assert (await sending.enrollment(enrollment)).status == "active"
    end = await sending.drive(enrollment)
    assert end.do is Do.DONE
    assert (await sending.enrollment(enrollment)).status == "completed"
