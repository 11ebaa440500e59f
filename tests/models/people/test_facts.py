from dataclasses import dataclass
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.people.rules.profiles import CareerEntry, ProfileLocation, distance_km, experience_years, tenure_months

TODAY = date(2026, 6, 15)
DAYS = st.dates(min_value=date(1970, 1, 1), max_value=TODAY)


def job(start: str | None, end: str | None = None, *, current: bool = False) -> CareerEntry:
    return CareerEntry(start_date=start, end_date=end, is_current=current)


@dataclass(frozen=True, slots=True)
class Spot:
    lat: float | None
    lon: float | None


@pytest.mark.parametrize(
    ("jobs", "years"),
    [
        ([job("2016-06-15", "2026-06-15")], 10),
        ([job("2020", "2020")], 1),
        ([job("2021", "2023")], 3),
        ([job("2020-01", "2022-12"), job("2021-01", "2023-12")], 4),
        ([job("2010-01", "2011-12"), job("2014-01", "2015-12")], 4),
        ([job("2020-01-01", "2020-06-30"), job("2020-07-01", "2020-12-31")], 1),
        ([job("2024-06-15", current=True)], 2),
        ([job("2024-06-16", current=True), job("2025", current=True)], 1),
        ([job("2026-06-01", current=True)], 0),
        ([job("2020-01", "2030-12")], 6),
    ],
)
def test_experience_is_the_union_of_job_intervals(jobs: list[CareerEntry], years: int) -> None:
    assert experience_years(jobs, as_of=TODAY) == years


@pytest.mark.parametrize(
    "jobs",
    [
        [],
        [job(None, "2020")],
        [job("2020")],
        [job("2027-01", current=True)],
        [job("2022", "2020")],
        [job("twenty", current=True)],
        [job("2020-13", current=True)],
        [job("2020-1-1-1", current=True)],
        [job("99999", current=True)],
        [job("²020", current=True)],
        [job("2020-02", "2020-02-30")],
    ],
)
def test_experience_is_unknown_when_no_job_has_a_usable_interval(jobs: list[CareerEntry]) -> None:
    assert experience_years(jobs, as_of=TODAY) is None


@given(st.lists(st.tuples(DAYS, DAYS).map(sorted), min_size=1, max_size=8))
def test_experience_ignores_order_and_repetition_and_lies_within_the_career(spans: list[list[date]]) -> None:
    jobs = [job(start.isoformat(), end.isoformat()) for start, end in spans]
    years = experience_years(jobs, as_of=TODAY)
    assert years is not None
    assert years == experience_years([*reversed(jobs), *jobs], as_of=TODAY)
    first, last = min(start for start, _ in spans), max(end for _, end in spans)
    longest = max((end - start).days for start, end in spans)
    assert longest / 365.25 - 1 <= years <= (last - first).days / 365.25 + 1


@given(st.tuples(DAYS, DAYS).map(sorted), st.tuples(DAYS, DAYS).map(sorted))
def test_another_job_never_takes_experience_away(one: list[date], other: list[date]) -> None:
    first = job(one[0].isoformat(), one[1].isoformat())
    second = job(other[0].isoformat(), other[1].isoformat())
    alone, both = experience_years([first], as_of=TODAY), experience_years([first, second], as_of=TODAY)
    assert alone is not None
    assert both is not None
    assert both >= alone


@given(st.dates(min_value=date(1970, 1, 2), max_value=TODAY))
def test_a_partial_start_never_shortens_the_career(start: date) -> None:
    exact = experience_years([job(start.isoformat(), current=True)], as_of=TODAY)
    month = experience_years([job(start.isoformat()[:7], current=True)], as_of=TODAY)
    year = experience_years([job(start.isoformat()[:4], current=True)], as_of=TODAY)
    assert exact is not None
    assert month is not None
    assert year is not None
    assert exact <= month <= year


@pytest.mark.parametrize(
    ("start", "months"),
    [
        ("2026-06-15", 0),
        ("2026-05-16", 0),
        ("2026-05-15", 1),
        ("2026-05", 1),
        ("2025", 17),
        ("2027", None),
        (None, None),
        ("", None),
    ],
)
def test_tenure_counts_whole_months_since_the_current_job_began(start: str | None, months: int | None) -> None:
    assert tenure_months(start, as_of=TODAY) == months


@given(DAYS)
def test_tenure_grows_by_one_month_at_most_over_a_month(start: date) -> None:
    now, later = (tenure_months(start.isoformat(), as_of=day) for day in (TODAY, TODAY + timedelta(days=31)))
    assert now is not None
    assert later is not None
    assert 1 <= later - now <= 2


def test_distance_is_the_great_circle_with_one_decimal() -> None:
    ghent, munich = Spot(51.05, 3.71667), Spot(48.13743, 11.57549)
    assert distance_km(ghent, ProfileLocation(lat=48.13743, lon=11.57549)) == pytest.approx(651, abs=3)
    assert distance_km(ghent, ghent) == 0.0
    assert distance_km(ghent, munich) == distance_km(munich, ghent)
    assert distance_km(Spot(0, 179.5), Spot(0, -179.5)) == 111.2


def test_distance_is_unknown_without_an_anchor_or_coordinates() -> None:
    assert distance_km(None, Spot(1, 1)) is None
    assert distance_km(Spot(1, 1), Spot(None, 1)) is None
    assert distance_km(Spot(1, None), Spot(1, 1)) is None
