"""The subscription that charges a workspace for its outreach accounts: one item, as many as there are accounts.

What is more is charged at once for the rest of the month, what is less is credited; the last account ends it.
"""

from typing import Any

import stripe

from activities.upstream.payments import OutreachAsk, PaymentsDeclined, PaymentsUnclear
from activities.upstream.stripe.calls import list_objects, translated
from activities.upstream.stripe.events import OUTREACH, PLAN_STATUS, WORKSPACE
from models.billing.rules.outreach_plans import ProviderSubscription
from models.billing.rules.payments import PlanStatus
from models.billing.rules.prices import CURRENCY, OUTREACH_ACCOUNT_CENTS

PRODUCT = {"id": "outreach_account", "name": "Outreach account"}
AT_ONCE: dict[str, Any] = {
    "off_session": True,
    "payment_behavior": "error_if_incomplete",
    "proration_behavior": "always_invoice",
}
NOTHING = ProviderSubscription(None, 0, None, PlanStatus.ACTIVE)


class OutreachSubscriptions:
    """Finds, makes, changes and ends it."""

    def __init__(self, client: stripe.StripeClient) -> None:
        self._client = client

    async def find(self, workspace_id: str, customer_id: str) -> ProviderSubscription:
        """What there is."""
        found = await self._find(workspace_id, customer_id)
        return NOTHING if found is None else _held(found)

    async def hold(self, ask: OutreachAsk) -> ProviderSubscription:
        """Make it what is asked for."""
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
            "items": [{"quantity": ask.accounts, "price_data": _price()}],
            "metadata": {OUTREACH: ask.workspace_id, WORKSPACE: ask.workspace_id},
            **{name: AT_ONCE[name] for name in ("off_session", "payment_behavior")},
        }
        return await self._paid(self._client.v1.subscriptions.create_async(asks, _key(ask)))

    async def _change(self, ask: OutreachAsk, found: Any) -> ProviderSubscription:  # noqa: ANN401 - the library's object
        asks: Any = {"items": [{"id": _item(found).id, "quantity": ask.accounts}], **AT_ONCE}
        if ask.method_id is not None:
            asks["default_payment_method"] = ask.method_id
        return await self._paid(self._client.v1.subscriptions.update_async(found.id, asks, _key(ask)))

    async def _paid(self, call: Any) -> ProviderSubscription:  # noqa: ANN401 - a call of the library
        try:
            return _held(await call)
        except stripe.CardError as error:
            raise PaymentsDeclined(error.code or "card_declined") from error
        except stripe.StripeError as error:
            raise translated(error) from error

    async def _end(self, subscription_id: str) -> ProviderSubscription:
        """What is left of the month is credited. One that has ended meanwhile is as good."""
        try:
            await self._client.v1.subscriptions.cancel_async(subscription_id, {"prorate": True, "invoice_now": True})
        except stripe.InvalidRequestError as error:
            if error.code != "resource_missing":
                raise translated(error) from error
        except stripe.StripeError as error:
            raise translated(error) from error
        return NOTHING

    async def _know_product(self) -> None:
        """What the invoice names; there is one of it, under an id of ours."""
        try:
            await self._client.v1.products.create_async({"id": PRODUCT["id"], "name": PRODUCT["name"]})
        except stripe.InvalidRequestError as error:
            if error.code != "resource_already_exists":
                raise translated(error) from error
        except stripe.StripeError as error:
            raise translated(error) from error


ENDED = frozenset(status for status, plan in PLAN_STATUS.items() if plan is PlanStatus.ENDED)


def _price() -> dict[str, Any]:
    return {
        "currency": CURRENCY.lower(),
        "product": PRODUCT["id"],
        "unit_amount": OUTREACH_ACCOUNT_CENTS,
        "recurring": {"interval": "month"},
    }


def _key(ask: OutreachAsk) -> Any:  # noqa: ANN401 - the library's options are a TypedDict of its own
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
