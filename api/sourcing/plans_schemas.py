"""What operations on intents and search plans ask and answer."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, PlainSerializer, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from api.kernel.schemas import Answer, Ask, PageAsk
from models.base import ids
from models.base.errors import InvalidRequest
from models.base.values import CompanyId, LocationId, ProfileId, Range, Text, Time
from models.market.place_names import PlaceKind, place_key
from models.market.reference import reference
from models.reading.intents import BLOCKS, Changes, Evidence, ExcludeBlock, Intent, IntentBlock
from models.sourcing.rules.plans import Anchor, AppliedFilter, Estimate, SearchPlanValue, TargetRange, TierFilters
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
    if known is None:
        raise ValueError("is not a known language: see GET /v1/lookups/filter-values?field=languages")
    return known


Country = Annotated[str, Field(min_length=2, max_length=2), AfterValidator(_country)]
"""ISO 3166-1 alpha-2; `UK` means `GB`."""
KnownPlace = Annotated[LocationId, AfterValidator(_place)]
KnownAnchor = Annotated[LocationId, AfterValidator(_anchor)]
KnownCompany = Annotated[CompanyId, AfterValidator(_company)]
"""Of a shipped company, or of one looked up live, which the operation checks (`api.sourcing.raw`)."""
KnownLanguage = Annotated[Text, AfterValidator(_language)]
"""The name of a language in English, German, French or Dutch; kept in English."""


class GivenLocation(Ask):
    """A place: countries, location ids, or an anchor with a radius (50 km unless given)."""

    countries: tuple[Country, ...] | None = Field(default=None, max_length=60)
    location_ids: tuple[KnownPlace, ...] | None = Field(default=None, max_length=200)
    anchor_location_id: KnownAnchor | None = None
    radius_km: Annotated[int, Field(ge=1, le=200)] | None = None

    @model_validator(mode="after")
    def _radius_needs_anchor(self) -> Self:
        if self.radius_km is not None and self.anchor_location_id is None:
            raise ValueError("radius_km needs an anchor_location_id")
        return self


class GivenBlock(Ask):
    """Fields of a block; what is left out stays as it is, `null` clears."""

    titles: tuple[Text, ...] | None = Field(default=None, max_length=30)
    location: GivenLocation | None = None
    experience_years: Range | None = None
    skills: tuple[Text, ...] | None = Field(default=None, max_length=50)
    languages: tuple[KnownLanguage, ...] | None = Field(default=None, max_length=20)
    company_ids: tuple[KnownCompany, ...] | None = Field(default=None, max_length=200)


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
    anchor: Anchor | None
    applied_filters: tuple[AppliedFilter, ...]
    ignored_fields: tuple[str, ...]
    warnings: tuple[str, ...]
    created_at: Time | None

    @classmethod
    def of(cls, row: SearchPlan) -> "PlanView":
        """The row as shown."""
        return cls(id=row.id, intent_id=row.intent_id, created_at=row.created_at, **row.content)

    @classmethod
    def preview(
        cls, plan: SearchPlanValue, *, row: SearchPlan | None = None, intent_id: str | None = None
    ) -> "PlanView":
        """A plan that is not stored, or the one of `row` for another target."""
        return cls(
            id=row.id if row else None,
            intent_id=intent_id,
            created_at=row.created_at if row else None,
            **plan.model_dump(),
        )
