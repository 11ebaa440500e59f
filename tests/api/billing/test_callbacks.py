"""Callbacks of the provider: signed, of now, kept sealed, and taken whatever they say."""

import hashlib
import hmac
import json
import time
from typing import Any
from uuid import uuid4

import httpx
import pytest

from models.base.database import Database
from tests.api.billing.conftest import BACK, balance, opened, worked_in
from tests.api.conftest import Workspace, application, error_of, run_sql
from tests.provider import SECRET, Hand


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
    await hand.rest()
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


async def test_without_a_provider_nothing_is_sold_and_nothing_is_taken(database_url: str) -> None:
    async with application(database_url) as app:
        transport = httpx.ASGITransport(app=app, client=("192.0.2.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://api.test") as visitor:
            body = {"name": "Acme", "email": "nobody@example.com"}
            key = (await visitor.post("/v1/workspaces", json=body)).json()["api_key"]
            headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "k"}
            asked = {"item": "pack", **BACK}
            error_of(await visitor.post("/v1/billing/checkout", json=asked, headers=headers), 503, "upstream_busy")
            content, signature = signed({"id": "evt_1", "type": "x", "data": {"object": {}}})
            error_of(await visitor.post("/callbacks/payments", content=content, headers=signature), 404, "not_found")
