"""What a people search can ask for: the filters of the specification's raw layer and of a plan's tiers."""

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator


def _said(text: str) -> str:
    if not any(character.isalnum() for character in text):
        raise ValueError("must hold a letter or a digit")  # a source finds no word to search for in it
    return text


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), AfterValidator(_said)]
LocationId = Annotated[str, StringConstraints(pattern=r"^loc_[0-9]{1,12}$")]
CompanyId = Annotated[str, StringConstraints(pattern=r"^co_[0-9a-z]{1,40}$")]
SchoolId = Annotated[str, StringConstraints(pattern=r"^sch_[0-9a-z]{1,40}$")]
ProfileId = Annotated[str, StringConstraints(pattern=r"^prof_[0-9a-z]{26}$")]
CountryCode = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]

MAX_YEARS = 70


class Strict(BaseModel):
    """A value that refuses unknown fields and never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Range(Strict):
    """An inclusive range of whole numbers; an open end is null."""

    min: Annotated[int, Field(ge=0)] | None = None
    max: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _ordered(self) -> "Range":
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min must not be above max")
        return self

    @property
    def empty(self) -> bool:
        """Whether neither end is given."""
        return self.min is None and self.max is None


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
