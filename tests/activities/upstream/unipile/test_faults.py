"""Each fault on each call, against the sandbox: what is raised, what was executed, and that no act is repeated."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import structlog

from activities.upstream.ports.network_errors import (
    AccountTrouble,
    AskRefused,
    FeatureMissing,
    Limit,
    LimitReached,
    NetworkBusy,
    NetworkError,
    NetworkNotConfigured,
    OutcomeUnknown,
    PersonRefused,
    Trouble,
)
from activities.upstream.unipile import client, endpoints
from activities.upstream.unipile.network import UnipileNetwork
from tests.activities.upstream.unipile.conftest import Sandbox


@dataclass(frozen=True, slots=True)
class FaultContext:
    """An account with a relation that has a chat, a pending invite, and strangers."""

    network: UnipileNetwork
    sandbox: Sandbox
    account: str
    stranger: str
    friend: str
    chat: str
    request: str
    message: str


@pytest.fixture
async def context(network: UnipileNetwork, sandbox: Sandbox) -> FaultContext:
    stranger, friend, invited = (sandbox.person(nth) for nth in range(3))
    sandbox.tie(friend, "connected")
    message = sandbox.act("reply", friend, text="Hi")["id"]
    sandbox.tie(invited, "pending")
    chat = await network.chat_with(sandbox.account, friend)
    (request,) = await network.sent_requests(sandbox.account)
    assert chat is not None
    return FaultContext(network, sandbox, sandbox.account, stranger, friend, chat.id, request.id, message)


Do = Callable[[FaultContext], Awaitable[Any]]
READS: dict[str, Do] = {
    "users/get": lambda s: s.network.person(s.account, s.stranger),
    "users/requests": lambda s: s.network.sent_requests(s.account),
    "users/chat": lambda s: s.network.chat_with(s.account, s.friend),
    "chats/list": lambda s: s.network.chats(s.account),
    "chats/get": lambda s: s.network.chat(s.account, s.chat),
    "messages/list": lambda s: s.network.messages(s.account, s.chat),
    "messages/get": lambda s: s.network.message(s.account, s.chat, s.message),
}
CORE_READS: dict[str, Do] = {"accounts/get": lambda s: s.network.account(s.account)}
ACTS: dict[str, Do] = {
    "users/invite": lambda s: s.network.invite(s.account, s.stranger, "Hello"),
    "users/withdraw": lambda s: s.network.withdraw(s.account, s.request),
    "users/visit": lambda s: s.network.visit(s.account, s.stranger),
    "chats/send": lambda s: s.network.start_chat(s.account, s.friend, "Hello"),
    "messages/send": lambda s: s.network.send_message(s.account, s.chat, "Hello"),
}
CORE_WRITES: dict[str, Do] = {
    "auth/link": lambda s: s.network.connect_link(
        state="s", redirect_url="https://x.example", expires_at=datetime.now(UTC) + timedelta(hours=1)
    ),
    "accounts/delete": lambda s: s.network.delete_account(s.account),
    "webhooks/create": lambda s: s.network.ensure_callbacks("https://x.example/callbacks"),
}
EVERY = READS | CORE_READS | ACTS | CORE_WRITES
OF_ACCOUNT = READS | ACTS
# What leaves it open whether a call was executed.
UNCLEAR: list[dict[str, Any]] = [
    {"fault": "timeout"},
    {"fault": "timeout", "after_execution": True},
    {"fault": "connection_lost"},
    {"fault": "connection_lost", "after_execution": True},
    {"fault": "server_error", "status": 500},
    {"fault": "server_error", "status": 503, "after_execution": True},
    {"fault": "html_body"},
    {"fault": "html_body", "status": 504, "after_execution": True},
    {"fault": "truncated_json"},
    {"fault": "oversize"},
    {"fault": "error_with_200"},
    {"fault": "error_with_200", "after_execution": True},
    {"fault": "provider_error", "type": "provider/timeout"},
]
EXECUTED = ("truncated_json", "oversize")


def named(value: Any) -> str | None:
    return "-".join(str(part) for part in value.values()) if isinstance(value, dict) else None


async def outcomes(calls: Mapping[str, Do], context: FaultContext) -> dict[str, NetworkError | None]:
    """Make all calls side by side; what each raised, by operation."""

    async def made(call: Do) -> NetworkError | None:
        try:
            await call(context)
        except NetworkError as error:
            return error
        return None

    found = await asyncio.gather(*(made(call) for call in calls.values()))
    return dict(zip(calls, found, strict=True))


def order_all(context: FaultContext, calls: Iterable[str], **fault: Any) -> None:
    for operation in calls:
        context.sandbox.order(operation, **fault)


def limit_time(monkeypatch: pytest.MonkeyPatch, fault: dict[str, Any]) -> None:
    """Give calls that will hang little time, all others plenty."""
    if fault["fault"] == "timeout":
        monkeypatch.setattr(client, "ACT_SECONDS", 1.5)
        monkeypatch.setattr(client, "READ_SECONDS", 1.5)


@pytest.mark.parametrize("fault", UNCLEAR, ids=named)
async def test_an_act_without_a_clear_answer_is_unknown_and_never_repeated(
    context: FaultContext, fault: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    order_all(context, ACTS, count=1, **fault)
    limit_time(monkeypatch, fault)
    for operation, error in (await outcomes(ACTS, context)).items():
        assert isinstance(error, OutcomeUnknown), operation
        assert error.read_back
    executed = fault.get("after_execution") or fault["fault"] in EXECUTED
    kinds = ["invite", "message", "message", "visit", "withdraw"]
    assert sorted(entry["kind"] for entry in context.sandbox.log()) == (kinds if executed else [])


@pytest.mark.parametrize("fault", UNCLEAR, ids=named)
async def test_a_read_is_repeated_once(
    context: FaultContext, fault: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = READS | CORE_READS
    order_all(context, reads, count=1, **fault)
    limit_time(monkeypatch, fault)
    assert set((await outcomes(reads, context)).values()) == {None}


@pytest.mark.parametrize("fault", UNCLEAR, ids=named)
async def test_a_read_that_fails_twice_is_busy(
    context: FaultContext, fault: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = READS | CORE_READS
    order_all(context, reads, **fault)
    limit_time(monkeypatch, fault)
    for operation, error in (await outcomes(reads, context)).items():
        assert isinstance(error, NetworkBusy), operation
    if fault["fault"] != "timeout":  # on a busy machine time may be up before the call arrives
        assert context.sandbox.struck() == 2 * len(reads)


@pytest.mark.parametrize("fault", UNCLEAR, ids=named)
async def test_a_core_call_without_a_clear_answer_is_busy_and_can_be_made_again(
    context: FaultContext, fault: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    order_all(context, CORE_WRITES, count=1, **fault)
    limit_time(monkeypatch, fault)
    for operation, error in (await outcomes(CORE_WRITES, context)).items():
        assert isinstance(error, NetworkBusy), operation
    assert set((await outcomes(CORE_WRITES, context)).values()) == {None}


async def test_a_slow_answer_is_an_answer(context: FaultContext) -> None:
    order_all(context, EVERY, fault="latency", latency_ms=100, count=1)
    first = {name: call for name, call in EVERY.items() if name != "accounts/delete"}
    assert set((await outcomes(first, context)).values()) == {None}
    assert context.sandbox.control.get("/_control/faults").json()["data"][0]["operation"] == "accounts/delete"
    await EVERY["accounts/delete"](context)


async def test_a_refused_connection_means_that_nothing_was_executed(
    context: FaultContext, unused_tcp_port: int
) -> None:
    away = UnipileNetwork(base_url=f"http://127.0.0.1:{unused_tcp_port}", api_key="k")
    for error in (await outcomes(EVERY, replace(context, network=away))).values():
        assert isinstance(error, NetworkBusy)
        assert (error.code, error.read_back) == ("unreachable", False)
    assert context.sandbox.log() == []
    await away.close()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": True}, 120),
        ({"reset": "header"}, 180),
        ({"reset": "none"}, 900),
        ({"reset": "garbled", "retry_after": True}, 900),
    ],
    ids=named,
)
async def test_the_providers_limiter_says_how_long(
    context: FaultContext, headers: dict[str, Any], seconds: float
) -> None:
    order_all(context, OF_ACCOUNT, fault="rate_limited", **headers)
    for operation, error in (await outcomes(OF_ACCOUNT, context)).items():
        assert isinstance(error, LimitReached), operation
        assert (error.limit, error.retry_after) == (Limit.METHOD, seconds)
    assert context.sandbox.log() == []


@pytest.mark.parametrize(
    ("fault", "limit"),
    [("daily_limit", Limit.DAILY), ("weekly_limit", Limit.WEEKLY), ("neutral_limit", Limit.DAILY)],
)
async def test_a_limit_of_the_network_is_reported_by_its_text(context: FaultContext, fault: str, limit: Limit) -> None:
    order_all(context, OF_ACCOUNT, fault=fault)
    for operation, error in (await outcomes(OF_ACCOUNT, context)).items():
        assert isinstance(error, LimitReached), operation
        assert error.limit is limit
    assert context.sandbox.log() == []


@pytest.mark.parametrize(
    ("type_", "kind", "trouble"),
    [
        ("api/missing_authorization", NetworkNotConfigured, None),
        ("api/inactive_subscription", NetworkNotConfigured, None),
        ("provider/invalid_authorization", AccountTrouble, Trouble.DISCONNECTED),
        ("api/account_restricted", AccountTrouble, Trouble.RESTRICTED),
        ("api/invalid_parameters", AskRefused, None),
        ("provider/method_not_allowed", FeatureMissing, None),
        ("provider/insufficient_permissions", PersonRefused, None),
    ],
)
@pytest.mark.parametrize("form", ["provider_error", "error_with_200"])
async def test_a_refusal_means_the_same_on_every_call_and_with_status_200(
    context: FaultContext, type_: str, kind: type[NetworkError], trouble: Trouble | None, form: str
) -> None:
    order_all(context, OF_ACCOUNT, fault=form, type=type_)
    for operation, error in (await outcomes(OF_ACCOUNT, context)).items():
        assert isinstance(error, kind), operation
        assert error.code == type_
        if isinstance(error, AccountTrouble):
            assert error.trouble is trouble
    assert context.sandbox.log() == []


@pytest.mark.parametrize(("status", "trouble"), [("locked", Trouble.RESTRICTED), ("errored", Trouble.INTERRUPTED)])
async def test_an_unknown_refusal_is_understood_by_looking_at_the_account(
    context: FaultContext, status: str, trouble: Trouble
) -> None:
    order_all(context, OF_ACCOUNT, fault="provider_error", type="api/brand_new", status=401)
    for error in (await outcomes(OF_ACCOUNT, context)).values():
        assert isinstance(error, NetworkBusy)
    context.sandbox.post("account", account_id=context.account, status=status)
    for error in (await outcomes(OF_ACCOUNT, context)).values():
        assert isinstance(error, AccountTrouble)
        assert error.trouble is trouble
    assert context.sandbox.log() == []


async def test_a_call_for_an_account_that_is_gone_is_no_failure_of_the_person(context: FaultContext) -> None:
    context.sandbox.post("account", account_id=context.account, status="removed")
    for error in (await outcomes(OF_ACCOUNT, context)).values():
        assert isinstance(error, AccountTrouble)
        assert error.trouble is Trouble.DISCONNECTED


async def test_nothing_personal_is_logged(context: FaultContext, monkeypatch: pytest.MonkeyPatch) -> None:
    said = structlog.testing.CapturingLogger()  # whatever another test configured the logs to be
    for module in (client, endpoints):
        monkeypatch.setattr(module, "log", said)
    order_all(context, EVERY, fault="provider_error", type="provider/unprocessable_entity", count=1)
    await outcomes(EVERY, context)
    order_all(context, ACTS, fault="server_error", count=1)
    await outcomes(ACTS, context)
    assert ("unipile.refused",) in {call.args for call in said.calls}
    written = repr(said.calls)
    for secret in (
        context.stranger,
        context.friend,
        context.chat,
        context.request,
        context.account,
        "Hello",
        "on purpose",
    ):
        assert secret not in written
