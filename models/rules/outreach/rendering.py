"""Rendering: placeholders of notes and messages become text for one person (specification, "Sequence")."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from models.rules.outreach.company_names import spoken_company
from models.rules.outreach.names import greeting_name
from models.rules.outreach.placeholders import Placeholder, fill, placeholders_of
from models.rules.outreach.sequences import Step
from models.rules.outreach.states import ActionReason, ActionType

MAX_NOTE_UNITS = 300
"""UTF-16 units of a rendered note, as the network counts."""


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


def utf16_units(text: str) -> int:
    """The length the network counts: characters outside the basic plane are two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def render_step(step: Step, person: Person, *, privacy_notice: str) -> Rendered:
    """One step's text. Values are never expanded again; `privacy_notice` is the sentence with its link.

    A value that is missing leaves no text, only the problem; a note that got too long is told with its length and
    never cut.
    """
    if step.text is None:
        return Rendered(step.id, None, 0)
    values = {
        Placeholder.FIRST_NAME: greeting_name(person.first_name, person.full_name),
        Placeholder.COMPANY: spoken_company(person.company),
        Placeholder.PRIVACY_NOTICE: privacy_notice,
    }
    wanted = placeholders_of(step.text)
    for placeholder, problem in _MISSING:
        if placeholder in wanted and values[placeholder] is None:
            return Rendered(step.id, None, 0, problem)
    text = fill(step.text, {name: value for name, value in values.items() if value is not None})
    units = utf16_units(text)
    too_long = step.type is ActionType.INVITE and units > MAX_NOTE_UNITS
    return Rendered(step.id, text, units, ActionReason.NOTE_TOO_LONG if too_long else None)


_MISSING = (
    (Placeholder.FIRST_NAME, ActionReason.MISSING_FIRST_NAME),
    (Placeholder.COMPANY, ActionReason.MISSING_COMPANY),
)


def first_message_lacks_notice(steps: Sequence[Step]) -> bool:
    """Whether the first message of a sequence leaves `{{privacy_notice}}` out; false without any message."""
    first = next((step for step in steps if step.type is ActionType.MESSAGE), None)
    return first is not None and Placeholder.PRIVACY_NOTICE not in placeholders_of(first.text or "")
