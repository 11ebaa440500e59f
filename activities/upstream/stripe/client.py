"""Stripe's calls: Checkout sessions, payment intents and subscriptions, under our ids as idempotency keys."""

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
    PaymentsDeclined,
    PaymentsUnclear,
    ProviderCharge,
    Purchase,
)
from activities.upstream.stripe import calls
from activities.upstream.stripe.calls import PAGE, asked, list_objects, translated
from activities.upstream.stripe.events import (
    ITEM,
    KIND,
    OUTREACH,
    PAYMENT,
    PLAN_STATUS,
    READERS,
    WORKSPACE,
    payment_events,
    purchase,
)
from models.billing.rules.outreach_plans import ProviderSubscription
from models.billing.rules.payments import CALL_SECONDS, PaymentEvent, PaymentKind, PlanStatus
from models.billing.rules.prices import CURRENCY, OUTREACH_ACCOUNT_CENTS, Offer

PRODUCT = {"id": "outreach_account", "name": "Outreach account"}
AT_ONCE: dict[str, Any] = {
    "off_session": True,
    "payment_behavior": "error_if_incomplete",
    "proration_behavior": "always_invoice",
}
NOTHING = ProviderSubscription(None, 0, None, PlanStatus.ACTIVE)


class OutreachSubscriptions:
    """The subscription that charges a workspace for its outreach accounts: one item with that quantity.

    More accounts are charged at once for the rest of the month, fewer are credited; without accounts it ends.
    """

    def __init__(self, client: stripe.StripeClient) -> None:
        self._client = client

    async def find(self, workspace_id: str, customer_id: str) -> ProviderSubscription:
        """Return the present subscription."""
        found = await self._find(workspace_id, customer_id)
        return NOTHING if found is None else _held(found)

    async def hold(self, ask: OutreachAsk) -> ProviderSubscription:
        """Bring the subscription to the number of accounts asked for."""
        found = await self._find(ask.workspace_id, ask.customer_id)
        if found is None:
            return NOTHING if ask.accounts == 0 else await self._begin(ask)
        if ask.accounts == 0:
            return await self._end(found.id)
        held = _held(found)
        if held.accounts == ask.accounts and ask.method_id in (None, held.method_id):
            return held
        return await self._change(ask, found)

    async def _find(self, workspace_id: str, customer_id: str) -> Any:  # noqa: ANN401 - the library's object
        async with list_objects(self._client.v1.subscriptions, customer_id) as subscriptions:
            async for found in subscriptions:
                metadata = found.metadata.to_dict() if found.metadata else {}
                if metadata.get(OUTREACH) == workspace_id and found.status not in ENDED:
                    return found
        return None

    async def _begin(self, ask: OutreachAsk) -> ProviderSubscription:
        await self._know_product()
        asks: Any = {
            "customer": ask.customer_id,
            "default_payment_method": ask.method_id,
            "items": [{"quantity": ask.accounts, "price_data": _account_price()}],
            "metadata": {OUTREACH: ask.workspace_id, WORKSPACE: ask.workspace_id},
            **{name: AT_ONCE[name] for name in ("off_session", "payment_behavior")},
        }
        return await self._paid(self._client.v1.subscriptions.create_async(asks, _idempotency(ask)))

    async def _change(self, ask: OutreachAsk, found: Any) -> ProviderSubscription:  # noqa: ANN401 - the library's object
        asks: Any = {"items": [{"id": _item(found).id, "quantity": ask.accounts}], **AT_ONCE}
        if ask.method_id is not None:
            asks["default_payment_method"] = ask.method_id
        return await self._paid(self._client.v1.subscriptions.update_async(found.id, asks, _idempotency(ask)))

    async def _paid(self, call: Any) -> ProviderSubscription:  # noqa: ANN401 - a call of the library
        try:
            return _held(await call)
        except stripe.CardError as error:
            raise PaymentsDeclined(error.code or "card_declined") from error
        except stripe.StripeError as error:
            raise translated(error) from error

    async def _end(self, subscription_id: str) -> ProviderSubscription:
        """End the subscription and credit the rest of the month. One that has already ended is fine."""
        try:
            await self._client.v1.subscriptions.cancel_async(subscription_id, {"prorate": True, "invoice_now": True})
        except stripe.InvalidRequestError as error:
            if error.code != "resource_missing":
                raise translated(error) from error
        except stripe.StripeError as error:
            raise translated(error) from error
        return NOTHING

    async def _know_product(self) -> None:
        """Add the product that invoices name, once, under our own id."""
        try:
            await self._client.v1.products.create_async({"id": PRODUCT["id"], "name": PRODUCT["name"]})
        except stripe.InvalidRequestError as error:
            if error.code != "resource_already_exists":
                raise translated(error) from error
        except stripe.StripeError as error:
            raise translated(error) from error


ENDED = frozenset(status for status, plan in PLAN_STATUS.items() if plan is PlanStatus.ENDED)


def _account_price() -> dict[str, Any]:
    return {
        "currency": CURRENCY.lower(),
        "product": PRODUCT["id"],
        "unit_amount": OUTREACH_ACCOUNT_CENTS,
        "recurring": {"interval": "month"},
    }


def _idempotency(ask: OutreachAsk) -> Any:  # noqa: ANN401 - the library's options are a TypedDict of its own
    return {"idempotency_key": ask.change_id}


def _item(subscription: Any) -> Any:  # noqa: ANN401 - the library's objects
    items = subscription["items"].data
    if len(items) != 1:
        raise PaymentsUnclear("a subscription of another make")
    return items[0]


def _held(subscription: Any) -> ProviderSubscription:  # noqa: ANN401 - the library's object
    method = subscription.default_payment_method
    return ProviderSubscription(
        subscription_id=str(subscription.id),
        accounts=int(_item(subscription).quantity or 0),
        method_id=None if method is None else str(method),
        status=PLAN_STATUS.get(subscription.status, PlanStatus.PAST_DUE),
    )


TAKEN = frozenset({"succeeded", "processing", "requires_capture"})
CONNECT_SECONDS = 10.0


class StripePayments:
    """Stripe behind the port. `base_url` differs from Stripe's only in tests."""

    def __init__(self, *, base_url: str, api_key: str) -> None:
        self._http = calls.SpannedClient(timeout=httpx.Timeout(CALL_SECONDS, connect=CONNECT_SECONDS))
        self._client = stripe.StripeClient(
            api_key, base_addresses={"api": base_url}, http_client=self._http, max_network_retries=0
        )
        self._outreach = OutreachSubscriptions(self._client)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close_async()  # type: ignore[no-untyped-call] # the library does not annotate it

    async def customer(self, buyer: Buyer) -> str:
        """Add the workspace as a customer. Its id is the idempotency key, so a repetition gives the same customer."""
        made = await asked(
            self._client.v1.customers.create_async(
                {"email": buyer.email, "name": buyer.name, "metadata": {WORKSPACE: buyer.workspace_id}},
                {"idempotency_key": buyer.workspace_id},
            )
        )
        return str(made.id)

    async def open_checkout(self, ask: CheckoutAsk) -> Checkout:
        """Open a Checkout session: a subscription for a plan, or one payment for a pack, which saves the card."""
        session = await asked(
            self._client.v1.checkout.sessions.create_async(_session(ask), {"idempotency_key": ask.payment_id})
        )
        return _checkout(session)

    async def find_checkout(self, payment_id: str, customer_id: str) -> Checkout | None:
        """Search the customer's sessions."""
        async with list_objects(self._client.v1.checkout.sessions, customer_id) as sessions:
            async for session in sessions:
                if session.client_reference_id == payment_id:
                    return _checkout(session)
        return None

    async def charge(self, ask: ChargeAsk) -> ProviderCharge:
        """Make a payment intent and confirm it at once without the person."""
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
        """Search the customer's payment intents."""
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
        """Bring the subscription of the workspace's outreach accounts to the number asked for."""
        return await self._outreach.hold(ask)

    async def find_outreach(self, workspace_id: str, customer_id: str) -> ProviderSubscription:
        """Search the customer's subscriptions."""
        return await self._outreach.find(workspace_id, customer_id)

    def read_callback(self, body: bytes) -> tuple[PaymentEvent, ...]:
        """Read a signed event."""
        return payment_events(body)

    def read_purchase(self, body: bytes) -> Purchase | None:
        """Read the purchase from the metadata."""
        return purchase(body)

    async def callbacks_since(self, since: datetime) -> AsyncIterator[bytes]:
        """Yield the events of the types that we read; Stripe keeps them for 30 days."""
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
        "line_items": [{"quantity": 1, "price_data": _line_price(offer)}],
    }
    if offer.monthly:
        return asked | {"subscription_data": {"metadata": meta}}
    return asked | {"payment_intent_data": {"metadata": meta, "setup_future_usage": "off_session"}}


def _line_price(offer: Offer) -> dict[str, Any]:
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
    """Return the metadata that every event about the payment carries: enough to add it again after a restore."""
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
