"""What people are searched by: the filters of a search, of a tier, and what each people source can apply."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field

from models.base.values import CompanyId, CountryCode, LocationId, ProfileId, Range, SchoolId, Strict, Text


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
    profile ids are ours. Sizes and types are those of the current employer, degrees and majors of any education.
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
    degrees: tuple[Text, ...] = Field(default=(), max_length=60)
    majors: tuple[Text, ...] = Field(default=(), max_length=60)
    company_sizes: tuple[Text, ...] = Field(default=(), max_length=20)
    company_types: tuple[Text, ...] = Field(default=(), max_length=20)
    open_to_work: bool | None = None
    keywords: Text | None = None
    exclude_profile_ids: tuple[ProfileId, ...] = Field(default=(), max_length=1000)


class SparseField(StrEnum):
    """Fields that many profiles leave empty: who states nothing about one may still have what is asked for."""

    SENIORITY = "seniority"
    LANGUAGES = "languages"
    SKILLS = "skills"
    DEGREES = "degrees"
    MAJORS = "majors"


class Claim(PeopleFilters):
    """A conjunction that may also ask that a person states nothing at all in each of the fields `unstated`."""

    unstated: tuple[SparseField, ...] = Field(default=(), max_length=len(SparseField))


class TierFilters(Claim):
    """A plan tier: the filters, with every one of `all_of`, one of each group of `any_of`, and none of `none_of`.

    Each entry is a conjunction, satisfied by a person who satisfies all of its fields. `none_of` is how a tier leaves
    out what an earlier tier or the intent's `exclude` block has taken, so that no person can satisfy two tiers;
    `all_of` asks for a field twice: each of two languages, the intent's titles and one of its `nice` titles;
    a group of `any_of` accepts who states what is asked for as well as who states nothing.
    """

    exclude_location_ids: tuple[LocationId, ...] = Field(default=(), max_length=3000)
    all_of: tuple[PeopleFilters, ...] = Field(default=(), max_length=100)
    any_of: tuple[tuple[Claim, ...], ...] = Field(default=(), max_length=40)
    none_of: tuple[PeopleFilters, ...] = Field(default=(), max_length=40)


# What each people source can apply: which filters, and which values of the closed ones (reference data, no calls).


VOCABULARY = Path(__file__).parents[2] / "data" / "people_data_labs.json"
CLOSED = ("seniority", "functions", "industries", "company_sizes", "company_types")
"""Filters of which a source knows only certain values."""


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
    def _read(self) -> dict[str, Any]:
        return dict(json.loads(self.vocabulary_file.read_text(encoding="utf-8")))

    @cached_property
    def vocabulary(self) -> Mapping[str, tuple[str, ...]]:
        """The known values of the closed filters, `seniority` lowest first, all in lower case."""
        return {key: tuple(self._read[key]) for key in CLOSED}

    @cached_property
    def countries(self) -> Mapping[str, tuple[str, ...]]:
        """The source's names of each ISO 3166-1 alpha-2 country, most usual first."""
        return {code: tuple(names) for code, names in self._read["countries"].items()}

    @cached_property
    def degrees(self) -> Mapping[str, tuple[str, ...]]:
        """The degrees that a source writes for a general one: `bachelors` may stand as `bachelor of science`."""
        return {degree: (degree, *forms) for degree, forms in self._read["degrees"].items()}

    def inapplicable(self, filters: PeopleFilters) -> Inapplicable | None:
        """Return the first thing in `filters` that this source cannot apply (specification, `unsupported_filter`)."""
        for name in filters.model_fields_set:
            if name not in self.filters and getattr(filters, name) not in (None, ()):
                return Inapplicable(name)
        if unknown := next((code for code in filters.countries if code not in self.countries), None):
            return Inapplicable("countries", unknown)
        for name in CLOSED:
            values: tuple[str, ...] = getattr(filters, name)
            known = self.vocabulary[name]
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
            "degrees",
            "majors",
            "company_sizes",
            "company_types",
            "keywords",
            "exclude_profile_ids",
            "unstated",
            "all_of",
            "any_of",
            "none_of",
        }
    ),
    vocabulary_file=VOCABULARY,
)

SOURCES: Mapping[str, PeopleSourceAbilities] = {PEOPLE_DATA_LABS.name: PEOPLE_DATA_LABS}


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
