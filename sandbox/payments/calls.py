"""The provider's calls: customers, Checkout sessions, payment intents, subscriptions."""

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.payments.billing import Billing
from sandbox.payments.ledger import Ledger, of_customer
from sandbox.payments.ledger import found as found_one
from sandbox.payments.subscriptions import Subscriptions
from sandbox.payments.wire import (
    Ask,
    Object,
    declined,
    integer,
    invalid,
    items,
    known,
    listing,
    missing,
    new_id,
    required,
    shown,
)

SESSIONS, INTENTS, SUBSCRIPTIONS = "/v1/checkout/sessions", "/v1/payment_intents", "/v1/subscriptions"
SESSION_SECONDS = 24 * 3600
LEAST_CENTS = 50
MOST_A_PAGE = 100
CURRENCIES = frozenset({"eur"})


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of the provider's API."""

    name: str
    method: str
    path: str
    perform: Callable[[Ask], Object]


class Calls:
    """Performs calls on the ledger."""

    def __init__(self, ledger: Ledger, billing: Billing) -> None:
        self._ledger = ledger
        self._billing = billing
        self._subscriptions = Subscriptions(ledger, billing)

    def operations(self) -> tuple[Operation, ...]:
        """Return all operations."""
        return (
            Operation("customers/create", "POST", "/v1/customers", self.create_customer),
            Operation("checkout/create", "POST", SESSIONS, self.create_session),
            Operation("checkout/list", "GET", SESSIONS, self._listing("checkout.session")),
            Operation("checkout/retrieve", "GET", f"{SESSIONS}/{{id}}", self._reading("checkout.session")),
            Operation("intents/create", "POST", INTENTS, self.create_intent),
            Operation("intents/list", "GET", INTENTS, self._listing("payment_intent")),
            Operation("intents/retrieve", "GET", f"{INTENTS}/{{id}}", self._reading("payment_intent")),
            Operation("events/list", "GET", "/v1/events", self.list_events),
            Operation("products/create", "POST", "/v1/products", self.create_product),
            Operation("subscriptions/create", "POST", SUBSCRIPTIONS, self._subscriptions.create),
            Operation("subscriptions/list", "GET", SUBSCRIPTIONS, self._listing("subscription")),
            Operation("subscriptions/update", "POST", f"{SUBSCRIPTIONS}/{{id}}", self._subscriptions.update),
            Operation("subscriptions/retrieve", "GET", f"{SUBSCRIPTIONS}/{{id}}", self._reading("subscription")),
            Operation("subscriptions/cancel", "DELETE", f"{SUBSCRIPTIONS}/{{id}}", self._subscriptions.cancel),
        )

    def create_customer(self, ask: Ask) -> Object:
        """Create a customer."""
        known(ask.tree, "email", "name", "metadata")
        return self._ledger.put(
            {
                "id": new_id("cus"),
                "object": "customer",
                "balance": 0,
                "created": self._ledger.now(),
                "email": ask.tree.get("email"),
                "name": ask.tree.get("name"),
                "metadata": ask.tree.get("metadata", {}),
                "livemode": False,
            }
        )

    def create_product(self, ask: Ask) -> Object:
        """Create a product with the caller's id."""
        known(ask.tree, "id", "name")
        product_id = required(ask.tree, "id")
        if self._ledger.get(product_id) is not None:
            raise invalid("Product already exists.", param="id", code="resource_already_exists")
        made = {"id": product_id, "object": "product", "created": self._ledger.now(), "livemode": False}
        return self._ledger.put(made | {"name": required(ask.tree, "name")})

    def create_session(self, ask: Ask) -> Object:
        """Open a payment page."""
        tree = ask.tree
        known(
            tree,
            *("mode", "customer", "client_reference_id", "success_url", "cancel_url", "metadata", "line_items"),
            *("subscription_data", "payment_intent_data"),
        )
        mode = required(tree, "mode")
        if mode not in ("payment", "subscription"):
            raise invalid("Invalid mode", param="mode")
        self._customer(required(tree, "customer"))
        price = self._price(tree, monthly=mode == "subscription")
        other = "payment_intent_data" if mode == "subscription" else "subscription_data"
        if other in tree:
            raise invalid(f"You can not pass `{other}` in `{mode}` mode.", param=other)
        session_id, now = new_id("cs_test"), self._ledger.now()
        return self._ledger.put(
            {
                "id": session_id,
                "object": "checkout.session",
                "amount_total": price["unit_amount"],
                "cancel_url": tree.get("cancel_url"),
                "client_reference_id": tree.get("client_reference_id"),
                "created": now,
                "currency": price["currency"],
                "customer": tree["customer"],
                "expires_at": now + SESSION_SECONDS,
                "livemode": False,
                "metadata": tree.get("metadata", {}),
                "mode": mode,
                "payment_intent": None,
                "payment_status": "unpaid",
                "status": "open",
                "subscription": None,
                "success_url": required(tree, "success_url"),
                "url": f"{ask.origin}/pay/{session_id}",
                "_product": price["product"],
                "_data": tree.get("subscription_data") or tree.get("payment_intent_data") or {},
            }
        )

    def _price(self, tree: Object, *, monthly: bool) -> Object:
        lines = items(tree, "line_items")
        if len(lines) != 1:
            raise invalid("Exactly one line item is served here.", param="line_items")
        data = required(lines[0], "price_data")
        known(data, "currency", "unit_amount", "product_data", "recurring")
        if required(data, "currency") not in CURRENCIES:
            raise invalid("Invalid currency", param="line_items[0][price_data][currency]")
        recurring = data.get("recurring")
        if monthly and (recurring or {}).get("interval") != "month":
            raise invalid("You must provide at least one recurring price in `subscription` mode.", param="line_items")
        if not monthly and recurring:
            raise invalid("You specified `payment` mode but passed a recurring price.", param="line_items")
        return {
            "currency": data["currency"],
            "unit_amount": integer(data, "unit_amount", least=LEAST_CENTS),
            "product": required(required(data, "product_data"), "name"),
        }

    def create_intent(self, ask: Ask) -> Object:
        """Charge a payment method immediately."""
        tree = ask.tree
        known(
            tree,
            *("amount", "currency", "customer", "payment_method", "off_session", "confirm", "description", "metadata"),
        )
        amount = integer(tree, "amount", least=LEAST_CENTS)
        if required(tree, "currency") not in CURRENCIES:
            raise invalid("Invalid currency", param="currency")
        self._customer(required(tree, "customer"))
        method = self._ledger.get(required(tree, "payment_method"))
        if method is None:
            raise missing("PaymentMethod", tree["payment_method"], param="payment_method")
        if method["customer"] != tree["customer"]:
            raise invalid("The payment method does not belong to this customer.", param="payment_method")
        if (tree.get("confirm"), tree.get("off_session")) != ("true", "true"):
            raise invalid("Only charges that are confirmed at once, off session, are served here.", param="confirm")
        intent = self._billing.charged(method, amount=amount, metadata=tree.get("metadata", {}))
        if intent["status"] == "succeeded":
            return intent
        failed = intent["last_payment_error"]
        raise declined(code=failed["code"], decline_code=failed["decline_code"], payment_intent=shown(intent))

    def _reading(self, kind: str) -> Callable[[Ask], Object]:
        return lambda ask: self._get(ask.path_ids["id"], kind)

    def _listing(self, kind: str) -> Callable[[Ask], Object]:
        return lambda ask: self._list(ask, kind)

    def _list(self, ask: Ask, kind: str) -> Object:
        known(ask.tree, "customer", "limit", "starting_after")
        found = of_customer(self._ledger.all(kind), ask.tree.get("customer"))
        return _page(ask, kind, [thing for thing in found if kind != "subscription" or thing["status"] != "canceled"])

    def list_events(self, ask: Ask) -> Object:
        """Return the events."""
        known(ask.tree, "created", "types", "limit", "starting_after")
        since = integer(required(ask.tree, "created"), "gte", least=0)
        kinds = set(required(ask.tree, "types").values())
        return _page(ask, "event", self._ledger.events_since(since=since, kinds=kinds))

    def _customer(self, customer_id: str) -> Object:
        return self._get(customer_id, "customer", param="customer")

    def _get(self, object_id: str, kind: str, *, param: str = "id") -> Object:
        return found_one(self._ledger, object_id, kind, param=param)


def _page(ask: Ask, kind: str, found: list[Object]) -> Object:
    limit = integer(ask.tree, "limit", least=1) if "limit" in ask.tree else 10
    after = ask.tree.get("starting_after")
    if after is not None:
        places = [place for place, thing in enumerate(found) if thing["id"] == after]
        if not places:
            raise missing(kind, after, param="starting_after")
        found = found[places[0] + 1 :]
    page = found[: min(limit, MOST_A_PAGE)]
    return listing(ask.path, page, more=len(found) > len(page))
