"""Payments: their states, what a provider tells of them, who signs it, and what follows (contract, section 4).

A payment is a row before the provider hears of it. Credits come with the provider's signed callback alone; what a call
answers, or what is read back after a call that was not answered, only says how the attempt stands.
"""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from urllib.parse import urlsplit


class PaymentKind(StrEnum):
    """What began a payment."""

    CHECKOUT = "checkout"
    REFILL = "refill"


class PaymentStatus(StrEnum):
    """Where a payment stands.

    `pending`: nobody has been asked yet. `calling`: the provider was asked, its answer is not known. `open`: a person
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
"""Whoever waits for the provider's answer waits while a payment is in one of these."""
IN_FLIGHT = UNASKED | {PaymentStatus.PROCESSING}
"""A refill in one of these may yet cost money: it counts towards the cap, and there is no second one."""

CALL_SECONDS = 30.0
"""How long the provider may take to answer."""
READ_AFTER = (timedelta(seconds=5), timedelta(seconds=30), timedelta(minutes=2), timedelta(minutes=10))
"""When a call without an answer is read back; after the last, a payment that is not there has not been made."""
ASK_FOR = timedelta(minutes=30)
"""For so long a provider that is out of reach is asked again."""
LOOK_AFTER = timedelta(minutes=10)
"""When a charge that was taken and whose callback does not come is looked at; then daily."""
LOOK_EVERY = timedelta(days=1)


def ask_again_after(attempts: int) -> timedelta:
    """How long to wait after so many calls that certainly did nothing."""
    return timedelta(seconds=min(60, 2 ** max(0, attempts - 1)))


@dataclass(frozen=True, slots=True)
class CheckoutPaid:
    """A person has paid at the provider's page, or set up what will be paid."""

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
    """A payment will not come: `declined`, or `expired`. `reason` is the provider's code."""

    payment_id: str
    status: PaymentStatus
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Refunded:
    """A charge of a payment was given back in full."""

    payment_id: str


@dataclass(frozen=True, slots=True)
class CyclePaid:
    """One month of a plan is paid."""

    invoice_id: str
    payment_id: str
    subscription_id: str
    starts_at: datetime


class PlanStatus(StrEnum):
    """Whether a plan goes on: it does, its last invoice is unpaid, or it has ended."""

    ACTIVE = "active"
    PAST_DUE = "past_due"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """How a plan stands since `at`; `anchored_at` sets the day on which its cycles begin."""

    subscription_id: str
    payment_id: str
    status: PlanStatus
    anchored_at: datetime
    at: datetime


@dataclass(frozen=True, slots=True)
class MethodAttached:
    """A customer of the provider can be charged without being there."""

    method_id: str
    customer_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class MethodDetached:
    """A payment method was taken away."""

    method_id: str
    customer_id: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class OutreachTold:
    """How the subscription for a workspace's outreach accounts stands since `at`."""

    subscription_id: str
    workspace_id: str
    status: PlanStatus
    at: datetime


Happening = (
    CheckoutPaid
    | ChargePaid
    | NotPaid
    | Refunded
    | CyclePaid
    | PlanChanged
    | MethodAttached
    | MethodDetached
    | OutreachTold
)
"""What a provider's callback tells, in our terms."""

SIGNATURE_TOLERANCE = timedelta(minutes=5)
"""How far, in wall time, a callback's own time may lie from ours, in either direction."""


def is_signed(body: bytes, header: str, secrets: Iterable[str], *, now: datetime) -> bool:
    """Whether a callback with this signature header (`t=…,v1=…`) comes from the provider, and is of now."""
    parts = [part.partition("=") for part in header.split(",")]
    times = [value for name, _, value in parts if name.strip() == "t"]
    given = [value.strip() for name, _, value in parts if name.strip() == "v1"]
    if len(times) != 1 or not (times[0].isascii() and times[0].isdigit()) or len(times[0]) > 12:  # noqa: PLR2004
        return False
    if abs(now.timestamp() - int(times[0])) > SIGNATURE_TOLERANCE.total_seconds():
        return False
    signed = times[0].encode() + b"." + body
    expected = [hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() for secret in secrets]
    return any(hmac.compare_digest(ours.encode(), theirs.encode()) for ours in expected for theirs in given)


LONGEST_URL = 2000


def is_return_url(url: str) -> bool:
    """Whether a browser can be sent back to this address: http or https, a host, no credentials, no odd characters."""
    if not url.isascii() or not url.isprintable() or any(mark in url for mark in ' "<>\\^`|'):
        return False
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in {"https", "http"} and bool(parts.hostname) and "@" not in parts.netloc
