"""Sequences: steps, the two templates, what may be saved, and which step is which after an edit."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from models.rules.outreach.placeholders import unknown_placeholders
from models.rules.outreach.problems import Problem
from models.rules.outreach.states import ActionType

CHANNEL = "network"
MAX_STEPS = 20
MAX_WAIT_DAYS = 60
MAX_NOTE = 300
MAX_BODY = 8000
MAX_PACE = 100
DEFAULT_ACCEPT_TIMEOUT_DAYS = 21
MAX_ACCEPT_TIMEOUT_DAYS = 180

WRITING = frozenset({ActionType.INVITE, ActionType.MESSAGE})
"""What marks somebody as contacted."""


class TemplateName(StrEnum):
    """The templates of `GET /v1/outreach/templates`."""

    NETWORK_FIRST = "network_first"
    NETWORK_INVITE_NOTE_MESSAGE = "network_invite_note_message"


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `id` is stable over edits; null only in what somebody sends: the step is new."""

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
        return (self.note if self.type is ActionType.INVITE else self.body) or None


@dataclass(frozen=True, slots=True)
class Template:
    """A ready sequence; its steps get their ids when a sequence is made of it."""

    name: TemplateName
    title: str
    description: str
    steps: tuple[Step, ...]


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
            Step(ActionType.PROFILE_VISIT),
            Step(ActionType.INVITE, wait_days=1),
            Step(ActionType.MESSAGE, wait_days=1, body=_PRESENTING, only_after_accept=True),
            Step(ActionType.MESSAGE, wait_days=5, body=_REMINDING, only_after_accept=True, is_follow_up=True),
            Step(ActionType.WITHDRAW_INVITE, wait_days=14),
        ),
    ),
    Template(
        name=TemplateName.NETWORK_INVITE_NOTE_MESSAGE,
        title="Invite with a note",
        description="Invites with a note, writes once accepted, and withdraws what stays open.",
        steps=(
            Step(ActionType.INVITE, note=_INVITING),
            Step(ActionType.MESSAGE, wait_days=1, body=_PRESENTING, only_after_accept=True),
            Step(ActionType.WITHDRAW_INVITE, wait_days=21),
        ),
    ),
)


def template(name: TemplateName) -> Template:
    """The template of a name."""
    return next(one for one in TEMPLATES if one.name is name)


def sequence_problems(steps: Sequence[Step], *, daily_pace_limit: int | None) -> list[Problem]:
    """Everything that keeps a sequence from being saved, in the order of its steps; empty when it may be."""
    found = []
    if not 1 <= len(steps) <= MAX_STEPS:
        found.append(Problem("steps", f"has 1 to {MAX_STEPS} steps"))
    for place, step in enumerate(steps):
        found += [
            Problem(f"steps.{place}.{problem.field}", problem.message)
            for problem in (*_range_problems(step), *_text_problems(step), *_order_problems(step, steps[:place]))
        ]
    if daily_pace_limit is not None and not 0 <= daily_pace_limit <= MAX_PACE:
        found.append(Problem("daily_pace_limit", f"is a whole number from 0 to {MAX_PACE}, or null"))
    return found


def _range_problems(step: Step) -> Iterable[Problem]:
    if not 0 <= step.wait_days <= MAX_WAIT_DAYS:
        yield Problem("wait_days", f"is a whole number from 0 to {MAX_WAIT_DAYS}")
    if not 1 <= step.accept_timeout_days <= MAX_ACCEPT_TIMEOUT_DAYS:
        yield Problem("accept_timeout_days", f"is a whole number from 1 to {MAX_ACCEPT_TIMEOUT_DAYS}")


def _text_problems(step: Step) -> Iterable[Problem]:
    """Lengths are code points of the text as written, placeholders and all."""
    if step.note is not None and step.type is not ActionType.INVITE:
        yield Problem("note", "belongs to an invite")
    elif step.note is not None and len(step.note) > MAX_NOTE:
        yield Problem("note", f"has at most {MAX_NOTE} characters")
    if step.type is ActionType.MESSAGE:
        if not (step.body or "").strip() or len(step.body or "") > MAX_BODY:
            yield Problem("body", f"has 1 to {MAX_BODY} characters")
    elif step.body is not None:
        yield Problem("body", "belongs to a message")
    for field, text in (("note", step.note), ("body", step.body)):
        for unknown in unknown_placeholders(text or ""):
            yield Problem(field, f"has the unknown placeholder {unknown}")


def _order_problems(step: Step, before: Sequence[Step]) -> Iterable[Problem]:
    invited = any(earlier.type is ActionType.INVITE for earlier in before)
    if step.type is ActionType.WITHDRAW_INVITE and not invited:
        yield Problem("type", "withdraws an invite, and no step before it invites")
    if step.only_after_accept and not invited:
        yield Problem("only_after_accept", "waits for an invite, and no step before it invites")
    if step.is_follow_up and step.type in WRITING and not any(earlier.type in WRITING for earlier in before):
        yield Problem("is_follow_up", "is false on the first step that invites or writes")


def with_ids(
    asked: Sequence[Step], current: Sequence[Step], new_id: Callable[[], str]
) -> tuple[tuple[Step, ...], list[Problem]]:
    """The steps of a new or edited sequence with their ids, and what is wrong with the ids given.

    A step with the id of a current one is that step, one without is new. An unknown or repeated id is a problem, and
    so is another type under the same id. `current` is empty for a new sequence.
    """
    types = {step.id: step.type for step in current}
    seen: set[str] = set()
    found: list[Problem] = []
    for place, step in enumerate(asked):
        if step.id is None:
            continue
        if step.id not in types or step.id in seen:
            problem = "is used twice" if step.id in seen else "is no step of this sequence"
            found.append(Problem(f"steps.{place}.id", problem))
        elif types[step.id] is not step.type:
            found.append(Problem(f"steps.{place}.type", "stays what it was; leave the id out to make it a new step"))
        seen.add(step.id)
    return tuple(step if step.id is not None else replace(step, id=new_id()) for step in asked), found
