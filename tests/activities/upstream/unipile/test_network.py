"""The adapter against the sandbox: what each call does and gives when nothing goes wrong."""

import inspect
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from activities.upstream.ports.network import Distance, OutreachNetwork, ProviderStanding, RequestState
from activities.upstream.ports.network_errors import (
    AccountTrouble,
    Already,
    AlreadyDone,
    AskRefused,
    Limit,
    LimitReached,
    NetworkNotConfigured,
    PersonRefusal,
    PersonRefused,
    Trouble,
)
from activities.upstream.unipile.network import UnipileNetwork
from tests.activities.upstream.unipile.conftest import CEILING, Sandbox

RETURN = "https://sourcing.example/outreach/connected?from=link"


def soon() -> datetime:
    return datetime.now(UTC) + timedelta(minutes=30)


async def test_the_adapter_is_an_outreach_network(network: UnipileNetwork) -> None:
    port: OutreachNetwork = network
    assert port.name == "unipile"


async def test_an_account_is_connected_through_a_link_and_then_becomes_ready(
    network: UnipileNetwork, sandbox: Sandbox
) -> None:
    link = await network.connect_link(state="one-time", redirect_url=RETURN, expires_at=soon())
    async with httpx.AsyncClient(trust_env=False) as browser:
        page = await browser.get(link)
        redirect = await browser.post(link, data={"outcome": "succeed"})
    assert page.status_code == 200
    for outcome in ("succeed", "fail", "fail_without_state", "expired"):
        assert f'value="{outcome}"' in page.text
    assert redirect.status_code == 303
    query = dict(httpx.URL(redirect.headers["location"]).params)
    assert query | {"account_id": ""} == {
        "from": "link",
        "account_id": "",
        "provider": "linkedin",
        "state": "one-time",
    }
    account = await network.account(query["account_id"])
    assert account is not None
    assert account.standing is ProviderStanding.CONNECTING
    sandbox.pass_time(3600)
    for _ in range(200):
        account = await network.account(query["account_id"])
        if account is not None and account.standing is ProviderStanding.READY:
            break
    assert account is not None
    assert account.standing is ProviderStanding.READY
    me = await network.person(account.id, "me")
    assert (me.id, me.display_name, me.distance) == (account.user_id, account.name, Distance.SELF)


async def test_an_owner_signs_in_again_through_a_link_of_the_account(network: UnipileNetwork, sandbox: Sandbox) -> None:
    sandbox.post("account", account_id=sandbox.account, status="disconnected")
    link = await network.connect_link(state="again", redirect_url=RETURN, expires_at=soon(), account_id=sandbox.account)
    async with httpx.AsyncClient(trust_env=False) as browser:
        redirect = await browser.post(link, data={"outcome": "succeed"})
    assert dict(httpx.URL(redirect.headers["location"]).params)["account_id"] == sandbox.account
    account = await network.account(sandbox.account)
    assert account is not None
    assert account.standing in (ProviderStanding.CONNECTING, ProviderStanding.READY)


async def test_a_link_for_an_account_that_is_gone_says_so(network: UnipileNetwork) -> None:
    with pytest.raises(AccountTrouble) as raised:
        await network.connect_link(state="s", redirect_url=RETURN, expires_at=soon(), account_id="acc_gone")
    assert raised.value.trouble is Trouble.DISCONNECTED


async def test_a_deleted_account_is_gone_and_deleting_it_again_succeeds(
    network: UnipileNetwork, sandbox: Sandbox
) -> None:
    await network.delete_account(sandbox.account)
    assert await network.account(sandbox.account) is None
    await network.delete_account(sandbox.account)


@pytest.mark.parametrize(
    ("change", "standing"),
    [
        ({"status": "running"}, ProviderStanding.READY),
        ({"status": "disconnected"}, ProviderStanding.DISCONNECTED),
        ({"status": "errored"}, ProviderStanding.INTERRUPTED),
        ({"status": "degraded"}, ProviderStanding.READY),
        ({"status": "degraded", "classic": "disconnected"}, ProviderStanding.INTERRUPTED),
        ({"status": "partial", "classic": "disconnected"}, ProviderStanding.INTERRUPTED),
        ({"status": "paused"}, ProviderStanding.SUSPENDED),
        ({"status": "locked"}, ProviderStanding.RESTRICTED),
    ],
)
async def test_every_status_has_its_standing(
    network: UnipileNetwork, sandbox: Sandbox, change: dict[str, str], standing: ProviderStanding
) -> None:
    sandbox.post("account", account_id=sandbox.account, **change)
    account = await network.account(sandbox.account)
    assert account is not None
    assert account.standing is standing


async def test_a_person_is_found_by_id_and_by_slug_however_it_is_spelt(
    network: UnipileNetwork, sandbox: Sandbox
) -> None:
    rows = sandbox.get("people", account_id=sandbox.account, limit=str(600))["data"]
    odd = next(row for row in rows if not row["public_identifier"].isascii())
    for row in (rows[0], odd):
        by_id = await network.person(sandbox.account, row["person_id"])
        by_slug = await network.person(sandbox.account, row["public_identifier"])
        assert by_id == by_slug
        assert by_id.id == row["person_id"]
        assert by_id.profile_url == row["profile_url"]
        assert by_id.request_state is RequestState.NONE
        assert not by_id.connected


async def test_no_person_is_found_under_an_unknown_or_impossible_name(
    network: UnipileNetwork, sandbox: Sandbox
) -> None:
    for name in ("nobody-at-all", "ACoAAunknown", "..", ".", "", "a/../b", "%2e%2e"):
        with pytest.raises(PersonRefused) as raised:
            await network.person(sandbox.account, name)
        assert raised.value.reason is PersonRefusal.NOT_FOUND


async def test_an_invite_is_pending_until_it_is_accepted(network: UnipileNetwork, sandbox: Sandbox) -> None:
    person_id = sandbox.person()
    sent = await network.invite(sandbox.account, person_id, "Hallo Jö 👋")
    person = await network.person(sandbox.account, person_id, fresh=True)
    assert person.request_state is RequestState.PENDING
    assert person.request is not None
    assert (person.request.id, person.request.note) == (sent.id, "Hallo Jö 👋")
    assert person.request.sent_at == sent.sent_at
    assert [request.id for request in await network.sent_requests(sandbox.account)] == [sent.id]
    sandbox.act("accept", person_id)
    person = await network.person(sandbox.account, person_id, fresh=True)
    assert person.connected
    assert await network.sent_requests(sandbox.account) == ()
    (entry,) = sandbox.log()
    assert (entry["kind"], entry["person_id"], entry["text"]) == ("invite", person_id, "Hallo Jö 👋")


async def test_a_note_becomes_the_first_message_of_a_chat(network: UnipileNetwork, sandbox: Sandbox) -> None:
    person_id = sandbox.person()
    await network.invite(sandbox.account, person_id, "Hello")
    assert await network.chat_with(sandbox.account, person_id) is None
    sandbox.act("accept", person_id)
    chat = await network.chat_with(sandbox.account, person_id)
    assert chat is not None
    (note,) = await network.messages(sandbox.account, chat.id)
    assert (note.text, note.from_owner, note.written_by_person) == ("Hello", True, False)


async def test_a_withdrawn_invite_is_gone_and_the_person_is_not_invited_again_for_three_weeks(
    network: UnipileNetwork, sandbox: Sandbox
) -> None:
    person_id = sandbox.person()
    sent = await network.invite(sandbox.account, person_id, None)
    await network.withdraw(sandbox.account, sent.id)
    person = await network.person(sandbox.account, person_id, fresh=True)
    assert (person.request_state, person.request) == (RequestState.WITHDRAWN, None)
    with pytest.raises(AlreadyDone) as gone:
        await network.withdraw(sandbox.account, sent.id)
    assert gone.value.already is Already.GONE
    with pytest.raises(AlreadyDone) as recent:
        await network.invite(sandbox.account, person_id, None)
    assert recent.value.already is Already.INVITED
    sandbox.pass_time(21 * 86400 + 60)
    await network.invite(sandbox.account, person_id, None)
    assert [entry["kind"] for entry in sandbox.log()] == ["invite", "withdraw", "invite"]


@pytest.mark.parametrize(
    ("tie", "already"), [("pending", Already.INVITED), ("withdrawn", Already.INVITED), ("connected", Already.CONNECTED)]
)
async def test_an_invite_that_is_not_needed_is_refused_and_not_executed(
    network: UnipileNetwork, sandbox: Sandbox, tie: str, already: Already
) -> None:
    person_id = sandbox.person()
    sandbox.tie(person_id, tie)
    with pytest.raises(AlreadyDone) as raised:
        await network.invite(sandbox.account, person_id, None)
    assert raised.value.already is already
    assert raised.value.read_back
    assert sandbox.log() == []


async def test_a_note_has_three_hundred_utf16_units(network: UnipileNetwork, sandbox: Sandbox) -> None:
    with pytest.raises(AskRefused):
        await network.invite(sandbox.account, sandbox.person(), "👋" * 150 + "x")
    await network.invite(sandbox.account, sandbox.person(), "👋" * 150)
    assert len(sandbox.log()) == 1


async def test_an_invite_needs_an_id_of_the_network(network: UnipileNetwork, sandbox: Sandbox) -> None:
    for person_id in ("some-slug", "ACoAAunknown"):
        with pytest.raises(PersonRefused) as raised:
            await network.invite(sandbox.account, person_id, None)
        assert raised.value.reason is PersonRefusal.NOT_FOUND


async def test_a_visit_reads_the_profile_afresh(network: UnipileNetwork, sandbox: Sandbox) -> None:
    person_id = sandbox.person()
    await network.person(sandbox.account, person_id)
    sandbox.pass_time(1800)  # the copy's token has expired by now
    await network.visit(sandbox.account, person_id)
    (entry,) = sandbox.log()
    assert (entry["kind"], entry["person_id"]) == ("visit", person_id)


async def test_a_person_who_cannot_be_visited_is_left_alone(network: UnipileNetwork, sandbox: Sandbox) -> None:
    with pytest.raises(PersonRefused) as raised:
        await network.visit(sandbox.account, sandbox.person(visitable=False))
    assert raised.value.reason is PersonRefusal.NO_VISIT
    assert sandbox.log() == []


async def test_messages_go_both_ways_and_are_read_in_order(network: UnipileNetwork, sandbox: Sandbox) -> None:
    person_id = sandbox.person()
    sandbox.tie(person_id, "connected")
    began = datetime.now(UTC) - timedelta(seconds=1)
    started = await network.start_chat(sandbox.account, person_id, "First\nline")
    assert started.chat_id is not None
    sandbox.act("reply", person_id, text="Tell me more")
    sandbox.act("owner_message", person_id, text="By hand")
    again = await network.send_message(sandbox.account, started.chat_id, "Second")
    messages = await network.messages(sandbox.account, started.chat_id, since=began)
    assert [(m.text, m.from_owner) for m in messages] == [
        ("First\nline", True),
        ("Tell me more", False),
        ("By hand", True),
        ("Second", True),
    ]
    assert [message.id for message in messages if message.written_by_person] == [messages[1].id]
    assert (messages[0].id, messages[3].id) == (started.message_id, again.message_id)
    assert messages[1].sender_id == person_id
    one = await network.message(sandbox.account, started.chat_id, messages[1].id)
    assert one == messages[1]
    chat = await network.chat_with(sandbox.account, person_id)
    assert chat is not None
    assert (chat.id, chat.person_id, chat.one_to_one, chat.writable) == (started.chat_id, person_id, True, True)
    (listed,) = await network.chats(sandbox.account, since=began)
    assert listed == chat
    assert [entry["text"] for entry in sandbox.log()] == ["First\nline", "Second"]


async def test_what_is_not_there_is_null(network: UnipileNetwork, sandbox: Sandbox) -> None:
    person_id = sandbox.person()
    assert await network.chat_with(sandbox.account, person_id) is None
    assert await network.chat(sandbox.account, "chat:none/+==") is None
    sandbox.tie(person_id, "connected")
    started = await network.start_chat(sandbox.account, person_id, "Hello")
    assert started.chat_id is not None
    assert await network.message(sandbox.account, started.chat_id, "msg:none/+==") is None


async def test_later_than_excludes_the_moment_itself(network: UnipileNetwork, sandbox: Sandbox) -> None:
    person_id = sandbox.person()
    sandbox.tie(person_id, "connected")
    started = await network.start_chat(sandbox.account, person_id, "Hello")
    assert started.chat_id is not None
    (message,) = await network.messages(sandbox.account, started.chat_id)
    assert message.sent_at is not None
    assert await network.messages(sandbox.account, started.chat_id, since=message.sent_at) == ()
    assert await network.chats(sandbox.account, since=message.sent_at) == ()
    assert len(await network.chats(sandbox.account, since=message.sent_at - timedelta(milliseconds=1))) == 1


async def test_a_stranger_is_not_written_to(network: UnipileNetwork, sandbox: Sandbox) -> None:
    with pytest.raises(PersonRefused) as raised:
        await network.start_chat(sandbox.account, sandbox.person(), "Hello")
    assert raised.value.reason is PersonRefusal.NOT_CONNECTED
    assert sandbox.log() == []


async def test_a_read_only_chat_says_so_and_takes_nothing(network: UnipileNetwork, sandbox: Sandbox) -> None:
    person_id = sandbox.person()
    sandbox.tie(person_id, "connected", readonly=True)
    chat = await network.chat_with(sandbox.account, person_id)
    assert chat is not None
    assert not chat.writable
    with pytest.raises(PersonRefused) as raised:
        await network.send_message(sandbox.account, chat.id, "Hello")
    assert raised.value.reason is PersonRefusal.NOT_ALLOWED
    assert sandbox.log() == []


@pytest.mark.parametrize(("form", "known"), [("message_id_list", True), ("message_id_null", False)])
async def test_the_id_of_a_sent_message_comes_in_several_forms(
    network: UnipileNetwork,
    sandbox: Sandbox,
    form: str,
    known: bool,
) -> None:
    person_id = sandbox.person()
    sandbox.tie(person_id, "connected")
    sandbox.order("chats/send", form)
    started = await network.start_chat(sandbox.account, person_id, "Hello")
    assert started.chat_id is not None
    (message,) = await network.messages(sandbox.account, started.chat_id)
    assert started.message_id == (message.id if known else None)


async def test_all_pages_of_a_list_by_offset_are_read(network: UnipileNetwork, sandbox: Sandbox) -> None:
    people = [sandbox.person(nth) for nth in range(2 * CEILING + 1)]
    sent = [(await network.invite(sandbox.account, person_id, None)).id for person_id in people]
    found = await network.sent_requests(sandbox.account)
    assert [request.id for request in found] == sent[::-1]
    assert [request.person_id for request in found] == people[::-1]


async def test_all_pages_of_a_list_by_cursor_are_read(network: UnipileNetwork, sandbox: Sandbox) -> None:
    person_id = sandbox.person()
    sandbox.tie(person_id, "connected")
    texts = [f"Message {number}" for number in range(2 * CEILING)]
    for text in texts:
        sandbox.act("reply", person_id, text=text)
    chat = await network.chat_with(sandbox.account, person_id)
    assert chat is not None
    found = await network.messages(sandbox.account, chat.id)
    assert [message.text for message in found] == texts


async def test_a_read_may_be_an_hour_old_unless_it_is_asked_afresh(network: UnipileNetwork, sandbox: Sandbox) -> None:
    person_id = sandbox.person()
    await network.invite(sandbox.account, person_id, None)
    before = await network.person(sandbox.account, person_id)
    sandbox.act("accept", person_id)
    assert await network.person(sandbox.account, person_id) == before
    assert (await network.person(sandbox.account, person_id, fresh=True)).connected
    assert (await network.person(sandbox.account, person_id)).connected


async def test_the_daily_and_the_weekly_limit_of_the_network_are_distinguished(
    network: UnipileNetwork, sandbox: Sandbox
) -> None:
    for limit, expected in (("daily", Limit.DAILY), ("weekly", Limit.WEEKLY)):
        sandbox.post("account", account_id=sandbox.account, limit=limit)
        with pytest.raises(LimitReached) as raised:
            await network.invite(sandbox.account, sandbox.person(), None)
        assert raised.value.limit is expected
    sandbox.post("account", account_id=sandbox.account, limit="weekly", neutral=True)
    with pytest.raises(LimitReached) as neutral:
        await network.invite(sandbox.account, sandbox.person(), None)
    assert neutral.value.limit is Limit.DAILY
    sandbox.post("account", account_id=sandbox.account, limit="none")
    await network.invite(sandbox.account, sandbox.person(), None)
    assert len(sandbox.log()) == 1


async def test_the_providers_own_limiter_holds_one_method_of_one_account(
    network: UnipileNetwork, sandbox: Sandbox
) -> None:
    sandbox.post("switches", per_hour={"users/invite": 1})
    await network.invite(sandbox.account, sandbox.person(), None)
    with pytest.raises(LimitReached) as raised:
        await network.invite(sandbox.account, sandbox.person(1), None)
    assert raised.value.limit is Limit.METHOD
    assert raised.value.retry_after is not None
    assert 0 < raised.value.retry_after <= 3600
    await network.sent_requests(sandbox.account)
    other = sandbox.post("accounts", past=False)["id"]
    await network.invite(other, sandbox.person(1), None)


@pytest.mark.parametrize(
    ("change", "trouble"),
    [
        ("disconnected", Trouble.DISCONNECTED),
        ("removed", Trouble.DISCONNECTED),
        ("locked", Trouble.RESTRICTED),
        ("errored", Trouble.INTERRUPTED),
    ],
)
async def test_a_read_for_an_account_in_trouble_names_it(
    network: UnipileNetwork, sandbox: Sandbox, change: str, trouble: Trouble
) -> None:
    person_id = sandbox.person()
    sandbox.post("account", account_id=sandbox.account, status=change)
    with pytest.raises(AccountTrouble) as raised:
        await network.person(sandbox.account, person_id, fresh=True)
    assert raised.value.trouble is trouble


async def test_an_inactive_contract_is_ours_to_put_right(network: UnipileNetwork, sandbox: Sandbox) -> None:
    person_id = sandbox.person()
    sandbox.post("account", account_id=sandbox.account, status="paused")
    with pytest.raises(NetworkNotConfigured):
        await network.invite(sandbox.account, person_id, None)


async def test_a_refused_key_is_ours_to_put_right(sandbox: Sandbox) -> None:
    network = UnipileNetwork(base_url=sandbox.url, api_key="wrong")
    for call in (
        network.person(sandbox.account, "me"),
        network.account(sandbox.account),
        network.invite(sandbox.account, "ACo1", None),
        network.connect_link(state="s", redirect_url=RETURN, expires_at=soon()),
    ):
        with pytest.raises(NetworkNotConfigured):
            await call
    await network.close()


async def test_without_an_api_key_no_call_of_the_port_is_made() -> None:
    def unexpected(request: httpx.Request) -> httpx.Response:
        raise AssertionError(request.url)

    network = UnipileNetwork(base_url="https://x.example", api_key=None, transport=httpx.MockTransport(unexpected))
    calls = {name: member for name, member in vars(OutreachNetwork).items() if inspect.iscoroutinefunction(member)}
    del calls["close"]
    assert len(calls) > 10
    for name, call in calls.items():
        needed = [one for one in inspect.signature(call).parameters.values() if one.default is one.empty][1:]
        given = {one.name: soon() if one.annotation is datetime else "x" for one in needed}
        with pytest.raises(NetworkNotConfigured):
            await getattr(network, name)(**given)
    await network.close()
