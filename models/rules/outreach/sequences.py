"""Sequences: steps, the two templates, what may be saved, and which step is which after an edit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

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
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Template:
    """A ready sequence; its steps get their ids when a sequence is made of it."""

    name: TemplateName
    title: str
    description: str
    steps: tuple[Step, ...]


TEMPLATES: tuple[Template, ...] = ()


def sequence_problems(steps: Sequence[Step], *, daily_pace_limit: int | None) -> list[Problem]:
    """Everything that keeps a sequence from being saved, in the order of its steps; empty when it may be."""
    raise NotImplementedError


def with_ids(
    asked: Sequence[Step], current: Sequence[Step], new_id: Callable[[], str]
) -> tuple[tuple[Step, ...], list[Problem]]:
    """The steps of a new or edited sequence with their ids, and what is wrong with the ids given.

    A step with the id of a current one is that step, one without is new. An unknown or repeated id is a problem, and
    so is another type under the same id. `current` is empty for a new sequence.
    """
    raise NotImplementedError
