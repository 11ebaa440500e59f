"""Hours, weeks and days of three time zones on a running installation: clock changes, week 53, the last minutes.

A year passes, with few people at each moment that matters; the network's log is checked against local times.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.journeys.installation import Installation, installed
from tests.journeys.network_log import DEFAULTS, Terms, broken_promises, duplicates, moment, monday, seeds_of, utc_day
from tests.journeys.outreach import Json, Outreach

pytestmark = [pytest.mark.timeout(1800), pytest.mark.slow]

ZONES = ("Europe/Brussels", "America/Los_Angeles", "Pacific/Auckland")
STEPS: list[Json] = [{"type": "invite", "note": "Hi {{first_name}}, glad to be in touch."}, {"type": "profile_visit"}]
A_DAY = 2
WEEKLY = 6
"""Weekly invites, few enough to reach the cap of week 53."""


HOUR = timedelta(hours=1)
BEFORE_WEEK_53 = (date(2026, 12, 17), date(2026, 12, 26))
"""Days on which people are enrolled, more than may be invited until the new year."""


@dataclass(frozen=True)
class Change:
    """A clock change in a zone on a Sunday by `forward`; `begins` is the Sunday before."""

    zone: str
    begins: date
    forward: timedelta

    @property
    def sunday(self) -> date:
        return self.begins + timedelta(days=7)


CHANGES = (
    Change("America/Los_Angeles", date(2027, 3, 7), HOUR),
    Change("Europe/Brussels", date(2027, 3, 21), HOUR),
    Change("Pacific/Auckland", date(2027, 3, 28), -HOUR),
    Change("Pacific/Auckland", date(2027, 9, 19), HOUR),
    Change("Europe/Brussels", date(2027, 10, 24), -HOUR),
    Change("America/Los_Angeles", date(2027, 10, 31), -HOUR),
)
VISITED = 18
"""People per clock change: enough for some of them to be left for the Monday after it."""


@dataclass
class Owner:
    """An account in a zone, the people enrolled by it, and its executions."""

    zone: str
    outreach: Outreach
    profiles: dict[str, str]

    def terms(self) -> Terms:
        found = self.outreach.terms(self.zone)
        return Terms(found.account_id, found.started, self.zone, bases=DEFAULTS | {"invites_per_week": WEEKLY})


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OUTREACH_CHATS_MINUTES", "1440")  # a year of polls would be most of the work
        with installed("--population", "1000", "--virtual-time") as running:
            yield running


@pytest.fixture(scope="module")
def turned(installation: Installation) -> list[Owner]:
    """Return three owners after a new year with more waiting people than the week may invite."""
    owners = [owner(installation, zone) for zone in ZONES]
    for day in BEFORE_WEEK_53:  # people who could only be invited much later are not enrolled
        reach(installation, day)
        for one in owners:
            enroll(one, one.outreach.strangers(10), STEPS, f"Waits since {day}", daily_pace_limit=A_DAY)
    reach(installation, BEFORE_WEEK_53[-1] + timedelta(weeks=4))
    return owners


@pytest.fixture(scope="module")
def year(installation: Installation, turned: list[Owner]) -> list[Owner]:
    """Return the same owners after a year with enrollments before each moment that matters."""
    owners = turned
    for change in CHANGES:
        reach(installation, change.begins)
        (one,) = (owner for owner in owners if owner.zone == change.zone)
        enroll(one, unvisited(one, VISITED), STEPS[-1:], f"From {change.begins}", daily_pace_limit=A_DAY)
    reach(installation, CHANGES[-1].sunday + timedelta(days=7))
    return owners


def reach(installation: Installation, day: date) -> None:
    """Advance time to the start of a UTC day."""
    installation.command("advance", "--until", datetime.combine(day, time(0), UTC).isoformat())


def owner(installation: Installation, zone: str) -> Owner:
    """Return an account in a zone that has finished its warm-up by the first period."""
    outreach = Outreach.begin(installation)
    outreach.order("switches", natural=False)
    call = outreach.recruiter.call
    assert call("PATCH", "/v1/outreach/settings", json={"time_zone": zone}).status_code == 200
    limits = f"/v1/outreach/accounts/{outreach.account_id}/limits"
    assert call("PATCH", limits, json={"invites_per_week": WEEKLY}).status_code == 200
    made = Owner(zone, outreach, {})
    enroll(made, outreach.strangers(1), STEPS, "Warms up")
    return made


def unvisited(one: Owner, count: int) -> list[Json]:
    """Return people without any relation to the account who may be visited."""
    found = one.outreach.strangers(200)
    return [person for person in found if person["visitable"] and person["person_id"] not in one.profiles][:count]


def enroll(one: Owner, people: list[Json], steps: list[Json], name: str, **more: int) -> None:
    """Enroll people into a new sequence of the account."""
    sequence_id = one.outreach.sequence(name, steps, **more)
    one.outreach.enroll(sequence_id, people)
    one.profiles |= one.outreach.profiles(sequence_id, people)


def test_every_execution_keeps_its_zones_hours_rests_and_caps(year: list[Owner]) -> None:
    for one in year:
        log = one.outreach.log()
        assert duplicates(log) == []
        assert (
            broken_promises(log, seeds_of(log, one.outreach.listed("/v1/outreach/actions"), one.profiles), one.terms())
            == []
        )


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"{change.zone} {change.sunday}")
def test_local_time_opens_the_window_before_and_after_each_clock_change(year: list[Owner], change: Change) -> None:
    """Each day begins within 15 minutes after eight local time, or when a UTC day starts a new pace.

    In zones where the UTC day changes within the window, its pace is used up by the next morning, except on Mondays.
    """
    (one,) = (owner for owner in year if owner.zone == change.zone)
    openings = first_of_days([moment(entry) for entry in one.outreach.log()], change.zone)
    near = {day: at for day, at in openings.items() if abs(day - change.sunday) < timedelta(days=7)}
    assert all(is_opening(at) or is_opening(at.astimezone(UTC), hour=0) for at in near.values()), near
    before = [at for day, at in near.items() if day < change.sunday and is_opening(at)]
    after = [at for day, at in near.items() if day > change.sunday and is_opening(at)]
    assert {later.utcoffset() - earlier.utcoffset() for earlier in before for later in after} == {change.forward}  # type: ignore[operator]  # both are aware


def is_opening(at: datetime, *, hour: int = 8) -> bool:
    """Return whether a moment is within 15 minutes after `hour` in its zone."""
    return time(hour) <= at.time() < time(hour, 16)


def first_of_days(moments: list[datetime], zone: str) -> dict[date, datetime]:
    """Return the first moment of each local day."""
    found: dict[date, datetime] = {}
    for at in sorted(moments):
        local = at.astimezone(ZoneInfo(zone))
        found.setdefault(local.date(), local)
    return found


def test_the_new_year_does_not_restart_a_week(turned: list[Owner]) -> None:
    week_53 = date(2026, 12, 28)
    assert week_53.isocalendar()[:2] == (2026, 53)
    for one in turned:
        invites = [entry for entry in one.outreach.log() if entry["kind"] == "invite"]
        counts = [utc_day(entry) for entry in invites if monday(utc_day(entry)) == week_53]
        assert len(counts) == one.terms().cap("invites_per_week", week_53), one.zone  # reached, not passed
        assert any(utc_day(entry) > date(2027, 1, 3) for entry in invites), "the others had to wait for the next week"


@pytest.mark.parametrize(
    ("zone", "local"),
    [
        ("Europe/Brussels", time(18, 55)),
        ("Europe/Brussels", time(18, 58, 30)),
        ("America/Los_Angeles", time(15, 55)),
        ("America/Los_Angeles", time(15, 58, 30)),
        ("Pacific/Auckland", time(12, 56)),
    ],
)
def test_no_call_is_claimed_in_the_last_two_minutes(
    installation: Installation, year: list[Owner], zone: str, local: time
) -> None:
    """Neither of a window nor of a UTC day, which ends at 16:00 in Los Angeles and at 13:00 in Auckland."""
    (one,) = (owner for owner in year if owner.zone == zone)
    outreach, before = one.outreach, len(one.outreach.log())
    wall = ZoneInfo(zone)
    day = (outreach.now().astimezone(wall) + timedelta(days=1)).date()
    while day.isoweekday() > 4:
        day += timedelta(days=1)
    outreach.until(datetime.combine(day, local, wall))
    people = unvisited(one, 4)
    for person in people:
        asked = {"account_id": outreach.account_id, "type": "profile_visit", "profile_url": person["profile_url"]}
        one.profiles[person["person_id"]] = outreach.post("/v1/outreach/sends", asked)["profile_id"]
    outreach.advance("1d")
    log = outreach.log()
    assert len(log) == before + len(people)
    actions = outreach.listed("/v1/outreach/actions")
    assert broken_promises(log, seeds_of(log, actions, one.profiles), one.terms()) == []
    last = moment(log[-1]).astimezone(wall)
    assert last > datetime.combine(day, local, wall) + timedelta(minutes=3), "the last had to wait"
