"""From what a caller gives to a plan: intents read, merged, changed and listed, and search plans made from them."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from api.kernel.operation import Context, Effect, Noun, operation
from api.kernel.schemas import Listing, PageAsk
from api.sourcing.plans_schemas import CreateIntent, CreatePlan, GivenIntent, IntentView, ListPlans, PlanView
from api.sourcing.raw import check_intent
from models.access.rules.keys import Scope
from models.base.errors import InvalidRequest, NotFound
from models.reading.description import read_description
from models.reading.intents import Changes, DraftedIntent, Intent, drafted_from, touched, with_changes
from models.sourcing import store as sourcing_store
from models.sourcing.rules.planning import DraftPlan, draft, tells_whom
from models.sourcing.rules.plans import SearchPlanValue
from models.sourcing.rules.runs import DEFAULT_TARGET
from models.sourcing.store import WrittenIntent
from models.sourcing.tables import IntentRow, SearchPlan

INTENTS = Noun("Intents", "What is looked for, read from an advertisement or a sentence.")

NO_TITLE = "Put the job title on the first line, or give it as intent.must.titles."


@dataclass(frozen=True, slots=True)
class IntentDraft:
    """An intent that can be planned, what was read for it, and its ladder."""

    intent: Intent
    read: DraftedIntent
    ladder: DraftPlan

    @property
    def warnings(self) -> tuple[str, ...]:
        """Of the reader, then of the planner."""
        return tuple(dict.fromkeys((*self.read.warnings, *self.ladder.notes.warnings)))

    @property
    def ignored_fields(self) -> tuple[str, ...]:
        """Of the reader, then of the planner."""
        return tuple(dict.fromkeys((*self.read.ignored_fields, *self.ladder.notes.ignored)))

    def written(self) -> WrittenIntent:
        """What the intent's row keeps: never the description itself."""
        return WrittenIntent(
            content=self.intent.model_dump(mode="json"),
            reading={
                "read": self.read.model_dump(mode="json"),
                "evidence": [one.model_dump(mode="json") for one in self.read.evidence],
                "applied_filters": [one.model_dump(mode="json") for one in self.ladder.notes.sorted_filters()],
                "ignored_fields": list(self.ignored_fields),
                "warnings": list(self.warnings),
            },
        )

    async def priced(self, ctx: Context, *, target: int) -> SearchPlanValue:
        """The plan, with the totals remembered for its searches."""
        known = await sourcing_store.remembered_totals(ctx.session, self.ladder.query_keys)
        plan = self.ladder.priced(known.people, target=target, fresh=known.fresh)
        return plan.model_copy(
            update={
                "warnings": tuple(dict.fromkeys((*self.read.warnings, *plan.warnings))),
                "ignored_fields": self.ignored_fields,
            }
        )


async def new_draft(ctx: Context, *, job_description: str | None, intent: GivenIntent | None) -> IntentDraft:
    """Read the description, let the given fields replace what was read, and plan the result.

    Raises `InvalidRequest`: nothing is given, no title can be read, or the intent cannot be planned.
    """
    if job_description is None and intent is None:
        raise InvalidRequest("Give a job_description, an intent, or both.", field="job_description")
    with inside("intent"):
        changes = intent.changes() if intent is not None else {}
    found = Intent()
    remembered = DraftedIntent()
    if job_description is not None:
        reading = await asyncio.to_thread(read_description, job_description, reference=ctx.reference.shipped)
        found, remembered = reading.intent, drafted_from(reading)
        if not found.must.titles and not tells_whom(with_changes(found, changes)):
            raise InvalidRequest(
                "No job title can be read from this description.", field="job_description", fix=NO_TITLE
            )
    with inside("intent") if intent is not None else naming("job_description"):
        made = drafted(ctx, found, remembered, changes)
        await check_intent(ctx, made.intent)
    return made


def drafted(ctx: Context, intent: Intent, remembered: DraftedIntent, changes: Changes) -> IntentDraft:
    """The intent with the changes made, and planned. Raises `InvalidRequest` with the field inside the intent."""
    whole = with_changes(intent, changes)
    left = remembered.without(touched(changes))
    return IntentDraft(whole, left, draft(whole, ctx.reference.knowledge, described=left.fields))


def stored_draft(ctx: Context, row: IntentRow) -> IntentDraft:
    """A stored intent, planned again."""
    return drafted(ctx, Intent.model_validate(row.content), DraftedIntent.model_validate(row.reading["read"]), {})


async def stored_intent(ctx: Context, intent_id: str) -> IntentRow:
    """The intent named as the source of a plan or run. Raises `NotFound`."""
    try:
        return await sourcing_store.load_intent(ctx.session, ctx.tenant, intent_id)
    except NotFound as error:
        error.details["field"] = "intent_id"
        raise


@contextmanager
def inside(field: str) -> Iterator[None]:
    """Name fields of the intent as the caller wrote them: inside the body's `field`."""
    try:
        yield
    except InvalidRequest as error:
        error.details["field"] = f"{field}.{error.details['field']}"
        raise


@contextmanager
def naming(field: str) -> Iterator[None]:
    """Name the one field that everything was read from."""
    try:
        yield
    except InvalidRequest as error:
        error.details["field"] = field
        raise


def stored_plan(row: SearchPlan) -> SearchPlanValue:
    """The plan of a row."""
    return SearchPlanValue.model_validate(row.content)


# Intents.


@dataclass(frozen=True, slots=True)
class IntentChange:
    """Changes to one intent."""

    intent_id: str
    given: GivenIntent


@operation(
    "intents.create",
    scope=Scope.SOURCING_READ,
    effect=Effect.WRITE,
    route=INTENTS.post("/intents", status=201, location="/intents/{answer.id}"),
)
async def create_intent(ctx: Context, ask: CreateIntent) -> IntentView:
    """Turn a job description, or given fields, or both into an editable search profile. Free."""
    draft = await new_draft(ctx, job_description=ask.job_description, intent=ask.intent)
    return IntentView.of(await sourcing_store.add_intent(ctx.session, ctx.tenant, draft.written()))


@operation("intents.get", scope=Scope.SOURCING_READ, effect=Effect.READ, route=INTENTS.get("/intents/{intent_id:id}"))
async def get_intent(ctx: Context, intent_id: str) -> IntentView:
    """One intent."""
    return IntentView.of(await sourcing_store.load_intent(ctx.session, ctx.tenant, intent_id))


@operation("intents.list", scope=Scope.SOURCING_READ, effect=Effect.READ, route=INTENTS.get("/intents"))
async def list_intents(ctx: Context, ask: PageAsk) -> Listing[IntentView]:
    """Every intent, newest first."""
    paging = ctx.paging(ask)
    return paging.listing(await sourcing_store.page_of_intents(ctx.session, ctx.tenant, paging.page), IntentView.of)


@operation(
    "intents.change", scope=Scope.SOURCING_WRITE, effect=Effect.WRITE, route=INTENTS.patch("/intents/{intent_id:id}")
)
async def change_intent(ctx: Context, ask: IntentChange) -> IntentView:
    """Change an intent: in each block a given field replaces, `null` clears, what is left out stays."""
    row = await sourcing_store.load_intent(ctx.session, ctx.tenant, ask.intent_id, lock=True)
    read = DraftedIntent.model_validate(row.reading["read"])
    draft = drafted(ctx, Intent.model_validate(row.content), read, ask.given.changes())
    await check_intent(ctx, draft.intent)
    return IntentView.of(await sourcing_store.write_intent(ctx.session, row, draft.written()))


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
    """Change the intent of a plan and plan it again: both, or neither. REST does not serve it."""
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
