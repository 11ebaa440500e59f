"""Calls that start, change and end subscriptions, with prorated charges and credits."""

from sandbox.payments.billing import Billing, pays
from sandbox.payments.ledger import Ledger, found
from sandbox.payments.wire import Ask, Object, declined, integer, invalid, items, known, missing, required

DECLINED = {"code": "card_declined", "decline_code": "generic_decline"}
FLAGS = ("off_session", "payment_behavior")


class Subscriptions:
    """Performs the calls. It only supports changes that fail as a whole when the payment fails."""

    def __init__(self, ledger: Ledger, billing: Billing) -> None:
        self._ledger = ledger
        self._billing = billing

    def create(self, ask: Ask) -> Object:
        """Start a subscription and charge its first month."""
        tree = ask.tree
        known(tree, "customer", "default_payment_method", "items", "metadata", *FLAGS)
        found(self._ledger, required(tree, "customer"), "customer", param="customer")
        method = self._method(tree, tree["customer"])
        line = _only(items(tree, "items"))
        known(line, "quantity", "price_data")
        price = required(line, "price_data")
        known(price, "currency", "product", "unit_amount", "recurring")
        found(self._ledger, required(price, "product"), "product", param="items[0][price_data][product]")
        if required(price, "currency") != "eur" or (price.get("recurring") or {}).get("interval") != "month":
            raise invalid("Only monthly prices in euro are served here.", param="items[0][price_data]")
        unit, quantity = integer(price, "unit_amount", least=1), integer(line, "quantity", least=1)
        _fails_as_a_whole(tree)
        if unit * quantity > self._billing.credit_of(tree["customer"]) and not pays(method):
            raise declined(**DECLINED)
        metadata = tree.get("metadata", {})
        return self._billing.subscribe(method, unit, metadata=metadata, quantity=quantity)[0]

    def update(self, ask: Ask) -> Object:
        """Change whether it ends with its period, its payment method, or its quantity."""
        tree = ask.tree
        known(
            tree,
            *("cancel_at_period_end", "metadata", "items", "default_payment_method", "proration_behavior"),
            *FLAGS,
        )
        subscription = self._going_on(ask)
        if "default_payment_method" in tree:
            subscription["default_payment_method"] = self._method(tree, subscription["customer"])["id"]
        if "items" in tree:
            self._change_quantity(tree, subscription)
        if "cancel_at_period_end" in tree:
            subscription["cancel_at_period_end"] = tree["cancel_at_period_end"] == "true"
        self._ledger.put(subscription)
        self._ledger.emit("customer.subscription.updated", subscription)
        return subscription

    def cancel(self, ask: Ask) -> Object:
        """End it now; the rest of the month is credited on request."""
        known(ask.tree, "prorate", "invoice_now")
        subscription = self._going_on(ask)
        if (ask.tree.get("prorate"), ask.tree.get("invoice_now")) == ("true", "true"):
            item = subscription["items"]["data"][0]
            if subscription["status"] == "active":
                self._billing.bill(
                    subscription, "subscription_update", amount=self._part(subscription, -item["quantity"])
                )
        self._billing.end(subscription)
        return subscription

    def _change_quantity(self, tree: Object, subscription: Object) -> None:
        line, item = _only(items(tree, "items")), subscription["items"]["data"][0]
        known(line, "id", "quantity")
        if required(line, "id") != item["id"]:
            raise missing("subscription item", line["id"], param="items[0][id]")
        if tree.get("proration_behavior") != "always_invoice":
            raise invalid("Only changes that are invoiced at once are served here.", param="proration_behavior")
        _fails_as_a_whole(tree)
        quantity = integer(line, "quantity", least=1)
        amount = self._part(subscription, quantity - item["quantity"])
        due = amount - self._billing.credit_of(subscription["customer"])
        if amount > 0 and due > 0 and not pays(self._ledger.get(subscription["default_payment_method"])):
            raise declined(**DECLINED)
        item["quantity"] = quantity
        if amount:
            self._billing.bill(subscription, "subscription_update", amount=amount)

    def _part(self, subscription: Object, quantity: int) -> int:
        """Return the prorated cost of a change of quantity for the rest of the month, in cents."""
        item = subscription["items"]["data"][0]
        begins, ends = item["current_period_start"], item["current_period_end"]
        left = max(0, ends - self._ledger.now()) / (ends - begins)
        cents: int = round(subscription["_unit"] * quantity * left)
        return cents

    def _method(self, tree: Object, customer_id: str) -> Object:
        method = found(
            self._ledger, required(tree, "default_payment_method"), "payment_method", param="default_payment_method"
        )
        if method["customer"] != customer_id:
            raise invalid("The payment method does not belong to this customer.", param="default_payment_method")
        return method

    def _going_on(self, ask: Ask) -> Object:
        subscription = found(self._ledger, ask.path_ids["id"], "subscription")
        if subscription["status"] == "canceled":
            raise missing("subscription", ask.path_ids["id"])
        return subscription


def _only(lines: list[Object]) -> Object:
    if len(lines) != 1:
        raise invalid("Exactly one item is served here.", param="items")
    return lines[0]


def _fails_as_a_whole(tree: Object) -> None:
    if tree.get("payment_behavior") != "error_if_incomplete":
        raise invalid("Only changes that fail when they are not paid are served here.", param="payment_behavior")
