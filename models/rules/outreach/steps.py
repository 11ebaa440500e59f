"""Steps of an enrollment: which is next, and when it falls due (contract, section 7)."""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from models.rules.outreach.sequences import Step
from models.rules.outreach.states import ActionOutcome, ActionReason

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
    `accepted_at`: when the acceptance was seen; `connected`: first degree already, whenever that came about;
    `withdrawn_at`: the last withdrawal.
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
class Failed:
    """The last started action failed or was refused: the enrollment ends with it."""

    action: Started


@dataclass(frozen=True, slots=True)
class Finished:
    """Nothing is left to do."""


Next = Due | Wait | Skip | InProgress | Failed | Finished


def upcoming(steps: Sequence[Step], started: Sequence[Started]) -> Sequence[Step]:
    """The steps still ahead: those behind the last started one that have no action of this enrollment."""
    raise NotImplementedError


def next_step(
    steps: Sequence[Step], started: Sequence[Started], connection: Connection, *, enrolled_at: datetime, now: datetime
) -> Next:
    """What an enrollment does next. A pure question of the rows: asked again it answers the same."""
    raise NotImplementedError


def reinvite_at(connection: Connection) -> datetime | None:
    """When a new invite is allowed again after a withdrawal, null when none was made."""
    raise NotImplementedError


def text_hash(text: str) -> str:
    """SHA-256 (hex) of a rendered text, trimmed and with line ends folded: what counts as the same text."""
    return hashlib.sha256(folded(text).encode()).hexdigest()


def folded(text: str) -> str:
    """A text trimmed and with line ends folded, as the network may give it back."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def repeats(text: str | None, sent: Collection[str]) -> bool:
    """Whether a rendered text was already sent in this enrollment (`sent`: hashes); skip it as `text_already_sent`."""
    return text is not None and text_hash(text) in sent
