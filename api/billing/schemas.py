"""Buying credits: checkout and auto-refill (contract, section 4)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from api.kernel.schemas import Answer, Ask, Credits
from models.base.values import Time
from models.billing.rules.payments import LONGEST_URL, RefillStatus, is_return_url


def _return_url(value: str) -> str:
    if not is_return_url(value):
        raise ValueError("must be an http or https address without credentials")
    return value


ReturnUrl = Annotated[
    str,
    Field(max_length=LONGEST_URL, json_schema_extra={"format": "uri"}),
    AfterValidator(_return_url),
]
Item = Literal["starter", "growth", "scale", "pack"]


class OpenCheckout(Ask):
    """What to buy, and where the browser goes after paying or after leaving without."""

    item: Item
    success_url: ReturnUrl
    cancel_url: ReturnUrl


class CheckoutView(Answer):
    """A page at the payment provider. Credits are added when the provider tells that it was paid."""

    id: str
    object: Literal["checkout"] = "checkout"
    item: Item
    checkout_url: str
    session_id: str
    expires_at: Time


class CheckoutPreview(Answer):
    """What would be bought; nothing was asked of the payment provider."""

    object: Literal["checkout"] = "checkout"
    item: Item
    credits: int
    price_cents: int
    currency: Literal["EUR"] = "EUR"
    interval: Literal["month"] | None


class SetAutoRefill(Ask):
    """When to buy a pack, and how much a UTC month may cost."""

    enabled: bool
    threshold_credits: Credits
    monthly_cap_cents: Credits


class AutoRefillView(Answer):
    """Auto-refill as it is set, and how it stands. The month's spending counts the purchase in flight."""

    object: Literal["auto_refill"] = "auto_refill"
    enabled: bool
    threshold_credits: int
    monthly_cap_cents: int
    spent_this_month_cents: int
    currency: Literal["EUR"] = "EUR"
    status: RefillStatus
