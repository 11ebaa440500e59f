"""Buying over the API, with a provider behind a real port: pages, callbacks, auto-refill, and what goes wrong."""

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI

from api.operations import purchases
from api.operations.kernel import Kernel
from models.database import Database
from tests.api.conftest import Workspace, application, error_of, run_sql
from tests.provider import API_KEY, SECRET, Hand, Provider, listening, provider, serving

BACK = {"success_url": "https://app.example/paid", "cancel_url": "https://app.example/left"}
PATIENCE = 20.0


@pytest.fixture(scope="module")
async def world(
    module_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[FastAPI, Provider]]:
    """The application and the provider, each behind a port, telling each other."""
    folder: Path = tmp_path_factory.mktemp("provider")
    async with listening() as (port, url), provider(folder, callback_url=f"{url}/callbacks/payments") as other:
        sells = {"stripe_base_url": other.url, "stripe_api_key": API_KEY, "stripe_webhook_secret": SECRET}
        async with application(module_database_url, **sells) as app, serving(app, port):
            yield app, other


@pytest.fixture(scope="module")
def app(world: tuple[FastAPI, Provider]) -> FastAPI:
    return world[0]


@pytest.fixture
async def shop(world: tuple[FastAPI, Provider], database: Database) -> Provider:
    await run_sql(database, "update payments set rings = answered, wake_at = null")
    await run_sql(database, "update payment_callbacks set rings = answered, body = null")
    await world[1].start_anew()
    return world[1]


@pytest.fixture
async def hand(app: FastAPI, shop: Provider, database: Database) -> AsyncIterator[Hand]:
    kernel: Kernel = app.state.kernel
    async with Hand(database, kernel.vault, shop.adapter).at_work() as working:
        yield working


async def ask(workspace: Workspace, item: str = "pack", *, key: str | None = None, **more: Any) -> httpx.Response:
    headers = {"Idempotency-Key": key or uuid4().hex}
    return await workspace.http.post("/v1/billing/checkout", json={"item": item, **BACK} | more, headers=headers)


async def opened(workspace: Workspace, item: str = "pack") -> dict[str, Any]:
    answer = await ask(workspace, item)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def balance(workspace: Workspace) -> dict[str, int]:
    shown = (await workspace.http.get("/v1/billing/balance")).json()
    return {each["source"]: each["remaining_credits"] for each in shown["by_source"]}


async def until(reached: Callable[[], Awaitable[bool]]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not await reached():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.03)


async def worked_in(database: Database) -> None:
    """Every callback that has come is worked in."""

    async def done() -> bool:
        return not await run_sql(database, "select 1 from payment_callbacks where body is not null")

    await until(done)


async def test_a_pack_is_paid_at_the_providers_page_and_its_credits_come_once(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database
) -> None:
    made = await opened(workspace)
    assert set(made) == {"id", "object", "item", "checkout_url", "session_id", "expires_at"}
    page = await shop.control.get(made["checkout_url"])
    assert "99.00 EUR" in page.text
    assert await balance(workspace) == {}
    await shop.complete(made["session_id"], twice=True)
    await worked_in(database)
    assert await balance(workspace) == {"top_up": 7500}
    entries = (await workspace.http.get("/v1/billing/ledger")).json()["data"]
    assert [(entry["kind"], entry["credits"], entry["reason"]) for entry in entries] == [("grant", 7500, "top_up")]


async def test_the_button_of_the_page_pays_and_leads_back(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database
) -> None:
    made = await opened(workspace)
    left = await shop.control.post(made["checkout_url"], data={"outcome": "declined"})
    assert left.status_code == 200
    await worked_in(database)
    assert await balance(workspace) == {}
    paid = await shop.control.post(made["checkout_url"], data={"outcome": "paid"})
    assert (paid.status_code, paid.headers["location"]) == (303, BACK["success_url"])
    await worked_in(database)
    assert await balance(workspace) == {"top_up": 7500}


async def test_a_slow_way_of_paying_grants_when_the_money_has_come(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database
) -> None:
    made = await opened(workspace)
    await shop.complete(made["session_id"], "pending")
    await worked_in(database)
    assert await balance(workspace) == {}
    await shop.complete(made["session_id"], "paid")
    await worked_in(database)
    assert await balance(workspace) == {"top_up": 7500}


@pytest.mark.parametrize("backwards", [False, True])
async def test_a_plan_is_granted_whatever_the_order_of_the_callbacks(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database, *, backwards: bool
) -> None:
    made = await opened(workspace, "growth")
    await shop.steer("events/hold", held=True)
    await shop.complete(made["session_id"], twice=True)
    assert await balance(workspace) == {}
    await shop.steer("events/hold", held=False, backwards=backwards)
    await worked_in(database)
    assert await balance(workspace) == {"plan": 25_000}
    error_of(await ask(workspace, "growth"), 409, "conflict", "item")
    assert (await ask(workspace, "scale")).status_code == 201


async def test_a_repeated_checkout_is_one_page(workspace: Workspace, shop: Provider, hand: Hand) -> None:
    key = uuid4().hex
    first, second = await ask(workspace, key=key), await ask(workspace, key=key)
    assert first.json() == second.json()
    assert second.headers["Idempotent-Replayed"] == "true"
    error_of(await ask(workspace, "starter", key=key), 409, "idempotency_key_reused")
    assert (await shop.shown())["calls"]["checkout/create"] == 1


async def test_a_preview_writes_nothing_and_asks_nobody(
    workspace: Workspace, shop: Provider, database: Database
) -> None:
    answer = await workspace.http.post("/v1/billing/checkout?dry_run=true", json={"item": "starter", **BACK})
    assert answer.status_code == 200
    assert answer.json() == {
        "dry_run": True,
        "object": "checkout",
        "item": "starter",
        "credits": 5000,
        "price_cents": 4900,
        "currency": "EUR",
        "interval": "month",
    }
    assert not await run_sql(database, "select 1 from payments where workspace_id = :id", id=workspace.id)
    assert (await shop.shown())["calls"] == {}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"item": "gold"}, "item"),
        ({"success_url": "javascript:alert(1)"}, "success_url"),
        ({"cancel_url": "https://me:secret@app.example/"}, "cancel_url"),
        ({"cancel_url": "https://app.example/" + "x" * 2000}, "cancel_url"),
        ({"price_cents": 1}, "price_cents"),
    ],
)
async def test_bad_input_makes_no_payment(
    workspace: Workspace, database: Database, change: dict[str, Any], field: str
) -> None:
    error_of(await ask(workspace, **change), 400, "invalid_request", field)
    assert not await run_sql(database, "select 1 from payments where workspace_id = :id", id=workspace.id)


async def test_a_key_bound_to_a_customer_buys_nothing(
    workspace: Workspace, key_of: Callable[..., Awaitable[httpx.AsyncClient]], hand: Hand
) -> None:
    customer = (await workspace.http.post("/v1/customers", json={"name": "One"})).json()["id"]
    bound = await key_of(workspace, scopes=["account:read", "account:write"], customer_id=customer)
    for method, path, body in (
        ("POST", "/v1/billing/checkout", {"item": "pack", **BACK}),
        ("GET", "/v1/billing/auto-refill", None),
        ("PUT", "/v1/billing/auto-refill", {"enabled": True, "threshold_credits": 1, "monthly_cap_cents": 1}),
    ):
        error_of(await bound.request(method, path, json=body, headers={"Idempotency-Key": "k"}), 403, "forbidden")


@pytest.mark.parametrize("fault", ["timeout", "connection_lost", "server_error", "html_body"])
async def test_a_call_that_was_executed_and_not_answered_is_read_back_and_never_repeated(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database, fault: str
) -> None:
    await shop.order("checkout/create", fault, count=1, after_execution=True, latency_ms=50)
    asked = asyncio.create_task(ask(workspace))

    async def unclear() -> bool:
        return bool(
            await run_sql(database, "select 1 from payments where workspace_id = :id and unclear", id=workspace.id)
        )

    await until(unclear)
    await run_sql(database, "update payments set wake_at = service_now() where unclear")
    answer = await asked
    assert answer.status_code == 201, answer.text
    shown = await shop.shown()
    assert [session["id"] for session in shown["checkout.session"]] == [answer.json()["session_id"]]
    assert shown["calls"]["checkout/create"] == 1
    await shop.complete(answer.json()["session_id"])
    await worked_in(database)
    assert await balance(workspace) == {"top_up": 7500}


async def test_a_provider_that_refuses_is_an_error_and_the_key_can_be_used_again(
    workspace: Workspace, shop: Provider, hand: Hand
) -> None:
    await shop.order("checkout/create", "server_error", count=1, status=400)
    key = uuid4().hex
    error_of(await ask(workspace, key=key), 502, "upstream_error")
    assert (await ask(workspace, key=key)).status_code == 201


async def test_a_caller_who_waits_in_vain_finds_the_same_payment_later(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purchases, "WAIT_SECONDS", 0.2)
    hand.working = False
    key = uuid4().hex
    error = await ask(workspace, key=key)
    error_of(error, 503, "upstream_busy")
    assert error.headers["Retry-After"] == "5"
    error_of(await ask(workspace, "starter", key=key), 409, "idempotency_key_reused")
    monkeypatch.setattr(purchases, "WAIT_SECONDS", PATIENCE)
    hand.working = True
    assert (await ask(workspace, key=key)).status_code == 201
    rows = await run_sql(database, "select id from payments where workspace_id = :id", id=workspace.id)
    assert len(rows) == 1


def signed(event: dict[str, Any], *, secret: str = SECRET, age: int = 0) -> tuple[bytes, dict[str, str]]:
    body = json.dumps(event).encode()
    at = int(time.time()) - age
    made = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return body, {"Stripe-Signature": f"t={at},v1={made}"}


def paid(payment_id: str) -> dict[str, Any]:
    session = {"client_reference_id": payment_id, "payment_status": "paid", "payment_intent": "pi_1"}
    return {"id": f"evt_{uuid4().hex}", "type": "checkout.session.completed", "data": {"object": session}}


async def test_a_forged_or_late_callback_is_refused_and_leaves_nothing(
    workspace: Workspace, http: httpx.AsyncClient, hand: Hand, database: Database
) -> None:
    made = await opened(workspace)
    event = paid(made["id"])
    forgeries = [
        signed(event, secret="whsec_wrong"),
        signed(event, age=400),
        signed(event, age=-400),
        (signed(event)[0], {}),
        (signed(event)[0] + b" ", signed(event)[1]),
    ]
    for body, headers in forgeries:
        error_of(
            await http.post("/callbacks/payments", content=body, headers=headers),
            400,
            "invalid_request",
            "Stripe-Signature",
        )
    await hand.round()
    assert await balance(workspace) == {}
    assert not await run_sql(database, "select 1 from payment_callbacks where id = :id", id=event["id"])
    body, headers = signed(event)
    assert (await http.post("/callbacks/payments", content=body, headers=headers)).status_code == 204
    await worked_in(database)
    assert await balance(workspace) == {"top_up": 7500}


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b'{"id": 1}', b'{"id": "evt 1"}', b"not json", b"\xff", b'{"id": "' + b"x" * 300 + b'"}'],
)
async def test_a_signed_callback_that_is_no_event_is_refused(http: httpx.AsyncClient, body: bytes) -> None:
    at = int(time.time())
    made = hmac.new(SECRET.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    headers = {"Stripe-Signature": f"t={at},v1={made}"}
    assert (await http.post("/callbacks/payments", content=body, headers=headers)).status_code == 400


@pytest.mark.parametrize(
    "event",
    [
        {"type": "invoice.paid", "data": {"object": {"id": "in_1"}}},
        {"type": "checkout.session.completed", "data": {}},
        {"type": "checkout.session.completed", "data": {"object": []}},
        {"type": "checkout.session.completed"},
        {"type": ["x"], "data": {"object": {}}},
        {"type": "customer.tax_id.created", "data": {"object": {}}},
        {"type": "payment_method.attached", "created": "soon", "data": {"object": {"id": "pm_1", "customer": "cus_1"}}},
    ],
)
async def test_an_event_of_another_shape_is_taken_and_changes_nothing(
    http: httpx.AsyncClient, hand: Hand, database: Database, event: dict[str, Any]
) -> None:
    body, headers = signed(event | {"id": f"evt_{uuid4().hex}"})
    assert (await http.post("/callbacks/payments", content=body, headers=headers)).status_code == 204
    await worked_in(database)


async def test_what_a_callback_holds_is_kept_encrypted_and_only_until_it_is_worked_in(
    workspace: Workspace, http: httpx.AsyncClient, hand: Hand, database: Database
) -> None:
    hand.working = False
    event = paid("pay_nobody") | {"email": "ada@private.example"}
    body, headers = signed(event)
    await http.post("/callbacks/payments", content=body, headers=headers)
    kept = await run_sql(database, "select body from payment_callbacks where id = :id", id=event["id"])
    assert kept[0].body
    assert b"private" not in kept[0].body
    hand.working = True
    await worked_in(database)


async def test_callbacks_are_not_counted_as_requests_of_a_network(http: httpx.AsyncClient) -> None:
    body, headers = signed({"id": f"evt_{uuid4().hex}", "type": "x", "data": {"object": {}}})
    answer = await http.post("/callbacks/payments", content=body, headers=headers)
    assert answer.status_code == 204
    assert "RateLimit-Limit" not in answer.headers


async def refill(workspace: Workspace, **wished: Any) -> dict[str, Any]:
    body = {"enabled": True, "threshold_credits": 5000, "monthly_cap_cents": 19_800} | wished
    answer = await workspace.http.put("/v1/billing/auto-refill", json=body)
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


async def shown_refill(workspace: Workspace) -> tuple[str, int]:
    found = (await workspace.http.get("/v1/billing/auto-refill")).json()
    return found["status"], found["spent_this_month_cents"]


async def with_card(workspace: Workspace, shop: Provider, database: Database) -> str:
    """Buy a pack, so that there is a card; gives the provider's customer."""
    made = await opened(workspace)
    customer: str = (await shop.complete(made["session_id"]))["session"]["customer"]
    await worked_in(database)
    return customer


async def test_auto_refill_says_how_it_stands_from_off_to_bought(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database
) -> None:
    assert (await workspace.http.get("/v1/billing/auto-refill")).json() == {
        "object": "auto_refill",
        "enabled": False,
        "threshold_credits": 0,
        "monthly_cap_cents": 0,
        "spent_this_month_cents": 0,
        "currency": "EUR",
        "status": "off",
    }
    assert (await refill(workspace))["status"] == "needs_payment_method"
    await with_card(workspace, shop, database)
    assert await shown_refill(workspace) == ("ready", 0)
    await refill(workspace, threshold_credits=20_000)

    async def bought() -> bool:
        return (await balance(workspace)).get("top_up") == 22_500

    await until(bought)
    assert await shown_refill(workspace) == ("cap_reached", 19_800)
    shown = await shop.shown()
    assert [intent["amount"] for intent in shown["payment_intent"]] == [9900] * 3
    assert shown["calls"]["intents/create"] == 2


async def test_a_declined_refill_says_so_and_is_made_again_with_new_settings(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database
) -> None:
    customer = await with_card(workspace, shop, database)
    await shop.steer("cards", customer_id=customer, state="declines")
    await refill(workspace, threshold_credits=10_000, monthly_cap_cents=9900)

    async def failed() -> bool:
        return (await shown_refill(workspace))[0] == "payment_failed"

    await until(failed)
    await worked_in(database)
    rows = await run_sql(database, "select failures from auto_refills where id = :id", id=workspace.id)
    assert rows[0].failures == 1
    assert await balance(workspace) == {"top_up": 7500}
    await shop.steer("cards", customer_id=customer, state="works")
    await refill(workspace, threshold_credits=10_000, monthly_cap_cents=9900)

    async def bought() -> bool:
        return (await balance(workspace)).get("top_up") == 15_000

    await until(bought)


async def test_a_refill_that_was_charged_and_not_answered_is_not_charged_twice(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database
) -> None:
    await with_card(workspace, shop, database)
    await shop.steer("events/hold", held=True)
    await shop.order("intents/create", "connection_lost", count=1, after_execution=True)
    await refill(workspace, threshold_credits=10_000)

    async def unclear() -> bool:
        return bool(
            await run_sql(database, "select 1 from payments where workspace_id = :id and unclear", id=workspace.id)
        )

    await until(unclear)
    await run_sql(database, "update payments set wake_at = service_now() where unclear")

    async def found() -> bool:
        query = "select 1 from payments where workspace_id = :id and status = 'processing'"
        return bool(await run_sql(database, query, id=workspace.id))

    await until(found)
    assert await balance(workspace) == {"top_up": 7500}  # the callback alone brings credits
    await shop.steer("events/hold", held=False)
    await worked_in(database)
    assert await balance(workspace) == {"top_up": 15_000}
    assert len([one for one in (await shop.shown())["payment_intent"] if one["amount_received"]]) == 2


async def test_a_refunded_pack_takes_its_credits_along(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database
) -> None:
    made = await opened(workspace)
    session = (await shop.complete(made["session_id"]))["session"]
    await shop.steer("refund", payment_intent=session["payment_intent"])

    async def gone() -> bool:
        return await balance(workspace) == {}

    await worked_in(database)
    await until(gone)


async def test_without_a_provider_nothing_is_sold_and_nothing_is_taken(database_url: str) -> None:
    async with application(database_url) as app:
        transport = httpx.ASGITransport(app=app, client=("192.0.2.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://api.test") as anybody:
            body = {"name": "Acme", "email": "nobody@example.com"}
            key = (await anybody.post("/v1/workspaces", json=body)).json()["api_key"]
            headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "k"}
            asked = {"item": "pack", **BACK}
            error_of(await anybody.post("/v1/billing/checkout", json=asked, headers=headers), 503, "upstream_busy")
            content, signature = signed({"id": "evt_1", "type": "x", "data": {"object": {}}})
            error_of(await anybody.post("/callbacks/payments", content=content, headers=signature), 404, "not_found")
