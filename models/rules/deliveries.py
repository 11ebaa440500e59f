"""Webhook deliveries: states, the retry schedule, secrets and the signature (specification, "Delivery", "Retries")."""

import base64
import hashlib
import hmac
from datetime import timedelta
from enum import StrEnum

ANSWER_SECONDS = 5.0
"""A receiver has this long for everything: its name, the connection, and the status of its answer."""
ATTEMPT_SECONDS = ANSWER_SECONDS + 10
"""For an attempt with its two transactions; after that its worker counts as dead and the attempt is made again."""
READ_AT_MOST = 4096
"""Bytes of an answer's body that are read, and dropped."""
IN_FLIGHT = 10
"""Attempts at one endpoint at the same time."""
RETRY_AFTER = (
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=10),
    timedelta(hours=1),
    timedelta(hours=6),
)
"""The wait after the first, second, … failed attempt; after the last retry the delivery is given up."""
ENDPOINTS = 10
"""Endpoints of one account."""
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
    BAD_ANSWER = "bad_answer"  # no HTTP, or none at all before the connection was closed
    NOT_ATTEMPTED = "not_attempted"  # a test that no worker got to in time


class Turn(StrEnum):
    """A delivery's place among the attempts at its endpoint."""

    ASKED = "asked"
    GIVEN = "given"


def retry_after(attempts: int) -> timedelta | None:
    """The wait after so many failed attempts, null when that was the last."""
    return RETRY_AFTER[attempts - 1] if attempts <= len(RETRY_AFTER) else None


def accepted(status_code: int | None) -> bool:
    """Whether a receiver took the event: any 2xx."""
    return status_code is not None and 200 <= status_code <= 299  # noqa: PLR2004 - as specified


def new_secret(noise: bytes) -> str:
    """An endpoint's secret of 32 random bytes."""
    return SECRET_PREFIX + base64.urlsafe_b64encode(noise).decode().rstrip("=")


def hint(secret: str) -> str:
    """What later reads show of a secret."""
    return f"{SECRET_PREFIX}****{secret[-HINT_LENGTH:]}"


def signature(secret: str, *, at: int, body: bytes) -> str:
    """The value of `X-Service-Signature`: HMAC-SHA256 over `<t>.<raw body>`, keyed with the whole secret.

    `at` is wall time in whole seconds since 1970.
    """
    made = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={made}"
