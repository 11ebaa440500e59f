"""The calls: Checkout sessions and payment intents under our payment's id as the idempotency key."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import httpx
import stripe

from activities.upstream.payments import (
    Buyer,
    ChargeAsk,
    Checkout,
    CheckoutAsk,
    OutreachAsk,
    PaymentsUnclear,
    ProviderCharge,
    Purchase,
)
from activities.upstream.stripe import transport
from activities.upstream.stripe.calls import PAGE, asked, list_objects, translated
from activities.upstream.stripe.events import ITEM, KIND, PAYMENT, READERS, WORKSPACE, happenings, purchase
from activities.upstream.stripe.outreach import OutreachSubscriptions
from models.billing.rules.outreach_plans import ProviderSubscription
from models.billing.rules.payments import CALL_SECONDS, Happening, PaymentKind
from models.billing.rules.prices import CURRENCY, Offer

TAKEN = frozenset({"succeeded", "processing", "requires_capture"})
CONNECT_SECONDS = 10.0


class StripePayments:
    """One process's way to Stripe. `base_url` is another one than Stripe's for tests alone."""

    def __init__(self, *, base_url: str, api_key: str) -> None:
        self._http = transport.SpannedClient(timeout=httpx.Timeout(CALL_SECONDS, connect=CONNECT_SECONDS))
        self._client = stripe.StripeClient(
            api_key, base_addresses={"api": base_url}, http_client=self._http, max_network_retries=0
        )
        self._outreach = OutreachSubscriptions(self._client)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close_async()  # type: ignore[no-untyped-call] # the library does not say what it takes

    async def customer(self, buyer: Buyer) -> str:
        """The customer of a workspace; its id as the idempotency key leads a repetition to the same one."""
        made = await asked(
            self._client.v1.customers.create_async(
                {"email": buyer.email, "name": buyer.name, "metadata": {WORKSPACE: buyer.workspace_id}},
                {"idempotency_key": buyer.workspace_id},
            )
        )
        return str(made.id)

    async def open_checkout(self, ask: CheckoutAsk) -> Checkout:
        """A Checkout session: a subscription for a plan, one payment that keeps the card for a pack."""
        session = await asked(
            self._client.v1.checkout.sessions.create_async(_session(ask), {"idempotency_key": ask.payment_id})
        )
        return _checkout(session)

    async def find_checkout(self, payment_id: str, customer_id: str) -> Checkout | None:
        """Look through the customer's sessions."""
        async with list_objects(self._client.v1.checkout.sessions, customer_id) as sessions:
            async for session in sessions:
                if session.client_reference_id == payment_id:
                    return _checkout(session)
        return None

    async def charge(self, ask: ChargeAsk) -> ProviderCharge:
        """A payment intent, confirmed at once without the person."""
        try:
            intent = await self._client.v1.payment_intents.create_async(
                _intent(ask), {"idempotency_key": ask.payment_id}
            )
        except stripe.CardError as error:
            return ProviderCharge(_intent_of(error), error.code or "card_declined")
        except stripe.StripeError as error:
            raise translated(error) from error
        return _charge(intent)

    async def find_charge(self, payment_id: str, customer_id: str) -> ProviderCharge | None:
        """Look through the customer's payment intents."""
        async with list_objects(self._client.v1.payment_intents, customer_id) as intents:
            async for intent in intents:
                if intent.metadata and intent.metadata.to_dict().get(PAYMENT) == payment_id:
                    return _charge(intent)
        return None

    async def end_plan(self, subscription_id: str) -> None:
        """Cancel at the end of the period."""
        try:
            await self._client.v1.subscriptions.update_async(subscription_id, {"cancel_at_period_end": True})
        except stripe.InvalidRequestError as error:
            if error.code != "resource_missing":
                raise translated(error) from error
        except stripe.StripeError as error:
            raise translated(error) from error

    async def hold_outreach(self, ask: OutreachAsk) -> ProviderSubscription:
        """A subscription of one item, as many as there are accounts."""
        return await self._outreach.hold(ask)

    async def find_outreach(self, workspace_id: str, customer_id: str) -> ProviderSubscription:
        """Look through the customer's subscriptions."""
        return await self._outreach.find(workspace_id, customer_id)

    def read_callback(self, body: bytes) -> tuple[Happening, ...]:
        """What a signed event tells."""
        return happenings(body)

    def read_purchase(self, body: bytes) -> Purchase | None:
        """What the metadata says."""
        return purchase(body)

    async def told_since(self, since: datetime) -> AsyncIterator[bytes]:
        """The events of the last 30 days at most, of the kinds that are read."""
        asked_for: Any = {"created": {"gte": int(since.timestamp())}, "limit": PAGE, "types": sorted(READERS)}
        try:
            first = await self._client.v1.events.list_async(asked_for)
            async for event in first.auto_paging_iter():
                yield json.dumps(event.to_dict()).encode()
        except stripe.StripeError as error:
            raise translated(error) from error


def _session(ask: CheckoutAsk) -> Any:  # noqa: ANN401 - the library's parameters are a TypedDict of its own
    meta = _meta(ask, PaymentKind.CHECKOUT)
    offer = ask.offer
    asked = {
        "mode": "subscription" if offer.monthly else "payment",
        "customer": ask.customer_id,
        "client_reference_id": ask.payment_id,
        "success_url": ask.success_url,
        "cancel_url": ask.cancel_url,
        "metadata": meta,
        "line_items": [{"quantity": 1, "price_data": _price(offer)}],
    }
    if offer.monthly:
        return asked | {"subscription_data": {"metadata": meta}}
    return asked | {"payment_intent_data": {"metadata": meta, "setup_future_usage": "off_session"}}


def _price(offer: Offer) -> dict[str, Any]:
    price: dict[str, Any] = {
        "currency": CURRENCY.lower(),
        "unit_amount": offer.price_cents,
        "product_data": {"name": f"{offer.name}: {offer.credits:,} credits"},
    }
    return price | ({"recurring": {"interval": "month"}} if offer.monthly else {})


def _intent(ask: ChargeAsk) -> Any:  # noqa: ANN401 - the library's parameters are a TypedDict of its own
    return {
        "amount": ask.offer.price_cents,
        "currency": CURRENCY.lower(),
        "customer": ask.customer_id,
        "payment_method": ask.method_id,
        "off_session": True,
        "confirm": True,
        "description": f"{ask.offer.name}: {ask.offer.credits:,} credits",
        "metadata": _meta(ask, PaymentKind.REFILL),
    }


def _meta(ask: CheckoutAsk | ChargeAsk, kind: PaymentKind) -> dict[str, str]:
    """What every event about it will carry: enough to write the payment down again after a restore."""
    return {PAYMENT: ask.payment_id, WORKSPACE: ask.workspace_id, ITEM: ask.offer.id, KIND: kind.value}


def _checkout(session: Any) -> Checkout:  # noqa: ANN401 - the library's object
    if not session.id or not session.expires_at:
        raise PaymentsUnclear("a session without an id or an end")
    return Checkout(session.id, session.url or "", datetime.fromtimestamp(session.expires_at, UTC))


def _charge(intent: Any) -> ProviderCharge:  # noqa: ANN401 - the library's object
    if intent.status in TAKEN:
        return ProviderCharge(intent.id)
    failed = intent.last_payment_error
    return ProviderCharge(intent.id, (failed.code if failed else None) or intent.status or "declined")


def _intent_of(error: stripe.CardError) -> str | None:
    intent = getattr(error.error, "payment_intent", None)
    return str(intent.id) if intent is not None else None
