"""Registering for callbacks, and the sandbox's callbacks as the service checks and reads them."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from activities.upstream.ports.network import CallbackEndpoint
from activities.upstream.unipile.endpoints import OPTIONAL, REQUIRED
from activities.upstream.unipile.network import UnipileNetwork
from models.outreach.rules.callbacks import (
    SIGNATURE_HEADER,
    Callback,
    CallbackKind,
    Signature,
    check_signature,
    read_callback,
)
from tests.activities.upstream.receivers import OK, Received, Receiver, receiving, says
from tests.activities.upstream.unipile.conftest import Sandbox

PATIENCE_SECONDS = 30.0
URL = "https://sourcing.example/callbacks/outreach/token"


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving(says(OK)) as receiver:
        yield receiver


@pytest.fixture
async def endpoint(network: UnipileNetwork, receiver: Receiver) -> CallbackEndpoint:
    return await network.ensure_callbacks(receiver.url)


async def until(told: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not told():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def received(receiver: Receiver, count: int) -> list[Received]:
    await until(lambda: len(receiver.received) >= count)
    await asyncio.sleep(0.05)
    assert len(receiver.received) == count
    return receiver.received


async def events(receiver: Receiver, count: int) -> list[Callback]:
    return [read_callback(request.body) for request in await received(receiver, count)]


def checked(request: Received, secret: str) -> Signature:
    header = request.headers.get(SIGNATURE_HEADER)
    return check_signature(request.body, header, secrets=[secret], wall_time=time.time())


def registered(sandbox: Sandbox) -> list[dict[str, Any]]:
    answer = sandbox.control.get("/v2/webhooks/endpoints/", headers={"X-API-KEY": "network-key"})
    found: list[dict[str, Any]] = answer.json()["data"]
    return found


@pytest.mark.parametrize(
    ("generation", "acceptance"), [("2026-09", "relation.new"), ("2026-05", "relation.request.accept")]
)
async def test_an_endpoint_is_registered_for_every_event_that_the_provider_knows(
    network: UnipileNetwork, sandbox: Sandbox, generation: str, acceptance: str
) -> None:
    sandbox.post("switches", events=generation)
    made = await network.ensure_callbacks(URL)
    assert made.tells_acceptance
    assert made.events & {"relation.new", "relation.request.accept"} == {acceptance}
    assert made.events > set(REQUIRED)
    assert made.events < {*REQUIRED, *OPTIONAL}
    assert await network.ensure_callbacks(URL) == made
    (only,) = registered(sandbox)
    assert (only["url"], only["secret"]) == (URL, made.secret)
    assert len(made.secret) <= 36


async def test_a_disabled_or_incomplete_endpoint_is_put_right(network: UnipileNetwork, sandbox: Sandbox) -> None:
    made = await network.ensure_callbacks(URL)
    change = {"enabled": False, "trigger_events": ["message.new"]}
    path = f"/v2/webhooks/endpoints/{made.id}"
    sandbox.control.patch(path, json=change, headers={"X-API-KEY": "network-key"}).raise_for_status()
    assert await network.ensure_callbacks(URL) == made
    (only,) = registered(sandbox)
    assert only["enabled"] is True


async def test_surplus_endpoints_of_the_address_are_removed_and_others_are_left_alone(
    network: UnipileNetwork, sandbox: Sandbox
) -> None:
    elsewhere = await network.ensure_callbacks("https://elsewhere.example/callbacks")
    made = await network.ensure_callbacks(URL)
    for _ in range(2):
        body = {"url": URL, "trigger_events": ["message.new"]}
        sandbox.control.post(
            "/v2/webhooks/endpoints/", json=body, headers={"X-API-KEY": "network-key"}
        ).raise_for_status()
    assert await network.ensure_callbacks(URL) == made
    assert {row["id"] for row in registered(sandbox)} == {elsewhere.id, made.id}


async def test_a_registration_whose_answer_is_lost_is_found_again(network: UnipileNetwork, sandbox: Sandbox) -> None:
    sandbox.order("webhooks/create", "server_error", after_execution=True, count=1)
    with pytest.raises(Exception, match="api/internal_error"):
        await network.ensure_callbacks(URL)
    (made,) = registered(sandbox)
    assert (await network.ensure_callbacks(URL)).id == made["id"]


async def test_a_message_and_an_acceptance_are_reported_signed(
    network: UnipileNetwork, sandbox: Sandbox, endpoint: CallbackEndpoint, receiver: Receiver
) -> None:
    person_id = sandbox.person()
    await network.invite(sandbox.account, person_id, "Hello")
    sandbox.act("accept", person_id)
    sandbox.act("reply", person_id, text="Hi")
    told = await events(receiver, 3)
    assert sorted(event.kind for event in told) == ["message", "message", "relation"]
    assert {event.account_id for event in told} == {sandbox.account}
    assert {event.person for event in told if event.kind is CallbackKind.RELATION} == {person_id}
    chat = await network.chat_with(sandbox.account, person_id)
    assert chat is not None
    for event in told:
        if event.kind is CallbackKind.MESSAGE:
            assert (event.chat_id, event.message_id is not None) == (chat.id, True)
            assert await network.message(sandbox.account, chat.id, str(event.message_id)) is not None
    assert {checked(request, endpoint.secret) for request in receiver.received} == {Signature.VALID}
    assert {checked(request, "other") for request in receiver.received} == {Signature.WRONG}


@pytest.mark.parametrize(
    ("fault", "signature"),
    [
        ("missing_signature", Signature.MISSING),
        ("wrong_signature", Signature.WRONG),
        ("stale_signature", Signature.STALE),
    ],
)
async def test_signatures_go_wrong_when_asked(
    sandbox: Sandbox, endpoint: CallbackEndpoint, receiver: Receiver, fault: str, signature: Signature
) -> None:
    sandbox.order("callback", fault, count=1)
    sandbox.act("reply", sandbox.person(), text="Hi")
    (first,) = await received(receiver, 1)
    assert checked(first, endpoint.secret) is signature
    sandbox.act("reply", sandbox.person(), text="Hi")
    _, second = await received(receiver, 2)
    assert checked(second, endpoint.secret) is Signature.VALID


async def test_ids_alone_are_enough_to_know_where_to_look(
    network: UnipileNetwork, sandbox: Sandbox, endpoint: CallbackEndpoint, receiver: Receiver
) -> None:
    assert endpoint.tells_acceptance
    sandbox.order("callback", "ids_only")
    person_id = sandbox.person()
    await network.invite(sandbox.account, person_id, None)
    sandbox.act("accept", person_id)
    sandbox.act("reply", person_id, text="Written text")
    relation, message = sorted(await events(receiver, 2), key=lambda event: event.kind, reverse=True)
    assert relation.person == person_id
    found = await network.message(sandbox.account, str(message.chat_id), str(message.message_id))
    assert found is not None
    assert found.text == "Written text"
    assert b"Written text" not in b"".join(request.body for request in receiver.received)


@pytest.mark.usefixtures("endpoint")
async def test_an_event_told_twice_has_one_id(sandbox: Sandbox, receiver: Receiver) -> None:
    sandbox.order("callback", "duplicate_callback", count=1)
    sandbox.act("reply", sandbox.person())
    first, second = await events(receiver, 2)
    assert (first.id, first.subject) == (second.id, second.subject)


@pytest.mark.usefixtures("endpoint")
async def test_a_lost_callback_never_comes(sandbox: Sandbox, receiver: Receiver) -> None:
    sandbox.order("callback", "lost_callback", count=1)
    person_id = sandbox.person()
    sandbox.act("reply", person_id, text="lost")
    await until(lambda: sandbox.control.get("/_control/next").json()["at"] is None)
    sandbox.act("reply", person_id, text="told")
    (only,) = await received(receiver, 1)
    assert b"told" in only.body


@pytest.mark.usefixtures("endpoint")
async def test_a_delayed_callback_comes_after_later_ones(sandbox: Sandbox, receiver: Receiver) -> None:
    person_id = sandbox.person()
    sandbox.order("callback", "delayed_callback", delay_seconds=8 * 3600, count=1)
    sandbox.act("reply", person_id, text="first")
    sandbox.act("reply", person_id, text="second")
    (early,) = await received(receiver, 1)
    assert b"second" in early.body
    assert sandbox.control.get("/_control/next").json()["at"] is not None
    sandbox.pass_time(8 * 3600 + 1)
    _, late = await received(receiver, 2)
    assert b"first" in late.body


@pytest.mark.usefixtures("endpoint")
@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"status": "disconnected"}, CallbackKind.STANDING),
        ({"status": "errored", "reason": "proxy"}, CallbackKind.STANDING),
        ({"status": "running"}, CallbackKind.STANDING),
        ({"status": "locked"}, CallbackKind.STANDING),
        ({"status": "removed"}, CallbackKind.REMOVED),
    ],
)
async def test_trouble_of_an_account_is_reported(
    sandbox: Sandbox, receiver: Receiver, change: dict[str, str], kind: CallbackKind
) -> None:
    sandbox.post("account", account_id=sandbox.account, **change)
    (event,) = await events(receiver, 1)
    assert (event.kind, event.account_id) == (kind, sandbox.account)


@pytest.mark.usefixtures("endpoint")
async def test_while_an_account_is_disconnected_the_provider_hears_nothing(
    network: UnipileNetwork, sandbox: Sandbox, receiver: Receiver
) -> None:
    person_id = sandbox.person()
    sandbox.post("account", account_id=sandbox.account, status="disconnected")
    await received(receiver, 1)
    sandbox.act("reply", person_id, text="unheard")
    sandbox.post("account", account_id=sandbox.account, status="running")
    await received(receiver, 2)
    chat = await network.chat_with(sandbox.account, person_id)
    assert chat is not None
    assert [message.text for message in await network.messages(sandbox.account, chat.id)] == ["unheard"]


async def test_an_event_that_is_not_accepted_is_sent_again_later_and_each_attempt_is_listed(
    network: UnipileNetwork, sandbox: Sandbox
) -> None:
    async with receiving(says(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")) as busy:
        endpoint = await network.ensure_callbacks(busy.url)
        sandbox.act("reply", sandbox.person())
        await received(busy, 1)
        for attempts, pause in enumerate((30, 120, 600, 3600), start=1):
            await until(lambda: sandbox.control.get("/_control/next").json()["at"] is not None)
            sandbox.pass_time(pause + 1)
            await received(busy, attempts + 1)
        await until(lambda: sandbox.control.get("/_control/next").json()["at"] is None)
        assert len({read_callback(request.body).id for request in busy.received}) == 1
    rows = sandbox.control.get(
        "/v2/webhooks/conversations/", params={"endpoint_id": endpoint.id}, headers={"X-API-KEY": "network-key"}
    ).json()["data"]
    assert [(row["http_status"], row["first_attempt"]) for row in rows] == [(503, False)] * 4 + [(503, True)]


async def test_next_is_past_while_a_callback_is_under_way(network: UnipileNetwork, sandbox: Sandbox) -> None:
    let_go = asyncio.Event()

    async def slow(_: Receiver, writer: asyncio.StreamWriter) -> None:
        await let_go.wait()
        writer.write(OK)
        await writer.drain()

    async with receiving(slow) as receiver:
        await network.ensure_callbacks(receiver.url)
        sandbox.act("reply", sandbox.person())
        await received(receiver, 1)
        waiting = sandbox.control.get("/_control/next").json()["at"]
        assert waiting is not None
        assert waiting <= sandbox.control.get("/_control/health").json()["at"]
        let_go.set()
        await until(lambda: sandbox.control.get("/_control/next").json()["at"] is None)
