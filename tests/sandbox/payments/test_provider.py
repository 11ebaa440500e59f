"""What the invented provider enforces, as the real one does, and how its events are sent."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request
from starlette.responses import Response

from models.billing.rules.payments import is_signed
from tests.provider import API_KEY, SECRET, Provider, listening, provider, serving


def shop_time() -> datetime:
    """The wall clock, which signatures follow."""
    return datetime.now(UTC)


class Receiver:
    """Takes events; answers with `status`."""

    def __init__(self) -> None:
        self.status = 204
        self.taken: list[tuple[str, bytes]] = []
        self.app = FastAPI()
        self.app.add_route("/events", self._take, methods=["POST"])

    async def _take(self, request: Request) -> Response:
        self.taken.append((request.headers.get("stripe-signature", ""), await request.body()))
        return Response(status_code=self.status)


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Provider, Receiver]]:
    receiver = Receiver()
    folder = tmp_path_factory.mktemp("provider")
    async with (
        listening() as (port, url),
        serving(receiver.app, port),
        provider(folder, callback_url=f"{url}/events") as running,
    ):
        yield running, receiver


@pytest.fixture
async def receiver(world: tuple[Provider, Receiver]) -> Receiver:
    world[1].taken.clear()
    world[1].status = 204
    return world[1]


@pytest.fixture
async def shop(world: tuple[Provider, Receiver], receiver: Receiver) -> Provider:
    await world[0].reset()
    return world[0]


async def post(
    shop: Provider, path: str, body: dict[str, Any], *, key: str = API_KEY, once: str = ""
) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"} | ({"Idempotency-Key": once} if once else {})
    return await shop.control.post(f"/v1/{path}", data=body, headers=headers)


async def session(shop: Provider, **more: str) -> dict[str, Any]:
    customer = (await post(shop, "customers", {"email": "ada@example.com"})).json()["id"]
    line = "line_items[0][price_data]"
    body = {
        "mode": "payment",
        "customer": customer,
        "success_url": "https://app.example/",
        "line_items[0][quantity]": "1",
        f"{line}[currency]": "eur",
        f"{line}[unit_amount]": "9900",
        f"{line}[product_data][name]": "Pack",
    }
    read: dict[str, Any] = (await post(shop, "checkout/sessions", body | more)).json()
    return read


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"mode": "gift"}, "mode"),
        ({"customer": "cus_unknown"}, "customer"),
        ({"colour": "red"}, "colour"),
        ({"success_url": ""}, "success_url"),
        ({"line_items[0][price_data][unit_amount]": "9.5"}, "unit_amount"),
        ({"line_items[0][price_data][recurring][interval]": "month"}, "line_items"),
        ({"subscription_data[metadata][a]": "b"}, "subscription_data"),
    ],
)
async def test_what_the_real_provider_refuses_is_refused(shop: Provider, more: dict[str, str], param: str) -> None:
    error = (await session(shop, **more))["error"]
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    assert (await shop.shown())["checkout.session"] == []


async def test_a_wrong_key_is_refused(shop: Provider) -> None:
    assert (await post(shop, "customers", {}, key="wrong")).status_code == 401


async def test_an_idempotency_key_repeats_its_answer_and_takes_no_other_request(shop: Provider) -> None:
    first = await post(shop, "customers", {"name": "Ada"}, once="k")
    again = await post(shop, "customers", {"name": "Ada"}, once="k")
    assert (again.json(), again.headers["Idempotent-Replayed"]) == (first.json(), "true")
    other = await post(shop, "customers", {"name": "Grace"}, once="k")
    assert (other.status_code, other.json()["error"]["type"]) == (400, "idempotency_error")


async def test_events_are_signed_and_sent_once_or_twice_as_asked(shop: Provider, receiver: Receiver) -> None:
    made = await session(shop)
    told = (await shop.complete(made["id"], twice=True))["events"]
    assert len(receiver.taken) == 2 * len(told)
    now = shop_time()
    assert all(is_signed(body, signature, [SECRET], now=now) for signature, body in receiver.taken)


async def test_a_page_is_paid_once(shop: Provider, receiver: Receiver) -> None:
    made = await session(shop)
    await shop.complete(made["id"], "declined")
    await shop.complete(made["id"])
    again = await shop.control.post("/_control/payments/complete", json={"session_id": made["id"], "outcome": "paid"})
    assert again.status_code == 409


async def test_a_refused_event_is_sent_again_later_with_a_new_signature(shop: Provider, receiver: Receiver) -> None:
    receiver.status = 500
    made = await session(shop)
    await shop.complete(made["id"])
    refused = len(receiver.taken)
    following = (await shop.control.get("/_control/next")).json()["at"]
    assert following is not None
    receiver.status = 204
    await shop.control.post("/_control/clock", json={"offset_seconds": 61})
    await shop.steer("events/hold", held=False)
    await shop.control.post("/_control/clock", json={"offset_seconds": 0})
    assert len(receiver.taken) == 2 * refused
    assert {event["status"] for event in (await shop.shown())["events"]} == {204}


@pytest.mark.parametrize(("fault", "arrives"), [("lost_callback", 0), ("missing_signature", 1), ("wrong_signature", 1)])
async def test_callbacks_go_wrong_as_ordered(shop: Provider, receiver: Receiver, fault: str, arrives: int) -> None:
    made = await session(shop)
    await shop.order("callback", fault)
    told = (await shop.complete(made["id"]))["events"]
    assert len(receiver.taken) == arrives * len(told)
    assert not any(is_signed(body, signature, [SECRET], now=shop_time()) for signature, body in receiver.taken)
