"""Webhook deliveries: states, retries, the body, secrets and the signature (specification, "Delivery", "Retries")."""

import base64
import hashlib
import hmac
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from models.base.steps import Call, Queue
from models.base.values import Time

ANSWER_SECONDS = 5.0
"""Limit for resolving the receiver's name, connecting, and receiving the status of its answer."""
ATTEMPT_SECONDS = ANSWER_SECONDS + 10
"""Limit for an attempt with its two transactions; after that its worker counts as dead and the attempt is repeated."""
READ_AT_MOST = 4096
"""Bytes of an answer's body that are read and discarded."""
IN_FLIGHT = 10
"""Most attempts at one endpoint at the same time."""
RETRY_AFTER = (
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=10),
    timedelta(hours=1),
    timedelta(hours=6),
)
"""How long to wait after the first, second, … failed attempt; after the last retry the delivery has failed."""
ENDPOINTS = 10
"""Most endpoints of one account."""
EVERY_TYPE = "*"
SECRET_PREFIX = "whsec_"  # noqa: S105 - what secrets begin with
SECRET_BYTES = 32
HINT_LENGTH = 4


class EndpointStatus(StrEnum):
    """Whether an endpoint is delivered to."""

    ENABLED = "enabled"
    DISABLED = "disabled"


class DeliveryStatus(StrEnum):
    """`failed`: every retry was used up; `dropped`: the endpoint was disabled or deleted first."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"
    DROPPED = "dropped"


class AttemptError(StrEnum):
    """Why an attempt has no status code."""

    TIMEOUT = "timeout"
    UNRESOLVED = "unresolved"  # the name has no address
    ADDRESS_REFUSED = "address_refused"
    CONNECTION_FAILED = "connection_failed"  # refused, reset, or a certificate that does not hold
    BAD_ANSWER = "bad_answer"  # no valid HTTP, or no answer before the connection was closed
    NOT_ATTEMPTED = "not_attempted"  # no worker made the attempt of a test in time


class Turn(StrEnum):
    """A delivery's place among the attempts at its endpoint."""

    ASKED = "asked"
    GIVEN = "given"


def delivery_retry_after(attempts: int) -> timedelta | None:
    """Return how long to wait after this number of failed attempts, null when that was the last."""
    return RETRY_AFTER[attempts - 1] if attempts <= len(RETRY_AFTER) else None


def is_accepted(status_code: int | None) -> bool:
    """Return whether the receiver accepted the event: any 2xx."""
    return status_code is not None and 200 <= status_code <= 299  # noqa: PLR2004 - as specified


def new_secret(noise: bytes) -> str:
    """Return an endpoint's secret, made from 32 random bytes."""
    return SECRET_PREFIX + base64.urlsafe_b64encode(noise).decode().rstrip("=")


def hint(secret: str) -> str:
    """Return the part of a secret that later reads show."""
    return f"{SECRET_PREFIX}****{secret[-HINT_LENGTH:]}"


class Envelope(BaseModel):
    """An event as it is delivered and read, with its fields in this order."""

    model_config = ConfigDict(frozen=True)

    id: str
    object: str = "event"
    type: str
    created_at: Time
    customer_id: str | None
    data: dict[str, Any]

    def body(self) -> bytes:
        """Return the bytes of a delivery, from the stored event alone, so that every attempt sends the same."""
        return self.model_dump_json().encode()


def signature(secret: str, *, at: int, body: bytes) -> str:
    """Return the value of `X-Service-Signature`: HMAC-SHA256 over `<t>.<raw body>`, keyed with the whole secret.

    `at` is wall time in whole seconds since 1970.
    """
    made = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={made}"


DELIVERY_ATTEMPT = "delivery.attempt"
LEASE = timedelta(minutes=1)
"""An attempt that has not ended after this (service time) is picked up by the dispatcher."""


class DeliveryNeed(StrEnum):
    """What a delivery needs next."""

    ATTEMPT = "attempt"
    TIME = "time"
    TURN = "turn"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class DeliveryStanding:
    """The state of a delivery. `made` attempts have ended; `single`: the next one is the last."""

    status: DeliveryStatus
    made: int
    single: bool
    turn: Turn | None
    due_at: datetime | None
    wake_at: datetime | None = None

    @property
    def pending(self) -> bool:
        """Whether another attempt may be made."""
        return self.status is DeliveryStatus.PENDING


def closed(standing: DeliveryStanding, status: DeliveryStatus) -> DeliveryStanding:
    """Return the state of a delivery without any further attempt."""
    return replace(standing, status=status, turn=None, due_at=None, wake_at=None)


def decided(
    standing: DeliveryStanding, *, wanted: bool, given: int, now: datetime
) -> tuple[DeliveryNeed, DeliveryStanding]:
    """Return what a delivery needs next, and its state then: an attempt takes the turn.

    `wanted`: its endpoint is enabled, and was not disabled since the event; `given` counts the turns of other
    deliveries at the endpoint.
    """
    if standing.pending and not wanted:
        standing = closed(standing, DeliveryStatus.DROPPED)
    if not standing.pending or standing.due_at is None:
        return DeliveryNeed.NOTHING, standing
    if standing.due_at > now:
        return DeliveryNeed.TIME, replace(standing, wake_at=standing.due_at)
    if standing.turn is not Turn.GIVEN and given >= IN_FLIGHT:
        return DeliveryNeed.TURN, replace(standing, turn=Turn.ASKED, wake_at=None)
    return DeliveryNeed.ATTEMPT, replace(standing, turn=Turn.GIVEN, wake_at=now + LEASE)


def attempt_call(endpoint_id: str, made: int) -> Call:
    """Return the attempt that follows `made` others, named as an operator counts: the first, then `retry 1 of 5`."""
    if made == 0:
        summary = "first attempt"
    elif made > len(RETRY_AFTER):
        summary = "a manual retry"
    else:
        summary = f"retry {made} of {len(RETRY_AFTER)}"
    return Call(
        step=DELIVERY_ATTEMPT,
        number=made + 1,
        queue=Queue.WEBHOOKS,
        summary=summary,
        limit_seconds=ATTEMPT_SECONDS,
        fairness_key=endpoint_id,
    )


def after_attempt(standing: DeliveryStanding, status_code: int | None, *, now: datetime) -> DeliveryStanding:
    """Return the state after one more attempt, which gives its turn back. A delivery dropped meanwhile stays so."""
    standing = replace(standing, made=standing.made + 1)
    if not standing.pending:
        return standing
    wait = None if standing.single else delivery_retry_after(standing.made)
    if is_accepted(status_code):
        return closed(standing, DeliveryStatus.DELIVERED)
    if wait is None:
        return closed(standing, DeliveryStatus.FAILED)
    return replace(standing, turn=None, due_at=now + wait)
