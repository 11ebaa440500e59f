from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.billing.rules.payments import add_months, cycle_end, month_start, next_month

FIRST = datetime(2020, 1, 1, tzinfo=UTC)
MOMENTS = st.integers(0, 70 * 365 * 24 * 3600).map(lambda seconds: FIRST + timedelta(seconds=seconds))


def day(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}T10:00:00+00:00")


@pytest.mark.parametrize(
    ("start", "months", "end"),
    [
        ("2026-11-28", 12, "2027-11-28"),
        ("2027-01-31", 1, "2027-02-28"),
        ("2028-01-31", 1, "2028-02-29"),
        ("2026-12-31", 2, "2027-02-28"),
        ("2026-03-31", 0, "2026-03-31"),
    ],
)
def test_months_end_on_the_same_day_or_on_the_last_of_a_shorter_one(start: str, months: int, end: str) -> None:
    assert add_months(day(start), months) == day(end)


def test_cycles_of_a_plan_from_the_31st_come_back_to_the_31st() -> None:
    anchor = day("2027-01-31")
    ends = [cycle_end(anchor=anchor, starts_at=add_months(anchor, cycle), cycles=3) for cycle in range(4)]
    assert ends == [day("2027-04-30"), day("2027-05-31"), day("2027-06-30"), day("2027-07-31")]


def test_a_cycle_that_was_moved_counts_from_where_it_begins() -> None:
    assert cycle_end(anchor=day("2027-01-31"), starts_at=day("2027-03-05"), cycles=3) == day("2027-06-05")


@given(MOMENTS, st.integers(0, 40), st.integers(1, 12))
def test_credits_of_a_cycle_last_until_the_cycle_after_the_last_begins(
    anchor: datetime, cycle: int, valid: int
) -> None:
    starts = [add_months(anchor, number) for number in (cycle, cycle + valid)]
    assert cycle_end(anchor=anchor, starts_at=starts[0], cycles=valid) == starts[1]


@given(MOMENTS)
def test_a_month_begins_at_its_first_midnight_and_ends_at_the_next(now: datetime) -> None:
    assert month_start(now) <= now < next_month(now)
    assert month_start(next_month(now) - timedelta(microseconds=1)) == month_start(now)
