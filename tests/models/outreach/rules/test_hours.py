"""Working hours, spacing and shifts: across daylight-saving changes, on both sides of the equator."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.outreach.rules.caps import (
    LAST_MOMENTS,
    LONGEST_GAP,
    Window,
    WorkingHours,
    base_gap,
    day_ends,
    gap_after,
    hours_problems,
    multiplier,
    shift,
)

BRUSSELS = WorkingHours()
ZONES = ["Europe/Brussels", "America/Los_Angeles", "Pacific/Auckland"]
SEED = "act_01jd3v8k5xe9q8w2r7t6y5u4p1"
MOMENTS = st.datetimes(datetime(2026, 12, 20), datetime(2027, 12, 20), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds UTC
HOURS = st.builds(
    lambda zone, start, length, days: WorkingHours(zone, start, min(19, start + length), tuple(sorted(days))),
    st.sampled_from(ZONES),
    st.integers(8, 17),
    st.integers(2, 11),
    st.sets(st.integers(1, 5), min_size=1),
)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def test_the_vectors_of_the_design() -> None:
    assert base_gap(SEED).total_seconds() == pytest.approx(138.987, abs=5e-4)
    assert shift(SEED).total_seconds() == pytest.approx(836.249, abs=5e-4)


@given(hours=HOURS, moment=MOMENTS, seed=st.text(max_size=5))
@settings(max_examples=100, deadline=None)
def test_a_moment_moved_into_hours_can_be_claimed_there(hours: WorkingHours, moment: datetime, seed: str) -> None:
    moved = hours.into(moment, seed)
    window = hours.window_at(moved)
    assert window is not None
    assert moment <= moved < window.last_claim
    local = moved.astimezone(ZoneInfo(hours.zone))
    assert local.isoweekday() in hours.days
    assert hours.start_hour <= local.hour < hours.end_hour
    assert hours.inside(moved)
    assert hours.into(moved, seed) == moved
    if moved != moment:
        assert moved == window.opens + shift(seed)
        assert not hours.inside(moment) or moment >= window_of(hours, moment).last_claim


def window_of(hours: WorkingHours, moment: datetime) -> Window:
    window = hours.window_at(moment)
    assert window is not None
    return window


@given(hours=HOURS, moment=MOMENTS)
@settings(max_examples=100, deadline=None)
def test_the_next_window_is_the_first_that_opens_behind(hours: WorkingHours, moment: datetime) -> None:
    window = hours.next_window(moment)
    assert window.opens > moment
    between = [moment + timedelta(hours=n) for n in range(1, 200)]
    opened_before = [m for m in between if m < window.opens and hours.inside(m) and not hours.inside(moment)]
    assert opened_before == []
    wall = [each.astimezone(ZoneInfo(hours.zone)) for each in (window.opens, window.closes)]
    assert [each.hour for each in wall] == [hours.start_hour, hours.end_hour]
    assert wall[0].date() == wall[1].date()


@pytest.mark.parametrize(
    ("zone", "day", "opens"),
    [
        ("Europe/Brussels", date(2027, 3, 26), "2027-03-26T07:00+00:00"),
        ("Europe/Brussels", date(2027, 3, 29), "2027-03-29T06:00+00:00"),  # summer time since the 28th
        ("Europe/Brussels", date(2027, 10, 29), "2027-10-29T06:00+00:00"),
        ("Europe/Brussels", date(2027, 11, 1), "2027-11-01T07:00+00:00"),  # winter time since the 31st
        ("America/Los_Angeles", date(2027, 3, 12), "2027-03-12T16:00+00:00"),
        ("America/Los_Angeles", date(2027, 3, 15), "2027-03-15T15:00+00:00"),
        ("America/Los_Angeles", date(2027, 3, 29), "2027-03-29T15:00+00:00"),  # Europe's change moves nothing here
        ("America/Los_Angeles", date(2027, 11, 8), "2027-11-08T16:00+00:00"),
        ("Pacific/Auckland", date(2027, 3, 29), "2027-03-28T19:00+00:00"),  # the Monday begins on UTC's Sunday
        ("Pacific/Auckland", date(2027, 4, 5), "2027-04-04T20:00+00:00"),
        ("Pacific/Auckland", date(2027, 9, 27), "2027-09-26T19:00+00:00"),
        ("Pacific/Auckland", date(2027, 11, 1), "2027-10-31T19:00+00:00"),
    ],
)
def test_a_day_opens_at_eight_on_the_wall(zone: str, day: date, opens: str) -> None:
    hours = WorkingHours(zone)
    midnight = datetime.combine(day, datetime.min.time(), ZoneInfo(zone)).astimezone(UTC)
    window = hours.next_window(midnight)
    assert window.opens == at(opens)
    assert window.closes - window.opens == timedelta(hours=11)


def test_friday_evening_moves_to_monday_over_the_change_of_the_clocks() -> None:
    moved = BRUSSELS.into(at("2027-03-26T18:30:00+01:00"), SEED)
    assert moved == at("2027-03-26T18:30:00+01:00")
    assert BRUSSELS.into(at("2027-03-26T19:00:00+01:00"), SEED) == at("2027-03-29T08:00:00+02:00") + shift(SEED)
    assert BRUSSELS.into(at("2027-10-30T12:00:00+02:00"), SEED) == at("2027-11-01T08:00:00+01:00") + shift(SEED)


def test_nothing_is_claimed_in_the_last_moments_of_a_window() -> None:
    last = at("2027-01-04T18:58:00+01:00")
    assert BRUSSELS.claimable(last - timedelta(microseconds=1))
    assert not BRUSSELS.claimable(last)
    assert BRUSSELS.inside(last)
    assert BRUSSELS.into(last, SEED) == at("2027-01-05T08:00:00+01:00") + shift(SEED)
    assert not BRUSSELS.inside(at("2027-01-04T19:00:00+01:00"))
    assert BRUSSELS.claimable(at("2027-01-04T08:00:00+01:00"))
    assert not BRUSSELS.claimable(at("2027-01-04T07:59:59+01:00"))


def test_nothing_is_claimed_in_the_last_moments_of_a_utc_day() -> None:
    pacific = WorkingHours("America/Los_Angeles")
    midnight = at("2027-01-05T00:00:00+00:00")  # four in the afternoon there
    assert pacific.inside(midnight - timedelta(seconds=1))
    assert not pacific.claimable(midnight - LAST_MOMENTS)
    assert pacific.claimable(midnight - LAST_MOMENTS - timedelta(microseconds=1))
    assert pacific.claimable(midnight)
    assert not day_ends(midnight)


def test_gaps_are_longer_off_peak_and_longest_at_lunch() -> None:
    assert [multiplier(hour) for hour in (8, 9, 10, 11, 12, 13, 15, 16, 18)] == [1.5, 1.5, 1, 1, 3, 1, 1, 1.5, 1.5]
    for text, factor in (("11:59:59", 1), ("12:00:00", 3), ("12:59:59", 3), ("13:00:00", 1), ("16:00:00", 1.5)):
        assert gap_after(SEED, at(f"2027-03-29T{text}+02:00"), BRUSSELS) == base_gap(SEED) * factor


@given(seed=st.text(max_size=8), moment=MOMENTS, zone=st.sampled_from(ZONES))
@settings(deadline=None)
def test_a_gap_is_45_to_180_seconds_times_its_multiplier(seed: str, moment: datetime, zone: str) -> None:
    assert timedelta(seconds=45) <= base_gap(seed) <= timedelta(seconds=180)
    assert timedelta(seconds=45) <= gap_after(seed, moment, WorkingHours(zone)) <= LONGEST_GAP
    assert timedelta(0) <= shift(seed) < timedelta(minutes=15)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("time_zone", {"time_zone": "Mars/Olympus"}),
        ("time_zone", {"time_zone": "../etc/passwd"}),
        ("time_zone", {"time_zone": ""}),
        ("start_hour", {"start_hour": 7}),
        ("start_hour", {"start_hour": 20}),
        ("end_hour", {"end_hour": 20}),
        ("end_hour", {"end_hour": 7}),
        ("end_hour", {"start_hour": 10, "end_hour": 11}),
        ("end_hour", {"start_hour": 12, "end_hour": 10}),
        ("days", {"days": []}),
        ("days", {"days": [1, 6]}),
        ("days", {"days": [0]}),
        ("days", {"days": [1, 1]}),
    ],
)
def test_settings_are_refused_by_the_name_of_their_field(field: str, change: dict[str, object]) -> None:
    fine: dict[str, object] = {"time_zone": "Europe/Brussels", "start_hour": 8, "end_hour": 19, "days": [1, 2, 3, 4, 5]}
    assert hours_problems(**fine) == []  # type: ignore[arg-type]  # values of several types
    assert [problem.field for problem in hours_problems(**fine | change)] == [field]  # type: ignore[arg-type]  # values of several types


def test_the_window_may_be_narrowed() -> None:
    assert hours_problems(time_zone="Pacific/Auckland", start_hour=17, end_hour=19, days=[5]) == []
