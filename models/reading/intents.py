"""The intent: an editable search profile with `must`, `nice` and `exclude` blocks (contract, section 5).

An intent is read from a description, then changed field by field by what the caller gives.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from models.base.values import CompanyId, CountryCode, LocationId, ProfileId, Range, SchoolId, Strict, Text

MOST_AREAS = 10
Kilometres = Annotated[int, Field(ge=1, le=200)]


class IntentArea(Strict):
    """The area around a town, a region or a metropolitan area.

    `radius_km` null: 50, or as far as a metropolitan area reaches. `only`: no search goes beyond it.
    """

    location_id: LocationId
    radius_km: Kilometres | None = None
    only: bool = False


class IntentLocation(Strict):
    """A place: countries (ISO 3166-1 alpha-2), location ids, an anchor with a radius, or several such areas.

    The anchor is one more area, the first. `only` speaks of the anchor and the location ids: no search goes beyond.
    """

    countries: tuple[CountryCode, ...] = Field(default=(), max_length=60)
    location_ids: tuple[LocationId, ...] = Field(default=(), max_length=200)
    anchor_location_id: LocationId | None = None
    radius_km: Kilometres | None = None
    only: bool = False
    areas: tuple[IntentArea, ...] = Field(default=(), max_length=MOST_AREAS)

    @model_validator(mode="after")
    def _belongs_to_a_place(self) -> "IntentLocation":
        if self.radius_km is not None and self.anchor_location_id is None:
            raise ValueError("radius_km needs an anchor_location_id")
        if self.only and not (self.anchor_location_id or self.location_ids):
            raise ValueError("only needs an anchor_location_id or location_ids; each of areas has its own")
        return self

    @property
    def empty(self) -> bool:
        """Whether it names no place at all."""
        return not (self.countries or self.location_ids or self.anchor_location_id or self.areas)


class IntentBlock(Strict):
    """One block of an intent: what people must, should or must not have.

    Languages are English names. The values of `seniority`, `functions`, `industries`, `degrees`, `company_sizes` and
    `company_types` are words of the people source (`PeopleSourceAbilities.vocabulary`). `tenure_months` are months in
    the current job. Of `titles`, `seniority`, `industries`, `functions`, companies, schools, degrees, majors, sizes and
    types one value is enough; each of `skills` and `languages` is asked for.
    """

    titles: tuple[Text, ...] = Field(default=(), max_length=30)
    location: IntentLocation | None = None
    experience_years: Range | None = None
    skills: tuple[Text, ...] = Field(default=(), max_length=50)
    languages: tuple[Text, ...] = Field(default=(), max_length=20)
    company_ids: tuple[CompanyId, ...] = Field(default=(), max_length=200)
    seniority: tuple[Text, ...] = Field(default=(), max_length=20)
    past_company_ids: tuple[CompanyId, ...] = Field(default=(), max_length=200)
    industries: tuple[Text, ...] = Field(default=(), max_length=60)
    functions: tuple[Text, ...] = Field(default=(), max_length=40)
    tenure_months: Range | None = None
    degrees: tuple[Text, ...] = Field(default=(), max_length=60)
    majors: tuple[Text, ...] = Field(default=(), max_length=60)
    company_sizes: tuple[Text, ...] = Field(default=(), max_length=20)
    company_types: tuple[Text, ...] = Field(default=(), max_length=20)
    school_ids: tuple[SchoolId, ...] = Field(default=(), max_length=100)


class ExcludeBlock(IntentBlock):
    """What rules a person out: every value on its own."""

    profile_ids: tuple[ProfileId, ...] = Field(default=(), max_length=1000)


class Intent(Strict):
    """A whole intent. `target_companies` are names, resolved when planning, never guessed."""

    must: IntentBlock = IntentBlock()
    nice: IntentBlock = IntentBlock()
    exclude: ExcludeBlock = ExcludeBlock()
    target_companies: tuple[Text, ...] = Field(default=(), max_length=200)


class Evidence(Strict):
    """Where a value was read: `quote` is the text between the character offsets `start` and `end`."""

    field: str
    value: str | int
    quote: str
    start: int
    end: int


class IntentReading(Strict):
    """What a reader found in a text: an intent, its evidence, and warnings in place of guesses.

    `title_candidates` are the cleaned titles, best first; `must.titles` holds only those worth searching for.
    `text_language` is `en`, `de`, `fr`, `nl` or null.
    """

    intent: Intent
    evidence: tuple[Evidence, ...] = ()
    title_candidates: tuple[str, ...] = ()
    text_language: str | None = None
    warnings: tuple[str, ...] = ()
    ignored_fields: tuple[str, ...] = ()


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
        """Return the draft without the fields that the caller has given."""
        return self.model_copy(
            update={
                "fields": tuple(field for field in self.fields if field not in replaced),
                "evidence": tuple(one for one in self.evidence if not _within(one.field, replaced)),
                "ignored_fields": tuple(field for field in self.ignored_fields if not _within(field, replaced)),
            }
        )


def drafted_from(reading: IntentReading) -> DraftedIntent:
    """Return what to remember of a reading; the text itself is not kept."""
    return DraftedIntent(
        fields=tuple(sorted(_given_fields(reading.intent))),
        evidence=reading.evidence,
        warnings=reading.warnings,
        ignored_fields=reading.ignored_fields,
    )


def with_changes(intent: Intent, changes: Changes) -> Intent:
    """Return the intent with each given field replaced (contract, section 5: merge per block)."""
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
    """Drop the nulls within a place or a range: they are what is not given."""
    if isinstance(value, dict):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, tuple):
        return tuple(map(_without_nulls, value))
    return value


def touched(changes: Changes) -> frozenset[str]:
    """Return the dotted fields that the changes replace or clear."""
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
