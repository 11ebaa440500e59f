"""Search plans as they are asked for and shown (contract, section 5)."""

from typing import Annotated, Any, Literal

from pydantic import Field, GetJsonSchemaHandler, PlainSerializer
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from api.kernel.schemas import Answer, Ask, PageAsk
from api.sourcing.intents_schemas import Description, GivenIntent
from models.base.times import Time
from models.sourcing.rules.plans import Anchor, AppliedFilter, Estimate, SearchPlanValue, TargetRange, TierFilters
from models.sourcing.rules.runs import MAX_TARGET, MIN_TARGET
from models.sourcing.tables import SearchPlan

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
    """One rung of the ladder."""

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
