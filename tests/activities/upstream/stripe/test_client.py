"""The adapter against a provider behind a port: its requests, and the meaning of each failure for the caller."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from activities.upstream.payments import (
    Buyer,
    ChargeAsk,
    CheckoutAsk,
    PaymentsBusy,
    PaymentsError,
    PaymentsNotConfigured,
    PaymentsRefused,
    PaymentsUnclear,
)
from activities.upstream.stripe.client import StripePayments
from models.billing.rules.prices import OFFER_OF, PACK
from tests.provider import Provider, provider

BUYER = Buyer("ws_1", "Acme", "ada@example.com")


@pytest.fixture(scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Provider]:
    async with provider(tmp_path_factory.mktemp("provider")) as running:
        yield running


@pytest.fixture
async def shop(served: Provider) -> Provider:
    await served.reset()
    return served


async def page_of(shop: Provider, item: str = "pack", *, payment_id: str = "pay_1") -> CheckoutAsk:
    customer = await shop.adapter.customer(BUYER)
    offer = OFFER_OF[item]
    return CheckoutAsk(payment_id, "ws_a", customer, offer, "https://app.example/paid", "https://app.example/left")


async def test_a_workspace_is_one_customer_however_often_it_is_made(shop: Provider) -> None:
    assert await shop.adapter.customer(BUYER) == await shop.adapter.customer(BUYER)
    (made,) = (await shop.shown())["customer"]
    assert (made["email"], made["metadata"]) == ("ada@example.com", {"workspace_id": "ws_1"})


@pytest.mark.parametrize(("item", "mode", "cents"), [("pack", "payment", 9900), ("scale", "subscription", 39_900)])
async def test_a_page_asks_for_the_price_of_the_offer_once_or_each_month(
    shop: Provider, item: str, mode: str, cents: int
) -> None:
    made = await shop.adapter.open_checkout(await page_of(shop, item))
    (session,) = (await shop.shown())["checkout.session"]
    assert (session["mode"], session["amount_total"], session["client_reference_id"]) == (mode, cents, "pay_1")
    assert (made.session_id, made.url) == (session["id"], session["url"])
    assert made.expires_at == datetime.fromtimestamp(session["expires_at"], UTC)


async def test_what_was_made_is_found_by_its_payment_among_many(shop: Provider) -> None:
    wanted = await page_of(shop, payment_id="pay_wanted")
    made = await shop.adapter.open_checkout(wanted)
    for number in range(120):  # more than a page of the list
        await shop.adapter.open_checkout(await page_of(shop, payment_id=f"pay_{number}"))
    assert await shop.adapter.find_checkout("pay_wanted", wanted.customer_id) == made
    assert await shop.adapter.find_checkout("pay_nobody", wanted.customer_id) is None


async def card_of(shop: Provider) -> tuple[str, str]:
    """A customer with a card that has paid once."""
    asked = await page_of(shop)
    made = await shop.adapter.open_checkout(asked)
    await shop.complete(made.session_id)
    (method,) = (await shop.shown())["payment_method"]
    return asked.customer_id, method["id"]


async def test_a_card_is_charged_without_the_person_and_the_charge_is_found(shop: Provider) -> None:
    customer, method = await card_of(shop)
    charge = await shop.adapter.charge(ChargeAsk("pay_2", "ws_a", customer, method, PACK))
    assert charge.declined is None
    assert await shop.adapter.find_charge("pay_2", customer) == charge
    assert await shop.adapter.find_charge("pay_3", customer) is None


async def test_a_declined_card_is_an_answer_and_stays_one(shop: Provider) -> None:
    customer, method = await card_of(shop)
    await shop.steer("cards", customer_id=customer, state="declines")
    charge = await shop.adapter.charge(ChargeAsk("pay_2", "ws_a", customer, method, PACK))
    assert charge.declined == "card_declined"
    await shop.steer("cards", customer_id=customer, state="works")
    assert (await shop.adapter.charge(ChargeAsk("pay_2", "ws_a", customer, method, PACK))).declined == "card_declined"
    found = await shop.adapter.find_charge("pay_2", customer)
    assert found is not None
    assert found.declined == "card_declined"


async def test_a_plan_ends_with_its_month_and_one_that_is_gone_is_left_alone(shop: Provider) -> None:
    made = await shop.adapter.open_checkout(await page_of(shop, "starter"))
    await shop.complete(made.session_id)
    (plan,) = (await shop.shown())["subscription"]
    for _ in range(2):
        await shop.adapter.end_plan(plan["id"])
    assert (await shop.shown())["subscription"][0]["cancel_at_period_end"] is True
    await shop.adapter.end_plan("sub_unknown")


@pytest.mark.parametrize(
    ("fault", "more", "means"),
    [
        ("rate_limited", {}, PaymentsBusy),
        ("server_error", {"status": 500}, PaymentsUnclear),
        ("server_error", {"status": 409}, PaymentsUnclear),
        ("server_error", {"status": 400}, PaymentsRefused),
        ("server_error", {"status": 401}, PaymentsNotConfigured),
        ("html_body", {}, PaymentsUnclear),
        ("connection_lost", {}, PaymentsUnclear),
        ("truncated_json", {}, PaymentsUnclear),
    ],
)
async def test_each_failure_says_whether_something_may_have_been_done(
    shop: Provider, fault: str, more: dict[str, int], means: type[PaymentsError]
) -> None:
    asked = await page_of(shop)
    await shop.order("checkout/create", fault, count=1, **more)
    with pytest.raises(PaymentsError) as raised:
        await shop.adapter.open_checkout(asked)
    assert type(raised.value) is means


async def test_a_refused_connection_means_that_nothing_was_done() -> None:
    adapter = StripePayments(base_url="http://127.0.0.1:1", api_key="k")
    with pytest.raises(PaymentsBusy):
        await adapter.customer(BUYER)
    await adapter.close()


async def test_a_wrong_key_is_the_operators_business(shop: Provider) -> None:
    adapter = StripePayments(base_url=shop.url, api_key="wrong")
    with pytest.raises(PaymentsNotConfigured):
        await adapter.customer(BUYER)
    await adapter.close()
