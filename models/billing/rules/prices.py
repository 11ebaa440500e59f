"""The price list (specification, "Credits"): what each thing costs, in credits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

LEAD = 1
"""A person returned, once per workspace."""
LIVE_PROFILE = 2
"""A full profile fetched now; a cached one is free."""
LIVE_COMPANY = 1
CONTACT = 25
"""A found e-mail address or telephone number; a miss is free."""
MOST_PER_PERSON = LEAD + LIVE_PROFILE

# What can be bought (specification, "Credits"). Prices are in euro cents.


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


# Which credits pay for what: soonest expiry first (specification, "Credits").


SIGNUP_CREDITS = 1250
SIGNUP_LIFE = timedelta(days=30)


class GrantSource(StrEnum):
    """What gave a grant: signing up, a paid month of a plan, a pack, or an operator."""

    SIGNUP = "signup"
    PLAN = "plan"
    TOP_UP = "top_up"
    ADJUSTMENT = "adjustment"


class LedgerKind(StrEnum):
    """What moved credits."""

    GRANT = "grant"
    CHARGE = "charge"
    EXPIRY = "expiry"
    REFUND = "refund"
    ADJUSTMENT = "adjustment"


@dataclass(frozen=True, slots=True)
class CreditBlock:
    """What is left of a grant. Credits are whole numbers."""

    id: str
    remaining: int
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class CreditCharge:
    """What is to be paid. `reference` is unique in a workspace: the same thing is never paid twice."""

    reference: str
    reason: str
    subject_id: str
    credits: int


@dataclass(frozen=True, slots=True)
class BlockPayment:
    """One charge paid, wholly or in part, out of one block."""

    charge: CreditCharge
    block_id: str
    credits: int


def allocate(blocks: Sequence[CreditBlock], charges: Iterable[CreditCharge]) -> tuple[BlockPayment, ...]:
    """Pay the charges in order out of the blocks, soonest expiry first.

    Raises `ValueError` when the blocks do not cover the charges.
    """
    ordered = sorted(blocks, key=lambda block: (block.expires_at, block.id))
    left = {block.id: block.remaining for block in ordered}
    payments: list[BlockPayment] = []
    for charge in charges:
        due = charge.credits
        for block in ordered:
            paid = min(due, left[block.id])
            if paid > 0:
                left[block.id] -= paid
                due -= paid
                payments.append(BlockPayment(charge, block.id, paid))
        if due > 0:
            raise ValueError("the blocks do not cover the charges")
    return tuple(payments)
