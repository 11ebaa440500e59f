"""The intent: an editable search profile with `must`, `nice` and `exclude` blocks (contract, section 5)."""

from typing import Annotated

from pydantic import Field, model_validator

from models.base.values import CompanyId, CountryCode, LocationId, ProfileId, Range, Strict, Text


class IntentLocation(Strict):
    """A place: countries (ISO 3166-1 alpha-2), location ids, or an anchor with a radius in kilometres (1–200)."""

    countries: tuple[CountryCode, ...] = Field(default=(), max_length=60)
    location_ids: tuple[LocationId, ...] = Field(default=(), max_length=200)
    anchor_location_id: LocationId | None = None
    radius_km: Annotated[int, Field(ge=1, le=200)] | None = None

    @model_validator(mode="after")
    def _radius_needs_anchor(self) -> "IntentLocation":
        if self.radius_km is not None and self.anchor_location_id is None:
            raise ValueError("radius_km needs an anchor_location_id")
        return self

    @property
    def empty(self) -> bool:
        """Whether it names no place at all."""
        return not (self.countries or self.location_ids or self.anchor_location_id)


class IntentBlock(Strict):
    """One block of an intent: what people must, should or must not have. Languages are English names."""

    titles: tuple[Text, ...] = Field(default=(), max_length=30)
    location: IntentLocation | None = None
    experience_years: Range | None = None
    skills: tuple[Text, ...] = Field(default=(), max_length=50)
    languages: tuple[Text, ...] = Field(default=(), max_length=20)
    company_ids: tuple[CompanyId, ...] = Field(default=(), max_length=200)


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
