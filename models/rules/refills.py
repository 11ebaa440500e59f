"""Auto-refill: whether to buy a pack now, and how a workspace's refilling stands (contract, section 4)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from models.rules.months import next_month
from models.rules.offers import PACK

BACK_OFF = (timedelta(hours=1), timedelta(hours=6), timedelta(days=1), timedelta(days=3))
"""How long to wait after each decline in a row. After the last, until the settings or the payment method change."""


class RefillStatus(StrEnum):
    """How refilling stands."""

    OFF = "off"
    READY = "ready"
    NEEDS_PAYMENT_METHOD = "needs_payment_method"
    CAP_REACHED = "cap_reached"
    PAYMENT_FAILED = "payment_failed"


@dataclass(frozen=True, slots=True)
class Refilling:
    """Everything that decides. `spent_cents` is of this UTC month and counts the purchase in flight."""

    enabled: bool
    can_be_charged: bool
    balance_credits: int
    threshold_credits: int
    monthly_cap_cents: int
    spent_cents: int
    in_flight: bool
    failures: int
    retry_at: datetime | None
    now: datetime

    @property
    def has_room(self) -> bool:
        """Whether the month's cap leaves room for one more pack."""
        return self.spent_cents + PACK.price_cents <= self.monthly_cap_cents

    @property
    def status(self) -> RefillStatus:
        """What the owner is shown."""
        if not self.enabled:
            return RefillStatus.OFF
        if not self.can_be_charged:
            return RefillStatus.NEEDS_PAYMENT_METHOD
        if self.failures:
            return RefillStatus.PAYMENT_FAILED
        return RefillStatus.READY if self.has_room or self.in_flight else RefillStatus.CAP_REACHED


@dataclass(frozen=True, slots=True)
class Verdict:
    """Buy a pack now, or wait until a time (null: until something changes) because of `reason`; `over`: it is off."""

    buy: bool
    reason: str
    until: datetime | None = None
    over: bool = False


def retry_after(failures: int) -> timedelta | None:
    """How long to wait after so many declines in a row; null: until something changes."""
    return BACK_OFF[failures - 1] if 0 < failures <= len(BACK_OFF) else None


def decide(at: Refilling) -> Verdict:  # noqa: PLR0911 - one line for each reason not to buy
    """Whether to buy."""
    if not at.enabled:
        return Verdict(buy=False, reason="auto-refill is off", over=True)
    if not at.can_be_charged:
        return Verdict(buy=False, reason="there is no payment method")
    if at.balance_credits >= at.threshold_credits:
        return Verdict(buy=False, reason="the balance is not below the threshold")
    if at.in_flight:
        return Verdict(buy=False, reason="a purchase is in flight")
    if at.failures and at.retry_at is None:
        return Verdict(buy=False, reason="the payment method was declined too often")
    if at.retry_at is not None and at.now < at.retry_at:
        return Verdict(buy=False, reason="the last payment was declined", until=at.retry_at)
    if not at.has_room:
        return Verdict(buy=False, reason="the monthly cap is reached", until=next_month(at.now))
    return Verdict(buy=True, reason="the balance is below the threshold")
