"""An account's calendar in memory: what was done and is booked, and the next slot (specification, "Outreach caps")."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum

from models.rules.outreach.caps import AccountCaps, Cap
from models.rules.outreach.hours import WorkingHours

FIRST_TOUCH_HORIZON = timedelta(days=14)
"""First steps go out so soon or are refused; follow-ups have no horizon."""


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


@dataclass(frozen=True, slots=True)
class Move:
    """One entry of an action's `why`: a rule moved the time, and on what ground."""

    rule: Rule
    moved_from: datetime
    moved_to: datetime
    detail: str

    def shown(self) -> dict[str, str]:
        """As stored and answered: `{rule, from, to, detail}`, times in RFC 3339."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Request:
    """An action that needs a time.

    `caps` are those it counts against (`counts_against`); `sequence_id` and `pace` go with the first step of a
    sequence and its `daily_pace_limit` (null: no limit), and are null for anything else.
    """

    seed: str
    caps: frozenset[Cap]
    sequence_id: str | None = None
    pace: int | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """An action in the calendar: used (at the time of its result, or its claim while it runs) or scheduled.

    `days` are the UTC days it counts on: one, or two when claim and result fall on different days. `sequence_id`
    as in `Request`.
    """

    at: datetime
    seed: str
    caps: frozenset[Cap]
    days: tuple[date, ...]
    sequence_id: str | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """The account rests; `until` null: without a known end."""

    until: datetime | None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another account of the workspace (or customer): its new outreach by UTC day.

    `competes`: it is active and has people to start, so that its guaranteed share is kept free.
    """

    caps: AccountCaps
    new_outreach: Mapping[date, int]
    competes: bool


@dataclass(frozen=True, slots=True)
class Slot:
    """A time that every rule allows, and what moved it there."""

    at: datetime
    why: tuple[Move, ...] = ()

    @property
    def cap(self) -> Rule | None:
        """The cap or pace limit that pushed it out last, null when none did."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Refusal:
    """No time: `rule` is the reason; `next_available_at` the first slot behind the horizon, null when there is none."""

    rule: Rule
    next_available_at: datetime | None
    why: tuple[Move, ...] = ()


@dataclass(slots=True)
class Calendar:
    """One account: its rules, and what is in its time. Built once for a plan; `book` and `release` keep it current.

    `now` is the moment of planning: it decides the start of a warm-up that has not begun.
    """

    caps: AccountCaps
    hours: WorkingHours
    now: datetime
    pause: Pause | None = None
    neighbours: Sequence[Neighbour] = ()
    taken: Iterable[Taken] = field(default=(), repr=False)

    def book(self, request: Request, at: datetime) -> Taken:
        """Put a planned action into the calendar."""
        raise NotImplementedError

    def add(self, taken: Taken) -> None:
        """Put an action into the calendar as it is."""
        raise NotImplementedError

    def release(self, taken: Taken) -> None:
        """Take an action out: it was cancelled, skipped, or is about to be planned anew. `KeyError` if not there."""
        raise NotImplementedError

    def used_on(self, cap: Cap, day: date) -> int:
        """How many actions of a cap count on a UTC day."""
        raise NotImplementedError


def find_slot(
    calendar: Calendar, request: Request, not_before: datetime, *, horizon: datetime | None = None
) -> Slot | Refusal:
    """The first time from `not_before` (rounded up to the minute) that keeps every rule; books nothing.

    `horizon`: a later slot is refused, with that slot (first touches: enrolling time + `FIRST_TOUCH_HORIZON`).
    """
    raise NotImplementedError


def plan(
    calendar: Calendar, requests: Iterable[tuple[Request, datetime]], *, horizon: datetime | None = None
) -> list[Slot | Refusal]:
    """Slots for many in one pass, each booked before the next is sought; a pair is a request and its `not_before`."""
    raise NotImplementedError


def check_now(calendar: Calendar, request: Request, now: datetime) -> Move | Refusal | None:
    """At the claim: null when the action may go this moment, else the first rule in its way.

    For a claim the calendar holds what is used only, without this action's own reservation.
    """
    raise NotImplementedError
