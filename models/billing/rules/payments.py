"""Payments: their states, the provider's events, the signature of callbacks, auto-refill, months (contract, section 4).

A payment is written before the provider is called. Only the provider's signed callback grants credits; the answer of a
call, and what is read back after a call without an answer, only decide the state of the attempt.
"""

import hashlib
import hmac
import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from urllib.parse import urlsplit

from models.billing.rules.prices import PACK


class PaymentKind(StrEnum):
    """What began a payment."""

    CHECKOUT = "checkout"
    REFILL = "refill"


class PaymentStatus(StrEnum):
    """The state of a payment.

    `pending`: the provider has not been called yet. `calling`: it was called, its answer is unknown. `open`: a person
    can pay. `processing`: the provider has taken the charge, its callback is awaited.
    """

    PENDING = "pending"
    CALLING = "calling"
    OPEN = "open"
    PROCESSING = "processing"
    PAID = "paid"
    DECLINED = "declined"
    EXPIRED = "expired"
    FAILED = "failed"
    REFUNDED = "refunded"


UNASKED = frozenset({PaymentStatus.PENDING, PaymentStatus.CALLING})
"""The states in which a payment has no answer of the provider yet."""
IN_FLIGHT = UNASKED | {PaymentStatus.PROCESSING}
"""A refill in one of these states may still cost money: it counts towards the cap, and no second one is made."""

CALL_SECONDS = 30.0
"""How long the provider may take to answer."""
READ_AFTER = (timedelta(seconds=5), timedelta(seconds=30), timedelta(minutes=2), timedelta(minutes=10))
"""When a call without an answer is read back; a payment that the provider does not know after the last was not made."""
ASK_FOR = timedelta(minutes=30)
"""How long the call is repeated while the provider cannot be reached."""
LOOK_AFTER = timedelta(minutes=10)
"""When a taken charge without a callback is read at the provider; afterwards once a day."""
LOOK_EVERY = timedelta(days=1)


def ask_again_after(attempts: int) -> timedelta:
    """Return how long to wait after this number of calls that certainly did nothing."""
    return timedelta(seconds=min(60, 2 ** max(0, attempts - 1)))


@dataclass(frozen=True, slots=True)
class CheckoutPaid:
    """A person has paid on the provider's page, or set up a payment."""

    payment_id: str
    charge_id: str | None
    subscription_id: str | None


@dataclass(frozen=True, slots=True)
class ChargePaid:
    """A charge of a payment method has succeeded."""

    payment_id: str
    charge_id: str


@dataclass(frozen=True, slots=True)
class NotPaid:
    """A payment failed: `declined`, or `expired`. `reason` is the provider's code."""

    payment_id: str
    status: PaymentStatus
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Refunded:
    """A charge of a payment was refunded in full."""

    payment_id: str


@dataclass(frozen=True, slots=True)
class CyclePaid:
    """One month of a plan is paid."""

    invoice_id: str
    payment_id: str
    subscription_id: str
    starts_at: datetime


class PlanStatus(StrEnum):
    """Whether a plan continues, has an unpaid invoice, or has ended."""

    ACTIVE = "active"
    PAST_DUE = "past_due"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """The state of a plan since `at`; `anchored_at` sets the day on which its cycles begin."""

    subscription_id: str
    payment_id: str
    status: PlanStatus
    anchored_at: datetime
    at: datetime


@dataclass(frozen=True, slots=True)
class MethodAttached:
    """A payment method was saved: it can be charged without the person being there."""

    method_id: str
    customer_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class MethodDetached:
    """A payment method was removed."""

    method_id: str
    customer_id: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class OutreachSubscriptionChanged:
    """The state of the subscription for a workspace's outreach accounts since `at`."""

    subscription_id: str
    workspace_id: str
    status: PlanStatus
    at: datetime


PaymentEvent = (
    CheckoutPaid
    | ChargePaid
    | NotPaid
    | Refunded
    | CyclePaid
    | PlanChanged
    | MethodAttached
    | MethodDetached
    | OutreachSubscriptionChanged
)
"""What happened at the payment provider, in our own terms."""

SIGNATURE_TOLERANCE = timedelta(minutes=5)
"""How far, in wall time, a callback's own time may differ from ours, in either direction."""


def is_signed(body: bytes, header: str, secrets: Iterable[str], *, now: datetime) -> bool:
    """Return whether a callback with this signature header (`t=…,v1=…`) comes from the provider and is recent."""
    parts = [part.partition("=") for part in header.split(",")]
    times = [value for name, _, value in parts if name.strip() == "t"]
    given = [value.strip() for name, _, value in parts if name.strip() == "v1"]
    if len(times) != 1 or re.fullmatch("[0-9]{1,12}", times[0]) is None:
        return False
    if abs(now.timestamp() - int(times[0])) > SIGNATURE_TOLERANCE.total_seconds():
        return False
    signed = times[0].encode() + b"." + body
    expected = [hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() for secret in secrets]
    return any(hmac.compare_digest(ours.encode(), theirs.encode()) for ours in expected for theirs in given)


LONGEST_URL = 2000


def is_return_url(url: str) -> bool:
    """Return whether a browser can be redirected to this address: http or https, a host, no credentials."""
    if not url.isascii() or not url.isprintable() or any(mark in url for mark in ' "<>\\^`|'):
        return False
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in {"https", "http"} and bool(parts.hostname) and "@" not in parts.netloc


BACK_OFF = (timedelta(hours=1), timedelta(hours=6), timedelta(days=1), timedelta(days=3))
"""How long to wait after each decline in a row; after the last, until the settings or the payment method change."""


class RefillStatus(StrEnum):
    """The state of auto-refill, as the owner sees it."""

    OFF = "off"
    READY = "ready"
    NEEDS_PAYMENT_METHOD = "needs_payment_method"
    CAP_REACHED = "cap_reached"
    PAYMENT_FAILED = "payment_failed"


@dataclass(frozen=True, slots=True)
class Refilling:
    """Everything that decides about a refill. `spent_cents` is of this UTC month, the purchase in flight included."""

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
        """Whether the monthly cap leaves room for one more pack."""
        return self.spent_cents + PACK.price_cents <= self.monthly_cap_cents

    @property
    def status(self) -> RefillStatus:
        """The state that the owner is shown."""
        if not self.enabled:
            return RefillStatus.OFF
        if not self.can_be_charged:
            return RefillStatus.NEEDS_PAYMENT_METHOD
        if self.failures:
            return RefillStatus.PAYMENT_FAILED
        return RefillStatus.READY if self.has_room or self.in_flight else RefillStatus.CAP_REACHED


@dataclass(frozen=True, slots=True)
class RefillDecision:
    """Whether to buy a pack now, or to wait until a time (null: until something changes) because of `reason`.

    `over`: auto-refill is off.
    """

    buy: bool
    reason: str
    until: datetime | None = None
    over: bool = False


def refill_retry_after(failures: int) -> timedelta | None:
    """Return how long to wait after this number of declines in a row; null means until something changes."""
    return BACK_OFF[failures - 1] if 0 < failures <= len(BACK_OFF) else None


def decide_refill(at: Refilling) -> RefillDecision:  # noqa: PLR0911 - one line for each reason not to buy
    """Return whether to buy a pack now."""
    if not at.enabled:
        return RefillDecision(buy=False, reason="auto-refill is off", over=True)
    if not at.can_be_charged:
        return RefillDecision(buy=False, reason="there is no payment method")
    if at.balance_credits >= at.threshold_credits:
        return RefillDecision(buy=False, reason="the balance is not below the threshold")
    if at.in_flight:
        return RefillDecision(buy=False, reason="a purchase is in flight")
    if at.failures and at.retry_at is None:
        return RefillDecision(buy=False, reason="the payment method was declined too often")
    if at.retry_at is not None and at.now < at.retry_at:
        return RefillDecision(buy=False, reason="the last payment was declined", until=at.retry_at)
    if not at.has_room:
        return RefillDecision(buy=False, reason="the monthly cap is reached", until=next_month(at.now))
    return RefillDecision(buy=True, reason="the balance is below the threshold")


# Calendar months in UTC.


_MONTHS = 12


def add_months(at: datetime, months: int) -> datetime:
    """Return the same day and time so many months later, or the last day of a month that is shorter."""
    years, month = divmod(at.month - 1 + months, _MONTHS)
    year = at.year + years
    return at.replace(year=year, month=month + 1, day=min(at.day, monthrange(year, month + 1)[1]))


def cycle_end(*, anchor: datetime, starts_at: datetime, cycles: int) -> datetime:
    """Return when the `cycles`-th monthly cycle ends, counted from the one that begins at `starts_at`.

    Cycles begin on the day of `anchor`, or on the last day of a month that is shorter: after 31 January comes the end
    of February, then 31 March again.
    """
    passed = (starts_at.year - anchor.year) * _MONTHS + starts_at.month - anchor.month
    if add_months(anchor, passed) != starts_at:  # the cycles were moved: they count from here
        return add_months(starts_at, cycles)
    return add_months(anchor, passed + cycles)


def month_start(now: datetime) -> datetime:
    """Return the beginning of the UTC month."""
    return datetime(now.year, now.month, 1, tzinfo=UTC)


def next_month(now: datetime) -> datetime:
    """Return the beginning of the next UTC month."""
    return add_months(month_start(now), 1)
