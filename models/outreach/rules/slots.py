"""Slots: an account's calendar, the first moment every rule allows, and which rules moved a time there."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum

from models.base.errors import rfc3339
from models.outreach.rules.actions import OutreachCap
from models.outreach.rules.caps import (
    LONGEST_GAP,
    LUNCH_HOUR,
    SHORTEST_GAP,
    WARMUP_DAYS,
    WEEK_DAYS,
    WEEKLY,
    AccountCaps,
    WorkingHours,
    day_ends,
    day_start,
    gap_after,
    monday,
    shift,
    utc_day,
    week_allows,
)


@dataclass(frozen=True, slots=True)
class Request:
    """An action that needs a time.

    `caps` are those it counts against (`counts_against`). `sequence_id` and `pace` go with the first step of a
    sequence and its `daily_pace_limit` (null: no limit), and are null for anything else. `displaces`: a reply or
    direct send, which keeps the rest to what was sent and lets planned steps move.
    """

    seed: str
    caps: frozenset[OutreachCap]
    sequence_id: str | None = None
    pace: int | None = None
    displaces: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """An action in the calendar: used (at the time of its result, or its claim while it runs) or scheduled.

    `days` are the UTC days it counts on: one, or two when claim and result fall on different days. `sequence_id`
    as in `Request`. `movable`: a scheduled step, which a reply or direct send may displace.
    """

    at: datetime
    seed: str
    caps: frozenset[OutreachCap]
    days: tuple[date, ...]
    sequence_id: str | None = None
    movable: bool = False


@dataclass(frozen=True, slots=True)
class Pause:
    """The account rests; `until` null: without a known end."""

    until: datetime | None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another account of the workspace (or customer): its new outreach by UTC day, used and reserved.

    `competes`: it is active and has people to start, so that its guaranteed share is kept free.
    """

    caps: AccountCaps
    new_outreach: Mapping[date, int]
    competes: bool


@dataclass(frozen=True, slots=True)
class Blocker:
    """An action that stands in the way; behind its rest, at `free_at`, there is room."""

    action_at: datetime
    free_at: datetime


@dataclass(slots=True)
class _Rests:
    """Actions by time, each with the end of its rest."""

    at: list[datetime] = field(default_factory=list)
    free: list[datetime] = field(default_factory=list)

    def add(self, at: datetime, free: datetime) -> None:
        place = bisect_right(self.at, at)
        self.at.insert(place, at)
        self.free.insert(place, free)

    def remove(self, at: datetime, free: datetime) -> None:
        place = self.free.index(free, bisect_left(self.at, at))
        del self.at[place], self.free[place]

    def before(self, at: datetime, rest_from: Callable[[datetime], timedelta]) -> Blocker | None:
        """The last action to let by, so that no rest is broken: neither theirs nor that of an action at this moment.

        `rest_from` says how long the new action rests when it is done at a moment.
        """
        following = bisect_right(self.at, at)
        recent = range(bisect_right(self.at, at - LONGEST_GAP, 0, following), following)
        last = max(recent, key=self.free.__getitem__, default=None)
        if last is not None and self.free[last] <= at:
            last = None
        free = at if last is None else self.free[last]
        for place in range(following, len(self.at)):
            room = self.at[place] - free
            if room >= SHORTEST_GAP and room >= rest_from(free):
                break
            if self.free[place] > free:
                last, free = place, self.free[place]
        return None if last is None else Blocker(self.at[last], free)


@dataclass(slots=True)
class Calendar:
    """One account: its rules, and what is in its time. Built once for a plan; `book` and `release` keep it current.

    `now` is the moment of planning: a warm-up that has not started is planned as if it started that day.
    """

    caps: AccountCaps
    hours: WorkingHours
    now: datetime
    pause: Pause | None = None
    neighbours: Sequence[Neighbour] = ()
    taken: InitVar[Iterable[Taken]] = ()
    _members: set[Taken] = field(init=False, repr=False, default_factory=set)
    _all: _Rests = field(init=False, repr=False, default_factory=_Rests)
    _firm: _Rests = field(init=False, repr=False, default_factory=_Rests)
    _counts: dict[tuple[OutreachCap, date], int] = field(
        init=False, repr=False, default_factory=lambda: defaultdict(int)
    )
    _paces: dict[tuple[str, date], int] = field(init=False, repr=False, default_factory=lambda: defaultdict(int))
    _effective: dict[tuple[str, OutreachCap, date], int] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self, taken: Iterable[Taken]) -> None:
        for one in taken:
            self.add(one)

    def book(self, request: Request, at: datetime) -> Taken:
        """Put a planned action into the calendar."""
        booked = Taken(
            at=at,
            seed=request.seed,
            caps=request.caps,
            days=(utc_day(at),),
            sequence_id=request.sequence_id,
            movable=not request.displaces,
        )
        self.add(booked)
        return booked

    def add(self, taken: Taken) -> None:
        """Put an action into the calendar as it is; `ValueError` when it is there."""
        if taken in self._members:
            raise ValueError("the action is in the calendar")
        self._members.add(taken)
        self._change(taken, 1)

    def release(self, taken: Taken) -> None:
        """Take an action out: it was cancelled, skipped, or is to be planned again. `KeyError` when it is not there."""
        self._members.remove(taken)
        self._change(taken, -1)

    def _change(self, taken: Taken, by: int) -> None:
        free = taken.at + gap_after(taken.seed, taken.at, self.hours)
        for rests in (self._all,) if taken.movable else (self._all, self._firm):
            (rests.add if by > 0 else rests.remove)(taken.at, free)
        weeks = {monday(day): day for day in sorted(taken.days, reverse=True)}  # once a week, on its first day there
        for cap in taken.caps:
            for day in weeks.values() if cap in WEEKLY else taken.days:
                self._counts[cap, day] += by
        if taken.sequence_id is not None:
            for day in taken.days:
                self._paces[taken.sequence_id, day] += by

    def used_on(self, cap: OutreachCap, day: date) -> int:
        """How many actions of a cap count on a UTC day; one that counts on two days of a week is its first day's."""
        return self._counts.get((cap, day), 0)

    def started_on(self, sequence_id: str, day: date) -> int:
        """How many people a sequence starts on a UTC day."""
        return self._paces.get((sequence_id, day), 0)

    def effective(self, cap: OutreachCap, day: date, *, of: AccountCaps | None = None) -> int:
        """The effective cap of a day, of this account or a neighbour; remembered."""
        caps = of or self.caps
        key = (caps.account_id, cap, day)
        found = self._effective.get(key)
        if found is None:
            found = self._effective[key] = caps.planned(utc_day(self.now)).effective(cap, day)
        return found

    def week_full(self, cap: OutreachCap, day: date) -> bool:
        """Whether a weekly cap forbids one more on a day."""
        days = [monday(day) + timedelta(days=n) for n in range(WEEK_DAYS)]
        taken = {each: self.used_on(cap, each) for each in days}
        return not week_allows(taken, {each: self.effective(cap, each) for each in days}, day)

    def grows_later(self, cap: OutreachCap, day: date) -> bool:
        """Whether a later day of the week has a higher cap."""
        last = monday(day) + timedelta(days=WEEK_DAYS - 1)
        return self.effective(cap, last) > self.effective(cap, day)  # a cap never falls within a week

    def workspace_base(self) -> int:
        """New outreach of the workspace in a day: the highest base of the accounts that share it."""
        sharing = [self.caps, *(n.caps for n in self.neighbours if n.competes)]
        return max(caps.base(OutreachCap.NEW_OUTREACH_PER_DAY) for caps in sharing)

    def workspace_full(self, day: date) -> bool:
        """Whether the workspace has no new outreach left for this account.

        The sum stays within the base. Within its share (base ÷ competing accounts) an account may always go on;
        above it only with what the others' shares leave.
        """
        cap, base = OutreachCap.NEW_OUTREACH_PER_DAY, self.workspace_base()
        own = self.used_on(cap, day)
        total = own + sum(n.new_outreach.get(day, 0) for n in self.neighbours)
        if total >= base:
            return True
        competing = [n for n in self.neighbours if n.competes]
        share = base // (1 + len(competing))
        owed = sum(
            max(0, min(share, self.effective(cap, day, of=n.caps)) - n.new_outreach.get(day, 0)) for n in competing
        )
        return own >= share and total + owed >= base

    def in_the_way(self, request: Request, at: datetime) -> Blocker | None:
        """The action behind whose rest there is room from a moment on, null when there is room at once."""
        rests = self._firm if request.displaces else self._all
        return rests.before(at, lambda moment: gap_after(request.seed, moment, self.hours))


FIRST_TOUCH_HORIZON = timedelta(days=14)
"""First steps go out so soon or are refused; follow-ups have no horizon."""
_MINUTE = timedelta(minutes=1)


class TimeRule(StrEnum):
    """What moves a time besides the caps."""

    DAILY_PACE_LIMIT = "daily_pace_limit"
    WORKING_HOURS = "working_hours"
    DAY_END = "day_end"
    ACCOUNT_PAUSED = "account_paused"
    SPACING = "spacing"
    LUNCH = "lunch"


Rule = OutreachCap | TimeRule
"""What moved a time, or left none."""
LIMITS: frozenset[Rule] = frozenset(OutreachCap) | {TimeRule.DAILY_PACE_LIMIT}
"""The caps and the pace limit: what fills up. The others only delay."""


@dataclass(frozen=True, slots=True)
class SlotMove:
    """One entry of an action's `why`: a rule moved the time, and on what ground."""

    rule: Rule
    moved_from: datetime
    moved_to: datetime
    detail: str

    def shown(self) -> dict[str, str]:
        """As stored and answered: `{rule, from, to, detail}`, times in RFC 3339."""
        return {
            "rule": self.rule.value,
            "from": rfc3339(self.moved_from),
            "to": rfc3339(self.moved_to),
            "detail": self.detail,
        }


@dataclass(frozen=True, slots=True)
class Slot:
    """A time that every rule allows, and what moved it there."""

    at: datetime
    why: tuple[SlotMove, ...] = ()

    @property
    def limit(self) -> Rule | None:
        """The cap or pace limit that pushed it out last, null when none did."""
        return _last_limit(self.why)


@dataclass(frozen=True, slots=True)
class SlotRefusal:
    """No time: `rule` is the reason; `next_available_at` the first slot behind the horizon, null when there is none."""

    rule: Rule
    next_available_at: datetime | None
    why: tuple[SlotMove, ...] = ()


@dataclass(frozen=True, slots=True)
class _Full:
    """A limit that has no room on a day, the day to try next (null: none ever), and the figures."""

    rule: Rule
    next_day: date | None
    detail: str


def find_slot(
    calendar: Calendar, request: Request, not_before: datetime, *, within: timedelta | None = None
) -> Slot | SlotRefusal:
    """The first time from `not_before` (rounded up to the minute) that keeps every rule; books nothing.

    `within`: a slot later than so long after `not_before` is refused, and named (a minute at least; when enrolling
    and sending `FIRST_TOUCH_HORIZON`, never when an existing action is moved).
    """
    at = rounded_up(not_before)
    why: list[SlotMove] = []
    while (found := check_now(calendar, request, at)) is not None:
        if isinstance(found, SlotRefusal):
            return SlotRefusal(found.rule, None, tuple(why))
        why.append(found)
        at = found.moved_to
    if within is not None and at > not_before + within:
        return SlotRefusal(_last_limit(why) or _longest(why), at, tuple(why))
    return Slot(at, tuple(why))


def check_now(calendar: Calendar, request: Request, now: datetime) -> SlotMove | SlotRefusal | None:
    """At the claim: null when the action may go this moment, else the first rule in its way.

    For a claim the calendar holds what is used only, without this action's own reservation. A move says where that
    one rule would put it; `find_slot` from there gives the new time.
    """
    moved = _outside_hours(calendar, request, now)
    if moved is not None:
        return moved
    until = calendar.pause.until if calendar.pause is not None else now
    if until is None:
        return SlotRefusal(TimeRule.ACCOUNT_PAUSED, None)
    if now < until:
        detail = f"the account is paused until {rfc3339(until)}"
        return SlotMove(TimeRule.ACCOUNT_PAUSED, now, until + shift(request.seed), detail)
    return _no_room(calendar, request, now) or _too_close(calendar, request, now)


def rounded_up(at: datetime) -> datetime:
    """The moment itself when it is a whole minute, else the next one."""
    whole = at.replace(second=0, microsecond=0)
    return whole if whole == at else whole + _MINUTE


def _outside_hours(calendar: Calendar, request: Request, at: datetime) -> SlotMove | None:
    inside = calendar.hours.into(at, request.seed)
    if inside != at:
        hours = calendar.hours
        detail = f"working hours are {hours.start_hour}:00–{hours.end_hour}:00 {hours.zone}"
        return SlotMove(TimeRule.WORKING_HOURS, at, inside, detail)
    if day_ends(at):
        tomorrow = _at_start(request, utc_day(at) + timedelta(days=1))
        return SlotMove(TimeRule.DAY_END, at, tomorrow, "nothing is sent in the last 120 s of a UTC day")
    return None


def _no_room(calendar: Calendar, request: Request, at: datetime) -> SlotMove | SlotRefusal | None:
    first = _full(calendar, request, utc_day(at))
    if first is None:
        return None
    now: _Full | None = first
    day = utc_day(at)
    while now is not None and now.rule is first.rule:  # one entry for a run of full days
        if now.next_day is None:
            return SlotRefusal(now.rule, None)
        day = now.next_day
        now = _full(calendar, request, day)
    return SlotMove(first.rule, at, _at_start(request, day), first.detail)


def _full(calendar: Calendar, request: Request, day: date) -> _Full | None:
    """Return the first limit without room on a day: the caps in their order, then the sequence's pace."""
    caps = (_cap_full(calendar, cap, day) for cap in OutreachCap if cap in request.caps)
    full = next((one for one in caps if one is not None), None)
    if full is not None or request.sequence_id is None or request.pace is None:
        return full
    started = calendar.started_on(request.sequence_id, day)
    if started < request.pace:
        return None
    tomorrow = day + timedelta(days=1) if request.pace else None
    return _Full(TimeRule.DAILY_PACE_LIMIT, tomorrow, f"{started} of {request.pace} people are started on {day}")


def _cap_full(calendar: Calendar, cap: OutreachCap, day: date) -> _Full | None:
    effective, following = calendar.effective(cap, day), day + timedelta(days=1)
    if effective == 0:
        return _Full(cap, None, "the cap is 0")
    if cap in WEEKLY:
        first = monday(day)
        used = sum(calendar.used_on(cap, first + timedelta(days=n)) for n in range(WEEK_DAYS))
        full = calendar.week_full(cap, day)
        following = following if calendar.grows_later(cap, day) else first + timedelta(days=WEEK_DAYS)
    else:
        used = calendar.used_on(cap, day)
        full = used >= effective
    if full:
        detail = f"{used} of {effective} are taken on {day}"
        n = calendar.caps.planned(utc_day(calendar.now)).warmup_day(day)
        if n is not None and n < WARMUP_DAYS:
            detail += f", warm-up day {n} of {WARMUP_DAYS}"
        return _Full(cap, following, detail)
    if cap is OutreachCap.NEW_OUTREACH_PER_DAY and calendar.workspace_full(day):
        base = calendar.workspace_base()
        return _Full(cap, following, f"the workspace's {base} of {day} are taken or kept for its other accounts")
    return None


def _too_close(calendar: Calendar, request: Request, at: datetime) -> SlotMove | None:
    """Behind every action that is too close, in one move."""
    last = calendar.in_the_way(request, at)
    if last is None:
        return None
    lunch = LUNCH_HOUR in {calendar.hours.local_hour(last.action_at), calendar.hours.local_hour(at)}
    rest = round((last.free_at - last.action_at).total_seconds())
    detail = f"the account rests {rest} s after its action of {rfc3339(last.action_at)}"
    return SlotMove(TimeRule.LUNCH if lunch else TimeRule.SPACING, at, last.free_at, detail)


def _at_start(request: Request, day: date) -> datetime:
    """A little into the day, by the seed: midnight is working time somewhere, and many would wake at it together."""
    return day_start(day) + shift(request.seed)


def _last_limit(why: Iterable[SlotMove]) -> Rule | None:
    return next((move.rule for move in reversed(tuple(why)) if move.rule in LIMITS), None)


def _longest(why: Iterable[SlotMove]) -> Rule:
    """What delayed most, for a slot behind the horizon that no limit pushed there."""
    return max(why, key=lambda move: move.moved_to - move.moved_from).rule
