"""Pauses: what the network's complaints do to an account, and what an account's state lets through."""

from datetime import UTC, datetime, timedelta

import pytest

from models.outreach.rules.answers import (
    AccountGate,
    AccountPause,
    MethodHold,
    Signal,
    Week,
    gate,
    is_readable,
    later,
    next_available_at,
    pause_for,
    resends_mean_limit,
    resumable,
    signal_of,
)
from models.outreach.rules.states import AccountStatus, PauseReason

NOW = datetime(2026, 12, 30, 14, 0, tzinfo=UTC)  # a Wednesday of week 53
MIDNIGHT = datetime(2026, 12, 31, tzinfo=UTC)
MONDAY = datetime(2027, 1, 4, tzinfo=UTC)
HOUR = timedelta(hours=1)
QUIET = Week(invites=10, cap=100)
DAILY = AccountPause(PauseReason.DAILY_LIMIT, MIDNIGHT)
WEEKLY = AccountPause(PauseReason.WEEKLY_LIMIT, MONDAY)


@pytest.mark.parametrize(
    ("error_type", "text", "status", "expected"),
    [
        ("api/too_many_requests", "Weekly limit of the method", 429, Signal.VENDOR_LIMIT),
        ("provider/unprocessable_entity", "You have reached the weekly invitation limit.", 422, Signal.WEEKLY),
        ("provider/too_many_requests", "This WEEK is full", 429, Signal.WEEKLY),
        ("provider/too_many_requests", "Slow down", 429, Signal.DAILY),
        ("provider/unprocessable_entity", "Temporary provider limit reached.", 422, Signal.DAILY),
        ("provider/other", "Too many invitations", 422, Signal.DAILY),
        ("provider/unprocessable_entity", "Quota used up", 422, Signal.DAILY),
        ("provider/unprocessable_entity", "Your daily share", 400, Signal.DAILY),
        ("provider/invalid_parameters", "limit must be a number", 400, Signal.PERSON),
        ("provider/unprocessable_entity", "cannot resend yet", 422, Signal.RESEND),
        ("provider/unprocessable_entity", "You can resend in 3 weeks", 422, Signal.RESEND),
        ("provider/unprocessable_entity", "Not for two more weeks: invited recently", 422, Signal.RESEND),
        ("provider/unprocessable_entity", "Limit reached, try again in 1 week", 422, Signal.WEEKLY),
        ("provider/unprocessable_entity", "At most 100 people a week", 422, Signal.WEEKLY),
        ("provider/unprocessable_entity", "Withdrawn recently", 422, Signal.RESEND),
        ("provider/unprocessable_entity", "Already invited", 422, Signal.RESEND),
        ("provider/unprocessable_entity", "You are already connected to this member", 422, Signal.RELATED),
        ("provider/unprocessable_entity", "There is an existing relation", 422, Signal.RELATED),
        ("provider/unprocessable_entity", "already a first-degree relation", 422, Signal.RELATED),
        ("provider/conflict", "", 409, Signal.RELATED),
        ("provider/unprocessable_entity", "Member cannot be invited", 422, Signal.PERSON),
    ],
)
def test_a_complaint_is_recognised_by_type_then_by_text(
    error_type: str, text: str, status: int, expected: Signal
) -> None:
    assert signal_of(error_type, text, status=status) is expected


@pytest.mark.parametrize(
    ("signal", "week", "expected"),
    [
        (Signal.WEEKLY, QUIET, WEEKLY),
        (Signal.DAILY, QUIET, DAILY),
        (Signal.DAILY, Week(invites=89, cap=100), DAILY),
        (Signal.DAILY, Week(invites=90, cap=100), WEEKLY),
        (Signal.DAILY, Week(invites=10, cap=100, paused_before=True, invites_since=9), WEEKLY),
        (Signal.DAILY, Week(invites=20, cap=100, paused_before=True, invites_since=10), DAILY),
        (Signal.RESEND, QUIET, None),
        (Signal.RELATED, QUIET, None),
        (Signal.PERSON, QUIET, None),
    ],
)
def test_a_limit_rests_until_midnight_or_monday(signal: Signal, week: Week, expected: AccountPause | None) -> None:
    assert pause_for(signal, week, NOW) == expected


@pytest.mark.parametrize("at", [MIDNIGHT - timedelta(microseconds=1), MIDNIGHT])
def test_a_daily_pause_ends_at_the_next_midnight_even_at_midnight(at: datetime) -> None:
    pause = pause_for(Signal.DAILY, QUIET, at)
    assert isinstance(pause, AccountPause)
    assert pause.until == (MIDNIGHT if at < MIDNIGHT else MIDNIGHT + 24 * HOUR)


def test_a_weekly_pause_on_a_monday_lasts_the_week() -> None:
    pause = pause_for(Signal.WEEKLY, QUIET, MONDAY)
    assert pause == AccountPause(PauseReason.WEEKLY_LIMIT, datetime(2027, 1, 11, tzinfo=UTC))


@pytest.mark.parametrize(
    ("retry_after", "expected"),
    [
        (None, MethodHold(NOW + timedelta(minutes=15))),
        (timedelta(0), MethodHold(NOW)),
        (6 * HOUR, MethodHold(NOW + 6 * HOUR)),
        (6 * HOUR + timedelta(seconds=1), DAILY),
    ],
)
def test_the_vendors_limit_holds_one_method_unless_it_is_long(
    retry_after: timedelta | None, expected: MethodHold | AccountPause
) -> None:
    assert pause_for(Signal.VENDOR_LIMIT, QUIET, NOW, retry_after=retry_after) == expected


def test_the_longer_pause_holds() -> None:
    assert later(None, DAILY) == DAILY
    assert later(WEEKLY, DAILY) == WEEKLY
    assert later(DAILY, WEEKLY) == WEEKLY
    assert later(DAILY, AccountPause(PauseReason.WEEKLY_LIMIT, MIDNIGHT)) == DAILY


@pytest.mark.parametrize(
    ("refused", "expected"),
    [
        ([], False),
        ([("a", 0.1), ("b", 0.2)], False),
        ([("a", 0.1), ("b", 0.2), ("c", 1.0)], True),
        ([("a", 0.1), ("b", 0.2), ("c", 1.1)], False),
        ([("a", 0.1), ("b", 0.2), ("a", 0.3)], False),
        ([("a", 0.1), ("b", 0.2), ("a", 0.3), ("c", 0.4)], True),
    ],
)
def test_three_recipients_refused_within_an_hour_mean_a_limit(refused: list[tuple[str, float]], expected: bool) -> None:
    assert resends_mean_limit([(person, NOW - ago * HOUR) for person, ago in refused], NOW) is expected


@pytest.mark.parametrize(
    ("status", "until", "lets", "available", "reads"),
    [
        (AccountStatus.ACTIVE, None, AccountGate.OPEN, None, True),
        (AccountStatus.CONNECTING, None, AccountGate.NOT_READY, None, False),
        (AccountStatus.DISCONNECTED, None, AccountGate.NOT_READY, None, False),
        (AccountStatus.NEEDS_REVIEW, None, AccountGate.PAUSED, None, True),
        (AccountStatus.NEEDS_REVIEW, NOW - HOUR, AccountGate.PAUSED, None, True),
        (AccountStatus.PAUSED, None, AccountGate.PAUSED, None, True),
        (AccountStatus.PAUSED, NOW + HOUR, AccountGate.PAUSED, NOW + HOUR, True),
        (AccountStatus.PAUSED, NOW, AccountGate.OPEN, None, True),
        (AccountStatus.REMOVED, None, AccountGate.REMOVED, None, False),
    ],
)
def test_what_a_state_lets_through(
    status: AccountStatus,
    until: datetime | None,
    lets: AccountGate,
    available: datetime | None,
    reads: bool,
) -> None:
    assert gate(status, until, NOW) is lets
    assert next_available_at(status, until, NOW) == available
    assert is_readable(status) is reads


@pytest.mark.parametrize(
    ("status", "reason", "until", "expected"),
    [
        (AccountStatus.PAUSED, PauseReason.MANUAL, None, True),
        (AccountStatus.PAUSED, PauseReason.DAILY_LIMIT, NOW + HOUR, False),
        (AccountStatus.PAUSED, PauseReason.WEEKLY_LIMIT, NOW + HOUR, False),
        (AccountStatus.PAUSED, PauseReason.WEEKLY_LIMIT, None, False),
        (AccountStatus.PAUSED, PauseReason.DAILY_LIMIT, NOW, True),
        (AccountStatus.NEEDS_REVIEW, PauseReason.DISCONNECTED, None, True),
        (AccountStatus.NEEDS_REVIEW, PauseReason.RESTRICTED, None, True),
        (AccountStatus.ACTIVE, None, None, False),
        (AccountStatus.DISCONNECTED, PauseReason.DISCONNECTED, None, False),
    ],
)
def test_a_network_pause_is_not_ended_early(
    status: AccountStatus,
    reason: PauseReason | None,
    until: datetime | None,
    expected: bool,
) -> None:
    assert resumable(status, reason, until, NOW) is expected
