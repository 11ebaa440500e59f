"""Spacing: how long an account rests after an action (specification, "Outreach caps", rules 7 and 8)."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from datetime import date, datetime, timedelta
from functools import lru_cache

from models.outreach.rules.caps import (
    WEEK_DAYS,
    WEEKLY,
    AccountCaps,
    OutreachCap,
    WorkingHours,
    monday,
    unit,
    utc_day,
    week_allows,
)

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


# An account's calendar in memory: what was done and is booked, with the rests between, and what its days hold.


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
        for rests in self._rests_of(taken):
            rests.add(taken.at, taken.at + gap_after(taken.seed, taken.at, self.hours))
        self._count(taken, 1)

    def release(self, taken: Taken) -> None:
        """Take an action out: it was cancelled, skipped, or is to be planned anew. `KeyError` when it is not there."""
        self._members.remove(taken)
        for rests in self._rests_of(taken):
            rests.remove(taken.at, taken.at + gap_after(taken.seed, taken.at, self.hours))
        self._count(taken, -1)

    def _rests_of(self, taken: Taken) -> tuple[_Rests, ...]:
        return (self._all,) if taken.movable else (self._all, self._firm)

    def _count(self, taken: Taken, by: int) -> None:
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
