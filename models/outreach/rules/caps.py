"""How much an account may do and when: caps, working hours, and rests, all with a chance that repeats.

Gaps, shifts and jitter come from seeds, so that preview and execution give the same times (specification, "Outreach
caps").
"""

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from zoneinfo import ZoneInfo, available_timezones

from models.outreach.rules.actions import ACTION_SPECS, ActionType, OutreachCap
from models.outreach.rules.states import FieldProblem

_RANGE = float(1 << 64)


def unit(seed: str) -> float:
    """A number in [0, 1) that depends on the text alone: the first 8 bytes of its SHA-256 as a fraction of 2^64."""
    first = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big")
    return min(first / _RANGE, 1 - 2**-53)  # a double may round the last few up to 1


def action_seed(account_id: str, person_key: str, step: str, earlier: int) -> str:
    """The seed stored on an action.

    `person_key` is the hash of the canonical profile URL, `step` the step's id or, of a direct send, its type,
    `earlier` the number of earlier actions to that person.
    """
    return f"{account_id}:{person_key}:{step}:{earlier}"


WARMUP_FLOOR = Fraction(4, 10)
WARMUP_DAYS = 14
JITTER = 0.15
WEEK_DAYS = 7


@dataclass(frozen=True, slots=True)
class CapRule:
    """What an account has unless configured, and what it may be raised to at most."""

    default: int
    ceiling: int


CAPS: Mapping[OutreachCap, CapRule] = MappingProxyType(
    {
        OutreachCap.INVITES_PER_DAY: CapRule(default=20, ceiling=30),
        OutreachCap.INVITES_PER_WEEK: CapRule(default=100, ceiling=150),
        OutreachCap.INVITES_WITHOUT_NOTE_PER_WEEK: CapRule(default=75, ceiling=110),
        OutreachCap.PROFILE_VIEWS_PER_DAY: CapRule(default=100, ceiling=150),
        OutreachCap.NEW_OUTREACH_PER_DAY: CapRule(default=25, ceiling=40),
    }
)
WEEKLY = frozenset({OutreachCap.INVITES_PER_WEEK, OutreachCap.INVITES_WITHOUT_NOTE_PER_WEEK})
"""Counted by ISO week; all others by UTC day."""


def utc_day(at: datetime) -> date:
    """The UTC day of a moment."""
    return at.astimezone(UTC).date()


def monday(day: date) -> date:
    """The first day of a day's ISO week; 1 January begins no new one."""
    return day - timedelta(days=day.weekday())


def day_start(day: date) -> datetime:
    """00:00 UTC of a day."""
    return datetime.combine(day, time(), UTC)


def cap_resets_at(cap: OutreachCap, now: datetime) -> datetime:
    """Return when counting starts again: the next UTC midnight, or the next Monday 00:00 UTC."""
    day = utc_day(now)
    return day_start(monday(day) + timedelta(days=WEEK_DAYS) if cap in WEEKLY else day + timedelta(days=1))


def warmup_day(started_on: date | None, day: date) -> int | None:
    """UTC days since warm-up started, null before; never below 0."""
    return None if started_on is None else max(0, (day - started_on).days)


def warmup_factor(days: int | None) -> float:
    """Rise linearly from 0.4 to 1 over fourteen UTC days; 1 before the start."""
    return float(_warmup(days))


def _warmup(days: int | None) -> Fraction:
    """Exact, because the floor of an exact product must not depend on rounding."""
    if days is None:
        return Fraction(1)
    return min(Fraction(1), WARMUP_FLOOR + (1 - WARMUP_FLOOR) * Fraction(days, WARMUP_DAYS))


def jitter_factor(cap: OutreachCap, account_id: str, day: date) -> float:
    """0.85 to 1 by account and UTC day, by the week's Monday for weekly caps; exactly 1 for new outreach."""
    if cap is OutreachCap.NEW_OUTREACH_PER_DAY:
        return 1.0
    return 1 - JITTER * unit(f"{account_id}:{(monday(day) if cap in WEEKLY else day).isoformat()}")


@dataclass(frozen=True, slots=True)
class AccountCaps:
    """An account's caps as configured.

    `configured` are the account's own values, `workspace` those of the settings; a cap that is not in them is not
    set. `warmup_started_on` is a UTC day, null before the first person is scheduled.
    """

    account_id: str
    configured: Mapping[OutreachCap, int] = field(default_factory=dict)
    workspace: Mapping[OutreachCap, int] = field(default_factory=dict)
    warmup_started_on: date | None = None

    def base(self, cap: OutreachCap) -> int:
        """The account's value, else the default; never above the workspace's value where one is set."""
        own = self.configured.get(cap, CAPS[cap].default)
        return min(own, self.workspace.get(cap, own))

    def warmup_day(self, day: date) -> int | None:
        """UTC days since warm-up started."""
        return warmup_day(self.warmup_started_on, day)

    def effective(self, cap: OutreachCap, day: date) -> int:
        """What may be done on a day, or in the days of a week up to this one: 0 only if the base is 0, else at least 1.

        Of new outreach this is the account's own part; the workspace's sum is bounded by `base`.
        """
        base = self.base(cap)
        if base == 0:
            return 0
        warm = base * _warmup(self.warmup_day(day))
        return max(1, math.floor(warm * Fraction(jitter_factor(cap, self.account_id, day))))

    def planned(self, today: date) -> "AccountCaps":
        """As planning sees the account: a warm-up that has not started is taken to start today."""
        return self if self.warmup_started_on is not None else replace(self, warmup_started_on=today)


def counts_against(type_: ActionType, *, with_text: bool = False, new_outreach: bool = False) -> frozenset[OutreachCap]:
    """Return the caps that an action takes a place of.

    `new_outreach`: it is the first action that contacts the person in this workspace, whatever the step's flag. Types
    that do not contact are never new outreach.
    """
    spec = ACTION_SPECS[type_]
    caps = spec.caps if with_text else spec.caps | spec.caps_without_text
    return caps | {OutreachCap.NEW_OUTREACH_PER_DAY} if new_outreach and spec.contacts else caps


def week_allows(taken: Mapping[date, int], caps: Mapping[date, int], day: date) -> bool:
    """Whether one more fits on a day of a week whose cap grows within it.

    `taken` and `caps` are by day of that ISO week (`taken` may lack days): for every day from this one on, what was
    taken up to it, the new one included, is at most its cap.
    """
    first = monday(day)
    so_far = 1
    for offset in range(WEEK_DAYS):
        current = first + timedelta(days=offset)
        so_far += taken.get(current, 0)
        if current >= day and so_far > caps[current]:
            return False
    return True


def cap_problem(cap: OutreachCap, value: int, *, risk_acknowledged: bool) -> FieldProblem | None:
    """What is wrong with an account's new value: 0 to the ceiling, above the default only with the acknowledgement."""
    rule = CAPS[cap]
    if not 0 <= value <= rule.ceiling:
        return FieldProblem(cap, f"is a whole number from 0 to {rule.ceiling}")
    if value > rule.default and not risk_acknowledged:
        return FieldProblem(cap, f"is above the default of {rule.default}, which needs risk_acknowledged: true")
    return None


def workspace_cap_problem(cap: OutreachCap, value: int) -> FieldProblem | None:
    """What is wrong with a workspace's value: settings only lower, flag or not."""
    highest = CAPS[cap].default
    return None if 0 <= value <= highest else FieldProblem(cap, f"is a whole number from 0 to {highest}")


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
    """0 to 15 minutes, so that not all rows wake at the same boundary."""
    return timedelta(seconds=SHIFT_SECONDS * unit(f"{seed}:shift"))


def day_ends(at: datetime) -> bool:
    """Whether a moment is in the last 120 s of its UTC day."""
    return (at.astimezone(UTC) + LAST_MOMENTS).date() != at.astimezone(UTC).date()


def hours_problems(*, time_zone: str, start_hour: int, end_hour: int, days: Sequence[int]) -> list[FieldProblem]:
    """What is wrong with settings: an IANA zone, whole hours of 8 to 19 at least two apart, some days of 1 to 5."""
    found = []
    if time_zone not in _zones():
        found.append(FieldProblem("time_zone", "is no IANA time zone"))
    if not EARLIEST_HOUR <= start_hour <= LATEST_HOUR:
        found.append(FieldProblem("start_hour", f"is a whole hour between {EARLIEST_HOUR} and {LATEST_HOUR}"))
    elif not EARLIEST_HOUR <= end_hour <= LATEST_HOUR:
        found.append(FieldProblem("end_hour", f"is a whole hour between {EARLIEST_HOUR} and {LATEST_HOUR}"))
    elif end_hour - start_hour < SHORTEST_HOURS:
        found.append(FieldProblem("end_hour", f"is at least {SHORTEST_HOURS} hours after start_hour"))
    if not days or len(set(days)) != len(days) or not set(days) <= set(DAYS):
        found.append(FieldProblem("days", "is at least one of 1 (Monday) to 5 (Friday), each once"))
    return found


@lru_cache(maxsize=1)
def _zones() -> Collection[str]:
    return available_timezones()


GAP_SECONDS = 45
GAP_SPREAD_SECONDS = 135
LUNCH_HOUR = 12
PEAK_FROM_HOUR = 10
PEAK_UNTIL_HOUR = 16
LUNCH_MULTIPLIER = 3.0
PEAK_MULTIPLIER = 1.0
OFF_PEAK_MULTIPLIER = 1.5
SHORTEST_GAP = timedelta(seconds=GAP_SECONDS)
LONGEST_GAP = timedelta(seconds=(GAP_SECONDS + GAP_SPREAD_SECONDS) * LUNCH_MULTIPLIER)


@lru_cache(maxsize=8192)  # a search asks for the same seed at every place it tries
def base_gap(seed: str) -> timedelta:
    """45 to 180 s, the same for the same seed."""
    return timedelta(seconds=GAP_SECONDS + GAP_SPREAD_SECONDS * unit(seed))


def multiplier(local_hour: int) -> float:
    """3 for lunch, 1 for the rest of the peak hours, 1.5 otherwise; by the hour (0 to 23) of local wall time."""
    if local_hour == LUNCH_HOUR:
        return LUNCH_MULTIPLIER
    return PEAK_MULTIPLIER if PEAK_FROM_HOUR <= local_hour < PEAK_UNTIL_HOUR else OFF_PEAK_MULTIPLIER


def gap_after(seed: str, at: datetime, hours: WorkingHours) -> timedelta:
    """How long the account rests after an action at this moment: planned time, or the time of its result."""
    return base_gap(seed) * multiplier(hours.local_hour(at))
