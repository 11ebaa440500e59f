"""What a plan is: filters, tiers, estimate, and what was applied, ignored and warned about (contract, section 5)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from models.base.values import LocationId, Range, Strict
from models.market.companies import Companies
from models.market.places import Places
from models.market.titles import TitleNarrowing
from models.reading.intents import ExcludeBlock, IntentBlock, IntentLocation
from models.sourcing.rules.filters import PeopleFilters, PeopleSourceAbilities, TierFilters

MAX_YEARS = 70

PAGE_SIZE = 50
"""People on a search page; constant, because paid pages are remembered by query."""


class Origin(StrEnum):
    """Where an applied filter comes from: the caller's intent, the text of the description, or our default."""

    INTENT = "intent"
    DESCRIPTION = "description"
    DEFAULT = "default"


class AppliedFilter(Strict):
    """A filter in plain form: `field` is dotted (`must.location.radius_km`)."""

    field: str
    value: str | int | tuple[str, ...] | dict[str, int]
    origin: Origin


class Tier(Strict):
    """One search of the ladder; `tier` counts from 1. People and pages are null where they cannot be estimated."""

    tier: int
    label: str
    filters: TierFilters
    query_key: str
    estimated_people: int | None
    estimated_pages: int | None
    counted: bool = False
    """Whether the source counted the people within the day before the plan was made."""


class TargetRange(Strict):
    """How many people the role can yield within the limits of a run."""

    min: int
    max: int


class PerPerson(Strict):
    """Credits for one person: the lead, and the profile when it is fetched live."""

    lead: int
    live_profile: int


class Estimate(Strict):
    """Credits and search pages a run may take. Not a quote; `pages_max` is null where the people are not known."""

    credits_min: int
    credits_max: int
    per_person: PerPerson
    pages_min: int
    pages_max: int | None


class Anchor(Strict):
    """The point distances are measured from; degrees."""

    location_id: LocationId
    lat: float
    lon: float


class Suggestion(Strict):
    """A demand that keeps people out: how many there would be without it, null when that is not known.

    `value` is null when the whole field is meant. `patch` is the body of `PATCH /v1/intents/{id}` that gives it up, or
    prefers it instead.
    """

    field: str
    value: str | None
    people: int | None
    patch: dict[str, Any]


class Relaxation(Strict):
    """The whole ladder in one search without one of its demands, by which people are counted without it."""

    suggestion: Suggestion
    filters: TierFilters
    query_key: str


class SearchPlanValue(Strict):
    """A priced, disjoint ladder of searches; immutable.

    `anchors` are the points that distances are measured from, to the nearest; `anchor` is the first. `wishes` are the
    demands of the `nice` block one by one, by which people of one page are ordered.
    """

    summary: str
    target: int
    target_range: TargetRange
    tiers: tuple[Tier, ...]
    estimate: Estimate
    anchor: Anchor | None
    anchors: tuple[Anchor, ...] = ()
    wishes: tuple[PeopleFilters, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    relaxations: tuple[Relaxation, ...] = ()
    applied_filters: tuple[AppliedFilter, ...]
    ignored_fields: tuple[str, ...]
    warnings: tuple[str, ...]


# How places and conditions are worded for people.


WITH_ARTICLE = frozenset({"AE", "BS", "CF", "CG", "CD", "CZ", "DO", "GB", "GM", "KM", "MV", "NL", "PH", "SB", "US"})
MOST_SHOWN = 8


def join_words(words: Sequence[str], *, most: int = MOST_SHOWN, last: str = "and") -> str:
    """Join words as `a, b and c`; those beyond `most` are counted."""
    shown = list(words[:most])
    if len(words) > most:
        shown.append(f"{len(words) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"


def countries_in_words(codes: Sequence[str], places: Places) -> str:
    """Return countries in English, as they stand in a sentence."""
    return join_words(
        [f"{'the ' if code in WITH_ARTICLE else ''}{places.country_name(code)}" for code in codes], most=3
    )


def years(span: Range) -> str:
    """Return a range of years in words."""
    if span.max is None:
        return f"at least {span.min} years"
    if not span.min:
        return f"at most {span.max} years"
    return f"{span.min} to {span.max} years"


def level_words(levels: Sequence[str]) -> str:
    """Return levels of seniority in words."""
    return f"{join_words(levels, most=4, last='or')} level"


def traits(of: PeopleFilters | IntentBlock) -> list[str]:
    """Return in words what is asked of level, employers and schooling, one value of each field being enough."""
    phrases = {
        "seniority": level_words(of.seniority) if of.seniority else "",
        "functions": "a job in {}",
        "industries": "an employer in {}",
        "company_sizes": "an employer of {} people",
        "company_types": "a {} employer",
        "degrees": "the degree {}",
        "majors": "studies in {}",
    }
    parts = [
        phrase.format(join_words([value.replace("_", " ") for value in values], most=4, last="or"))
        for name, phrase in phrases.items()
        if (values := getattr(of, name))
    ]
    if of.past_company_ids:
        parts.append(f"a former job at {_counted(len(of.past_company_ids), 'company', 'companies')}")
    return parts


def conditions(filters: PeopleFilters, *, place: str = "") -> str:
    """Return a conjunction of filters in words, for `with …` and `without …`."""
    parts = []
    if filters.skills and filters.skills.any:
        parts.append(join_words(filters.skills.any, most=4, last="or"))
    if filters.languages:
        parts.append(join_words([language.capitalize() for language in filters.languages], most=4, last="or"))
    if filters.experience_years:
        parts.append(f"{years(filters.experience_years)} of experience")
    if filters.titles:
        parts.append(f"the title {join_words(filters.titles.include, most=3, last='or')}")
    if filters.company_ids:
        parts.append("a preferred employer")
    parts += traits(filters)
    if place:
        parts.append(f"a home {place}")
    return join_words(parts)


def required(must: IntentBlock, employers: int) -> str:
    """Return what every person must have, in words; empty when nothing. `employers` counts the wanted ones."""
    parts = []
    if must.skills:
        parts.append(join_words(must.skills))
    if must.languages:
        parts.append(join_words([language.capitalize() for language in must.languages]))
    if must.experience_years and not must.experience_years.empty:
        parts.append(f"{years(must.experience_years)} of experience")
    if employers:
        parts.append("a job at the wanted company" if employers == 1 else f"a job at one of {employers} companies")
    parts += traits(must)
    return join_words(parts) if parts else ""


def excluded(block: ExcludeBlock, places: Places) -> str:
    """Return in words which people are left out; empty if there are none."""
    place = block.location or IntentLocation()
    spots = [*place.location_ids, *([place.anchor_location_id] if place.anchor_location_id else [])]
    spots += [area.location_id for area in place.areas]
    parts = [
        *(f"the title {title}" for title in block.titles),
        *(f"the skill {skill}" for skill in block.skills),
        *(f"speakers of {language.capitalize()}" for language in block.languages),
        *(f"people in {places.get(spot).name}" for spot in spots),
        *([f"people in {countries_in_words(place.countries, places)}"] if place.countries else []),
    ]
    if block.experience_years and not block.experience_years.empty:
        parts.append(f"people with {years(block.experience_years)} of experience")
    if block.company_ids:
        parts.append(f"people at {_counted(len(block.company_ids), 'company', 'companies')}")
    parts += [f"people with {trait}" for trait in traits(block)]
    if block.profile_ids:
        parts.append(_counted(len(block.profile_ids), "person", "people"))
    return join_words(parts) if parts else ""


def _counted(number: int, one: str, more: str) -> str:
    return f"one {one}" if number == 1 else f"{number} {more}"


# The reference data that the planner reads.


class TitleKnowledge(Protocol):
    """Titles that mean the same, and titles next to them."""

    def exact(self, title: str, *, countries: Collection[str] = ()) -> Sequence[str]:
        """Return other wordings of the title, in the languages of the countries, best first; empty when unknown."""
        ...

    def nearby(self, title: str) -> Sequence[str]:
        """Return neighbouring titles, nearest first; empty when it is not known."""
        ...

    def apart(self, title: str) -> Sequence[str]:
        """Return longer titles of other occupations that hold its words: `Nursery Nurse` for `Nurse`."""
        ...

    def narrowing(self, title: str) -> TitleNarrowing:
        """Return what the words beside the head of the title ask to prefer."""
        ...


class PeopleStatistics(Protocol):
    """A rough count of people from shipped occupation and place statistics."""

    def people(self, titles: Sequence[str], *, location_ids: Sequence[str], countries: Sequence[str]) -> int | None:
        """Return how many people with such a title live there; null when the statistics do not say."""
        ...


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All that a plan rests on, apart from what was counted before."""

    titles: TitleKnowledge
    places: Places
    companies: Companies
    statistics: PeopleStatistics
    source: PeopleSourceAbilities


# What was applied, what was ignored, and what to warn about.


@dataclass(slots=True)
class Notes:
    """Collected in order. `described` are the dotted fields read from a description."""

    described: Collection[str] = ()
    applied: list[AppliedFilter] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def apply(self, name: str, value: str | int | tuple[str, ...] | dict[str, int]) -> None:
        """Note a filter that the caller or the description gave."""
        read = any(name == field or name.startswith(f"{field}.") for field in self.described)
        origin = Origin.DESCRIPTION if read else Origin.INTENT
        self.applied.append(AppliedFilter(field=name, value=value, origin=origin))

    def default(self, name: str, value: int | tuple[str, ...]) -> None:
        """Note a filter that was not given."""
        self.applied.append(AppliedFilter(field=name, value=value, origin=Origin.DEFAULT))

    def ignore(self, name: str, why: str) -> None:
        """Note a field that has no effect, or not all of it, and why."""
        if name not in self.ignored:
            self.ignored.append(name)
        self.warn(why)

    def warn(self, text: str) -> None:
        """Note something to read before paying."""
        self.warnings.append(text)

    def sorted_filters(self) -> tuple[AppliedFilter, ...]:
        """Return what was applied, block by block as an intent lists them, each in the order of its fields."""
        return tuple(sorted(self.applied, key=_place))


ORDER = tuple(ExcludeBlock.model_fields)


def _place(applied: AppliedFilter) -> tuple[int, int]:
    block, _, field = applied.field.partition(".")
    name = field.split(".")[0]
    blocks = ("must", "nice", "exclude", "target_companies")
    return blocks.index(block), ORDER.index(name) if name else 0
