"""Search plans: made from an intent, read and listed; free and never changed."""

from api.operations.drafts import IntentDraft, new_draft, stored_draft, stored_intent
from api.operations.kernel import Context, Effect, operation
from api.schemas.lists import Listing
from api.schemas.search_plans import CreatePlan, ListPlans, PlanView
from models.errors import InvalidRequest
from models.rules.access import Scope
from models.rules.run_states import DEFAULT_TARGET
from models.stores import intents, search_plans


@operation("search_plans.create", scope=Scope.SOURCING_READ, effect=Effect.WRITE)
async def create_plan(ctx: Context, ask: CreatePlan) -> PlanView:
    """Plan and price an intent; one given in the call is kept too."""
    draft, intent_id = await _draft(ctx, ask)
    plan = await draft.priced(ctx, target=ask.target or DEFAULT_TARGET)
    if intent_id is None:
        intent_id = (await intents.create(ctx.session, ctx.tenant, draft.written())).id
    return PlanView.of(await search_plans.create(ctx.session, ctx.tenant, plan, intent_id=intent_id))


async def _draft(ctx: Context, ask: CreatePlan) -> tuple[IntentDraft, str | None]:
    if ask.intent_id is None:
        return await new_draft(ctx, job_description=ask.job_description, intent=ask.intent), None
    if ask.job_description is not None or ask.intent is not None:
        raise InvalidRequest("Give an intent_id, or a job_description and/or an intent, not both.", field="intent_id")
    return stored_draft(ctx, await stored_intent(ctx, ask.intent_id)), ask.intent_id


@operation("search_plans.get", scope=Scope.SOURCING_READ, effect=Effect.READ)
async def get_plan(ctx: Context, plan_id: str) -> PlanView:
    """One plan."""
    return PlanView.of(await search_plans.get(ctx.session, ctx.tenant, plan_id))


@operation("search_plans.list", scope=Scope.SOURCING_READ, effect=Effect.READ)
async def list_plans(ctx: Context, ask: ListPlans) -> Listing[PlanView]:
    """Plans, newest first."""
    paging = ctx.paging(ask)
    found = await search_plans.listed(ctx.session, ctx.tenant, paging.page, unconfirmed=ask.unconfirmed)
    return paging.listing(found, PlanView.of)
