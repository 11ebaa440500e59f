"""The price list (specification, "Credits"): the one place for prices, plans, the pack, fees and how long credits last.

Descriptions, guides and documents take these figures from here, or a test compares them with these.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

LEAD = 1
"""Credits for a person returned, once per workspace."""
LIVE_PROFILE = 2
"""Credits for a full profile fetched now; a cached one is free."""
LIVE_COMPANY = 1
"""Credits for a company fetched now; a cached one is free."""
CONTACT = 25
"""Credits for a found e-mail address or telephone number; a miss is free."""
MOST_PER_PERSON = LEAD + LIVE_PROFILE


CURRENCY = "EUR"


@dataclass(frozen=True, slots=True)
class Offer:
    """What can be bought, at a price in euro cents: credits once, or each month where `monthly`.

    Credits are valid for `valid_months`: those of a plan roll over for two more cycles.
    """

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
"""Euro cents for each connected outreach account, each month; sends cost nothing."""


def outreach_price_cents(accounts: int) -> int:
    """Return the euro cents that this number of connected outreach accounts costs a month."""
    return accounts * OUTREACH_ACCOUNT_CENTS


SIGNUP_CREDITS = 1250
SIGNUP_LIFE = timedelta(days=30)
"""How long the credits of a sign-up are valid."""


class GrantSource(StrEnum):
    """What gave a grant: a sign-up, a paid month of a plan, a pack, or an operator."""

    SIGNUP = "signup"
    PLAN = "plan"
    TOP_UP = "top_up"
    ADJUSTMENT = "adjustment"


class LedgerKind(StrEnum):
    """What moved credits. Nothing writes `refund`: a charge is made with what it pays for, and never given back."""

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
    """One thing to be paid for. `reference` is unique in a workspace: nothing is paid twice."""

    reference: str
    reason: str
    subject_id: str
    credits: int


@dataclass(frozen=True, slots=True)
class BlockPayment:
    """The part of a charge that one block pays."""

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
