"""What an error of the provider means for us: by its type, then its HTTP status, then its text. Pure.

Reference, sections 2, 10, 11 and 14. The rows that need the account's standing are decided by the caller, who looks
at the account first when `needs_look` says so.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus

from activities.upstream.ports.network_errors import (
    AccountTrouble,
    Already,
    AlreadyDone,
    AskRefused,
    FeatureMissing,
    Limit,
    LimitReached,
    NetworkBusy,
    NetworkError,
    NetworkNotConfigured,
    OutcomeUnknown,
    PersonRefusal,
    PersonRefused,
    Trouble,
)
from models.outreach.rules.answers import is_weekly

DEFAULT_HOLD_SECONDS = 900.0
LONGEST_HOLD_SECONDS = 6 * 3600.0
"""A provider's limiter that asks for more than this is treated as a daily limit."""
CURSOR_WANTED = "cursor_wanted"

_LIMIT_WORDS = ("limit", "too many", "quota", "daily")
_RECENT_WORDS = ("resend", "recently", "already invited")
_RELATION_WORDS = ("already a relation", "existing relation", "already connected", "already in your network")


class AskedAction(StrEnum):
    """What was asked."""

    READ = "read"
    INVITE = "invite"
    WITHDRAW = "withdraw"
    MESSAGE = "message"
    ACT = "act"  # any other write: a visit
    CORE = "core"  # the provider's own things: accounts, links, endpoints; repeating one does no harm

    @property
    def acts(self) -> bool:
        """Whether it does something in the network that must not be done twice."""
        return self not in (AskedAction.READ, AskedAction.CORE)


@dataclass(frozen=True, slots=True)
class ProviderProblem:
    """An error answer. `type` is null when the body names none; `text` is title and detail, in lower case.

    `retry_after` and `reset` are the headers of that name, in seconds.
    """

    action: AskedAction
    status: int
    type: str | None = None
    text: str = ""
    retry_after: float | None = None
    reset: float | None = None

    @property
    def code(self) -> str:
        """The word for logs and `why`."""
        return self.type or f"http_{self.status}"


def needs_look(problem: ProviderProblem) -> bool:
    """Whether the account has to be looked at before the error can be understood: it may be gone or disconnected."""
    if problem.action is AskedAction.CORE:
        return False
    if problem.type == "api/resource_not_found":
        return True
    return problem.type not in _BY_TYPE and problem.status in (401, 403, 404, 410)


def classify(problem: ProviderProblem) -> NetworkError:
    """The failure to raise, taking the account for granted."""
    by_type = _BY_TYPE.get(problem.type or "")
    if by_type is not None:
        return by_type(problem)
    by_status = _BY_STATUS.get(problem.status)
    if by_status is not None:
        return by_status(problem)
    refused = HTTPStatus.BAD_REQUEST <= problem.status < HTTPStatus.INTERNAL_SERVER_ERROR
    return AskRefused(problem.code) if refused else _passing(problem)


def interrupted_call(action: AskedAction, code: str) -> NetworkError:
    """A write whose answer never came, or a read without a usable answer."""
    return OutcomeUnknown(code) if action.acts else NetworkBusy(code)


def _not_configured(problem: ProviderProblem) -> NetworkError:
    return NetworkNotConfigured(problem.code)


def _disconnected(problem: ProviderProblem) -> NetworkError:
    return AccountTrouble(Trouble.DISCONNECTED, problem.code)


def _restricted(problem: ProviderProblem) -> NetworkError:
    return AccountTrouble(Trouble.RESTRICTED, problem.code)


def _proxy(problem: ProviderProblem) -> NetworkError:
    if problem.action.acts:
        return OutcomeUnknown(problem.code, interrupted=True)
    return (
        NetworkBusy(problem.code)
        if problem.action is AskedAction.CORE
        else AccountTrouble(Trouble.INTERRUPTED, problem.code)
    )


def _passing(problem: ProviderProblem) -> NetworkError:
    return interrupted_call(problem.action, problem.code)


def _held(problem: ProviderProblem) -> NetworkError:
    """The provider's own limiter: section 11, rule 1."""
    wait = problem.retry_after if problem.retry_after is not None else problem.reset
    wait = DEFAULT_HOLD_SECONDS if wait is None else wait
    if problem.action is AskedAction.CORE:
        return NetworkBusy(problem.code, retry_after=wait)
    limit = Limit.DAILY if wait > LONGEST_HOLD_SECONDS else Limit.METHOD
    return LimitReached(limit, problem.code, retry_after=wait)


def _slowed_down(problem: ProviderProblem) -> NetworkError:
    """The network's limit: section 11, rules 2 and 3."""
    limit = Limit.WEEKLY if is_weekly(problem.text) else Limit.DAILY
    return LimitReached(limit, problem.code, retry_after=problem.retry_after, read_back=problem.action.acts)


def _too_many(problem: ProviderProblem) -> NetworkError:
    """Read a 429 of unknown origin: only the limiter announces a reliable time."""
    return _held(problem) if problem.retry_after is not None else _slowed_down(problem)


def _unprocessable(problem: ProviderProblem) -> NetworkError:
    """Section 11, rules 2 to 6."""
    text = problem.text
    weekly = is_weekly(text)
    if weekly or any(word in text for word in _LIMIT_WORDS):
        return LimitReached(Limit.WEEKLY if weekly else Limit.DAILY, problem.code)
    if problem.action is AskedAction.INVITE:
        if any(word in text for word in _RECENT_WORDS):
            return AlreadyDone(Already.INVITED, problem.code)
        if any(word in text for word in _RELATION_WORDS):
            return AlreadyDone(Already.CONNECTED, problem.code)
    if problem.action is AskedAction.MESSAGE and ("relation" in text or "connect" in text):
        return PersonRefused(PersonRefusal.NOT_CONNECTED, problem.code)
    return PersonRefused(PersonRefusal.REFUSED, problem.code)


def _conflict(problem: ProviderProblem) -> NetworkError:
    if not problem.action.acts:
        return PersonRefused(PersonRefusal.REFUSED, problem.code)
    if problem.action is AskedAction.INVITE:
        return AlreadyDone(Already.CONNECTED, problem.code)
    return AlreadyDone(Already.GONE if problem.action is AskedAction.WITHDRAW else Already.UNCLEAR, problem.code)


def _not_found(problem: ProviderProblem) -> NetworkError:
    if problem.action is AskedAction.WITHDRAW:
        return AlreadyDone(Already.GONE, problem.code)
    return PersonRefused(PersonRefusal.NOT_FOUND, problem.code)


def _not_allowed(problem: ProviderProblem) -> NetworkError:
    return PersonRefused(PersonRefusal.NOT_ALLOWED, problem.code)


def _invalid(problem: ProviderProblem) -> NetworkError:
    return AskRefused(CURSOR_WANTED if "cursor" in problem.text else problem.code)


def _invalid_for_network(problem: ProviderProblem) -> NetworkError:
    if "user" in problem.text and "cursor" not in problem.text:
        return PersonRefused(PersonRefusal.NOT_FOUND, problem.code)
    return _invalid(problem)


def _missing_feature(problem: ProviderProblem) -> NetworkError:
    return FeatureMissing(problem.code)


def _unauthorized(problem: ProviderProblem) -> NetworkError:
    """Read a 401 of unknown origin: on a core call it means our key, else the account is not to blame."""
    return _not_configured(problem) if problem.action is AskedAction.CORE else NetworkBusy(problem.code)


_Reading = Callable[[ProviderProblem], NetworkError]
_BY_TYPE: Mapping[str, _Reading] = {
    "api/missing_authorization": _not_configured,
    "api/expired_authorization": _not_configured,
    "api/invalid_auth_format": _not_configured,
    "api/insufficient_permissions": _not_configured,
    "api/inactive_subscription": _not_configured,
    "provider/invalid_authorization": _disconnected,
    "provider/invalid_credentials": _disconnected,
    "provider/unknown_authentication_context": _disconnected,
    "provider/invalid_checkpoint_code": _disconnected,
    "provider/account_mismatch": _disconnected,
    "api/account_restricted": _restricted,
    "api/proxy_error": _proxy,
    "api/proxy_timeout": _proxy,
    "api/proxy_auth_error": _proxy,
    "api/too_many_requests": _held,
    "provider/too_many_requests": _slowed_down,
    "api/resource_not_found": _not_found,
    "provider/resource_not_found": _not_found,
    "provider/insufficient_permissions": _not_allowed,
    "provider/unprocessable_entity": _unprocessable,
    "api/conflict": _conflict,
    "provider/conflict": _conflict,
    "api/already_exists": _conflict,
    "api/invalid_parameters": _invalid,
    "provider/invalid_parameters": _invalid_for_network,
    "provider/invalid_file": _invalid,
    "provider/method_not_allowed": _missing_feature,
    "api/not_implemented": _missing_feature,
    "api/internal_error": _passing,
    "provider/server_error": _passing,
    "provider/timeout": _passing,
}
_BY_STATUS: Mapping[int, _Reading] = {
    400: _invalid,
    401: _unauthorized,
    402: _not_configured,
    403: _not_allowed,
    404: _not_found,
    405: _missing_feature,
    408: _passing,
    409: _conflict,
    410: _not_found,
    422: _unprocessable,
    423: _restricted,
    429: _too_many,
    501: _missing_feature,
}
