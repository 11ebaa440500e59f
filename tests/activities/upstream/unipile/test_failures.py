"""What each error of the provider means (reference, sections 2, 11 and 14), as one table."""

from dataclasses import dataclass

import pytest

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
from activities.upstream.unipile.client import ProblemAnswer, meaning
from activities.upstream.unipile.failures import (
    CURSOR_WANTED,
    DEFAULT_HOLD_SECONDS,
    LONGEST_HOLD_SECONDS,
    AskedAction,
    ProviderProblem,
    classify,
    needs_look,
)

READ, INVITE, WITHDRAW, MESSAGE, ACT, CORE = AskedAction
ACTS = (INVITE, WITHDRAW, MESSAGE, ACT)
EVERY = tuple(AskedAction)

Expected = tuple[type[NetworkError], object]


@dataclass(frozen=True)
class Row:
    """One line of the table: these actions, this answer, this meaning."""

    actions: tuple[AskedAction, ...]
    status: int
    type: str | None
    expected: Expected
    text: str = ""


BUSY: Expected = (NetworkBusy, None)
OURS: Expected = (NetworkNotConfigured, None)
ASK: Expected = (AskRefused, None)
MISSING: Expected = (FeatureMissing, None)
UNKNOWN: Expected = (OutcomeUnknown, False)
UNKNOWN_INTERRUPTED: Expected = (OutcomeUnknown, True)


def trouble(kind: Trouble) -> Expected:
    return (AccountTrouble, kind)


def refused(reason: PersonRefusal) -> Expected:
    return (PersonRefused, reason)


def already(what: Already) -> Expected:
    return (AlreadyDone, what)


def limit(kind: Limit) -> Expected:
    return (LimitReached, kind)


TABLE = (
    # our configuration
    Row(EVERY, 401, "api/missing_authorization", OURS),
    Row(EVERY, 401, "api/expired_authorization", OURS),
    Row(EVERY, 400, "api/invalid_auth_format", OURS),
    Row(EVERY, 403, "api/insufficient_permissions", OURS),
    Row(EVERY, 402, "api/inactive_subscription", OURS),
    Row(EVERY, 403, "api/inactive_subscription", OURS),
    Row((CORE,), 401, None, OURS),
    Row(EVERY, 402, None, OURS),
    # the account
    Row(EVERY, 401, "provider/invalid_authorization", trouble(Trouble.DISCONNECTED)),
    Row(EVERY, 401, "provider/invalid_credentials", trouble(Trouble.DISCONNECTED)),
    Row(EVERY, 401, "provider/unknown_authentication_context", trouble(Trouble.DISCONNECTED)),
    Row(EVERY, 401, "provider/invalid_checkpoint_code", trouble(Trouble.DISCONNECTED)),
    Row(EVERY, 401, "provider/account_mismatch", trouble(Trouble.DISCONNECTED)),
    Row(EVERY, 403, "api/account_restricted", trouble(Trouble.RESTRICTED)),
    Row(EVERY, 423, None, trouble(Trouble.RESTRICTED)),
    Row((READ,), 502, "api/proxy_error", trouble(Trouble.INTERRUPTED)),
    Row((READ,), 504, "api/proxy_timeout", trouble(Trouble.INTERRUPTED)),
    Row((READ,), 502, "api/proxy_auth_error", trouble(Trouble.INTERRUPTED)),
    Row((CORE,), 502, "api/proxy_error", BUSY),
    Row(ACTS, 502, "api/proxy_error", UNKNOWN_INTERRUPTED),
    Row(ACTS, 504, "api/proxy_timeout", UNKNOWN_INTERRUPTED),
    # passing faults: an act may have been executed
    Row((READ, CORE), 500, "api/internal_error", BUSY),
    Row((READ, CORE), 500, "provider/server_error", BUSY),
    Row((READ, CORE), 504, "provider/timeout", BUSY),
    Row((READ, CORE), 503, None, BUSY),
    Row((READ, CORE), 302, None, BUSY),
    Row(ACTS, 500, "api/internal_error", UNKNOWN),
    Row(ACTS, 500, "provider/server_error", UNKNOWN),
    Row(ACTS, 504, "provider/timeout", UNKNOWN),
    Row(ACTS, 503, None, UNKNOWN),
    Row(ACTS, 599, "api/brand_new", UNKNOWN),
    Row(ACTS, 408, None, UNKNOWN),
    Row(ACTS, 302, None, UNKNOWN),
    # limits
    Row((READ, *ACTS), 429, "api/too_many_requests", limit(Limit.METHOD)),
    Row((CORE,), 429, "api/too_many_requests", BUSY),
    Row((INVITE,), 429, "api/too_many_requests", limit(Limit.METHOD), "weekly"),
    Row((READ, *ACTS), 429, "provider/too_many_requests", limit(Limit.DAILY), "try again later"),
    Row((READ, *ACTS), 429, "provider/too_many_requests", limit(Limit.WEEKLY), "this week's invitations"),
    Row((READ, *ACTS), 422, "provider/unprocessable_entity", limit(Limit.DAILY), "temporary provider limit reached."),
    Row(ACTS, 422, "provider/unprocessable_entity", limit(Limit.DAILY), "quota"),
    Row(ACTS, 422, "provider/unprocessable_entity", limit(Limit.DAILY), "too many invitations"),
    Row(ACTS, 422, "provider/unprocessable_entity", limit(Limit.DAILY), "daily maximum"),
    Row(ACTS, 422, "provider/unprocessable_entity", limit(Limit.WEEKLY), "the weekly invitation limit"),
    Row(ACTS, 422, "provider/unprocessable_entity", limit(Limit.WEEKLY), "next week, cannot resend yet"),
    Row(ACTS, 422, None, limit(Limit.DAILY), "limit"),
    Row(ACTS, 429, None, limit(Limit.DAILY)),
    Row(ACTS, 429, "api/brand_new", limit(Limit.WEEKLY), "week"),
    # this person
    Row((INVITE,), 422, "provider/unprocessable_entity", already(Already.INVITED), "cannot resend yet"),
    Row((INVITE,), 422, "provider/unprocessable_entity", already(Already.INVITED), "invited recently"),
    Row((INVITE,), 422, "provider/unprocessable_entity", already(Already.INVITED), "you can resend in 3 weeks"),
    Row((INVITE,), 422, "provider/unprocessable_entity", already(Already.INVITED), "cannot resend for three weeks"),
    Row((INVITE,), 422, "provider/unprocessable_entity", limit(Limit.WEEKLY), "limit reached, try again in 1 week"),
    Row((INVITE,), 422, "provider/unprocessable_entity", limit(Limit.WEEKLY), "at most 100 people a week"),
    Row((INVITE,), 422, "provider/unprocessable_entity", already(Already.INVITED), "already invited"),
    Row((INVITE,), 422, "provider/unprocessable_entity", already(Already.CONNECTED), "already a relation of yours"),
    Row((INVITE,), 422, "provider/unprocessable_entity", refused(PersonRefusal.REFUSED), "no reason"),
    Row((MESSAGE,), 422, "provider/unprocessable_entity", refused(PersonRefusal.NOT_CONNECTED), "relations alone"),
    Row((MESSAGE,), 422, "provider/unprocessable_entity", refused(PersonRefusal.REFUSED), "cannot resend yet"),
    Row((WITHDRAW, ACT, READ), 422, "provider/unprocessable_entity", refused(PersonRefusal.REFUSED), "resend"),
    Row((READ, *ACTS), 403, "provider/insufficient_permissions", refused(PersonRefusal.NOT_ALLOWED), "once a week"),
    Row((READ, INVITE, MESSAGE, ACT, CORE), 404, "provider/resource_not_found", refused(PersonRefusal.NOT_FOUND)),
    Row((READ, INVITE, MESSAGE, ACT, CORE), 404, "api/resource_not_found", refused(PersonRefusal.NOT_FOUND)),
    Row((READ, INVITE, CORE), 410, None, refused(PersonRefusal.NOT_FOUND)),
    Row((WITHDRAW,), 404, "provider/resource_not_found", already(Already.GONE)),
    Row((WITHDRAW,), 404, "api/resource_not_found", already(Already.GONE)),
    Row((READ, INVITE), 400, "provider/invalid_parameters", refused(PersonRefusal.NOT_FOUND), "user_id is not valid"),
    Row((INVITE,), 409, "provider/conflict", already(Already.CONNECTED)),
    Row((INVITE,), 409, "api/conflict", already(Already.CONNECTED)),
    Row((INVITE,), 409, None, already(Already.CONNECTED)),
    Row((INVITE,), 409, "api/already_exists", already(Already.CONNECTED)),
    Row((WITHDRAW,), 409, "provider/conflict", already(Already.GONE)),
    Row((MESSAGE, ACT), 409, "provider/conflict", already(Already.UNCLEAR)),
    Row((READ, CORE), 409, "provider/conflict", refused(PersonRefusal.REFUSED)),
    # our own mistakes, and what is not offered
    Row(EVERY, 400, "api/invalid_parameters", ASK, "user_id and all"),
    Row(EVERY, 400, "provider/invalid_parameters", ASK, "message must have at most 300 characters"),
    Row(EVERY, 422, "provider/invalid_file", ASK),
    Row(EVERY, 400, None, ASK),
    Row(EVERY, 413, None, ASK),
    Row(EVERY, 418, "api/brand_new", ASK),
    Row(EVERY, 405, "provider/method_not_allowed", MISSING),
    Row(EVERY, 501, "api/not_implemented", MISSING),
    Row(EVERY, 405, None, MISSING),
    Row(EVERY, 501, None, MISSING),
    # the account was looked at and is not to blame
    Row((READ, *ACTS), 401, None, BUSY),
    Row((READ, *ACTS), 403, None, refused(PersonRefusal.NOT_ALLOWED)),
    # the type counts more than the status
    Row(EVERY, 200, "provider/invalid_authorization", trouble(Trouble.DISCONNECTED)),
    Row(ACTS, 422, "api/internal_error", UNKNOWN, "limit"),
    Row((INVITE,), 500, "provider/unprocessable_entity", limit(Limit.DAILY), "limit"),
)


def told(error: NetworkError) -> object:
    match error:
        case AccountTrouble():
            return error.trouble
        case PersonRefused():
            return error.reason
        case AlreadyDone():
            return error.already
        case LimitReached():
            return error.limit
        case OutcomeUnknown():
            return error.interrupted
    return None


@pytest.mark.parametrize(
    ("action", "row"),
    [(action, row) for row in TABLE for action in row.actions],
    ids=lambda value: f"{value.status}-{value.type}-{value.text[:20]}" if isinstance(value, Row) else value,
)
def test_every_answer_has_its_meaning(action: AskedAction, row: Row) -> None:
    error = classify(ProviderProblem(action, row.status, row.type, row.text))
    assert (type(error), told(error)) == row.expected
    assert error.code == (row.type or f"http_{row.status}")


def test_the_table_knows_every_type_of_the_reference() -> None:
    documented = {
        *("api/invalid_parameters", "provider/invalid_parameters", "api/invalid_auth_format"),
        *("provider/invalid_authorization", "provider/invalid_credentials", "api/missing_authorization"),
        *("api/expired_authorization", "provider/account_mismatch", "provider/invalid_checkpoint_code"),
        *("provider/unknown_authentication_context", "api/inactive_subscription", "api/insufficient_permissions"),
        *("provider/insufficient_permissions", "api/account_restricted", "api/resource_not_found"),
        *("provider/resource_not_found", "provider/method_not_allowed", "api/conflict", "provider/conflict"),
        *("api/already_exists", "provider/unprocessable_entity", "provider/invalid_file", "api/too_many_requests"),
        *("provider/too_many_requests", "api/internal_error", "provider/server_error", "api/not_implemented"),
        *("api/proxy_error", "api/proxy_timeout", "api/proxy_auth_error", "provider/timeout"),
    }
    assert documented <= {row.type for row in TABLE}


@pytest.mark.parametrize("action", ACTS)
@pytest.mark.parametrize("status", range(500, 600))
def test_no_fault_of_theirs_counts_as_not_executed(action: AskedAction, status: int) -> None:
    error = classify(ProviderProblem(action, status))
    assert isinstance(error, FeatureMissing if status == 501 else OutcomeUnknown)


@pytest.mark.parametrize(
    ("retry_after", "reset", "held"),
    [
        (120.0, 5.0, (Limit.METHOD, 120.0)),
        (None, 5.0, (Limit.METHOD, 5.0)),
        (None, None, (Limit.METHOD, DEFAULT_HOLD_SECONDS)),
        (0.0, 5.0, (Limit.METHOD, 0.0)),
        (LONGEST_HOLD_SECONDS, None, (Limit.METHOD, LONGEST_HOLD_SECONDS)),
        (LONGEST_HOLD_SECONDS + 1, None, (Limit.DAILY, LONGEST_HOLD_SECONDS + 1)),
        (None, LONGEST_HOLD_SECONDS + 1, (Limit.DAILY, LONGEST_HOLD_SECONDS + 1)),
    ],
)
def test_the_limiter_holds_the_method_and_longer_than_six_hours_the_day(
    retry_after: float | None, reset: float | None, held: tuple[Limit, float]
) -> None:
    error = classify(ProviderProblem(INVITE, 429, "api/too_many_requests", retry_after=retry_after, reset=reset))
    assert isinstance(error, LimitReached)
    assert (error.limit, error.retry_after) == held
    assert not error.read_back


def test_an_unknown_429_with_a_time_pauses_the_method() -> None:
    error = classify(ProviderProblem(INVITE, 429, None, "weekly", retry_after=60.0))
    assert isinstance(error, LimitReached)
    assert error.limit is Limit.METHOD


def test_a_doubt_is_read_back() -> None:
    assert classify(ProviderProblem(INVITE, 429, "provider/too_many_requests")).read_back
    assert not classify(ProviderProblem(READ, 429, "provider/too_many_requests")).read_back
    assert classify(ProviderProblem(INVITE, 409, "provider/conflict")).read_back
    assert classify(ProviderProblem(INVITE, 500)).read_back
    assert not classify(ProviderProblem(INVITE, 422, "provider/unprocessable_entity", "no")).read_back


def test_a_list_that_wants_a_cursor_says_so() -> None:
    for type_ in ("provider/invalid_parameters", "api/invalid_parameters", None):
        error = classify(ProviderProblem(READ, 400, type_, "this user list takes a cursor"))
        assert isinstance(error, AskRefused)
        assert error.code == CURSOR_WANTED


@pytest.mark.parametrize(
    ("action", "status", "type_", "look"),
    [
        (READ, 404, "api/resource_not_found", True),
        (WITHDRAW, 404, "api/resource_not_found", True),
        (CORE, 404, "api/resource_not_found", False),
        (READ, 404, "provider/resource_not_found", False),
        (INVITE, 401, None, True),
        (INVITE, 403, "api/brand_new", True),
        (INVITE, 404, None, True),
        (INVITE, 410, None, True),
        (INVITE, 422, None, False),
        (INVITE, 401, "provider/invalid_authorization", False),
        (CORE, 401, None, False),
    ],
)
def test_the_account_is_looked_at_where_that_decides(
    action: AskedAction,
    status: int,
    type_: str | None,
    look: bool,
) -> None:
    problem = ProviderProblem(action, status, type_)
    assert needs_look(problem) is look
    found = meaning(ProblemAnswer(problem), standing=Trouble.DISCONNECTED)
    if look:
        assert isinstance(found, AccountTrouble)
    else:
        assert type(found) is type(classify(problem))
