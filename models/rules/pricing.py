"""The price list (specification, "Credits"): what each thing costs, in credits; money in cents with its currency."""

from dataclasses import dataclass

LEAD = 1
"""A person returned, once per workspace."""
LIVE_PROFILE = 2
"""A full profile fetched now; a cached one is free."""
LIVE_COMPANY = 1
CONTACT = 25
"""A found e-mail address or telephone number; a miss is free."""
MOST_PER_PERSON = LEAD + LIVE_PROFILE

CURRENCY = "EUR"


@dataclass(frozen=True, slots=True)
class Offer:
    """Credits for money: `monthly` ones are granted each cycle."""

    item: str
    credits: int
    amount_cents: int
    monthly: bool


PACK = Offer(item="pack", credits=7_500, amount_cents=9_900, monthly=False)
PLANS = (
    Offer(item="starter", credits=5_000, amount_cents=4_900, monthly=True),
    Offer(item="growth", credits=25_000, amount_cents=14_900, monthly=True),
    Offer(item="scale", credits=125_000, amount_cents=39_900, monthly=True),
)
OUTREACH_ACCOUNT_CENTS = 4_900
"""A connected outreach account, a month."""
