"""What the channel's answers mean: warnings that pause the account, and readings of an unclear outcome."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from models.outreach.rules.caps import WEEK_DAYS, day_start, monday, utc_day
from models.outreach.rules.sequences import folded
from models.outreach.rules.states import AccountStatus, PauseReason

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


class AccountGate(StrEnum):
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


_UNPROCESSABLE = 422
_CONFLICT = 409
_LIMIT_WORDS = ("limit", "too many", "quota", "daily")
_WAIT_OF_WEEKS = re.compile(r"\b(?:\d+|one|two|three|four|some|several|few)(?: more)?[ -]weeks?\b")
_RESEND_WORDS = ("resend", "recently", "already invited")
_RELATED = re.compile(r"already\b.{0,30}\b(?:connect|relation|network)|existing relation|first[ _-]degree", re.DOTALL)


def signal_of(error_type: str, text: str, *, status: int) -> Signal:
    """What an error on an invite means; `text` is its title and detail.

    The wire has no type of its own for the network's limits, so the order decides: vendor, week, day, this person.
    """
    words = text.casefold()
    unprocessable = error_type == "provider/unprocessable_entity" or status == _UNPROCESSABLE
    if error_type == "api/too_many_requests":
        return Signal.VENDOR_LIMIT
    if is_weekly(words):
        return Signal.WEEKLY
    if error_type == "provider/too_many_requests" or (unprocessable and _has(words, _LIMIT_WORDS)):
        return Signal.DAILY
    if unprocessable and _has(words, _RESEND_WORDS):
        return Signal.RESEND
    return Signal.RELATED if status == _CONFLICT or _RELATED.search(words) else Signal.PERSON


def is_weekly(text: str) -> bool:
    """Whether a complaint is about the week's limit; `text` in lower case.

    A number of weeks alone is how long one person has to be left in peace ("cannot resend for 3 weeks").
    """
    return "week" in text and (_has(text, _LIMIT_WORDS) or "week" in _WAIT_OF_WEEKS.sub("", text))


def _has(text: str, words: Iterable[str]) -> bool:
    return any(word in text for word in words)


def pause_for(
    signal: Signal, week: Week, now: datetime, *, retry_after: timedelta | None = None
) -> AccountPause | MethodHold | None:
    """What a signal does to the account; null: it is about the person only.

    `retry_after` is what the vendor asks for. A daily warning late in the week's cap, or soon after another one in
    the same week, is taken for the weekly limit.
    """
    if signal is Signal.VENDOR_LIMIT:
        wait = DEFAULT_WAIT if retry_after is None else retry_after
        return _daily(now) if wait > LONG_WAIT else MethodHold(now + wait)
    if signal is Signal.WEEKLY:
        return _weekly(now)
    if signal is Signal.DAILY:
        spent = week.invites >= WEEKLY_SHARE * week.cap
        again = week.paused_before and week.invites_since < FEW_INVITES
        return _weekly(now) if spent or again else _daily(now)
    return None


def _daily(now: datetime) -> AccountPause:
    return AccountPause(PauseReason.DAILY_LIMIT, day_start(utc_day(now) + timedelta(days=1)))


def _weekly(now: datetime) -> AccountPause:
    return AccountPause(PauseReason.WEEKLY_LIMIT, day_start(monday(utc_day(now)) + timedelta(days=WEEK_DAYS)))


def later(current: AccountPause | None, new: AccountPause) -> AccountPause:
    """The pause that holds longer: a daily warning does not shorten a weekly pause."""
    return current if current is not None and current.until >= new.until else new


def resends_mean_limit(refused: Iterable[tuple[str, datetime]], now: datetime) -> bool:
    """Whether three different people in a row were refused as `resend` within an hour: then it is a daily limit.

    `refused` are person key and time of the refusals since the last invite that went through.
    """
    people = {person for person, at in refused if at >= now - RESENDS_WITHIN}
    return len(people) >= RESENDS_IN_A_ROW


def gate(status: AccountStatus, paused_until: datetime | None, now: datetime) -> AccountGate:
    """Whether an account may write; a pause whose end has come is over. `paused_until` null: without a known end."""
    if status is AccountStatus.PAUSED and paused_until is not None and now >= paused_until:
        return AccountGate.OPEN
    return _GATES[status]


_GATES = {
    AccountStatus.CONNECTING: AccountGate.NOT_READY,
    AccountStatus.ACTIVE: AccountGate.OPEN,
    AccountStatus.PAUSED: AccountGate.PAUSED,
    AccountStatus.DISCONNECTED: AccountGate.NOT_READY,
    AccountStatus.NEEDS_REVIEW: AccountGate.PAUSED,
    AccountStatus.REMOVED: AccountGate.REMOVED,
}


def next_available_at(status: AccountStatus, paused_until: datetime | None, now: datetime) -> datetime | None:
    """When a paused account writes again, null when the end is unknown or nothing keeps it from writing now."""
    if status is not AccountStatus.PAUSED or paused_until is None or now >= paused_until:
        return None
    return paused_until


def is_readable(status: AccountStatus) -> bool:
    """Whether the network may be read through an account: callbacks, polls and reconciling go on in a pause."""
    return status in {AccountStatus.ACTIVE, AccountStatus.PAUSED, AccountStatus.NEEDS_REVIEW}


def resumable(status: AccountStatus, reason: PauseReason | None, paused_until: datetime | None, now: datetime) -> bool:
    """Whether a caller may end the pause, or the review; a network pause only once its end has come."""
    if status is AccountStatus.NEEDS_REVIEW:
        return True
    if status is not AccountStatus.PAUSED:
        return False
    return reason not in NOT_RESUMABLE or (paused_until is not None and now >= paused_until)


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

    A request that is clearly older than the claim was sent by the owner. One without a time counts as ours: better
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
