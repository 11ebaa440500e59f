"""Search plans: made from an intent, read and listed; free and never changed."""

from dataclasses import dataclass

from api.kernel.operation import Context, Effect, Noun, operation
from api.kernel.schemas import Listing
from api.sourcing.intents import IntentChange, IntentDraft, change_intent, new_draft, stored_draft, stored_intent
from api.sourcing.intents_schemas import GivenIntent
from api.sourcing.plans_schemas import CreatePlan, ListPlans, PlanView
from models.access.rules.keys import Scope
from models.base.errors import InvalidRequest
from models.sourcing import store as sourcing_store
from models.sourcing.rules.runs import DEFAULT_TARGET

PLANS = Noun("Search plans", "An intent as a ladder of priced searches.")


@dataclass(frozen=True, slots=True)
class Refinement:
    """A plan, what is to be different in its intent, and how many people are wanted; null: as before."""

    plan_id: str
    changes: GivenIntent
    target: int | None


@operation(
    "search_plans.create",
    scope=Scope.SOURCING_READ,
    effect=Effect.WRITE,
    route=PLANS.post("/search-plans", status=201, location="/search-plans/{answer.id}"),
)
async def create_plan(ctx: Context, ask: CreatePlan) -> PlanView:
    """Plan and price a search: a ladder of tiers that share no person. Free."""
    draft, intent_id = await _draft(ctx, ask)
    plan = await draft.priced(ctx, target=ask.target or DEFAULT_TARGET)
    if intent_id is None:
        intent_id = (await sourcing_store.add_intent(ctx.session, ctx.tenant, draft.written())).id
    return PlanView.of(await sourcing_store.add_plan(ctx.session, ctx.tenant, plan, intent_id=intent_id))


async def _draft(ctx: Context, ask: CreatePlan) -> tuple[IntentDraft, str | None]:
    if ask.intent_id is None:
        return await new_draft(ctx, job_description=ask.job_description, intent=ask.intent), None
    if ask.job_description is not None or ask.intent is not None:
        raise InvalidRequest("Give an intent_id, or a job_description and/or an intent, not both.", field="intent_id")
    return stored_draft(ctx, await stored_intent(ctx, ask.intent_id)), ask.intent_id


@operation("search_plans.refine", scope=Scope.SOURCING_WRITE, effect=Effect.WRITE)
async def refine_plan(ctx: Context, ask: Refinement) -> PlanView:
    """Change the intent of a plan and plan it anew: both, or neither. Without a route of its own."""
    before = await sourcing_store.load_plan(ctx.session, ctx.tenant, ask.plan_id)
    changed = await change_intent.handler(ctx, IntentChange(before.intent_id, ask.changes))
    target = ask.target or PlanView.of(before).target
    return await create_plan.handler(ctx, CreatePlan(intent_id=changed.id, target=target))


@operation(
    "search_plans.get", scope=Scope.SOURCING_READ, effect=Effect.READ, route=PLANS.get("/search-plans/{plan_id:id}")
)
async def get_plan(ctx: Context, plan_id: str) -> PlanView:
    """One plan, as it was made."""
    return PlanView.of(await sourcing_store.load_plan(ctx.session, ctx.tenant, plan_id))


@operation("search_plans.list", scope=Scope.SOURCING_READ, effect=Effect.READ, route=PLANS.get("/search-plans"))
async def list_plans(ctx: Context, ask: ListPlans) -> Listing[PlanView]:
    """Every plan, newest first."""
    paging = ctx.paging(ask)
    found = await sourcing_store.page_of_plans(ctx.session, ctx.tenant, paging.page, unconfirmed=ask.unconfirmed)
    return paging.listing(found, PlanView.of)
