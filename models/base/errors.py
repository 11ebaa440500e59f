"""The documented errors (specification, "Errors"): one class per code, raised in rules and operations.

ServiceError
├── InvalidRequest 400 ── UnsupportedFilter, UnsupportedVersion, IdempotencyKeyRequired
├── Unauthorized 401
├── InsufficientCredits 402, DailyCreditCapReached 402
├── InsufficientScope 403, Forbidden 403
├── NotFound 404 ── NotCached, InvalidVerificationLink
├── Suppressed 404 or 409
├── MethodNotAllowed 405
├── Conflict 409 ── IdempotencyKeyReused, IdempotencyInProgress, OutreachCapReached, AccountPaused, AccountNotReady
├── RateLimited 429
├── UpstreamBusy 429, 502 or 503 ── PaymentsUnavailable, DatabaseUnavailable · UpstreamError 502 ── PaymentRefused
├── AccountConnectUnavailable 503
└── InternalError 500
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar


def rfc3339(at: datetime) -> str:
    """Return a moment as text: milliseconds, UTC, `Z` (contract, section 1)."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class ServiceError(Exception):
    """An error a caller can act on; `code` decides, the message is for people."""

    code: ClassVar[str] = "internal"
    status: int = 500

    def __init__(
        self, message: str, *, fix: str | None = None, retry_after: int | None = None, **details: object
    ) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.retry_after = retry_after
        """Seconds, for the `Retry-After` header."""
        self.details = {name: _plain(value) for name, value in details.items()}


def serialized(error: ServiceError) -> dict[str, object]:
    """Return the error in plain values, to be stored where another process reads it."""
    return {
        "code": error.code,
        "message": error.message,
        "status": error.status,
        "fix": error.fix,
        "retry_after": error.retry_after,
        "details": error.details,
    }


def restored(kept: Mapping[str, Any]) -> ServiceError:
    """Return the error that `serialized` was given. Raises `KeyError` for an unknown code."""
    kind = {each.code: each for each in reversed(_kinds())}[kept["code"]]
    error = kind.__new__(kind)
    ServiceError.__init__(error, kept["message"], fix=kept["fix"], retry_after=kept["retry_after"], **kept["details"])
    error.status = kept["status"]
    return error


def _kinds() -> list[type[ServiceError]]:
    """Every class, nearest to the root first: a code is found at the class that declares it."""
    kinds: list[type[ServiceError]] = [ServiceError]
    for kind in kinds:  # grows as it is walked
        kinds.extend(each for each in kind.__subclasses__() if each not in kinds)
    return kinds


def _plain(value: object) -> object:
    return rfc3339(value) if isinstance(value, datetime) else value


class InvalidRequest(ServiceError):
    """A field is missing or has an unacceptable value; `details.field` is its dotted path."""

    code = "invalid_request"
    status = 400

    def __init__(self, message: str, *, field: str | None = None, fix: str | None = None, **details: object) -> None:
        super().__init__(message, fix=fix)
        self.details.update({name: _plain(value) for name, value in details.items()})
        if field is not None:
            self.details["field"] = field


class UnsupportedFilter(InvalidRequest):
    """A filter that the people source cannot apply."""

    code = "unsupported_filter"


class UnsupportedVersion(ServiceError):
    """The version header names an unknown version."""

    code = "unsupported_version"
    status = 400

    def __init__(self, supported: Sequence[str]) -> None:
        super().__init__("This API version is not known.", supported=list(supported))


class IdempotencyKeyRequired(ServiceError):
    """A spending or sending call came without `dry_run` and without an Idempotency-Key."""

    code = "idempotency_key_required"
    status = 400

    def __init__(self) -> None:
        super().__init__(
            "This call spends or sends: it needs an Idempotency-Key header.",
            fix="Send a new Idempotency-Key for each intended action, or preview with ?dry_run=true.",
        )


class Unauthorized(ServiceError):
    """The key is missing, invalid, expired or revoked. `challenge` is what `WWW-Authenticate` says."""

    code = "unauthorized"
    status = 401
    challenge = "Bearer"


class InsufficientCredits(ServiceError):
    """The balance does not cover the call."""

    code = "insufficient_credits"
    status = 402

    def __init__(self, *, required_credits: int, balance_credits: int) -> None:
        super().__init__(
            "Not enough credits.",
            fix="Add credits, then repeat the call with the same Idempotency-Key.",
            required_credits=required_credits,
            balance_credits=balance_credits,
        )


class DailyCreditCapReached(ServiceError):
    """The daily cap of the key or the customer is spent; `cap` is `key` or `customer`."""

    code = "daily_credit_cap_reached"
    status = 402

    def __init__(self, *, cap: str, resets_at: datetime) -> None:
        super().__init__(f"The daily credit cap of this {cap} is reached.", cap=cap, resets_at=resets_at)


class InsufficientScope(ServiceError):
    """The key lacks the scope."""

    code = "insufficient_scope"
    status = 403

    def __init__(self, required_scope: str) -> None:
        super().__init__(f"This key lacks the scope {required_scope}.", required_scope=required_scope)


class Forbidden(ServiceError):
    """The key may not do this at all."""

    code = "forbidden"
    status = 403


class NotFound(ServiceError):
    """The object does not exist in this workspace."""

    code = "not_found"
    status = 404


class NotCached(NotFound):
    """The profile is not in the cache."""

    code = "not_cached"


class InvalidVerificationLink(NotFound):
    """The confirmation token is invalid, used or expired."""

    code = "invalid_verification_link"


class Suppressed(ServiceError):
    """The person opted out: 404 when reading one person, 409 when a POST names one."""

    code = "suppressed"

    def __init__(self, *, status: int) -> None:
        super().__init__("This person opted out or is suppressed. Nothing was charged or sent.")
        self.status = status


class MethodNotAllowed(ServiceError):
    """The path exists, the method does not; `allow` becomes the `Allow` header."""

    code = "method_not_allowed"
    status = 405

    def __init__(self, allow: Sequence[str]) -> None:
        super().__init__("This path does not take this method.")
        self.allow = tuple(allow)


class Conflict(ServiceError):
    """The object's state does not allow it, or a unique value is taken."""

    code = "conflict"
    status = 409


class IdempotencyKeyReused(Conflict):
    """The key was used with another method, path, query or body."""

    code = "idempotency_key_reused"

    def __init__(self) -> None:
        super().__init__("This Idempotency-Key was used for another request.")


class IdempotencyInProgress(Conflict):
    """The first request with the key still runs."""

    code = "idempotency_in_progress"

    def __init__(self, retry_after: int) -> None:
        super().__init__("The first request with this Idempotency-Key still runs.", retry_after=retry_after)


class OutreachCapReached(Conflict):
    """A safety cap has no room before `next_available_at`."""

    code = "outreach_cap_reached"

    def __init__(self, *, cap: str, next_available_at: datetime | None) -> None:
        super().__init__(f"The cap {cap} is reached.", cap=cap, next_available_at=next_available_at)
        self.cap = cap
        self.next_available_at = next_available_at


class AccountPaused(Conflict):
    """The outreach account is paused."""

    code = "account_paused"

    def __init__(self, *, next_available_at: datetime | None) -> None:
        super().__init__("The outreach account is paused.", next_available_at=next_available_at)


class AccountNotReady(Conflict):
    """The outreach account is still connecting or must be reconnected."""

    code = "account_not_ready"


class RateLimited(ServiceError):
    """Too many requests in this minute."""

    code = "rate_limited"
    status = 429

    def __init__(self, retry_after: int) -> None:
        super().__init__("Too many requests. Wait and repeat.", retry_after=retry_after)


class UpstreamBusy(ServiceError):
    """The data source is busy (503), timed out (502), not configured (503), or our own queue is full (429)."""

    code = "upstream_busy"

    def __init__(self, *, status: int, retry_after: int | None = None) -> None:
        super().__init__("The data source is busy. Nothing was charged.", retry_after=retry_after)
        self.status = status


class DatabaseUnavailable(UpstreamBusy):
    """The database does not answer: nothing is known to have happened, and the same key repeats the call safely."""

    def __init__(self) -> None:
        super().__init__(status=503, retry_after=5)
        self.message = "The service's database does not answer."
        self.fix = "Repeat the call after Retry-After, with the same Idempotency-Key where it has one."


class UpstreamError(ServiceError):
    """The data source answered with something unusable. Nothing was charged."""

    code = "upstream_error"
    status = 502


class PaymentsUnavailable(UpstreamBusy):
    """The payment provider is out of reach, too slow, or not configured. Nothing was charged."""

    def __init__(self, *, retry_after: int | None = None) -> None:
        super().__init__(status=503, retry_after=retry_after)
        self.message = "Payments are not available right now. Nothing was charged."


class PaymentRefused(UpstreamError):
    """The payment provider refused the purchase. Nothing was charged."""


class AccountConnectUnavailable(ServiceError):
    """Connecting outreach accounts is switched off on this server."""

    code = "account_connect_unavailable"
    status = 503


class InternalError(ServiceError):
    """A defect of the service."""

    code = "internal"
    status = 500

    def __init__(self) -> None:
        super().__init__("Something went wrong in the service. Repeat the call once.")


ERROR_MEANINGS: Mapping[str, tuple[str, str]] = {
    "invalid_request": ("400", "A field is missing or has an unacceptable value; `details.field` names it."),
    "unsupported_filter": ("400", "A filter that the people source cannot apply; `details.field`."),
    "unsupported_version": ("400", "The version header is not known; `details.supported` lists the known ones."),
    "idempotency_key_required": ("400", "A spending or sending call without `dry_run` has no Idempotency-Key."),
    "unauthorized": ("401", "The key is missing, invalid, expired or revoked."),
    "insufficient_credits": (
        "402",
        "Too few credits: `required_credits`, `balance_credits`. No retry on a timer.",
    ),
    "daily_credit_cap_reached": ("402", "The daily cap of the key or customer is spent: `details.cap`, `resets_at`."),
    "insufficient_scope": ("403", "The key lacks `details.required_scope`."),
    "forbidden": ("403", "A customer-bound key on an account route, another customer, a disabled customer."),
    "not_found": ("404", "No such object in this workspace."),
    "not_cached": ("404", "The profile is not in the cache."),
    "invalid_verification_link": ("404", "The confirmation token is invalid, used or expired."),
    "suppressed": ("404, 409", "The person opted out or is suppressed. Nothing was charged or sent."),
    "method_not_allowed": ("405", "The path exists but not the method; `Allow` lists the methods."),
    "conflict": ("409", "The object's state does not allow it, or a unique value is taken."),
    "idempotency_key_reused": ("409", "The same Idempotency-Key came with another request."),
    "idempotency_in_progress": ("409", "The first request with the key still runs; wait `Retry-After` seconds."),
    "outreach_cap_reached": ("409", "A safety cap is reached; `details.next_available_at`."),
    "account_paused": ("409", "The outreach account is paused; `details.next_available_at` when known."),
    "account_not_ready": ("409", "The outreach account is still connecting or must be reconnected."),
    "rate_limited": ("429", "Too many requests; wait `Retry-After` seconds."),
    "upstream_busy": (
        "429, 502, 503",
        "The data source, or the service's own database, is busy. Nothing was charged. Wait `Retry-After` if given.",
    ),
    "upstream_error": ("502", "The data source answered with something unusable. Nothing was charged."),
    "account_connect_unavailable": ("503", "Connecting outreach accounts is switched off on this server."),
    "internal": ("500", "A defect of the service. Repeat once."),
}
"""Statuses and meaning of every code, for the documentation (specification, "Errors")."""
