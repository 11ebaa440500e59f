"""When a run stops and whom of a page it fetches."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.base.statuses import RunStatus, StopReason
from models.sourcing.rules.runs import (
    CHUNK,
    FailureCode,
    Price,
    Room,
    RunStanding,
    affordable,
    exhausted,
    retry_delay,
    stop_now,
    walk,
)

NOW = datetime(2027, 1, 4, 9, tzinfo=UTC)


def standing(**changed: object) -> RunStanding:
    usual: dict[str, object] = {
        "cancelled": False,
        "key_valid": True,
        "workspace_suspended": False,
        "customer_disabled": False,
        "delivered": 0,
        "target": 30,
        "deadline_at": NOW + timedelta(hours=3),
    }
    return RunStanding(**{**usual, **changed})  # type: ignore[arg-type]  # arguments of several types


@pytest.mark.parametrize(
    ("changed", "status", "failure"),
    [
        ({"cancelled": True, "key_valid": False}, RunStatus.ABORTED, None),
        ({"key_valid": False}, RunStatus.FAILED, FailureCode.KEY_REVOKED),
        ({"workspace_suspended": True}, RunStatus.FAILED, FailureCode.WORKSPACE_SUSPENDED),
        ({"customer_disabled": True}, RunStatus.FAILED, FailureCode.CUSTOMER_DISABLED),
        ({"delivered": 30}, RunStatus.COMPLETED, None),
        ({"deadline_at": NOW}, RunStatus.COMPLETED, None),
    ],
)
def test_each_reason_to_stop_ends_the_run_in_its_state(
    changed: dict[str, object], status: RunStatus, failure: FailureCode | None
) -> None:
    stop = stop_now(standing(**changed), NOW)
    assert stop is not None
    assert (stop.status, stop.failure) == (status, failure)


def test_a_run_in_good_standing_goes_on() -> None:
    assert stop_now(standing(), NOW) is None


def test_an_exhausted_ladder_without_people_is_no_audience() -> None:
    assert exhausted(delivered=0).status is RunStatus.COMPLETED_NO_AUDIENCE
    assert exhausted(delivered=1).reason is StopReason.FINISH


people = st.lists(st.integers(0, 40).map(lambda n: f"prof_{n}"), max_size=60)
some = st.sets(st.integers(0, 40).map(lambda n: f"prof_{n}"), max_size=15)


@given(people, some, some, some, st.integers(0, 60), st.integers(0, 90), st.none() | st.integers(0, 30))
def test_a_walk_fetches_no_suppressed_known_or_repeated_person_and_keeps_its_limit(
    page: Sequence[str],
    suppressed: set[str],
    known: set[str],
    cached: set[str],
    target: int,
    credits: int,
    fetches: int | None,
) -> None:
    room = Room(target, credits, fetches)
    done = walk(
        page,
        suppressed=suppressed,
        known=known,
        price=lambda one: Price(1, live=False) if one in cached else Price(3, live=True),
        room=room,
    )
    assert not set(done.chunk) & (suppressed | known)
    assert len(set(done.chunk)) == len(done.chunk) <= min(target, CHUNK)
    assert done.credits == sum(1 if one in cached else 3 for one in done.chunk) <= credits
    assert fetches is None or done.live <= fetches
    assert done.walked == done.duplicates + done.suppressed + len(done.chunk)
    if done.walked < len(page):
        assert done.limit is not None or len(done.chunk) == min(target, CHUNK)


@given(st.lists(st.integers(0, 3), max_size=30), st.integers(0, 60))
def test_affordable_is_the_longest_prefix_that_the_credits_pay(prices: list[int], credits: int) -> None:
    count = affordable(prices, credits)
    assert sum(prices[:count]) <= credits
    assert count == len(prices) or sum(prices[: count + 1]) > credits


def test_a_silent_busy_source_is_left_alone_for_30_seconds_doubling_to_15_minutes() -> None:
    waits = [retry_delay(failures).total_seconds() for failures in (1, 2, 3, 4, 5, 6, 7, 100)]
    assert waits == [30, 60, 120, 240, 480, 900, 900, 900]
