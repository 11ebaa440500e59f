"""What operations on intents and search plans ask and answer."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, PlainSerializer, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from api.kernel.schemas import Answer, Ask, PageAsk
from models.base import ids
from models.base.errors import InvalidRequest
from models.base.values import CompanyId, LocationId, ProfileId, Range, SchoolId, Text, Time
from models.market.place_names import PlaceKind, place_key
from models.market.reference import reference
from models.reading.intents import BLOCKS, MOST_AREAS, Changes, Evidence, ExcludeBlock, Intent, IntentBlock, Kilometres
from models.reading.protected import protected_kind
from models.sourcing.rules.filters import PEOPLE_DATA_LABS, TierFilters
from models.sourcing.rules.plans import Anchor, AppliedFilter, Estimate, SearchPlanValue, Suggestion, TargetRange
from models.sourcing.rules.runs import MAX_TARGET, MIN_TARGET
from models.sourcing.tables import IntentRow, SearchPlan

MAX_DESCRIPTION = 50_000
UNITED_KINGDOM = {"UK": "GB"}
LINE_CHARACTERS = frozenset("\t\n\v\f\r")

LOOKED_UP = re.compile(rf"co_[{ids.ALPHABET}]{{{ids.LENGTH}}}")
"""What ids of companies look like that are not shipped."""


def _readable(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    if any(character < " " and character not in LINE_CHARACTERS for character in text):
        raise ValueError("must be text, not binary data")
    return text


Description = Annotated[str, Field(min_length=1, max_length=MAX_DESCRIPTION), AfterValidator(_readable)]
"""A job description, or a short intent in words."""


def _country(code: str) -> str:
    known = UNITED_KINGDOM.get(code.upper(), code.upper())
    if known not in reference().places.country_codes:
        raise ValueError("is not a country: give its ISO 3166-1 alpha-2 code")
    return known


def _place(location_id: str) -> str:
    try:
        reference().places.get(location_id)
    except KeyError:
        raise ValueError("is not a known place: find ids with GET /v1/lookups/locations") from None
    return location_id


def _anchor(location_id: str) -> str:
    if reference().places.get(_place(location_id)).kind is PlaceKind.COUNTRY:
        raise ValueError("is a country: an anchor is a town, a region or a metropolitan area")
    return location_id


UNKNOWN_COMPANY = "is not a known company: find ids with GET /v1/lookups/companies"


def _company(company_id: str) -> str:
    if not reference().companies.knows(company_id) and not LOOKED_UP.fullmatch(company_id):
        raise ValueError(UNKNOWN_COMPANY)
    return company_id


def _language(name: str) -> str:
    known = reference().languages.get(place_key(name))
    if known is None and protected_kind(name):
        return name  # the planner and the raw layer say that it is never searched
    if known is None:
        raise ValueError("is not a known language: see GET /v1/lookups/filter-values?field=languages")
    return known


def known_value(field: str) -> AfterValidator:
    """Check a value of a closed filter, whatever its letter case, against the words of the people source."""

    def check(value: str) -> str:
        known = value.strip().lower()
        if known not in PEOPLE_DATA_LABS.vocabulary[field]:
            raise ValueError(f"is not a known value: see GET /v1/lookups/filter-values?field={field}")
        return known

    return AfterValidator(check)


Country = Annotated[str, Field(min_length=2, max_length=2), AfterValidator(_country)]
"""ISO 3166-1 alpha-2; `UK` means `GB`."""
KnownPlace = Annotated[LocationId, AfterValidator(_place)]
KnownAnchor = Annotated[LocationId, AfterValidator(_anchor)]
KnownCompany = Annotated[CompanyId, AfterValidator(_company)]
"""Of a shipped company, or of one looked up live, which the operation checks (`api.sourcing.raw`)."""
KnownLanguage = Annotated[Text, AfterValidator(_language)]
"""The name of a language in English, German, French or Dutch; kept in English."""


Level = Annotated[Text, known_value("seniority")]
JobFunction = Annotated[Text, known_value("functions")]
Industry = Annotated[Text, known_value("industries")]
CompanySize = Annotated[Text, known_value("company_sizes")]
CompanyType = Annotated[Text, known_value("company_types")]


class GivenArea(Ask):
    """The area around a town, a region or a metropolitan area (50 km unless given)."""

    location_id: KnownAnchor
    radius_km: Kilometres | None = None
    only: bool = Field(default=False, description="true: no search goes beyond this area.")


class GivenLocation(Ask):
    """A place: countries, location ids, an anchor with a radius (50 km unless given), or several such areas.

    Distances are measured to the nearest of the towns.
    """

    countries: tuple[Country, ...] | None = Field(default=None, max_length=60)
    location_ids: tuple[KnownPlace, ...] | None = Field(default=None, max_length=200)
    anchor_location_id: KnownAnchor | None = None
    radius_km: Kilometres | None = None
    only: bool | None = Field(
        default=None, description="true: no search goes beyond the anchor's radius and the location ids."
    )
    areas: tuple[GivenArea, ...] | None = Field(
        default=None, max_length=MOST_AREAS, description="Several towns, each with its own radius; at most ten."
    )

    @model_validator(mode="after")
    def _belongs_to_a_place(self) -> Self:
        if self.radius_km is not None and self.anchor_location_id is None:
            raise ValueError("radius_km needs an anchor_location_id")
        if self.only and not (self.anchor_location_id or self.location_ids):
            raise ValueError("only needs an anchor_location_id or location_ids; each of areas has its own")
        return self


class GivenBlock(Ask):
    """Fields of a block; what is left out stays as it is, `null` clears."""

    titles: tuple[Text, ...] | None = Field(default=None, max_length=30)
    location: GivenLocation | None = None
    experience_years: Range | None = None
    skills: tuple[Text, ...] | None = Field(default=None, max_length=50)
    languages: tuple[KnownLanguage, ...] | None = Field(default=None, max_length=20)
    company_ids: tuple[KnownCompany, ...] | None = Field(default=None, max_length=200)
    seniority: tuple[Level, ...] | None = Field(default=None, max_length=20)
    past_company_ids: tuple[KnownCompany, ...] | None = Field(default=None, max_length=200)
    industries: tuple[Industry, ...] | None = Field(default=None, max_length=60)
    functions: tuple[JobFunction, ...] | None = Field(default=None, max_length=40)
    tenure_months: Range | None = None
    degrees: tuple[Text, ...] | None = Field(default=None, max_length=60)
    majors: tuple[Text, ...] | None = Field(default=None, max_length=60)
    company_sizes: tuple[CompanySize, ...] | None = Field(default=None, max_length=20)
    company_types: tuple[CompanyType, ...] | None = Field(default=None, max_length=20)
    school_ids: tuple[SchoolId, ...] | None = Field(default=None, max_length=100)


class GivenExclude(GivenBlock):
    """What rules a person out: every value on its own."""

    profile_ids: tuple[ProfileId, ...] | None = Field(default=None, max_length=1000)


class GivenIntent(GivenBlock):
    """An intent, or changes to one. The fields of a block at the top level are shorthand for those of `must`."""

    must: GivenBlock | None = None
    nice: GivenBlock | None = None
    exclude: GivenExclude | None = None
    target_companies: tuple[Text, ...] | None = Field(
        default=None, max_length=200, description="Company names, resolved when planning and never guessed."
    )

    def changes(self) -> Changes:
        """The fields given. Raises `InvalidRequest` for one that is given in `must` and at the top level."""
        given = self.model_dump(exclude_unset=True)
        shorthand = {name: given.pop(name) for name in GivenBlock.model_fields if name in given}
        if not shorthand:
            return given
        must: dict[str, Any] = given.get("must") or {}
        for name in shorthand:
            if name in must:
                raise InvalidRequest("This field is given here and in `must`.", field=name)
        return given | {"must": must | shorthand}


class CreateIntent(Ask):
    """A description, an intent, or both: a field given in `intent` replaces what is read from the text."""

    job_description: Description | None = None
    intent: GivenIntent | None = None


class IntentView(Answer):
    """An intent with what was read, applied and ignored."""

    id: str
    object: Literal["intent"] = "intent"
    must: IntentBlock
    nice: IntentBlock
    exclude: ExcludeBlock
    target_companies: tuple[str, ...]
    applied_filters: tuple[AppliedFilter, ...]
    ignored_fields: tuple[str, ...]
    warnings: tuple[str, ...]
    evidence: tuple[Evidence, ...] = Field(
        description="Where each value was read: character offsets into the description that was given."
    )
    created_at: Time
    updated_at: Time

    @classmethod
    def of(cls, row: IntentRow) -> "IntentView":
        """The row as shown."""
        intent = Intent.model_validate(row.content)
        shown = {name: row.reading[name] for name in ("applied_filters", "ignored_fields", "warnings", "evidence")}
        return cls(
            id=row.id,
            **{name: getattr(intent, name) for name in (*BLOCKS, "target_companies")},
            **shown,
            created_at=row.created_at,
            updated_at=row.updated_at,
        )


Target = Annotated[int, Field(ge=MIN_TARGET, le=MAX_TARGET)]


def _given(filters: TierFilters) -> dict[str, Any]:
    return filters.model_dump(mode="json", exclude_defaults=True)


class _DocumentedAsGiven:
    """Documents a field by its own type: the serializer only leaves fields out."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        plain: Any = {name: value for name, value in schema.items() if name != "serialization"}
        return handler(plain)


GivenFilters = Annotated[TierFilters, PlainSerializer(_given), _DocumentedAsGiven()]
"""The filters of a tier; those that narrow nothing are left out."""


class CreatePlan(Ask):
    """What to plan: a stored intent, or a description and/or an intent, which is then stored too."""

    intent_id: str | None = None
    job_description: Description | None = None
    intent: GivenIntent | None = None
    target: Target | None = None


class ListPlans(PageAsk):
    """Which plans to show, newest first."""

    unconfirmed: bool | None = Field(default=None, description="true: only those never run; false: the others.")


class TierView(Answer):
    """One tier of a plan; tier 1 fits best."""

    tier: int
    label: str
    filters: GivenFilters
    query_key: str
    estimated_people: int | None
    estimated_pages: int | None
    counted: bool = Field(description="The source counted the people within the day before the plan was made.")


class PlanView(Answer):
    """A plan. A preview is not stored: its ids are null unless it plans a stored object."""

    id: str | None
    object: Literal["plan"] = "plan"
    intent_id: str | None
    summary: str
    target: int
    target_range: TargetRange
    tiers: tuple[TierView, ...]
    estimate: Estimate
    anchor: Anchor | None = Field(description="The first of `anchors`; null without one.")
    anchors: tuple[Anchor, ...] = Field(description="Where distances are measured from, to the nearest.")
    suggestions: tuple[Suggestion, ...] = Field(
        description="Where the plan holds fewer people than the target: the demands that keep most people out, and the"
        " change of the intent that gives each one up."
    )
    applied_filters: tuple[AppliedFilter, ...]
    ignored_fields: tuple[str, ...]
    warnings: tuple[str, ...]
    created_at: Time | None

    @classmethod
    def of(cls, row: SearchPlan) -> "PlanView":
        """The row as shown."""
        plan = SearchPlanValue.model_validate(row.content)
        return cls(id=row.id, intent_id=row.intent_id, created_at=row.created_at, **_shown(plan))

    @classmethod
    def preview(
        cls, plan: SearchPlanValue, *, row: SearchPlan | None = None, intent_id: str | None = None
    ) -> "PlanView":
        """A plan that is not stored, or the one of `row` for another target."""
        return cls(
            id=row.id if row else None,
            intent_id=intent_id,
            created_at=row.created_at if row else None,
            **_shown(plan),
        )


def _shown(plan: SearchPlanValue) -> dict[str, Any]:
    """Return what callers see of a plan; a plan of before several towns has its one anchor."""
    anchors = plan.anchors or ((plan.anchor,) if plan.anchor else ())
    return plan.model_dump(exclude={"relaxations", "wishes"}) | {"anchors": anchors}
