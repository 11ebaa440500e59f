"""Sequences: placeholders, steps, templates, what may be saved, and which step an enrollment takes next."""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from models.outreach.rules.actions import ACTION_SPECS, CONTACTING, TEXT_OWNERS, ActionEffect, ActionType, TextField
from models.outreach.rules.states import ActionOutcome, ActionReason, FieldProblem

_BRACES = re.compile(r"\{\{((?:(?!\{\{|\}\}).)*+)\}\}", re.DOTALL)  # never over another pair: linear in the text
_LOOSE = re.compile(r"\{\{|\}\}")


class Placeholder(StrEnum):
    """What a text is filled in with; blanks inside the braces do not matter, letter case does."""

    FIRST_NAME = "first_name"
    COMPANY = "company"
    PRIVACY_NOTICE = "privacy_notice"


def placeholders_of(text: str) -> frozenset[Placeholder]:
    """The known placeholders a text has."""
    return frozenset(Placeholder(name) for name in map(str.strip, _BRACES.findall(text)) if name in set(Placeholder))


def unknown_placeholders(text: str) -> list[str]:
    """What stands in double braces and means nothing, in order: `{{name}}`, and braces without their partner."""
    unknown = [f"{{{{{name}}}}}" for name in _BRACES.findall(text) if name.strip() not in set(Placeholder)]
    return unknown + _LOOSE.findall(_BRACES.sub("", text))


def fill(text: str, values: Mapping[Placeholder, str]) -> str:
    """The text with its placeholders replaced by their values, which are not looked into again.

    Raises:
        ValueError: an unknown placeholder, which saving refuses.
        KeyError: a placeholder without a value.
    """
    return _BRACES.sub(lambda found: values[Placeholder(found[1].strip())], text)


MAX_STEPS = 20
MAX_WAIT_DAYS = 60
MAX_PACE = 100
DEFAULT_ACCEPT_TIMEOUT_DAYS = 21
MAX_ACCEPT_TIMEOUT_DAYS = 180


class TemplateName(StrEnum):
    """The templates of `GET /v1/outreach/templates`."""

    NETWORK_FIRST = "network_first"
    NETWORK_INVITE_NOTE_MESSAGE = "network_invite_note_message"


@dataclass(frozen=True, slots=True)
class SequenceStep:
    """One step. `id` is stable over edits; null only in a request: the step is new."""

    type: ActionType
    id: str | None = None
    wait_days: int = 0
    note: str | None = None
    body: str | None = None
    only_after_accept: bool = False
    accept_timeout_days: int = DEFAULT_ACCEPT_TIMEOUT_DAYS
    is_follow_up: bool = False

    @property
    def text(self) -> str | None:
        """The note or body with its placeholders, null when the step says nothing."""
        field = ACTION_SPECS[self.type].text_field
        return None if field is None else getattr(self, field) or None


def steps_of(stored: Iterable[Mapping[str, Any]]) -> tuple[SequenceStep, ...]:
    """The steps of a sequence, as a row keeps them."""
    return tuple(SequenceStep(**{**step, "type": ActionType(step["type"])}) for step in stored)


def stored_steps(steps: Iterable[SequenceStep]) -> list[dict[str, Any]]:
    """The steps as a row keeps them."""
    return [{**asdict(step), "type": step.type.value} for step in steps]


@dataclass(frozen=True, slots=True)
class Template:
    """A ready sequence; its steps get their ids when a sequence is made of it."""

    name: TemplateName
    title: str
    description: str
    steps: tuple[SequenceStep, ...]


_PRESENTING = (
    "Hi {{first_name}}, thank you for connecting. I recruit for a team that could use somebody with your background, "
    "and I would like to tell you about the role. May I send you a few lines?\n\n{{privacy_notice}}"
)
_REMINDING = (
    "Hi {{first_name}}, a short reminder of my message about the role. If now is not a good time, a single word is "
    "enough and I will leave it there."
)
_INVITING = (
    "Hi {{first_name}}, I recruit in your field and would be glad to be in touch about a role that may suit you."
)

TEMPLATES: tuple[Template, ...] = (
    Template(
        name=TemplateName.NETWORK_FIRST,
        title="Connect first",
        description="Visits, invites without a note, writes twice once accepted, and withdraws what stays open.",
        steps=(
            SequenceStep(ActionType.PROFILE_VISIT),
            SequenceStep(ActionType.INVITE, wait_days=1),
            SequenceStep(ActionType.MESSAGE, wait_days=1, body=_PRESENTING, only_after_accept=True),
            SequenceStep(ActionType.MESSAGE, wait_days=5, body=_REMINDING, only_after_accept=True, is_follow_up=True),
            SequenceStep(ActionType.WITHDRAW_INVITE, wait_days=14),
        ),
    ),
    Template(
        name=TemplateName.NETWORK_INVITE_NOTE_MESSAGE,
        title="Invite with a note",
        description="Invites with a note, writes once accepted, and withdraws what stays open.",
        steps=(
            SequenceStep(ActionType.INVITE, note=_INVITING),
            SequenceStep(ActionType.MESSAGE, wait_days=1, body=_PRESENTING, only_after_accept=True),
            SequenceStep(ActionType.WITHDRAW_INVITE, wait_days=21),
        ),
    ),
)


def template(name: TemplateName) -> Template:
    """The template of a name."""
    return next(one for one in TEMPLATES if one.name is name)


def sequence_problems(steps: Sequence[SequenceStep], *, daily_pace_limit: int | None) -> list[FieldProblem]:
    """Everything that keeps a sequence from being saved, in the order of its steps; empty when it may be."""
    found = []
    if not 1 <= len(steps) <= MAX_STEPS:
        found.append(FieldProblem("steps", f"has 1 to {MAX_STEPS} steps"))
    for place, step in enumerate(steps):
        found += [
            FieldProblem(f"steps.{place}.{problem.field}", problem.message)
            for problem in (*_range_problems(step), *_text_problems(step), *_order_problems(step, steps[:place]))
        ]
    if daily_pace_limit is not None and not 0 <= daily_pace_limit <= MAX_PACE:
        found.append(FieldProblem("daily_pace_limit", f"is a whole number from 0 to {MAX_PACE}, or null"))
    return found


def _range_problems(step: SequenceStep) -> Iterable[FieldProblem]:
    if not 0 <= step.wait_days <= MAX_WAIT_DAYS:
        yield FieldProblem("wait_days", f"is a whole number from 0 to {MAX_WAIT_DAYS}")
    if not 1 <= step.accept_timeout_days <= MAX_ACCEPT_TIMEOUT_DAYS:
        yield FieldProblem("accept_timeout_days", f"is a whole number from 1 to {MAX_ACCEPT_TIMEOUT_DAYS}")


def _text_problems(step: SequenceStep) -> Iterable[FieldProblem]:
    """Lengths are code points of the text as it is written, placeholders included."""
    spec = ACTION_SPECS[step.type]
    texts: dict[TextField, str | None] = {"note": step.note, "body": step.body}
    for field, text in texts.items():
        if field != spec.text_field:
            if text is not None:
                yield FieldProblem(field, f"belongs to {TEXT_OWNERS[field].label}")
        elif len(text or "") > spec.longest_text or len((text or "").strip()) < spec.shortest_text:
            least = f"{spec.shortest_text} to" if spec.shortest_text else "at most"
            yield FieldProblem(field, f"has {least} {spec.longest_text} characters")
    for field, text in texts.items():
        for unknown in unknown_placeholders(text or ""):
            yield FieldProblem(field, f"has the unknown placeholder {unknown}")


def _order_problems(step: SequenceStep, before: Sequence[SequenceStep]) -> Iterable[FieldProblem]:
    invited = any(ACTION_SPECS[earlier.type].effect is ActionEffect.INVITES for earlier in before)
    if ACTION_SPECS[step.type].effect is ActionEffect.WITHDRAWS and not invited:
        yield FieldProblem("type", "withdraws an invite, and no step before it invites")
    if step.only_after_accept and not invited:
        yield FieldProblem("only_after_accept", "waits for an invite, and no step before it invites")
    if step.is_follow_up and step.type in CONTACTING and not any(earlier.type in CONTACTING for earlier in before):
        yield FieldProblem("is_follow_up", "is false on the first step that invites or writes")


def with_ids(
    asked: Sequence[SequenceStep], current: Sequence[SequenceStep], new_id: Callable[[], str]
) -> tuple[tuple[SequenceStep, ...], list[FieldProblem]]:
    """The steps of a new or edited sequence with their ids, and what is wrong with the ids given.

    A step with the id of a current one is that step, one without is new. An unknown or repeated id is a problem, and
    so is another type under the same id. `current` is empty for a new sequence.
    """
    types = {step.id: step.type for step in current}
    seen: set[str] = set()
    found: list[FieldProblem] = []
    for place, step in enumerate(asked):
        if step.id is None:
            continue
        if step.id not in types or step.id in seen:
            problem = "is used twice" if step.id in seen else "is no step of this sequence"
            found.append(FieldProblem(f"steps.{place}.id", problem))
        elif types[step.id] is not step.type:
            found.append(
                FieldProblem(f"steps.{place}.type", "stays what it was; leave the id out to make it a new step")
            )
        seen.add(step.id)
    return tuple(step if step.id is not None else replace(step, id=new_id()) for step in asked), found


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
class Relation:
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
class DueStep:
    """The step is due: render it, hold it for approval or give it a slot from `since` on."""

    step: SequenceStep
    since: datetime


@dataclass(frozen=True, slots=True)
class Wait:
    """Ask again at `until`, or when something happens. With `acceptance` the step is skipped then."""

    step: SequenceStep
    until: datetime
    reason: WaitReason


@dataclass(frozen=True, slots=True)
class Skip:
    """The step is passed over; write it as a skipped action of the moment `at`, and ask again."""

    step: SequenceStep
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


Next = DueStep | Wait | Skip | InProgress | Dropped | Failed | Finished


def upcoming(steps: Sequence[SequenceStep], started: Sequence[Started]) -> Sequence[SequenceStep]:
    """The steps still ahead: those behind the last started one that have no action of this enrollment.

    When an edit took the last started step away, the one started before it that is still there counts; with none of
    them left every step is ahead.
    """
    places = {step.id: place for place, step in enumerate(steps)}
    begun = {action.step_id for action in started}
    last = next((places[one.step_id] for one in reversed(_in_order(steps, started)) if one.step_id in places), -1)
    return [step for step in steps[last + 1 :] if step.id not in begun]


def _in_order(steps: Sequence[SequenceStep], started: Sequence[Started]) -> list[Started]:
    """By the time they started; several that were passed over in one moment, as the sequence has them."""
    places = {step.id: place for place, step in enumerate(steps)}
    return sorted(started, key=lambda action: (action.started_at, places.get(action.step_id, -1)))


def next_step(
    steps: Sequence[SequenceStep],
    started: Sequence[Started],
    connection: Relation,
    *,
    enrolled_at: datetime,
    now: datetime,
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


def _standing(step: SequenceStep, connection: Relation, *, since: datetime, now: datetime) -> Next:
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
    return DueStep(step, due) if reason is None else Skip(step, reason, now)


def _acceptance(step: SequenceStep, connection: Relation, *, since: datetime, now: datetime) -> Wait | Skip | None:
    """What a step does that waits for an acceptance; null when it came in time.

    Nothing depends on when this is asked: an acceptance behind the deadline is too late whenever it is asked, and
    the skipped time is the deadline, not the moment of asking.
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


def _pointless(step: SequenceStep, connection: Relation, now: datetime) -> ActionReason | None:
    """Return why there is nothing to do for a step that is due."""
    effect = ACTION_SPECS[step.type].effect
    if effect is ActionEffect.WITHDRAWS and not connection.invite_pending:
        return ActionReason.NOT_INVITED if connection.invited_at is None else ActionReason.INVITE_NOT_PENDING
    if effect is not ActionEffect.INVITES:
        return None
    if connection.connected or connection.accepted_at is not None:
        return ActionReason.ALREADY_CONNECTED
    if connection.invite_pending:
        return ActionReason.ALREADY_INVITED
    again = reinvite_at(connection)
    return ActionReason.RECENTLY_WITHDRAWN if again is not None and now < again else None


def reinvite_at(connection: Relation) -> datetime | None:
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
