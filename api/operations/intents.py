"""Intents: made from a description and given fields, changed field by field, read and listed."""

from dataclasses import dataclass

from api.operations.drafts import drafted, new_draft
from api.operations.kernel import Context, Effect, operation
from api.operations.known_companies import check_intent
from api.schemas.intents import CreateIntent, GivenIntent, IntentView
from api.schemas.lists import Listing, PageAsk
from models.rules.access import Scope
from models.rules.drafting import Read
from models.rules.intents import Intent
from models.stores import intents


@dataclass(frozen=True, slots=True)
class IntentChange:
    """Changes to one intent."""

    intent_id: str
    given: GivenIntent


@operation("intents.create", scope=Scope.SOURCING_READ, effect=Effect.WRITE)
async def create_intent(ctx: Context, ask: CreateIntent) -> IntentView:
    """Read a description and keep what it asks for; free."""
    draft = await new_draft(ctx, job_description=ask.job_description, intent=ask.intent)
    return IntentView.of(await intents.create(ctx.session, ctx.tenant, draft.written()))


@operation("intents.get", scope=Scope.SOURCING_READ, effect=Effect.READ)
async def get_intent(ctx: Context, intent_id: str) -> IntentView:
    """One intent."""
    return IntentView.of(await intents.get(ctx.session, ctx.tenant, intent_id))


@operation("intents.list", scope=Scope.SOURCING_READ, effect=Effect.READ)
async def list_intents(ctx: Context, ask: PageAsk) -> Listing[IntentView]:
    """Intents, newest first."""
    paging = ctx.paging(ask)
    return paging.listing(await intents.listed(ctx.session, ctx.tenant, paging.page), IntentView.of)


@operation("intents.change", scope=Scope.SOURCING_WRITE, effect=Effect.WRITE)
async def change_intent(ctx: Context, ask: IntentChange) -> IntentView:
    """Replace the given fields of an intent; plans made before stay as they are."""
    row = await intents.get(ctx.session, ctx.tenant, ask.intent_id, lock=True)
    read = Read.model_validate(row.reading["read"])
    draft = drafted(ctx, Intent.model_validate(row.content), read, ask.given.changes())
    await check_intent(ctx, draft.intent)
    return IntentView.of(await intents.change(ctx.session, row, draft.written()))
