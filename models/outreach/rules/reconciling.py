"""Reconciling: what became of an action whose outcome nobody saw (design: at most once; specification, "Action")."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from models.outreach.rules.sequences import folded

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
    MOOT = "moot"
    """What was asked for can be done no more, and was not: the invite to be withdrawn was accepted."""


class ReadingVerdict(StrEnum):
    """What the readings say together."""

    DONE = "done"
    NOT_DONE = "not_done"
    UNKNOWN = "unknown"
    MOOT = "moot"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class ReadingBack:
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


def verdict(claimed_at: datetime, readings: Sequence[ReadingBack]) -> ReadingVerdict:
    """Done, not done (once more from the start), unknown (a person settles it), moot (skipped) or open (read again).

    Proof counts whenever it was seen. Absence counts from the end of the call's life only, and twice: the second time
    at least 15 minutes after the claim.
    """
    seen = {reading.seen for reading in readings}
    if Seen.DONE in seen:
        return ReadingVerdict.DONE
    if Seen.MOOT in seen:
        return ReadingVerdict.MOOT
    if Seen.UNEXPLAINED in seen:
        return ReadingVerdict.UNKNOWN
    if _absent_twice(claimed_at, readings):
        return ReadingVerdict.NOT_DONE
    return ReadingVerdict.UNKNOWN if len(readings) >= len(CHECKS) else ReadingVerdict.OPEN


def _absent_twice(claimed_at: datetime, readings: Sequence[ReadingBack]) -> bool:
    counted = [r.at for r in readings if r.seen is Seen.ABSENT and r.at >= claimed_at + SENDING_LIVES]
    if not counted:
        return False
    first, last = min(counted), max(counted)
    return last >= claimed_at + SECOND_READING and last - first >= READINGS_APART


def next_check(claimed_at: datetime, readings: Sequence[ReadingBack]) -> datetime | None:
    """When to read next, null when a verdict stands. Late checks are made up for, two minutes apart."""
    if verdict(claimed_at, readings) is not ReadingVerdict.OPEN:
        return None
    planned = claimed_at + CHECKS[len(readings)]
    return max([planned, *(reading.at + READINGS_APART for reading in readings)])


def read_messages(messages: Sequence[Outgoing], *, text: str, claimed_at: datetime, explained: Collection[str]) -> Seen:
    """What a chat shows of a message; `explained` are ids of messages that other actions sent.

    The same text, trimmed and with line ends folded, is proof. Any other message from the owner's side since the
    claim (less a minute) leaves the outcome unknown.
    """
    since = claimed_at - CLOCK_TOLERANCE
    unexplained = [m for m in messages if m.sent_at >= since and m.id not in explained]
    if any(folded(message.text) == folded(text) for message in unexplained):
        return Seen.DONE
    return Seen.UNEXPLAINED if unexplained else Seen.ABSENT


def read_invite(
    *, connected: bool, pending: bool, listed: bool, requested_at: datetime | None, claimed_at: datetime
) -> Seen:
    """What profile and list show of an invite; `requested_at` is the network's time of the pending request.

    A request that is clearly older than the claim was somebody else's. One without a time counts as ours: better
    none than two.
    """
    if connected:
        return Seen.DONE
    if not pending and not listed:
        return Seen.ABSENT
    ours = requested_at is None or requested_at >= claimed_at - CLOCK_TOLERANCE
    return Seen.DONE if ours else Seen.ABSENT


def read_withdrawal(*, listed: bool, connected: bool) -> Seen:
    """What list and profile show of a withdrawal; an accepted invite is not listed either, and was not withdrawn."""
    if listed:
        return Seen.ABSENT
    return Seen.MOOT if connected else Seen.DONE


def read_visit() -> Seen:
    """A visit cannot be read back: it is harmless, counts as done, and is never repeated."""
    return Seen.DONE
