"""States: which changes are allowed, what is open, final, used and reserved."""

import pytest

from models.outreach.rules.slots import LIMITS
from models.outreach.rules.states import (
    FINAL_ACTIONS,
    FINAL_ENROLLMENTS,
    OPEN_ENROLLMENTS,
    RESERVED,
    USED,
    AccountStatus,
    ActionOutcome,
    EnrollmentStatus,
    account_may_become,
    action_may_become,
    enrollment_may_become,
)

CALLED = {ActionOutcome.SENDING, ActionOutcome.RECONCILING, ActionOutcome.UNKNOWN}


def reachable(start: ActionOutcome, *, without: ActionOutcome | None = None) -> set[ActionOutcome]:
    seen, ahead = {start}, [start]
    while ahead:
        now = ahead.pop()
        steps = {then for then in ActionOutcome if action_may_become(now, then) and then is not without} - seen
        seen |= steps
        ahead += steps
    return seen


def test_the_first_five_enrollment_states_are_open() -> None:
    assert set(list(EnrollmentStatus)[:5]) == OPEN_ENROLLMENTS
    assert {"completed", "replied", "stopped", "failed"} == FINAL_ENROLLMENTS


def test_used_and_reserved_are_what_the_limits_count() -> None:
    assert {"sent", "sending", "reconciling", "unknown"} == USED
    assert {"scheduled"} == RESERVED
    assert not USED & RESERVED


@pytest.mark.parametrize("final", sorted(FINAL_ACTIONS))
def test_a_final_action_stays_what_it_is(final: ActionOutcome) -> None:
    assert reachable(final) == {final}


def test_every_action_reaches_an_end_and_every_outcome_is_reached_from_the_start() -> None:
    for outcome in ActionOutcome:
        assert reachable(outcome) & FINAL_ACTIONS
    assert reachable(ActionOutcome.AWAITING_APPROVAL) == set(ActionOutcome)


def test_nothing_is_sent_that_was_not_claimed() -> None:
    unclaimed = reachable(ActionOutcome.AWAITING_APPROVAL, without=ActionOutcome.SENDING)
    assert not unclaimed & (CALLED | {ActionOutcome.SENT, ActionOutcome.FAILED})


def test_an_unknown_outcome_is_never_sent_again_by_itself() -> None:
    assert reachable(ActionOutcome.UNKNOWN) == {ActionOutcome.UNKNOWN, ActionOutcome.SENT, ActionOutcome.FAILED}


@pytest.mark.parametrize("now", list(EnrollmentStatus))
def test_open_enrollments_move_and_final_ones_do_not(now: EnrollmentStatus) -> None:
    for then in EnrollmentStatus:
        allowed = now in OPEN_ENROLLMENTS and now is not then
        if then is EnrollmentStatus.SCHEDULED:  # only a pause leads back to it
            allowed = now is EnrollmentStatus.PAUSED
        assert enrollment_may_become(now, then) == allowed


def test_an_account_can_always_be_removed_and_comes_back_by_connecting() -> None:
    for now in AccountStatus:
        assert account_may_become(now, AccountStatus.REMOVED) == (now is not AccountStatus.REMOVED)
        assert not account_may_become(now, now)
    back = [then for then in AccountStatus if account_may_become(AccountStatus.REMOVED, then)]
    assert back == [AccountStatus.CONNECTING]


def test_who_was_disconnected_does_not_slip_into_a_pause_that_ends_by_itself() -> None:
    assert not account_may_become(AccountStatus.DISCONNECTED, AccountStatus.PAUSED)
    assert account_may_become(AccountStatus.DISCONNECTED, AccountStatus.NEEDS_REVIEW)
    for now in (AccountStatus.ACTIVE, AccountStatus.PAUSED, AccountStatus.NEEDS_REVIEW):
        assert account_may_become(now, AccountStatus.DISCONNECTED)
        assert not account_may_become(now, AccountStatus.CONNECTING)
    assert account_may_become(AccountStatus.PAUSED, AccountStatus.ACTIVE)
    assert account_may_become(AccountStatus.ACTIVE, AccountStatus.PAUSED)


def test_every_skip_reason_of_a_cap_is_a_rule() -> None:
    assert {"new_outreach_per_day", "daily_pace_limit"} <= LIMITS
