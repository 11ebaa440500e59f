"""What a people search can ask for: the filters of the specification's raw layer and of a plan's tiers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from pydantic import Field

from models.base.values import CompanyId, CountryCode, LocationId, ProfileId, Range, SchoolId, Strict, Text

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
        """The first thing in `filters` that this source cannot apply (specification, `unsupported_filter`)."""
        for field in filters.model_fields_set:
            if field not in self.filters and getattr(filters, field) not in (None, ()):
                return Inapplicable(field)
        if unknown := next((code for code in filters.countries if code not in self.countries), None):
            return Inapplicable("countries", unknown)
        for field, known in self.vocabulary.items():
            values: tuple[str, ...] = getattr(filters, field)
            if unknown := next((value for value in values if value.strip().lower() not in known), None):
                return Inapplicable(field, unknown)
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
