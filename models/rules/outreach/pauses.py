"""Pauses: how long an account rests after the network's warning, and what its state lets through."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from models.rules.outreach.states import AccountStatus, PauseReason

DEFAULT_WAIT = timedelta(minutes=15)
LONG_WAIT = timedelta(hours=6)
WEEKLY_SHARE = 0.9
FEW_INVITES = 10
RESENDS_IN_A_ROW = 3
RESENDS_WITHIN = timedelta(hours=1)
NOT_RESUMABLE = frozenset({PauseReason.DAILY_LIMIT, PauseReason.WEEKLY_LIMIT})


class Signal(StrEnum):
    """What the network (or the vendor before it) complained of."""

    VENDOR_LIMIT = "vendor_limit"
    DAILY = "daily"
    WEEKLY = "weekly"
    RESEND = "resend"
    """About this person: invited or withdrawn recently."""
    RELATED = "related"
    """About this person: connected already, or a conflict."""
    PERSON = "person"
    """About this person, otherwise."""


class Gate(StrEnum):
    """Whether an account may write to the network."""

    OPEN = "open"
    NOT_READY = "account_not_ready"
    PAUSED = "account_paused"
    REMOVED = "not_found"


@dataclass(frozen=True, slots=True)
class AccountPause:
    """A pause to write to the account."""

    reason: PauseReason
    until: datetime


@dataclass(frozen=True, slots=True)
class MethodHold:
    """Only this kind of call of this account waits; no pause."""

    until: datetime


@dataclass(frozen=True, slots=True)
class Week:
    """The account's ISO week at the moment of a warning.

    `invites` used and `cap` (effective) of the week; `paused_before`: an earlier daily pause fell in this week, and
    `invites_since` it ended.
    """

    invites: int
    cap: int
    paused_before: bool = False
    invites_since: int = 0


def signal_of(error_type: str, text: str, *, status: int) -> Signal:
    """What an error on an invite means; `text` is its title and detail. Rules of the provider's section 11."""
    raise NotImplementedError


def pause_for(
    signal: Signal, week: Week, now: datetime, *, retry_after: timedelta | None = None
) -> AccountPause | MethodHold | None:
    """What a signal does to the account; null: it is about the person only."""
    raise NotImplementedError


def resends_mean_limit(times: list[tuple[str, datetime]], now: datetime) -> bool:
    """Whether three different persons in a row were refused as `resend` within an hour: then it is a daily limit.

    `times` are person key and time of the last invites' refusals in a row, oldest first.
    """
    raise NotImplementedError


def gate(status: AccountStatus, paused_until: datetime | None, now: datetime) -> Gate:
    """Whether an account may write; a pause whose end has come is over."""
    raise NotImplementedError


def next_available_at(status: AccountStatus, paused_until: datetime | None, now: datetime) -> datetime | None:
    """When a paused account writes again, null when nobody knows or it does now."""
    raise NotImplementedError


def resumable(status: AccountStatus, reason: PauseReason | None, paused_until: datetime | None, now: datetime) -> bool:
    """Whether somebody may end the pause; a network pause only after its end."""
    raise NotImplementedError
