"""Steps of an enrollment: which is next, and when it falls due (contract, section 7)."""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from models.rules.outreach.sequences import Step
from models.rules.outreach.states import ActionOutcome, ActionReason, ActionType

REINVITE_AFTER = timedelta(days=21)
"""After a withdrawal a new invite to that person is refused so long."""


class WaitReason(StrEnum):
    """Why a step waits."""

    WAIT_DAYS = "wait_days"
    ACCEPTANCE = "acceptance"


@dataclass(frozen=True, slots=True)
class Started:
    """An action of this enrollment.

    `started_at` orders them (creation); `finished_at` is the sent or skipped time, null while it is open.
    """

    step_id: str
    outcome: ActionOutcome
    started_at: datetime
    finished_at: datetime | None = None
    reason: ActionReason | None = None


@dataclass(frozen=True, slots=True)
class Connection:
    """How the account and the person stand on the network.

    `invited_at`: the last invite's time, sent by the service or the owner; `invite_pending`: it is still open;
    `accepted_at`: when its acceptance was seen; `connected`: first degree without an invite of ours, which counts as
    accepted; `withdrawn_at`: the last withdrawal.
    """

    invited_at: datetime | None = None
    invite_pending: bool = False
    accepted_at: datetime | None = None
    connected: bool = False
    withdrawn_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Due:
    """The step is due: render it, hold it for approval or give it a slot from `since` on."""

    step: Step
    since: datetime


@dataclass(frozen=True, slots=True)
class Wait:
    """Ask again at `until`, or when something happens. With `acceptance` the step is skipped then."""

    step: Step
    until: datetime
    reason: WaitReason


@dataclass(frozen=True, slots=True)
class Skip:
    """The step is passed over; write it as a skipped action of the moment `at`, and ask again."""

    step: Step
    reason: ActionReason
    at: datetime


@dataclass(frozen=True, slots=True)
class InProgress:
    """The last started action is not over: scheduled, held, running or unsettled."""

    action: Started


@dataclass(frozen=True, slots=True)
class Dropped:
    """The last started action is scheduled or held, and an edit took its step away: cancel it and ask again."""

    action: Started


@dataclass(frozen=True, slots=True)
class Failed:
    """The last started action failed or was refused: the enrollment ends with it."""

    action: Started


@dataclass(frozen=True, slots=True)
class Finished:
    """Nothing is left to do."""


Next = Due | Wait | Skip | InProgress | Dropped | Failed | Finished


def upcoming(steps: Sequence[Step], started: Sequence[Started]) -> Sequence[Step]:
    """The steps still ahead: those behind the last started one that have no action of this enrollment.

    When an edit took the last started step away, the one started before it that is still there counts; with none of
    them left every step is ahead.
    """
    places = {step.id: place for place, step in enumerate(steps)}
    begun = {action.step_id for action in started}
    last = next((places[one.step_id] for one in reversed(_in_order(steps, started)) if one.step_id in places), -1)
    return [step for step in steps[last + 1 :] if step.id not in begun]


def _in_order(steps: Sequence[Step], started: Sequence[Started]) -> list[Started]:
    """By the time they started; several that were passed over in one moment, as the sequence has them."""
    places = {step.id: place for place, step in enumerate(steps)}
    return sorted(started, key=lambda action: (action.started_at, places.get(action.step_id, -1)))


def next_step(
    steps: Sequence[Step], started: Sequence[Started], connection: Connection, *, enrolled_at: datetime, now: datetime
) -> Next:
    """What an enrollment does next. A pure question of the rows: asked again it answers the same.

    `wait_days` of the first step count from the enrolling.
    """
    if started:
        last = _in_order(steps, started)[-1]
        if last.outcome in _UNCLAIMED and last.step_id not in {step.id for step in steps}:
            return Dropped(last)
        if last.outcome in _UNFINISHED:
            return InProgress(last)
        if last.outcome in _FATAL:
            return Failed(last)
    ahead = upcoming(steps, started)
    if not ahead:
        return Finished()
    since = max((action.finished_at for action in started if action.finished_at is not None), default=enrolled_at)
    if any(action.reason is ActionReason.ALREADY_CONNECTED for action in started):
        connection = replace(connection, connected=True, accepted_at=None)  # no invite of theirs can time out
    return _standing(ahead[0], connection, since=since, now=now)


def _standing(step: Step, connection: Connection, *, since: datetime, now: datetime) -> Next:
    """Whether a step is due, waits, or is passed over; `since` is the previous step's sent or skipped time."""
    due = since + timedelta(days=step.wait_days)
    if step.only_after_accept:
        waiting = _acceptance(step, connection, since=since, now=now)
        if waiting is not None:
            return waiting
        due = max(due, connection.accepted_at or due)
    if now < due:
        return Wait(step, due, WaitReason.WAIT_DAYS)
    reason = _pointless(step, connection, now)
    return Due(step, due) if reason is None else Skip(step, reason, now)


def _acceptance(step: Step, connection: Connection, *, since: datetime, now: datetime) -> Wait | Skip | None:
    """What a step does that waits for an acceptance; null when it came in time.

    Nothing depends on when this is asked: an acceptance behind the deadline is too late also for who asks later, and
    the skipped time is the deadline, not the moment somebody looked.
    """
    if connection.invited_at is None:
        related = connection.connected or connection.accepted_at is not None
        return None if related else Skip(step, ActionReason.NOT_INVITED, now)
    deadline = connection.invited_at + timedelta(days=step.accept_timeout_days)
    accepted = connection.accepted_at
    if connection.connected if accepted is None else accepted <= deadline:
        return None
    if now >= deadline:
        return Skip(step, ActionReason.ACCEPT_TIMEOUT, max(deadline, since))
    return Wait(step, deadline, WaitReason.ACCEPTANCE)


def _pointless(step: Step, connection: Connection, now: datetime) -> ActionReason | None:
    """Why there is nothing to do for a step that is due."""
    if step.type is ActionType.INVITE:
        return _no_invite(connection, now)
    if step.type is ActionType.WITHDRAW_INVITE and not connection.invite_pending:
        return ActionReason.NOT_INVITED if connection.invited_at is None else ActionReason.INVITE_NOT_PENDING
    return None


def _no_invite(connection: Connection, now: datetime) -> ActionReason | None:
    if connection.connected or connection.accepted_at is not None:
        return ActionReason.ALREADY_CONNECTED
    if connection.invite_pending:
        return ActionReason.ALREADY_INVITED
    again = reinvite_at(connection)
    return ActionReason.RECENTLY_WITHDRAWN if again is not None and now < again else None


def reinvite_at(connection: Connection) -> datetime | None:
    """When a new invite is allowed again after a withdrawal, null when none was made."""
    return None if connection.withdrawn_at is None else connection.withdrawn_at + REINVITE_AFTER


_UNCLAIMED = frozenset({ActionOutcome.SCHEDULED, ActionOutcome.AWAITING_APPROVAL})
_UNFINISHED = _UNCLAIMED | {ActionOutcome.SENDING, ActionOutcome.RECONCILING, ActionOutcome.UNKNOWN}
_FATAL = frozenset({ActionOutcome.FAILED, ActionOutcome.REFUSED})


def text_hash(text: str) -> str:
    """SHA-256 (hex) of a rendered text, trimmed and with line ends folded: what counts as the same text."""
    return hashlib.sha256(folded(text).encode("utf-8", "surrogatepass")).hexdigest()  # networks send halves of pairs


def folded(text: str) -> str:
    """A text trimmed and with line ends folded, as the network may give it back."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def repeats(text: str | None, sent: Collection[str]) -> bool:
    """Whether a rendered text was already sent in this enrollment (`sent`: hashes); skip it as `text_already_sent`."""
    return text is not None and text_hash(text) in sent
