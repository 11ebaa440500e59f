"""What the network tells of chats and relations: read afresh, kept once, and only of people who were written to."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from activities.outreach.calls import NetworkChannel
from activities.outreach.inbox import NetworkInbox
from activities.upstream.unipile.network import UnipileNetwork
from models.base.steps import Do
from models.outreach.engine.record import Heard
from models.outreach.rules.callbacks import Callback, read_callback
from models.people.rules.registers import SuppressionReason
from models.people.store import people, suppressions
from tests.activities.outreach.sending import Stage
from tests.models.outreach.sending_world import FOLLOW_UP, INVITE, MESSAGE

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def inbox(sending: Stage, network: UnipileNetwork) -> NetworkInbox:
    return NetworkInbox(sending.database, network, sending.vault, public_url="https://svc.example")


def event(stage: Stage, type: str, **payload: Any) -> Callback:
    """A callback as the provider sends it."""
    made = {"id": f"evt_{uuid4().hex}", "type": type, "account_id": stage.far.account, "payload": payload}
    return read_callback(json.dumps(made).encode())


async def chat_of(stage: Stage, person: str) -> str:
    assert stage.network is not None
    chat = await stage.network.chat_with(stage.far.account, person)
    assert chat is not None
    return chat.id


async def arrives(stage: Stage, inbox: NetworkInbox, person: str, **payload: Any) -> None:
    """A callback says that there is a message in the chat with the person."""
    called = event(stage, "message.new", chat_id=await chat_of(stage, person), **payload)
    await inbox.arrived(stage.account_id, stage.far.account, called)


async def invited(stage: Stage) -> tuple[str, str, str]:
    """A person with a pending invite: enrollment, the service's id and the network's id."""
    await stage.connect(INVITE, MESSAGE, FOLLOW_UP)
    profile, person = await stage.stranger()
    enrollment = await stage.enroll(profile)
    await stage.drive(enrollment, until=timedelta(hours=12))
    assert [kind for kind, _, _ in stage.written()] == ["invite"]
    return enrollment, profile, person


async def kept(stage: Stage) -> list[tuple[str, str, str | None]]:
    rows = await stage.sql("select direction, sent_by, text from messages order by sent_at, id")
    return [(row.direction, row.sent_by, row.text) for row in rows]


async def test_a_reply_is_stored_reported_once_and_ends_the_enrollment(sending: Stage, inbox: NetworkInbox) -> None:
    enrollment, profile, person = await invited(sending)
    sending.far.act("accept", person)
    await inbox.read_invites(sending.account_id, sending.far.account)
    await sending.drive(enrollment, until=timedelta(days=3))
    sending.far.act("reply", person, text="Tell me more")
    for _ in range(3):
        await arrives(sending, inbox, person, id="msg_any")
    assert ("in", "candidate", "Tell me more") in await kept(sending)
    assert {mark for mark in await kept(sending) if mark[0] == "out"} == {
        ("out", "service", "Hi Jo, glad to meet you."),
        ("out", "service", "Hi Jo!"),
    }
    told = await sending.told()
    assert (told.count("reply.received"), told.count("invite.accepted")) == (1, 1)
    row = await sending.enrollment(enrollment)
    assert (row.status, row.replied_at is not None, row.next_action_at) == ("replied", True, None)
    (conversation,) = await sending.sql("select * from conversations")
    assert (conversation.profile_id, conversation.enrollment_id) == (profile, enrollment)
    told_of = (await sending.event("reply.received")).data
    assert (told_of["conversation_id"], told_of["enrollment_id"]) == (conversation.id, enrollment)
    (seen,) = await sending.sql("select status from seen_entries where profile_id = :id", id=profile)
    assert seen.status == "replied"
    before = len(sending.written())
    assert (await sending.drive(enrollment)).do is Do.DONE
    assert len(sending.written()) == before


async def test_a_reply_before_the_acceptance_event_implies_acceptance_which_is_reported_once(
    sending: Stage, inbox: NetworkInbox
) -> None:
    enrollment, profile, person = await invited(sending)
    sending.far.act("accept", person)
    sending.far.act("reply", person, text="Hello")
    await arrives(sending, inbox, person)
    for named in ({"user_id": person}, {"user": {"public_identifier": sending.slug_of(person)}}):
        await inbox.arrived(sending.account_id, sending.far.account, event(sending, "relation.new", **named))
    await inbox.read_invites(sending.account_id, sending.far.account)
    assert (await sending.told()).count("invite.accepted") == 1
    row = await sending.enrollment(enrollment)
    assert row.accepted_at is not None
    assert (await sending.known(profile)).relation == "connected"


async def test_an_acceptance_is_believed_only_when_the_network_shows_it(sending: Stage, inbox: NetworkInbox) -> None:
    enrollment, _, person = await invited(sending)
    hint = event(sending, "relation.request.accept", user_id=person)
    await inbox.arrived(sending.account_id, sending.far.account, hint)
    assert (await sending.enrollment(enrollment)).accepted_at is None
    sending.far.act("accept", person)
    await inbox.arrived(sending.account_id, sending.far.account, hint)
    assert (await sending.enrollment(enrollment)).accepted_at is not None
    assert (await sending.told()).count("invite.accepted") == 1


async def test_the_note_of_an_accepted_invite_is_an_acceptance_and_holds_nothing(
    sending: Stage, inbox: NetworkInbox
) -> None:
    enrollment, _, person = await invited(sending)
    sending.far.act("accept", person)
    await arrives(sending, inbox, person)
    row = await sending.enrollment(enrollment)
    assert row.accepted_at is not None
    assert row.status != "paused"
    assert await kept(sending) == [("out", "service", "Hi Jo, glad to meet you.")]
    assert "reply.received" not in await sending.told()


async def test_the_owners_own_message_is_kept_holds_the_enrollment_and_is_no_reply(
    sending: Stage, inbox: NetworkInbox
) -> None:
    enrollment, _, person = await invited(sending)
    sending.far.act("accept", person)
    sending.far.act("owner_message", person, text="Shall we call?")
    await arrives(sending, inbox, person)
    row = await sending.enrollment(enrollment)
    assert (row.status, row.reason) == ("paused", "owner_wrote")
    assert ("out", "owner", "Shall we call?") in await kept(sending)
    assert "reply.received" not in await sending.told()
    await sending.drive(enrollment)
    assert [kind for kind, _, _ in sending.written() if kind == "message"] == []
    await sending.sql("update enrollments set status = 'active', reason = null")
    await arrives(sending, inbox, person)  # heard already: it holds nothing a second time
    assert (await sending.enrollment(enrollment)).status == "active"


def counted(call: Callable[..., Any], made: list[str]) -> Callable[..., Any]:
    """The same call, noted when it is made."""

    def noted(*arguments: Any, **named: Any) -> Any:
        made.append(call.__name__)
        return call(*arguments, **named)

    return noted


async def test_chats_with_other_people_are_not_read(
    sending: Stage, inbox: NetworkInbox, network: UnipileNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    await invited(sending)
    stranger = sending.far.person(5)
    sending.far.tie(stranger, "connected")
    sending.far.act("reply", stranger, text="Private words")
    read: list[str] = []
    for name in ("messages", "person"):
        monkeypatch.setattr(network, name, counted(getattr(network, name), read))
    await arrives(sending, inbox, stranger)
    await inbox.arrived(sending.account_id, sending.far.account, event(sending, "relation.new", user_id=stranger))
    await inbox.read_chats(sending.account_id, sending.far.account, None)
    assert read == []
    assert await kept(sending) == []
    assert await sending.sql("select 1 from network_people where network_id = :id", id=stranger) == []


async def test_a_lost_callback_is_made_good_by_the_step_and_the_words_by_the_poll(
    sending: Stage, inbox: NetworkInbox
) -> None:
    enrollment, _, person = await invited(sending)
    sending.far.act("accept", person)
    await inbox.read_invites(sending.account_id, sending.far.account)
    sending.far.act("reply", person, text="Who are you?")
    end = await sending.drive(enrollment, until=timedelta(days=5))
    assert end.do is Do.DONE
    assert [kind for kind, _, _ in sending.written()] == ["invite"]
    assert (await sending.enrollment(enrollment)).status == "replied"
    assert "reply.received" not in await sending.told()
    for _ in range(2):
        await inbox.read_chats(sending.account_id, sending.far.account, None)
    assert (await sending.told()).count("reply.received") == 1
    assert ("in", "candidate", "Who are you?") in await kept(sending)


async def test_a_message_without_an_id_from_the_network_is_recognised_by_its_text(
    sending: Stage, inbox: NetworkInbox
) -> None:
    enrollment, _, person = await invited(sending)
    sending.far.act("accept", person)
    await inbox.read_invites(sending.account_id, sending.far.account)
    sending.far.order("chats/send", "message_id_null")
    sending.far.order("messages/send", "message_id_null")
    await sending.drive(enrollment, until=timedelta(days=3))
    await arrives(sending, inbox, person)
    assert ("out", "service", "Hi Jo!") in await kept(sending)
    assert (await sending.enrollment(enrollment)).status != "paused"


async def test_an_event_that_names_no_chat_has_the_new_chats_read(sending: Stage, inbox: NetworkInbox) -> None:
    _, _, person = await invited(sending)
    sending.far.act("accept", person)
    sending.far.act("reply", person, text="Yes?")
    made = {"id": "evt_1", "type": "message.new", "account_id": sending.far.account, "payload": {"id": "msg_1"}}
    made["created_at"] = (await sending.now()).isoformat()
    await inbox.arrived(sending.account_id, sending.far.account, read_callback(json.dumps(made).encode()))
    assert ("in", "candidate", "Yes?") in await kept(sending)


async def test_nothing_is_stored_or_reported_about_a_suppressed_person(sending: Stage, inbox: NetworkInbox) -> None:
    _, profile, person = await invited(sending)
    sending.far.act("accept", person)

    async def suppress(session: Any) -> None:
        await people.lock_people(session, [profile])
        await suppressions.suppress(session, sending.member.tenant, profile, reason=SuppressionReason.MANUAL)

    await sending.run(suppress)
    sending.far.act("reply", person, text="Leave me alone")
    await arrives(sending, inbox, person)
    await inbox.read_chats(sending.account_id, sending.far.account, None)
    assert await kept(sending) == []
    assert "reply.received" not in await sending.told()


async def test_a_person_whom_the_network_cannot_show_does_not_block_other_replies(
    sending: Stage, inbox: NetworkInbox
) -> None:
    _, _, person = await invited(sending)
    sending.far.act("accept", person)
    sending.far.act("reply", person, text="Hi there")
    sending.far.order("users/get", "provider_error", type="provider/resource_not_found", status=404)
    await inbox.read_chats(sending.account_id, sending.far.account, None)
    assert ("in", "candidate", "Hi there") in await kept(sending)
    assert (await sending.told()).count("invite.accepted") == 1  # only connected people can write


async def test_a_reply_between_claim_and_call_leaves_the_message_unsent(
    sending: Stage, inbox: NetworkInbox, network: UnipileNetwork
) -> None:
    enrollment, _, person = await invited(sending)
    sending.far.act("accept", person)
    await inbox.read_invites(sending.account_id, sending.far.account)
    claimed = await sending.when_due(enrollment)
    sending.far.act("reply", person, text="Wait")
    await arrives(sending, inbox, person)
    result = await NetworkChannel(network).send(claimed, lambda: True)
    assert isinstance(result, Heard)
    await sending.result(claimed, result)
    assert [kind for kind, _, _ in sending.written()] == ["invite"]
    action = await sending.last(enrollment)
    assert (action.outcome, action.reason) == ("cancelled", "replied")
    assert (await sending.enrollment(enrollment)).status == "replied"
    told = await sending.told()
    assert (told.count("reply.received"), told.count("enrollment.completed")) == (1, 1)


async def test_chats_are_not_listed_for_an_account_without_sent_messages(
    sending: Stage, inbox: NetworkInbox, network: UnipileNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sending.connect(INVITE)
    listed: list[str] = []
    monkeypatch.setattr(network, "chats", counted(network.chats, listed))
    await inbox.read_chats(sending.account_id, sending.far.account, None)
    assert listed == []
    profile, _ = await sending.stranger()
    await sending.enroll(profile)
    await inbox.read_chats(sending.account_id, sending.far.account, None)
    assert listed == ["chats"]
