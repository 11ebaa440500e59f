"""Soonest expiry first, exact to the credit."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.billing.rules.prices import CreditBlock, CreditCharge, allocate

EPOCH = datetime(2027, 1, 1, tzinfo=UTC)

blocks = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 30)), max_size=6).map(
    lambda rows: [CreditBlock(f"grt_{n}", left, EPOCH + timedelta(days=days)) for n, (left, days) in enumerate(rows)]
)
charges = st.lists(st.integers(1, 20), max_size=8).map(
    lambda rows: [CreditCharge(f"ref_{n}", "lead", "run_1", credits) for n, credits in enumerate(rows)]
)


@given(blocks, charges)
def test_every_charge_is_paid_in_full_and_no_block_goes_below_zero(
    blocks: list[CreditBlock], charges: list[CreditCharge]
) -> None:
    if sum(charge.credits for charge in charges) > sum(block.remaining for block in blocks):
        with pytest.raises(ValueError, match="do not cover"):
            allocate(blocks, charges)
        return
    payments = allocate(blocks, charges)
    for charge in charges:
        assert sum(p.credits for p in payments if p.charge == charge) == charge.credits
    for block in blocks:
        assert sum(p.credits for p in payments if p.block_id == block.id) <= block.remaining


@given(blocks, charges)
def test_a_later_block_is_touched_only_when_every_earlier_one_is_empty(
    blocks: list[CreditBlock], charges: list[CreditCharge]
) -> None:
    if sum(charge.credits for charge in charges) > sum(block.remaining for block in blocks):
        return
    used = {block.id: 0 for block in blocks}
    for payment in allocate(blocks, charges):
        used[payment.block_id] += payment.credits
    ordered = sorted(blocks, key=lambda block: (block.expires_at, block.id))
    for earlier, later in itertools.pairwise(ordered):
        assert used[later.id] == 0 or used[earlier.id] == earlier.remaining
