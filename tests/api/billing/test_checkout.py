"""Buying at the provider's page: once, whatever is repeated, lost, slow or out of order."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import httpx
import pytest

from api.billing import purchases
from models.base.database import Database
from tests.api.billing.conftest import BACK, PATIENCE, ask, balance, opened, until, worked_in
from tests.api.conftest import Workspace, error_of, run_sql
from tests.provider import Hand, Provider


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


async def test_a_preview_writes_nothing_and_calls_no_provider(
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
    await hand.rest()
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
