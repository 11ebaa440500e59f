"""Reconciling: what became of an action whose outcome nobody saw (design: at most once; specification, "Action")."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

CHECKS = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15), timedelta(minutes=60))
"""When the network is read back, counted from the claim."""
SENDING_LIVES = timedelta(seconds=130)
"""An older `sending` is turned into `reconciling`; negative readings count from then on only."""
SECOND_READING = timedelta(minutes=15)
READINGS_APART = timedelta(minutes=2)
CLOCK_TOLERANCE = timedelta(seconds=60)
"""The network's times are compared with the claim's less this."""


class Seen(StrEnum):
    """What one reading showed."""

    DONE = "done"
    ABSENT = "absent"
    UNEXPLAINED = "unexplained"
    """An outgoing message that none of our actions explains."""
    UNREADABLE = "unreadable"


class Verdict(StrEnum):
    """What the readings say together."""

    DONE = "done"
    NOT_DONE = "not_done"
    UNKNOWN = "unknown"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of the network, by the time it began."""

    at: datetime
    seen: Seen


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message of the owner's side in the chat."""

    id: str
    text: str
    sent_at: datetime


def overdue(claimed_at: datetime, now: datetime) -> bool:
    """Whether a `sending` action has outlived its call."""
    return now - claimed_at > SENDING_LIVES


def verdict(claimed_at: datetime, readings: Sequence[Reading]) -> Verdict:
    """Done, not done (once more from the start), unknown (a person settles it) or open (read again)."""
    raise NotImplementedError


def next_check(claimed_at: datetime, readings: Sequence[Reading]) -> datetime | None:
    """When to read next, null when a verdict stands."""
    raise NotImplementedError


def read_messages(messages: Sequence[Outgoing], *, text: str, claimed_at: datetime, explained: Collection[str]) -> Seen:
    """What a chat shows of a message; `explained` are ids of messages that other actions sent."""
    raise NotImplementedError


def read_invite(
    *, connected: bool, pending: bool, listed: bool, requested_at: datetime | None, claimed_at: datetime
) -> Seen:
    """What profile and list show of an invite; `requested_at` is the network's time of the pending request."""
    raise NotImplementedError


def read_withdrawal(*, listed: bool) -> Seen:
    """What the list of sent requests shows of a withdrawal."""
    return Seen.ABSENT if listed else Seen.DONE


def read_visit() -> Seen:
    """A visit cannot be read back: it is harmless, counts as done, and is never repeated."""
    return Seen.DONE
