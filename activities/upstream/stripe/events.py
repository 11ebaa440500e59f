"""Reading signed events about our payments, found by the metadata that our own calls put on every object.

An event comes in the API version of its endpoint, so both places where invoices keep the metadata of their
subscription are read.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from activities.upstream.payments import Purchase
from models.billing.rules.payments import (
    ChargePaid,
    CheckoutPaid,
    CyclePaid,
    MethodAttached,
    MethodDetached,
    NotPaid,
    OutreachSubscriptionChanged,
    PaymentEvent,
    PaymentKind,
    PaymentStatus,
    PlanChanged,
    PlanStatus,
    Refunded,
)

PAYMENT, WORKSPACE, OUTREACH = "payment_id", "workspace_id", "outreach_of"
ITEM, KIND = "item", "kind"
"""Keys of the metadata that our own calls write; `outreach_of` is on the subscription for outreach accounts."""
Object = Mapping[str, Any]

PLAN_STATUS: Mapping[str, PlanStatus] = {
    "active": PlanStatus.ACTIVE,
    "trialing": PlanStatus.ACTIVE,
    "incomplete": PlanStatus.PAST_DUE,
    "past_due": PlanStatus.PAST_DUE,
    "unpaid": PlanStatus.PAST_DUE,
    "paused": PlanStatus.PAST_DUE,
    "canceled": PlanStatus.ENDED,
    "incomplete_expired": PlanStatus.ENDED,
}


def payment_events(body: bytes) -> tuple[PaymentEvent, ...]:
    """Return what a Stripe event says of our payments, often nothing. Raises `ValueError` for another shape."""
    try:
        event: Any = json.loads(body)
        read = READERS.get(event["type"])
        found = read(event["data"]["object"], event) if read else None
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError, json.JSONDecodeError) as error:
        raise ValueError("an event of another shape") from error
    return () if found is None else (found,)


def purchase(body: bytes) -> Purchase | None:
    """Return the purchase that an event's object belongs to, null for none. Raises `ValueError` for another shape."""
    try:
        thing: Any = json.loads(body)["data"]["object"]
        details = (thing.get("parent") or {}).get("subscription_details") or thing.get("subscription_details") or {}
        said = {**(details.get("metadata") or {}), **(thing.get("metadata") or {})}
        if not {PAYMENT, WORKSPACE, ITEM, KIND} <= said.keys() or not thing.get("customer"):
            return None
        return Purchase(said[PAYMENT], said[WORKSPACE], thing["customer"], said[ITEM], PaymentKind(said[KIND]))
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise ValueError("an event of another shape") from error


def _session_paid(session: Object, _: Object) -> PaymentEvent | None:
    payment_id = session.get("client_reference_id")
    if (
        payment_id is None or session["payment_status"] == "unpaid"
    ):  # paid later, e.g. by bank transfer: another event follows
        return None
    return CheckoutPaid(payment_id, session.get("payment_intent"), session.get("subscription"))


def _session_ended(status: PaymentStatus) -> Callable[[Object, Object], PaymentEvent | None]:
    def read(session: Object, _: Object) -> PaymentEvent | None:
        payment_id = session.get("client_reference_id")
        return None if payment_id is None else NotPaid(payment_id, status)

    return read


def _intent_paid(intent: Object, _: Object) -> PaymentEvent | None:
    payment_id = _ours(intent)
    return None if payment_id is None else ChargePaid(payment_id, intent["id"])


def _intent_failed(intent: Object, _: Object) -> PaymentEvent | None:
    """Read a declined refill. On a Checkout page the person simply tries another card."""
    payment_id = _ours(intent)
    if payment_id is None or intent.get("setup_future_usage") is not None:
        return None
    failed = intent.get("last_payment_error") or {}
    return NotPaid(payment_id, PaymentStatus.DECLINED, failed.get("decline_code") or failed.get("code"))


def _invoice_paid(invoice: Object, _: Object) -> PaymentEvent | None:
    """Read a paid month that cost something, whether the card or the customer's balance paid it."""
    details = (invoice.get("parent") or {}).get("subscription_details") or invoice.get("subscription_details") or {}
    payment_id = (details.get("metadata") or {}).get(PAYMENT)
    subscription = details.get("subscription") or invoice.get("subscription")
    if payment_id is None or subscription is None or not invoice.get("total", invoice["amount_paid"]):
        return None
    starts_at = max(line["period"]["start"] for line in invoice["lines"]["data"])
    return CyclePaid(invoice["id"], payment_id, subscription, _moment(starts_at))


def _plan_changed(subscription: Object, event: Object) -> PaymentEvent | None:
    workspace_id = (subscription.get("metadata") or {}).get(OUTREACH)
    if workspace_id is not None:
        return OutreachSubscriptionChanged(
            subscription["id"], workspace_id, _plan_status(subscription), _moment(event["created"])
        )
    payment_id = _ours(subscription)
    if payment_id is None:
        return None
    return PlanChanged(
        subscription_id=subscription["id"],
        payment_id=payment_id,
        status=_plan_status(subscription),
        anchored_at=_moment(subscription["billing_cycle_anchor"]),
        at=_moment(event["created"]),
    )


def _plan_status(subscription: Object) -> PlanStatus:
    return PLAN_STATUS.get(subscription["status"], PlanStatus.PAST_DUE)


def _refunded(charge: Object, _: Object) -> PaymentEvent | None:
    payment_id = _ours(charge)
    return Refunded(payment_id) if payment_id is not None and charge["refunded"] else None


def _attached(method: Object, event: Object) -> PaymentEvent | None:
    customer = method.get("customer")
    return None if customer is None else MethodAttached(method["id"], customer, _moment(event["created"]))


def _detached(method: Object, event: Object) -> PaymentEvent:
    before = (event["data"].get("previous_attributes") or {}).get("customer")
    return MethodDetached(method["id"], method.get("customer") or before, _moment(event["created"]))


READERS: Mapping[str, Callable[[Object, Object], PaymentEvent | None]] = {
    "checkout.session.completed": _session_paid,
    "checkout.session.async_payment_succeeded": _session_paid,
    "checkout.session.async_payment_failed": _session_ended(PaymentStatus.DECLINED),
    "checkout.session.expired": _session_ended(PaymentStatus.EXPIRED),
    "payment_intent.succeeded": _intent_paid,
    "payment_intent.payment_failed": _intent_failed,
    "invoice.paid": _invoice_paid,
    "customer.subscription.created": _plan_changed,
    "customer.subscription.updated": _plan_changed,
    "customer.subscription.deleted": _plan_changed,
    "charge.refunded": _refunded,
    "payment_method.attached": _attached,
    "payment_method.detached": _detached,
}


def _ours(thing: Object) -> str | None:
    found: str | None = (thing.get("metadata") or {}).get(PAYMENT)
    return found


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
