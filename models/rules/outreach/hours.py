"""Working hours: local wall time in a zone, across daylight-saving changes (specification, "Outreach caps", rule 9)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from models.rules.outreach.problems import Problem
from models.rules.outreach.seeds import unit

EARLIEST_HOUR = 8
LATEST_HOUR = 19
SHORTEST_HOURS = 2
DAYS = (1, 2, 3, 4, 5)
"""Monday to Friday, as ISO weekdays."""
DEFAULT_ZONE = "Europe/Brussels"
LAST_MOMENTS = timedelta(seconds=120)
"""Nothing is claimed so shortly before the end of a window or of a UTC day."""
SHIFT_SECONDS = 900


@dataclass(frozen=True, slots=True)
class Window:
    """One working day, in UTC; `closes` is outside."""

    opens: datetime
    closes: datetime

    @property
    def last_claim(self) -> datetime:
        """From here on nothing is claimed in this window any more."""
        return self.closes - LAST_MOMENTS


@dataclass(frozen=True, slots=True)
class WorkingHours:
    """A window of whole hours of local wall time on some weekdays. Moments are aware and come back in UTC."""

    zone: str = DEFAULT_ZONE
    start_hour: int = EARLIEST_HOUR
    end_hour: int = LATEST_HOUR
    days: tuple[int, ...] = DAYS

    def local_hour(self, at: datetime) -> int:
        """The hour (0 to 23) the clock on the wall shows."""
        return at.astimezone(ZoneInfo(self.zone)).hour

    def window_at(self, at: datetime) -> Window | None:
        """The window a moment is in, null outside."""
        window = self._window_of(at.astimezone(ZoneInfo(self.zone)).date())
        return window if window is not None and window.opens <= at < window.closes else None

    def inside(self, at: datetime) -> bool:
        """Whether it is working time, the last moments included."""
        return self.window_at(at) is not None

    def next_window(self, at: datetime) -> Window:
        """The first window that opens after a moment."""
        day = at.astimezone(ZoneInfo(self.zone)).date()
        while True:
            window = self._window_of(day)
            if window is not None and window.opens > at:
                return window
            day += timedelta(days=1)

    def claimable(self, at: datetime) -> bool:
        """Whether something may be claimed now: inside, and in the last 120 s neither of the window nor of the day."""
        window = self.window_at(at)
        return window is not None and at < window.last_claim and not day_ends(at)

    def into(self, at: datetime, seed: str) -> datetime:
        """The moment itself while its window takes claims, else the start of the next one plus the seed's shift."""
        window = self.window_at(at)
        if window is not None and at < window.last_claim:
            return at
        return self.next_window(at).opens + shift(seed)

    def _window_of(self, day: date) -> Window | None:
        return _window(self.zone, self.start_hour, self.end_hour, day) if day.isoweekday() in self.days else None


@lru_cache(maxsize=4096)
def _window(zone: str, start_hour: int, end_hour: int, day: date) -> Window:
    def utc(hour: int) -> datetime:
        return datetime.combine(day, time(hour), ZoneInfo(zone)).astimezone(UTC)

    return Window(opens=utc(start_hour), closes=utc(end_hour))


def shift(seed: str) -> timedelta:
    """0 to 15 minutes, so that not everybody wakes at the same boundary."""
    return timedelta(seconds=SHIFT_SECONDS * unit(f"{seed}:shift"))


def day_ends(at: datetime) -> bool:
    """Whether a moment is in the last 120 s of its UTC day."""
    return (at.astimezone(UTC) + LAST_MOMENTS).date() != at.astimezone(UTC).date()


def hours_problems(*, time_zone: str, start_hour: int, end_hour: int, days: Sequence[int]) -> list[Problem]:
    """What is wrong with settings: an IANA zone, whole hours of 8 to 19 at least two apart, some days of 1 to 5."""
    found = []
    if time_zone not in _zones():
        found.append(Problem("time_zone", "is no IANA time zone"))
    if not EARLIEST_HOUR <= start_hour <= LATEST_HOUR:
        found.append(Problem("start_hour", f"is a whole hour between {EARLIEST_HOUR} and {LATEST_HOUR}"))
    elif not EARLIEST_HOUR <= end_hour <= LATEST_HOUR:
        found.append(Problem("end_hour", f"is a whole hour between {EARLIEST_HOUR} and {LATEST_HOUR}"))
    elif end_hour - start_hour < SHORTEST_HOURS:
        found.append(Problem("end_hour", f"is at least {SHORTEST_HOURS} hours after start_hour"))
    if not days or len(set(days)) != len(days) or not set(days) <= set(DAYS):
        found.append(Problem("days", "is at least one of 1 (Monday) to 5 (Friday), each once"))
    return found


@lru_cache(maxsize=1)
def _zones() -> Collection[str]:
    return available_timezones()
