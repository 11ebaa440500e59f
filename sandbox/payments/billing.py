"""Payments, declines, renewals and refunds at the provider."""

from calendar import monthrange
from datetime import UTC, datetime

from sandbox.payments.ledger import Ledger
from sandbox.payments.wire import Object, new_id

DAY = 24 * 3600
RETRIES = (3 * DAY, 5 * DAY, 7 * DAY)
"""Retries after a declined renewal; when the last one fails too, the subscription ends."""
WORKS, DECLINES = "works", "declines"


def add_months(seconds: int, months: int) -> int:
    """Return the same day `count` months later, or the last day of a shorter month."""
    at = datetime.fromtimestamp(seconds, UTC)
    years, month = divmod(at.month - 1 + months, 12)
    day = min(at.day, monthrange(at.year + years, month + 1)[1])
    return int(at.replace(year=at.year + years, month=month + 1, day=day).timestamp())


def pays(method: Object | None) -> bool:
    """Return whether a payment method exists and works."""
    return method is not None and method["customer"] is not None and method["_state"] == WORKS


class Billing:
    """Changes objects and emits events about it. `times` is how often each event is sent."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def complete(self, session: Object, outcome: str, *, times: int = 1) -> list[str]:
        """Complete a page: `paid`, `declined` (the page stays open), `expired`, `pending` (a slow payment method)."""
        match outcome:
            case "paid" if session["status"] == "complete":
                return self._settle_pending(session, "checkout.session.async_payment_succeeded", times)
            case "declined" if session["status"] == "complete":
                return [self._ledger.emit("checkout.session.async_payment_failed", session, times=times)]
            case "paid":
                return self._pay(session, times)
            case "declined":
                return [self._decline(session, times)]
            case "expired":
                session["status"] = "expired"
                self._ledger.put(session)
                return [self._ledger.emit("checkout.session.expired", session, times=times)]
            case _:
                session["status"] = "complete"
                self._ledger.put(session)
                return [self._ledger.emit("checkout.session.completed", session, times=times)]

    def _settle_pending(self, session: Object, kind: str, times: int) -> list[str]:
        events = self._fulfil(session, times)
        self._ledger.put(session)
        return [*events, self._ledger.emit(kind, session, times=times)]

    def _pay(self, session: Object, times: int) -> list[str]:
        events = self._fulfil(session, times)
        session["status"] = "complete"
        self._ledger.put(session)
        return [*events, self._ledger.emit("checkout.session.completed", session, times=times)]

    def _fulfil(self, session: Object, times: int) -> list[str]:
        method = self._attach(session["customer"])
        events = [self._ledger.emit("payment_method.attached", method, times=times)]
        session["payment_status"] = "paid"
        if session["mode"] == "payment":
            intent = self._intent(method, session["amount_total"], session["_data"].get("metadata", {}))
            intent["setup_future_usage"] = session["_data"].get("setup_future_usage")
            intent["status"], intent["amount_received"] = "succeeded", intent["amount"]
            session["payment_intent"] = self._ledger.put(intent)["id"]
            return [*events, self._ledger.emit("payment_intent.succeeded", intent, times=times)]
        metadata = session["_data"].get("metadata", {})
        subscription, begun = self.subscribe(method, session["amount_total"], metadata=metadata, times=times)
        session["subscription"] = subscription["id"]
        return [*events, *begun]

    def subscribe(
        self, method: Object, unit_amount: int, *, metadata: Object, quantity: int = 1, times: int = 1
    ) -> tuple[Object, list[str]]:
        """Start a subscription with its first month paid, and return it with its events."""
        subscription = self._new_subscription(method, unit_amount, quantity, metadata)
        events = [self._ledger.emit("customer.subscription.created", subscription, times=times)]
        return subscription, [*events, self.bill(subscription, "subscription_create", times=times)]

    def bill(self, subscription: Object, reason: str, *, amount: int | None = None, times: int = 1) -> str:
        """Create a paid invoice, for the month or for another amount, and return its event."""
        invoice = self._invoice(subscription, reason, paid=True, amount=amount)
        return self._ledger.emit("invoice.paid", invoice, times=times)

    def credit_of(self, customer_id: str) -> int:
        """Return the customer's credit in cents, which is used before a card is charged."""
        customer = self._ledger.get(customer_id)
        return -int(customer["balance"]) if customer is not None else 0

    def _decline(self, session: Object, times: int) -> str:
        declining = {"id": new_id("pm"), "customer": session["customer"], "_state": DECLINES}
        intent = self._intent(declining, session["amount_total"], session["_data"].get("metadata", {}))
        intent["setup_future_usage"] = session["_data"].get("setup_future_usage") or "off_session"
        self._fail(intent)
        return self._ledger.emit("payment_intent.payment_failed", self._ledger.put(intent), times=times)

    def charged(self, method: Object, *, amount: int, metadata: Object) -> Object:
        """Charge a payment method while the customer is absent, and return the payment intent."""
        intent = self._intent(method, amount, metadata)
        if method["_state"] == WORKS:
            intent["status"], intent["amount_received"] = "succeeded", amount
            self._ledger.put(intent)
            self._ledger.emit("payment_intent.succeeded", intent)
        else:
            self._fail(intent)
            self._ledger.put(intent)
            self._ledger.emit("payment_intent.payment_failed", intent)
        return intent

    def refund(self, intent: Object) -> str:
        """Refund a charge in full, and return the id of its event."""
        charge = {
            "id": new_id("ch"),
            "object": "charge",
            "amount": intent["amount"],
            "amount_refunded": intent["amount"],
            "created": self._ledger.now(),
            "currency": intent["currency"],
            "customer": intent["customer"],
            "metadata": intent["metadata"],
            "payment_intent": intent["id"],
            "refunded": True,
        }
        return self._ledger.emit("charge.refunded", self._ledger.put(charge))

    def set_card(self, customer_id: str, state: str) -> int:
        """Set the state of all cards of a customer, and return their number."""
        cards = [card for card in self._ledger.all("payment_method") if card["customer"] == customer_id]
        for card in cards:
            if state == "gone":
                card["customer"] = None
                self._ledger.put(card)
                self._ledger.emit("payment_method.detached", card, previous={"customer": customer_id})
            else:
                self._ledger.put(card | {"_state": state})
        return len(cards)

    def next_at(self) -> datetime | None:
        """Return when the next subscription is renewed or ends, or a page expires."""
        moments = [subscription["_due"] for subscription in self._ledger.all("subscription") if subscription["_due"]]
        moments += [page["expires_at"] for page in self._ledger.all("checkout.session") if page["status"] == "open"]
        return datetime.fromtimestamp(min(moments), UTC) if moments else None

    def act(self) -> None:
        """Do everything that is due."""
        now = self._ledger.now()
        for page in self._ledger.all("checkout.session"):
            if page["status"] == "open" and page["expires_at"] <= now:
                self.complete(page, "expired")
        for subscription in reversed(self._ledger.all("subscription")):
            while subscription["_due"] and subscription["_due"] <= now:
                self._renew(subscription)

    def _renew(self, subscription: Object) -> None:
        if subscription["cancel_at_period_end"]:
            self.end(subscription)
            return
        method = self._ledger.get(subscription["default_payment_method"])
        paid = pays(method)
        if not subscription["_failures"]:
            subscription["_cycle"] += 1
        self._set_period(subscription)
        invoice = self._invoice(subscription, "subscription_cycle", paid=paid)
        if paid:
            subscription["status"], subscription["_failures"] = "active", 0
            subscription["_due"] = add_months(subscription["billing_cycle_anchor"], subscription["_cycle"] + 1)
        elif subscription["_failures"] == len(RETRIES):
            self.end(subscription)
            return
        else:
            subscription["status"] = "past_due"
            subscription["_due"] += RETRIES[subscription["_failures"]]
            subscription["_failures"] += 1
        self._ledger.put(subscription)
        self._ledger.emit("invoice.paid" if paid else "invoice.payment_failed", invoice)
        self._ledger.emit("customer.subscription.updated", subscription)

    def end(self, subscription: Object) -> None:
        """End a subscription."""
        subscription["status"], subscription["_due"] = "canceled", None
        subscription["ended_at"] = self._ledger.now()
        self._ledger.put(subscription)
        self._ledger.emit("customer.subscription.deleted", subscription)

    def _attach(self, customer_id: str) -> Object:
        return self._ledger.put(
            {
                "id": new_id("pm"),
                "object": "payment_method",
                "card": {"brand": "visa", "last4": "4242", "exp_month": 12, "exp_year": 2034},
                "created": self._ledger.now(),
                "customer": customer_id,
                "livemode": False,
                "metadata": {},
                "type": "card",
                "_state": WORKS,
            }
        )

    def _intent(self, method: Object, amount: int, metadata: Object) -> Object:
        return {
            "id": new_id("pi"),
            "object": "payment_intent",
            "amount": amount,
            "amount_received": 0,
            "created": self._ledger.now(),
            "currency": "eur",
            "customer": method["customer"],
            "last_payment_error": None,
            "livemode": False,
            "metadata": metadata,
            "payment_method": method["id"],
            "setup_future_usage": None,
            "status": "requires_payment_method",
        }

    @staticmethod
    def _fail(intent: Object) -> None:
        intent["payment_method"] = None
        intent["last_payment_error"] = {
            "code": "card_declined",
            "decline_code": "generic_decline",
            "message": "Your card was declined.",
            "type": "card_error",
        }

    def _new_subscription(self, method: Object, unit_amount: int, quantity: int, metadata: Object) -> Object:
        now = self._ledger.now()
        made: Object = {
            "id": new_id("sub"),
            "object": "subscription",
            "billing_cycle_anchor": now,
            "cancel_at_period_end": False,
            "created": now,
            "currency": "eur",
            "customer": method["customer"],
            "default_payment_method": method["id"],
            "ended_at": None,
            "items": {
                "object": "list",
                "data": [{"id": new_id("si"), "object": "subscription_item", "quantity": quantity}],
            },
            "livemode": False,
            "metadata": metadata,
            "status": "active",
            "_unit": unit_amount,
            "_cycle": 0,
            "_due": add_months(now, 1),
            "_failures": 0,
        }
        self._set_period(made)
        return self._ledger.put(made)

    @staticmethod
    def _set_period(subscription: Object) -> None:
        anchor, cycle = subscription["billing_cycle_anchor"], subscription["_cycle"]
        item = subscription["items"]["data"][0]
        item["current_period_start"], item["current_period_end"] = (
            add_months(anchor, cycle),
            add_months(anchor, cycle + 1),
        )

    def _invoice(self, subscription: Object, reason: str, *, paid: bool, amount: int | None = None) -> Object:
        item = subscription["items"]["data"][0]
        period = {"start": item["current_period_start"], "end": item["current_period_end"]}
        if amount is None:
            amount = subscription["_unit"] * item["quantity"]
        due = max(0, amount - self.credit_of(subscription["customer"]))
        if paid:
            customer = self._ledger.get(subscription["customer"]) or {}
            self._ledger.put(customer | {"balance": customer["balance"] + amount - due})
        return self._ledger.put(
            {
                "id": new_id("in"),
                "object": "invoice",
                "amount_due": due,
                "amount_paid": due if paid else 0,
                "billing_reason": reason,
                "created": self._ledger.now(),
                "currency": subscription["currency"],
                "customer": subscription["customer"],
                "lines": {"object": "list", "data": [{"id": new_id("il"), "amount": amount, "period": period}]},
                "livemode": False,
                "metadata": {},
                "parent": {
                    "type": "subscription_details",
                    "subscription_details": {
                        "subscription": subscription["id"],
                        "metadata": subscription["metadata"],
                    },
                },
                "status": "paid" if paid else "open",
                "total": amount,
            }
        )
