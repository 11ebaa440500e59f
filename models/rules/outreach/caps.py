"""Caps: how much an account may do in a UTC day or an ISO week (specification, "Outreach caps")."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType

from models.rules.outreach.problems import Problem
from models.rules.outreach.seeds import unit
from models.rules.outreach.states import ActionType

WARMUP_FLOOR = Fraction(4, 10)
WARMUP_DAYS = 14
JITTER = 0.15
WEEK_DAYS = 7


class Cap(StrEnum):
    """What is counted: all per account but `new_outreach_per_day`, which the workspace (or customer) shares."""

    INVITES_PER_DAY = "invites_per_day"
    INVITES_PER_WEEK = "invites_per_week"
    INVITES_WITHOUT_NOTE_PER_WEEK = "invites_without_note_per_week"
    PROFILE_VIEWS_PER_DAY = "profile_views_per_day"
    NEW_OUTREACH_PER_DAY = "new_outreach_per_day"


@dataclass(frozen=True, slots=True)
class CapRule:
    """What an account has unless configured, and what it may be raised to at most."""

    default: int
    ceiling: int


CAPS: Mapping[Cap, CapRule] = MappingProxyType(
    {
        Cap.INVITES_PER_DAY: CapRule(default=20, ceiling=30),
        Cap.INVITES_PER_WEEK: CapRule(default=100, ceiling=150),
        Cap.INVITES_WITHOUT_NOTE_PER_WEEK: CapRule(default=75, ceiling=110),
        Cap.PROFILE_VIEWS_PER_DAY: CapRule(default=100, ceiling=150),
        Cap.NEW_OUTREACH_PER_DAY: CapRule(default=25, ceiling=40),
    }
)
WEEKLY = frozenset({Cap.INVITES_PER_WEEK, Cap.INVITES_WITHOUT_NOTE_PER_WEEK})
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


def resets_at(cap: Cap, now: datetime) -> datetime:
    """When counting starts anew: the next UTC midnight, or the next Monday 00:00 UTC."""
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


def jitter_factor(cap: Cap, account_id: str, day: date) -> float:
    """0.85 to 1 by account and UTC day, by the week's Monday for weekly caps; exactly 1 for new outreach."""
    if cap is Cap.NEW_OUTREACH_PER_DAY:
        return 1.0
    return 1 - JITTER * unit(f"{account_id}:{(monday(day) if cap in WEEKLY else day).isoformat()}")


@dataclass(frozen=True, slots=True)
class AccountCaps:
    """An account's caps as configured.

    `configured` are the account's own values, `workspace` those of the settings; a cap that is not in them is not
    set. `warmup_started_on` is a UTC day, null before the first person is scheduled.
    """

    account_id: str
    configured: Mapping[Cap, int] = field(default_factory=dict)
    workspace: Mapping[Cap, int] = field(default_factory=dict)
    warmup_started_on: date | None = None

    def base(self, cap: Cap) -> int:
        """The account's value, else the default; never above the workspace's value where one is set."""
        own = self.configured.get(cap, CAPS[cap].default)
        return min(own, self.workspace.get(cap, own))

    def warmup_day(self, day: date) -> int | None:
        """UTC days since warm-up started."""
        return warmup_day(self.warmup_started_on, day)

    def effective(self, cap: Cap, day: date) -> int:
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


def counts_against(type_: ActionType, *, with_note: bool = False, new_outreach: bool = False) -> frozenset[Cap]:
    """The caps an action takes a place of.

    `new_outreach`: it is the first invite or message to that person in this workspace, whatever the step's flag.
    Visits and withdrawals are never new outreach.
    """
    if type_ is ActionType.PROFILE_VISIT:
        return frozenset({Cap.PROFILE_VIEWS_PER_DAY})
    if type_ is ActionType.WITHDRAW_INVITE:
        return frozenset()
    caps = {Cap.NEW_OUTREACH_PER_DAY} if new_outreach else set()
    if type_ is ActionType.INVITE:
        caps |= {Cap.INVITES_PER_DAY, Cap.INVITES_PER_WEEK}
        if not with_note:
            caps.add(Cap.INVITES_WITHOUT_NOTE_PER_WEEK)
    return frozenset(caps)


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


def cap_problem(cap: Cap, value: int, *, risk_acknowledged: bool) -> Problem | None:
    """What is wrong with an account's new value: 0 to the ceiling, above the default only with the acknowledgement."""
    rule = CAPS[cap]
    if not 0 <= value <= rule.ceiling:
        return Problem(cap, f"is a whole number from 0 to {rule.ceiling}")
    if value > rule.default and not risk_acknowledged:
        return Problem(cap, f"is above the default of {rule.default}, which needs risk_acknowledged: true")
    return None


def workspace_cap_problem(cap: Cap, value: int) -> Problem | None:
    """What is wrong with a workspace's value: settings only lower, flag or not."""
    highest = CAPS[cap].default
    return None if 0 <= value <= highest else Problem(cap, f"is a whole number from 0 to {highest}")
