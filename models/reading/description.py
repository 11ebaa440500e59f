"""Reading a job description or a short intent into an intent, with evidence for each value."""

from collections.abc import Mapping
from typing import Any

from models.base.values import Strict
from models.reading.advertisement import read_advertisement
from models.reading.document import ReadingKnowledge
from models.reading.intents import Evidence, Intent, IntentReading
from models.reading.short_intents import is_short, read_short_intent


def read_description(text: str, *, reference: ReadingKnowledge) -> IntentReading:
    """The intent behind an advertisement or a few words; no titles when none can be read (contract, section 5).

    Nothing is guessed: what is unclear or cannot be searched for stands in `warnings` and `ignored_fields`.
    Any text is taken; offsets of the evidence count characters of `text`.
    """
    if is_short(text):
        return read_short_intent(text, reference)
    return read_advertisement(text, reference)


# How an intent comes about: read from a description, then changed field by field by what the caller gives.


BLOCKS = ("must", "nice", "exclude")

Changes = Mapping[str, Any]
"""Fields of `Intent` to change: for a block, its fields to change. Null clears, what is absent stays."""


class DraftedIntent(Strict):
    """What reading a description left in an intent; `fields` are the dotted ones whose value comes from the text."""

    fields: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    warnings: tuple[str, ...] = ()
    ignored_fields: tuple[str, ...] = ()

    def without(self, replaced: frozenset[str]) -> "DraftedIntent":
        """The same once these fields were given by the caller."""
        return self.model_copy(
            update={
                "fields": tuple(field for field in self.fields if field not in replaced),
                "evidence": tuple(one for one in self.evidence if not _within(one.field, replaced)),
                "ignored_fields": tuple(field for field in self.ignored_fields if not _within(field, replaced)),
            }
        )


def drafted_from(reading: IntentReading) -> DraftedIntent:
    """What to remember of a reading; the text itself is not kept."""
    return DraftedIntent(
        fields=tuple(sorted(_given_fields(reading.intent))),
        evidence=reading.evidence,
        warnings=reading.warnings,
        ignored_fields=reading.ignored_fields,
    )


def with_changes(intent: Intent, changes: Changes) -> Intent:
    """The intent with each given field replaced (contract, section 5: merge per block)."""
    content = intent.model_dump()
    for name, change in changes.items():
        if change is None:
            content.pop(name)
        elif name in BLOCKS:
            block = content[name] | change
            content[name] = {field: _without_nulls(value) for field, value in block.items() if value is not None}
        else:
            content[name] = change
    return Intent.model_validate(content)


def _without_nulls(value: object) -> object:
    """A place or a range as it was given: `null` within it is what is not given."""
    if isinstance(value, dict):
        return {name: inner for name, inner in value.items() if inner is not None}
    return value


def touched(changes: Changes) -> frozenset[str]:
    """The dotted fields that the changes replace or clear."""
    fields: set[str] = set()
    for name, change in changes.items():
        if name not in BLOCKS:
            fields.add(name)
        else:
            every = type(getattr(Intent(), name)).model_fields
            fields |= {f"{name}.{field}" for field in (every if change is None else change)}
    return frozenset(fields)


def _given_fields(intent: Intent) -> frozenset[str]:
    empty = Intent()
    return frozenset(
        f"{name}.{field}"
        for name in BLOCKS
        for field, value in getattr(intent, name)
        if value != getattr(getattr(empty, name), field)
    )


def _within(field: str, parents: frozenset[str]) -> bool:
    return any(field == parent or field.startswith(f"{parent}.") for parent in parents)
