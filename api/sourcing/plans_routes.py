"""Routes of search plans."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing
from api.sourcing import plans
from api.sourcing.plans_schemas import CreatePlan, ListPlans, PlanView

router = Router(tags=["Search plans"])


@router.post("/search-plans", status_code=201, operation_id="search_plans.create", response_model=PlanView)
async def create_plan(ask: CreatePlan, invoke: Invoke) -> Response:
    """Plan and price a search: a ladder of tiers that share no person. Free."""
    return await invoke(plans.create_plan, ask, location=lambda plan: f"/v1/search-plans/{plan.id}")


@router.get("/search-plans", operation_id="search_plans.list", response_model=Listing[PlanView])
async def list_plans(ask: Annotated[ListPlans, Query()], invoke: Invoke) -> Response:
    """Every plan, newest first."""
    return await invoke(plans.list_plans, ask)


@router.get("/search-plans/{plan_id:id}", operation_id="search_plans.get", response_model=PlanView)
async def get_plan(plan_id: str, invoke: Invoke) -> Response:
    """One plan, as it was made."""
    return await invoke(plans.get_plan, plan_id)
