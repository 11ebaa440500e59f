"""Which credits pay for what: soonest expiry first (specification, "Credits")."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

SIGNUP_CREDITS = 1250
SIGNUP_LIFE = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Block:
    """What is left of a grant. Credits are whole numbers."""

    id: str
    remaining: int
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Charge:
    """What is to be paid. `reference` is unique in a workspace: the same thing is never paid twice."""

    reference: str
    reason: str
    subject_id: str
    credits: int


@dataclass(frozen=True, slots=True)
class Payment:
    """One charge paid, wholly or in part, out of one block."""

    charge: Charge
    block_id: str
    credits: int


def allocate(blocks: Sequence[Block], charges: Iterable[Charge]) -> tuple[Payment, ...]:
    """Pay the charges in order out of the blocks, soonest expiry first.

    Raises `ValueError` when the blocks do not cover the charges.
    """
    ordered = sorted(blocks, key=lambda block: (block.expires_at, block.id))
    left = {block.id: block.remaining for block in ordered}
    payments: list[Payment] = []
    for charge in charges:
        due = charge.credits
        for block in ordered:
            paid = min(due, left[block.id])
            if paid > 0:
                left[block.id] -= paid
                due -= paid
                payments.append(Payment(charge, block.id, paid))
        if due > 0:
            raise ValueError("the blocks do not cover the charges")
    return tuple(payments)
