"""Slots: the first moment every rule allows, and which rules moved it there (specification, "Outreach caps")."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from models.base.errors import rfc3339
from models.outreach.rules.calendar import LUNCH_HOUR, Calendar, Request
from models.outreach.rules.caps import (
    WARMUP_DAYS,
    WEEK_DAYS,
    WEEKLY,
    OutreachCap,
    day_ends,
    day_start,
    monday,
    shift,
    utc_day,
)

FIRST_TOUCH_HORIZON = timedelta(days=14)
"""First steps go out so soon or are refused; follow-ups have no horizon."""
_MINUTE = timedelta(minutes=1)


class Rule(StrEnum):
    """What moved a time, or left none: each cap by its name, and the others."""

    INVITES_PER_DAY = "invites_per_day"
    INVITES_PER_WEEK = "invites_per_week"
    INVITES_WITHOUT_NOTE_PER_WEEK = "invites_without_note_per_week"
    PROFILE_VIEWS_PER_DAY = "profile_views_per_day"
    NEW_OUTREACH_PER_DAY = "new_outreach_per_day"
    DAILY_PACE_LIMIT = "daily_pace_limit"
    WORKING_HOURS = "working_hours"
    DAY_END = "day_end"
    ACCOUNT_PAUSED = "account_paused"
    SPACING = "spacing"
    LUNCH = "lunch"


LIMITS = frozenset(Rule(cap.value) for cap in OutreachCap) | {Rule.DAILY_PACE_LIMIT}
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


def plan_slots(
    calendar: Calendar, requests: Iterable[tuple[Request, datetime]], *, within: timedelta | None = None
) -> list[Slot | SlotRefusal]:
    """Slots for many in one pass, each booked before the next is sought; a pair is a request and its `not_before`."""
    answers = []
    for request, not_before in requests:
        answer = find_slot(calendar, request, not_before, within=within)
        if isinstance(answer, Slot):
            calendar.book(request, answer.at)
        answers.append(answer)
    return answers


def check_now(calendar: Calendar, request: Request, now: datetime) -> SlotMove | SlotRefusal | None:
    """At the claim: null when the action may go this moment, else the first rule in its way.

    For a claim the calendar holds what is used only, without this action's own reservation. A move says where that
    one rule would put it; `find_slot` from there gives the new time.
    """
    return (
        _outside_hours(calendar, request, now)
        or _paused(calendar, request, now)
        or _no_room(calendar, request, now)
        or _too_close(calendar, request, now)
    )


def rounded_up(at: datetime) -> datetime:
    """The moment itself when it is a whole minute, else the next one."""
    whole = at.replace(second=0, microsecond=0)
    return whole if whole == at else whole + _MINUTE


def _outside_hours(calendar: Calendar, request: Request, at: datetime) -> SlotMove | None:
    inside = calendar.hours.into(at, request.seed)
    if inside != at:
        hours = calendar.hours
        return SlotMove(
            Rule.WORKING_HOURS, at, inside, f"working hours are {hours.start_hour}:00–{hours.end_hour}:00 {hours.zone}"
        )
    if day_ends(at):
        return SlotMove(
            Rule.DAY_END, at, _next_day(request, utc_day(at)), "nothing is sent in the last 120 s of a UTC day"
        )
    return None


def _paused(calendar: Calendar, request: Request, at: datetime) -> SlotMove | SlotRefusal | None:
    if calendar.pause is None:
        return None
    until = calendar.pause.until
    if until is None:
        return SlotRefusal(Rule.ACCOUNT_PAUSED, None)
    if at >= until:
        return None
    return SlotMove(
        Rule.ACCOUNT_PAUSED, at, until + shift(request.seed), f"the account is paused until {rfc3339(until)}"
    )


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
    """The first limit without room on a day, in the order of `Rule`."""
    for cap in OutreachCap:
        if cap in request.caps:
            full = _cap_full(calendar, cap, day)
            if full is not None:
                return full
    return _pace_full(calendar, request, day)


def _cap_full(calendar: Calendar, cap: OutreachCap, day: date) -> _Full | None:
    effective = calendar.effective(cap, day)
    if effective == 0:
        return _Full(Rule(cap.value), None, "the cap is 0")
    if cap in WEEKLY:
        return _week_full(calendar, cap, day)
    used = calendar.used_on(cap, day)
    if used >= effective:
        return _Full(Rule(cap.value), day + timedelta(days=1), _figures(calendar, used, effective, day))
    if cap is OutreachCap.NEW_OUTREACH_PER_DAY and calendar.workspace_full(day):
        detail = f"the workspace's {calendar.workspace_base()} of {day} are taken or kept for its other accounts"
        return _Full(Rule(cap.value), day + timedelta(days=1), detail)
    return None


def _week_full(calendar: Calendar, cap: OutreachCap, day: date) -> _Full | None:
    if not calendar.week_full(cap, day):
        return None
    first = monday(day)
    used = sum(calendar.used_on(cap, first + timedelta(days=n)) for n in range(WEEK_DAYS))
    detail = _figures(calendar, used, calendar.effective(cap, day), day)
    following = day + timedelta(days=1) if calendar.grows_later(cap, day) else first + timedelta(days=WEEK_DAYS)
    return _Full(Rule(cap.value), following, detail)


def _pace_full(calendar: Calendar, request: Request, day: date) -> _Full | None:
    if request.sequence_id is None or request.pace is None:
        return None
    started = calendar.started_on(request.sequence_id, day)
    if started < request.pace:
        return None
    following = day + timedelta(days=1) if request.pace else None
    return _Full(Rule.DAILY_PACE_LIMIT, following, f"{started} of {request.pace} people are started on {day}")


def _too_close(calendar: Calendar, request: Request, at: datetime) -> SlotMove | None:
    """Behind every action that is too close, in one move."""
    last = calendar.in_the_way(request, at)
    if last is None:
        return None
    lunch = LUNCH_HOUR in {calendar.hours.local_hour(last.action_at), calendar.hours.local_hour(at)}
    rest = round((last.free_at - last.action_at).total_seconds())
    detail = f"the account rests {rest} s after its action of {rfc3339(last.action_at)}"
    return SlotMove(Rule.LUNCH if lunch else Rule.SPACING, at, last.free_at, detail)


def _figures(calendar: Calendar, used: int, effective: int, day: date) -> str:
    text = f"{used} of {effective} are taken on {day}"
    n = calendar.caps.planned(utc_day(calendar.now)).warmup_day(day)
    return f"{text}, warm-up day {n} of {WARMUP_DAYS}" if n is not None and n < WARMUP_DAYS else text


def _next_day(request: Request, day: date) -> datetime:
    return _at_start(request, day + timedelta(days=1))


def _at_start(request: Request, day: date) -> datetime:
    """A little into the day, by the seed: midnight is working time somewhere, and many would wake at it together."""
    return day_start(day) + shift(request.seed)


def _last_limit(why: Iterable[SlotMove]) -> Rule | None:
    return next((move.rule for move in reversed(tuple(why)) if move.rule in LIMITS), None)


def _longest(why: Iterable[SlotMove]) -> Rule:
    """What delayed most, for a slot behind the horizon that no limit pushed there."""
    return max(why, key=lambda move: move.moved_to - move.moved_from).rule
