"""What can be bought (specification, "Credits"). Prices are in euro cents."""

from collections.abc import Mapping
from dataclasses import dataclass

CURRENCY = "EUR"


@dataclass(frozen=True, slots=True)
class Offer:
    """Credits each month, or once. They are valid for `valid_months`: a plan's roll over for two more cycles."""

    id: str
    name: str
    credits: int
    price_cents: int
    monthly: bool
    valid_months: int


OFFERS = (
    Offer("starter", "Starter", 5_000, 4_900, monthly=True, valid_months=3),
    Offer("growth", "Growth", 25_000, 14_900, monthly=True, valid_months=3),
    Offer("scale", "Scale", 125_000, 39_900, monthly=True, valid_months=3),
    Offer("pack", "Pack", 7_500, 9_900, monthly=False, valid_months=12),
)
OFFER_OF: Mapping[str, Offer] = {offer.id: offer for offer in OFFERS}

PACK = OFFER_OF["pack"]
"""What auto-refill buys."""

OUTREACH_ACCOUNT_CENTS = 4_900
"""Each connected outreach account, each month; sends cost nothing."""


def outreach_price_cents(accounts: int) -> int:
    """What so many connected outreach accounts cost a month."""
    return accounts * OUTREACH_ACCOUNT_CENTS
