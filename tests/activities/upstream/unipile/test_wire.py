"""What goes over the wire and what may come back: addresses, headers, odd answers, pages."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import httpx
import pytest

from activities.upstream.ports.network import Distance, ProviderStanding, RequestState
from activities.upstream.ports.network_errors import NetworkBusy, OutcomeUnknown
from activities.upstream.unipile import network, shapes
from activities.upstream.unipile.endpoints import REQUIRED
from activities.upstream.unipile.network import UnipileNetwork

Answering = Callable[[httpx.Request], httpx.Response]
SINCE = datetime(2026, 3, 4, 11, 0, 0, 123456, tzinfo=timezone(timedelta(hours=1)))
PERSON = {"object": "UserProfile", "id": "ACo1", "specifics": {"notify_visit_token": "t/+="}}
ANSWERS = {
    "visit-profile": {"object": "ProfileVisited"},
    "cancel": {"object": "RelationRequestCanceled"},
    "relation-requests": {"object": "RelationRequest", "type": "sent", "id": "inv"},
    "send": {"object": "MessageSent", "message_id": "m"},
    "ACo1": PERSON,
    "acc_1": {"object": "Account", "id": "acc_1", "status": "running"},
}


class OtherSide(httpx.AsyncBaseTransport):
    """Answers as a function of the test says, over a wire: not yet read, still encoded."""

    def __init__(self, answer: Answering) -> None:
        self._answer = answer
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answer(request)
        assert isinstance(answer.stream, httpx.ByteStream)
        wire = httpx.ByteStream(b"".join(answer.stream))
        return httpx.Response(answer.status_code, headers=answer.headers, stream=wire)


def connected(answer: Answering | object) -> tuple[UnipileNetwork, OtherSide]:
    other = OtherSide(answer if callable(answer) else lambda _: httpx.Response(200, json=answer))
    return UnipileNetwork(base_url="https://network.example", api_key="key", transport=other), other


def usual(request: httpx.Request) -> httpx.Response:
    path = request.url.path
    if request.method == "GET" and path.endswith(("relation-requests", "chats", "messages")):
        return httpx.Response(200, json={"data": []})
    if path.endswith("/chats/send"):
        return httpx.Response(200, json={"object": "ChatStarted", "chat_id": "c", "message_id": "m"})
    return httpx.Response(200, json=ANSWERS[path.rsplit("/", 1)[-1]])


async def test_every_call_has_its_address_its_body_and_the_key() -> None:
    other, side = connected(usual)
    await other.person("acc_1", "ACo1")
    await other.invite("acc_1", "ACo1", "Hi")
    await other.invite("acc_1", "ACo1", None)
    await other.withdraw("acc_1", "inv:a/+==")
    await other.visit("acc_1", "ACo1")
    await other.start_chat("acc_1", "ACo1", "Hello")
    await other.send_message("acc_1", "c/%2F:é", "Hello")
    await other.sent_requests("acc_1")
    await other.chats("acc_1", since=SINCE)
    await other.messages("acc_1", "c", since=SINCE)
    await other.account("acc_1")
    asked = [(r.method, r.url.raw_path.decode(), json.loads(r.content) if r.content else None) for r in side.requests]
    requests = "/v2/acc_1/users/me/relation-requests"
    assert asked == [
        ("GET", "/v2/acc_1/users/ACo1", None),
        ("POST", requests, {"user_id": "ACo1", "message": "Hi"}),
        ("POST", requests, {"user_id": "ACo1"}),
        ("POST", f"{requests}/inv%3Aa%2F%2B%3D%3D/cancel", None),
        ("GET", "/v2/acc_1/users/ACo1", None),
        ("POST", "/v2/acc_1/users/visit-profile?token=t%2F%2B%3D", None),
        ("POST", "/v2/acc_1/chats/send", {"users_ids": ["ACo1"], "text": "Hello"}),
        ("POST", "/v2/acc_1/chats/c%2F%252F%3A%C3%A9/messages/send", {"text": "Hello"}),
        ("GET", f"{requests}?type=sent&limit=100", None),
        ("GET", "/v2/acc_1/chats?after=2026-03-04T10%3A00%3A00.123Z&limit=100", None),
        ("GET", "/v2/acc_1/chats/c/messages?after=2026-03-04T10%3A00%3A00.123Z&limit=100", None),
        ("GET", "/v2/accounts/acc_1", None),
    ]
    assert {r.headers["x-api-key"] for r in side.requests} == {"key"}
    assert {r.headers["accept-encoding"] for r in side.requests} == {"identity"}
    fresh = [r.headers.get("cache-control") == "no-cache" for r in side.requests]
    assert fresh == [False, False, False, False, True, False, False, False, True, True, True, True]


ACTS: dict[str, Callable[[UnipileNetwork], Any]] = {
    "invite": lambda n: n.invite("acc_1", "ACo1", None),
    "withdraw": lambda n: n.withdraw("acc_1", "inv"),
    "visit": lambda n: n.visit("acc_1", "ACo1"),
    "start_chat": lambda n: n.start_chat("acc_1", "ACo1", "Hello"),
    "send_message": lambda n: n.send_message("acc_1", "c", "Hello"),
}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200),
        httpx.Response(204),
        httpx.Response(200, content=b"\xff\xfe"),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={}),
        httpx.Response(200, json={"object": "Account", "id": "acc_1"}),
        httpx.Response(200, json={"object": "RelationRequest", "type": "sent"}),
        httpx.Response(200, json={"object": "RelationRequest", "type": "received", "id": "inv"}),
        httpx.Response(200, content=b"{}" + b" " * 1_048_576),
        httpx.Response(200, content=gzip.compress(b"{}"), headers={"content-encoding": "gzip"}),
        httpx.Response(302, headers={"location": "https://elsewhere.example"}),
    ],
    ids=lambda answer: f"{answer.status_code}-{answer.content[:20]!r}",
)
async def test_success_of_another_shape_tells_nothing(act: str, answer: httpx.Response) -> None:
    def answering(request: httpx.Request) -> httpx.Response:
        return answer if request.method == "POST" else httpx.Response(200, json=PERSON)

    other, side = connected(answering)
    with pytest.raises(OutcomeUnknown):
        await ACTS[act](other)
    assert [r.method for r in side.requests].count("POST") == 1


@pytest.mark.parametrize(("size", "readable"), [(1_048_576, True), (1_048_577, False)])
async def test_an_answer_over_one_mebibyte_is_not_read(size: int, readable: bool) -> None:
    content = json.dumps(PERSON).encode().ljust(size)
    other, side = connected(lambda _: httpx.Response(200, content=content))
    if readable:
        assert (await other.person("acc_1", "ACo1")).id == "ACo1"
    else:
        with pytest.raises(NetworkBusy):
            await other.person("acc_1", "ACo1")
    assert len(side.requests) == (1 if readable else 2)


@pytest.mark.parametrize(
    "answer", [[], {}, {"data": None}, {"data": [1]}, {"data": [{"id": 5}]}, {"data": [{"id": "x" * 501}]}]
)
async def test_a_list_of_another_shape_is_busy(answer: object) -> None:
    other, _ = connected(answer)
    for call in (other.sent_requests("acc_1"), other.chats("acc_1"), other.messages("acc_1", "c")):
        with pytest.raises(NetworkBusy):
            await call


async def test_a_message_that_does_not_say_who_wrote_it_is_not_read_as_anybodys() -> None:
    other, _ = connected({"data": [{"object": "Message", "id": "m", "chat_id": "c", "text": "Hi"}]})
    with pytest.raises(NetworkBusy):
        await other.messages("acc_1", "c")


@pytest.mark.parametrize(
    ("body", "standing"),
    [
        ({"status": "running"}, ProviderStanding.READY),
        ({"status": "running", "is_locked": True}, ProviderStanding.RESTRICTED),
        ({"status": "running", "initial_sync": {"status": "pending"}}, ProviderStanding.CONNECTING),
        ({"status": "running", "initial_sync": {"status": "running"}}, ProviderStanding.CONNECTING),
        ({"status": "running", "initial_sync": {"status": "failed"}}, ProviderStanding.READY),
        ({"status": "running", "initial_sync": {"status": "completed"}}, ProviderStanding.READY),
        ({"status": "degraded"}, ProviderStanding.READY),
        ({"status": "error"}, ProviderStanding.INTERRUPTED),
        ({"status": "brand_new"}, ProviderStanding.UNKNOWN),
        ({}, ProviderStanding.UNKNOWN),
    ],
)
def test_an_account_stands_as_its_status_lock_and_synchronisation_say(
    body: dict[str, Any], standing: ProviderStanding
) -> None:
    assert shapes.standing(body) is standing


def test_unknown_words_of_a_profile_survive() -> None:
    person = shapes.person(
        {"id": "ACo1", "specifics": {"network_distance": "FOURTH", "relation_request_status": "MAYBE"}, "new": 1}
    )
    assert (person.distance, person.request_state) == (Distance.UNKNOWN, RequestState.UNKNOWN)
    assert not person.connected


def test_an_invite_that_the_person_sent_is_not_ours() -> None:
    received = {"object": "RelationRequest", "type": "received", "id": "inv"}
    person = shapes.person({"id": "ACo1", "specifics": {"relation_request": received}})
    assert person.request is None


def listing(pages: dict[str, dict[str, Any]]) -> Answering:
    """A list whose pages are found by cursor or offset."""

    def answer(request: httpx.Request) -> httpx.Response:
        query = request.url.params
        return httpx.Response(200, json=pages[query.get("cursor", query.get("offset", ""))])

    return answer


def row(number: int) -> dict[str, Any]:
    return {"object": "RelationRequest", "type": "sent", "id": f"inv{number}"}


async def test_offsets_go_on_until_a_page_is_empty() -> None:
    pages = {"": [row(1), row(2)], "2": [row(2), row(3)], "4": [row(4)], "5": []}
    other, side = connected(listing({key: {"data": rows, "total_count": 2} for key, rows in pages.items()}))
    assert [request.id for request in await other.sent_requests("acc_1")] == ["inv1", "inv2", "inv3", "inv4"]
    assert len(side.requests) == 4


async def test_a_cursor_is_followed_with_the_other_values_unchanged() -> None:
    pages: dict[str, dict[str, Any]] = {
        "": {"data": [row(1)], "next_cursor": "n/+="},
        "n/+=": {"data": [], "next_cursor": "o"},
        "o": {"data": [row(2)]},
    }
    other, side = connected(listing(pages))
    assert [request.id for request in await other.sent_requests("acc_1")] == ["inv1", "inv2"]
    assert [r.url.params.get("type") for r in side.requests] == ["sent"] * 3


async def test_a_cursor_that_leads_to_itself_ends_the_list() -> None:
    other, side = connected({"data": [row(1)], "next_cursor": "n"})
    assert len(await other.sent_requests("acc_1")) == 1
    assert len(side.requests) == 2


async def test_has_more_ends_a_list() -> None:
    other, side = connected({"data": [row(1)], "has_more": False})
    assert len(await other.sent_requests("acc_1")) == 1
    assert len(side.requests) == 1


async def test_a_list_that_wants_a_cursor_and_gives_none_is_over_and_is_not_asked_again() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if "offset" in request.url.params:
            return httpx.Response(
                400, json={"object": "Error", "type": "provider/invalid_parameters", "detail": "Cursor"}
            )
        return httpx.Response(200, json={"data": [row(1)]})

    other, side = connected(answer)
    for _ in range(2):
        assert len(await other.sent_requests("acc_1")) == 1
    assert len(side.requests) == 3


async def test_a_list_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "MOST_PAGES", 5)
    other, side = connected({"data": [row(1)]})
    with pytest.raises(NetworkBusy):
        await other.sent_requests("acc_1")
    assert len(side.requests) == 5


async def test_a_link_that_is_no_address_is_not_given_out() -> None:
    other, _ = connected({"object": "HostedAuthLink", "link": "javascript:alert(1)"})
    with pytest.raises(NetworkBusy):
        await other.connect_link(state="s", redirect_url="https://x.example", expires_at=datetime.now(UTC))


ENDPOINT = {"object": "WebhookEndpoint", "id": "we", "url": "https://x.example", "secret": "s", "enabled": True}


@pytest.mark.parametrize(
    "answer",
    [
        {"data": None},
        {"data": [{"id": "we", "url": "https://x.example", "trigger_events": []}]},
        {"data": [ENDPOINT | {"trigger_events": "message.new"}]},
        {"data": [ENDPOINT | {"trigger_events": []}], "has_more": True},
    ],
)
async def test_endpoints_that_cannot_be_read_or_never_end_are_not_added_to(answer: object) -> None:
    other, side = connected(answer)
    with pytest.raises(NetworkBusy):
        await other.ensure_callbacks("https://x.example")
    assert {request.method for request in side.requests} == {"GET"}


async def test_a_provider_without_a_relation_event_leaves_polling() -> None:
    known = set(REQUIRED) | {"account.locked"}
    made: dict[str, Any] = ENDPOINT | {"trigger_events": []}

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json={"data": [], "has_more": False})
        asked = set(json.loads(request.content)["trigger_events"])
        if not asked <= known:
            return httpx.Response(400, json={"object": "Error", "type": "api/invalid_parameters"})
        made["trigger_events"] = sorted(asked)
        return httpx.Response(200, json=made)

    other, _ = connected(answer)
    endpoint = await other.ensure_callbacks("https://x.example")
    assert endpoint.events == known
    assert not endpoint.tells_acceptance


@pytest.mark.parametrize(
    ("body", "writable"),
    [
        ({}, True),
        ({"is_readonly": True}, False),
        ({"restrictions": ["send_message"]}, False),
        ({"restrictions": ["call"]}, True),
    ],
)
def test_a_restricted_chat_takes_no_messages(body: dict[str, Any], writable: bool) -> None:
    assert shapes.chat({"id": "c", "type": "1to1"} | body).writable is writable


@pytest.mark.parametrize("created_at", [None, 5, "soon"])
def test_an_unreadable_time_is_left_out(created_at: object) -> None:
    row = {"object": "RelationRequest", "type": "sent", "id": "inv", "created_at": created_at}
    assert shapes.request(row).sent_at is None


@pytest.fixture
async def counted() -> AsyncIterator[tuple[str, list[int]]]:
    """A server that counts its connections, keeps them open, and answers the first request of each alone."""
    connections: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(1)
        await reader.readuntil(b"\r\n\r\n")
        body = json.dumps(PERSON | {"object": "MessageSent", "message_id": "m"}).encode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        await asyncio.sleep(0.1)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", connections


async def test_an_act_never_uses_a_connection_that_may_be_stale(counted: tuple[str, list[int]]) -> None:
    url, connections = counted
    other = UnipileNetwork(base_url=url, api_key="key")
    for _ in range(3):
        await other.send_message("acc_1", "c", "Hello")
    assert len(connections) == 3
    await other.close()


async def test_a_read_survives_a_connection_that_went_stale(counted: tuple[str, list[int]]) -> None:
    url, connections = counted
    other = UnipileNetwork(base_url=url, api_key="key")
    for _ in range(2):
        assert (await other.person("acc_1", "ACo1")).id == "ACo1"
        await other.person("acc_1", "ACo1")  # on a connection that answers no second time
    assert len(connections) > 1
    await other.close()
