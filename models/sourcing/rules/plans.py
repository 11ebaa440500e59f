"""What a plan is: filters, tiers, estimate, and what was applied, ignored and warned about (contract, section 5)."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Protocol

from pydantic import Field

from models.base.values import CompanyId, CountryCode, LocationId, ProfileId, Range, SchoolId, Strict, Text
from models.market.companies import Companies
from models.market.places import Places
from models.reading.intents import ExcludeBlock, IntentLocation

MAX_YEARS = 70


class TitleMatch(StrEnum):
    """`exact`: the title contains the words in order; `similar`: it contains them in any order."""

    EXACT = "exact"
    SIMILAR = "similar"


class TitleFilter(Strict):
    """Current titles: any of `include`, none of `exclude`."""

    include: tuple[Text, ...] = Field(default=(), max_length=100)
    exclude: tuple[Text, ...] = Field(default=(), max_length=100)
    match: TitleMatch = TitleMatch.EXACT


class SkillFilter(Strict):
    """Skills: each of `all`, at least one of `any`, none of `exclude`."""

    all: tuple[Text, ...] = Field(default=(), max_length=50)
    any: tuple[Text, ...] = Field(default=(), max_length=100)
    exclude: tuple[Text, ...] = Field(default=(), max_length=100)


class PeopleFilters(Strict):
    """Filters of `POST /v1/people/search`: each given field narrows, the values within a list widen.

    Countries are ISO 3166-1 alpha-2; languages are lower-case English names; location, company, school and
    profile ids are ours.
    """

    titles: TitleFilter | None = None
    location_ids: tuple[LocationId, ...] = Field(default=(), max_length=2000)
    exclude_location_ids: tuple[LocationId, ...] = Field(default=(), max_length=2000)
    countries: tuple[CountryCode, ...] = Field(default=(), max_length=60)
    company_ids: tuple[CompanyId, ...] = Field(default=(), max_length=200)
    exclude_company_ids: tuple[CompanyId, ...] = Field(default=(), max_length=200)
    past_company_ids: tuple[CompanyId, ...] = Field(default=(), max_length=200)
    seniority: tuple[Text, ...] = Field(default=(), max_length=20)
    functions: tuple[Text, ...] = Field(default=(), max_length=40)
    skills: SkillFilter | None = None
    industries: tuple[Text, ...] = Field(default=(), max_length=60)
    experience_years: Range | None = None
    tenure_months: Range | None = None
    languages: tuple[Text, ...] = Field(default=(), max_length=20)
    school_ids: tuple[SchoolId, ...] = Field(default=(), max_length=100)
    open_to_work: bool | None = None
    keywords: Text | None = None
    exclude_profile_ids: tuple[ProfileId, ...] = Field(default=(), max_length=1000)


class TierFilters(PeopleFilters):
    """A plan tier: the filters, and besides them every one of `all_of` and none of `none_of`.

    Each entry is a conjunction, satisfied by a person who satisfies all of its fields. `none_of` is how a tier leaves
    out what an earlier tier or the intent's `exclude` block has taken, so that no person can satisfy two tiers;
    `all_of` asks for a field twice: each of two languages, the intent's titles and one of its `nice` titles.
    """

    all_of: tuple[PeopleFilters, ...] = Field(default=(), max_length=40)
    none_of: tuple[PeopleFilters, ...] = Field(default=(), max_length=20)


# What each people source can apply: which filters, and which values of the closed ones (reference data, no calls).


VOCABULARY = Path(__file__).parents[2] / "data" / "people_data_labs.json"


@dataclass(frozen=True, slots=True)
class Inapplicable:
    """A filter the source cannot apply; `field` is its key inside `filters`, `value` null when it is the whole key."""

    field: str
    value: str | None = None


@dataclass(frozen=True)
class PeopleSourceAbilities:
    """The filters of `PeopleFilters` that a source applies, and the only values it knows of the closed ones."""

    name: str
    filters: frozenset[str]
    vocabulary_file: Path

    @cached_property
    def vocabulary(self) -> Mapping[str, tuple[str, ...]]:
        """The known values by filter: `seniority` (lowest first), `functions`, `industries`, all in lower case."""
        read = json.loads(self.vocabulary_file.read_text(encoding="utf-8"))
        return {key: tuple(read[key]) for key in ("seniority", "functions", "industries")}

    @cached_property
    def countries(self) -> Mapping[str, tuple[str, ...]]:
        """The source's names of each ISO 3166-1 alpha-2 country, most usual first."""
        read = json.loads(self.vocabulary_file.read_text(encoding="utf-8"))
        return {code: tuple(names) for code, names in read["countries"].items()}

    def inapplicable(self, filters: PeopleFilters) -> Inapplicable | None:
        """Return the first thing in `filters` that this source cannot apply (specification, `unsupported_filter`)."""
        for name in filters.model_fields_set:
            if name not in self.filters and getattr(filters, name) not in (None, ()):
                return Inapplicable(name)
        if unknown := next((code for code in filters.countries if code not in self.countries), None):
            return Inapplicable("countries", unknown)
        for name, known in self.vocabulary.items():
            values: tuple[str, ...] = getattr(filters, name)
            if unknown := next((value for value in values if value.strip().lower() not in known), None):
                return Inapplicable(name, unknown)
        return None


PEOPLE_DATA_LABS = PeopleSourceAbilities(
    name="people_data_labs",
    filters=frozenset(
        {
            "titles",
            "location_ids",
            "exclude_location_ids",
            "countries",
            "company_ids",
            "exclude_company_ids",
            "past_company_ids",
            "seniority",
            "functions",
            "skills",
            "industries",
            "experience_years",
            "languages",
            "keywords",
            "exclude_profile_ids",
            "all_of",
            "none_of",
        }
    ),
    vocabulary_file=VOCABULARY,
)

SOURCES: Mapping[str, PeopleSourceAbilities] = {PEOPLE_DATA_LABS.name: PEOPLE_DATA_LABS}

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


class SearchPlanValue(Strict):
    """A priced, disjoint ladder of searches; immutable."""

    summary: str
    target: int
    target_range: TargetRange
    tiers: tuple[Tier, ...]
    estimate: Estimate
    anchor: Anchor | None
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
    if place:
        parts.append(f"a home {place}")
    return join_words(parts)


def required(common: PeopleFilters, all_of: Sequence[PeopleFilters]) -> str:
    """Return what every person must have, in words; empty when nothing."""
    parts = []
    if common.skills and common.skills.all:
        parts.append(join_words(common.skills.all))
    languages = [language for filters in (common, *all_of) for language in filters.languages]
    if languages:
        parts.append(join_words([language.capitalize() for language in languages]))
    if common.experience_years:
        parts.append(f"{years(common.experience_years)} of experience")
    if common.company_ids:
        count = len(common.company_ids)
        parts.append("a job at the wanted company" if count == 1 else f"a job at one of {count} companies")
    return join_words(parts) if parts else ""


def excluded(block: ExcludeBlock, places: Places) -> str:
    """Return who is left out, in words; empty when no one is."""
    place = block.location or IntentLocation()
    spots = [*place.location_ids, *([place.anchor_location_id] if place.anchor_location_id else [])]
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
    if block.profile_ids:
        parts.append(_counted(len(block.profile_ids), "person", "people"))
    return join_words(parts) if parts else ""


def _counted(number: int, one: str, more: str) -> str:
    return f"one {one}" if number == 1 else f"{number} {more}"


# The query key of a search at one source, by which its pages and totals are remembered.


def query_key(filters: PeopleFilters, *, source: str) -> str:
    """Return a SHA-256 of the source and the filters, whatever the order, letter case and repetition of values."""
    canonical = json.dumps(_canonical(filters.model_dump(mode="json", exclude_defaults=True)), sort_keys=True)
    return hashlib.sha256(f"{source}\n{canonical}".encode()).hexdigest()


def _canonical(value: object) -> object:
    if isinstance(value, dict):
        return {name: _canonical(inner) for name, inner in value.items()}
    if isinstance(value, list) and all(isinstance(inner, str) for inner in value):
        return sorted({inner.casefold() for inner in value})
    if isinstance(value, list):
        distinct = {json.dumps(_canonical(inner), sort_keys=True): _canonical(inner) for inner in value}
        return [distinct[text] for text in sorted(distinct)]
    return value.casefold() if isinstance(value, str) else value


# The reference data that the planner reads.


class TitleKnowledge(Protocol):
    """Titles that mean the same, and titles next to them."""

    def exact(self, title: str) -> Sequence[str]:
        """Return other wordings of the title, best first; empty when it is not known."""
        ...

    def nearby(self, title: str) -> Sequence[str]:
        """Return neighbouring titles, nearest first; empty when it is not known."""
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
        """Note a field that has no effect, and why."""
        self.ignored.append(name)
        self.warn(why)

    def warn(self, text: str) -> None:
        """Note something to read before paying."""
        self.warnings.append(text)

    def sorted_filters(self) -> tuple[AppliedFilter, ...]:
        """Return what was applied, block by block as an intent lists them, each in the order of its fields."""
        return tuple(sorted(self.applied, key=_place))


ORDER = ("titles", "location", "experience_years", "skills", "languages", "company_ids", "profile_ids")


def _place(applied: AppliedFilter) -> tuple[int, int]:
    block, _, field = applied.field.partition(".")
    name = field.split(".")[0]
    blocks = ("must", "nice", "exclude", "target_companies")
    return blocks.index(block), ORDER.index(name) if name else 0
