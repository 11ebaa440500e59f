"""What a delivery needs next follows from where it stands, whether it is still wanted, and the turns of others."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from models.events.rules.deliveries import (
    IN_FLIGHT,
    LEASE,
    RETRY_AFTER,
    DeliveryNeed,
    DeliveryStanding,
    DeliveryStatus,
    Turn,
    after_attempt,
    decided,
)

NOW = datetime(2027, 1, 4, 8, tzinfo=UTC)
FRESH = DeliveryStanding(DeliveryStatus.PENDING, made=0, single=False, turn=None, due_at=NOW)


def test_one_that_is_due_takes_its_turn_under_a_lease() -> None:
    need, after = decided(FRESH, wanted=True, given=IN_FLIGHT - 1, now=NOW)
    assert (need, after.turn, after.wake_at) == (DeliveryNeed.ATTEMPT, Turn.GIVEN, NOW + LEASE)


def test_without_a_free_turn_it_waits_for_one_and_not_for_a_time() -> None:
    need, after = decided(FRESH, wanted=True, given=IN_FLIGHT, now=NOW)
    assert (need, after.turn, after.wake_at) == (DeliveryNeed.TURN, Turn.ASKED, None)


def test_a_delivery_keeps_its_turn_however_many_others_wait() -> None:
    need, _ = decided(replace(FRESH, turn=Turn.GIVEN), wanted=True, given=IN_FLIGHT + 5, now=NOW)
    assert need is DeliveryNeed.ATTEMPT


def test_one_that_is_due_later_wakes_then() -> None:
    later = NOW + timedelta(milliseconds=1)
    need, after = decided(replace(FRESH, due_at=later), wanted=True, given=0, now=NOW)
    assert (need, after.turn, after.wake_at) == (DeliveryNeed.TIME, None, later)


@pytest.mark.parametrize("turn", [None, Turn.ASKED, Turn.GIVEN])
def test_one_that_is_not_wanted_is_dropped_and_keeps_no_turn(turn: Turn | None) -> None:
    need, after = decided(replace(FRESH, turn=turn, wake_at=NOW), wanted=False, given=0, now=NOW)
    assert need is DeliveryNeed.NOTHING
    assert after == DeliveryStanding(DeliveryStatus.DROPPED, 0, single=False, turn=None, due_at=None, wake_at=None)


@pytest.mark.parametrize("status", [DeliveryStatus.DELIVERED, DeliveryStatus.FAILED, DeliveryStatus.DROPPED])
def test_one_that_has_ended_stays_as_it_is(status: DeliveryStatus) -> None:
    ended = DeliveryStanding(status, made=3, single=False, turn=None, due_at=None)
    assert decided(ended, wanted=False, given=0, now=NOW) == (DeliveryNeed.NOTHING, ended)


def test_failed_attempts_wait_as_documented_until_it_is_given_up() -> None:
    standing = replace(FRESH, turn=Turn.GIVEN)
    for made, wait in enumerate(RETRY_AFTER, start=1):
        standing = after_attempt(standing, 500, now=NOW)
        assert (standing.made, standing.due_at, standing.turn) == (made, NOW + wait, None)
    standing = after_attempt(standing, None, now=NOW)
    assert (standing.status, standing.made, standing.due_at) == (DeliveryStatus.FAILED, 6, None)


def test_a_single_attempt_is_not_repeated() -> None:
    assert after_attempt(replace(FRESH, single=True), 500, now=NOW).status is DeliveryStatus.FAILED


@pytest.mark.parametrize(
    ("status_code", "status"), [(200, "delivered"), (299, "delivered"), (199, "pending"), (300, "pending")]
)
def test_any_2xx_ends_it(status_code: int, status: str) -> None:
    assert after_attempt(FRESH, status_code, now=NOW).status == status


def test_an_attempt_that_ends_after_it_was_dropped_counts_and_changes_nothing_else() -> None:
    dropped = DeliveryStanding(DeliveryStatus.DROPPED, made=0, single=False, turn=None, due_at=None)
    assert after_attempt(dropped, 200, now=NOW) == replace(dropped, made=1)
