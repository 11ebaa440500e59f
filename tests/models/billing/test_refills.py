from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from models.billing.rules.payments import BACK_OFF, Refilling, RefillStatus, decide_refill, refill_retry_after
from models.billing.rules.prices import PACK

NOW = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)
LOW = Refilling(
    enabled=True,
    can_be_charged=True,
    balance_credits=99,
    threshold_credits=100,
    monthly_cap_cents=2 * PACK.price_cents,
    spent_cents=PACK.price_cents,
    in_flight=False,
    failures=0,
    retry_at=None,
    now=NOW,
)


def test_a_pack_is_bought_when_the_balance_is_below_the_threshold() -> None:
    assert decide_refill(LOW).buy
    assert LOW.status is RefillStatus.READY


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"enabled": False}, RefillStatus.OFF),
        ({"can_be_charged": False}, RefillStatus.NEEDS_PAYMENT_METHOD),
        ({"balance_credits": 100}, RefillStatus.READY),
        ({"in_flight": True}, RefillStatus.READY),
        ({"failures": 1, "retry_at": NOW + timedelta(seconds=1)}, RefillStatus.PAYMENT_FAILED),
        ({"failures": 5, "retry_at": None}, RefillStatus.PAYMENT_FAILED),
        ({"spent_cents": PACK.price_cents + 1}, RefillStatus.CAP_REACHED),
        ({"monthly_cap_cents": 0, "spent_cents": 0}, RefillStatus.CAP_REACHED),
    ],
)
def test_nothing_is_bought_for_each_reason_alone(changed: dict[str, Any], status: RefillStatus) -> None:
    standing = replace(LOW, **changed)
    assert not decide_refill(standing).buy
    assert standing.status is status


def test_it_is_tried_again_when_the_wait_after_a_decline_is_over() -> None:
    declined = replace(LOW, failures=1, retry_at=NOW)
    assert decide_refill(declined).buy
    assert decide_refill(replace(declined, retry_at=NOW + timedelta(hours=1))).until == NOW + timedelta(hours=1)


def test_a_reached_cap_waits_for_the_next_month() -> None:
    assert decide_refill(replace(LOW, spent_cents=2 * PACK.price_cents)).until == datetime(2026, 12, 1, tzinfo=UTC)


def test_declines_wait_longer_each_time_and_then_for_the_owner() -> None:
    waits = [refill_retry_after(failures) for failures in range(1, len(BACK_OFF) + 1)]
    assert waits == sorted(BACK_OFF)
    assert refill_retry_after(len(BACK_OFF) + 1) is None
    assert decide_refill(replace(LOW, failures=len(BACK_OFF) + 1)).until is None
