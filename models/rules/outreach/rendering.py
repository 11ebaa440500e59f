"""Rendering: placeholders of notes and messages become text for one person (specification, "Sequence")."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from models.rules.outreach.sequences import Step
from models.rules.outreach.states import ActionReason

MAX_NOTE_UNITS = 300
"""UTF-16 units of a rendered note, as the network counts."""


class Placeholder(StrEnum):
    """What may stand between double braces."""

    FIRST_NAME = "first_name"
    COMPANY = "company"
    PRIVACY_NOTICE = "privacy_notice"


class Caution(StrEnum):
    """What a preview warns of."""

    NO_PRIVACY_NOTICE = "no_privacy_notice"
    NEEDS_APPROVAL = "needs_approval"


@dataclass(frozen=True, slots=True)
class Person:
    """What is known of a person: as the profile or the caller gives it; null is unknown."""

    first_name: str | None = None
    full_name: str | None = None
    company: str | None = None


@dataclass(frozen=True, slots=True)
class Rendered:
    """A step's text for one person; `text` null when the step has none. `units` is its length in UTF-16 units."""

    step_id: str | None
    text: str | None
    units: int
    problem: ActionReason | None = None
    """`missing_first_name`, `missing_company` or `note_too_long`: the person is skipped."""


def unknown_placeholders(text: str) -> list[str]:
    """What stands in double braces and means nothing, in order; at save a problem."""
    raise NotImplementedError


def utf16_units(text: str) -> int:
    """The length the network counts: characters outside the basic plane are two."""
    return len(text.encode("utf-16-le")) // 2


def render_step(step: Step, person: Person, *, privacy_notice: str) -> Rendered:
    """One step's text. Values are never expanded again; `privacy_notice` is the sentence with its link."""
    raise NotImplementedError


def first_message_lacks_notice(steps: Sequence[Step]) -> bool:
    """Whether the first step that writes to the person leaves `{{privacy_notice}}` out."""
    raise NotImplementedError
