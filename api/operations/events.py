"""Events: read by pollers and by whoever looks one up."""

from api.operations.kernel import Context, Effect, operation
from api.schemas.events import EventView, ListEvents
from api.schemas.lists import Listing
from models.rules.access import Scope
from models.stores import events


@operation("events.list", scope=Scope.ACCOUNT_READ, effect=Effect.READ, for_customers=True)
async def list_events(ctx: Context, ask: ListEvents) -> Listing[EventView]:
    """What happened; the account sees its customers' events too, a customer its own."""
    types = ask.wanted_types()
    paging = ctx.paging(ask)
    found = await events.listed(ctx.session, ctx.tenant, paging.page, types=types, customer_id=ask.customer_id)
    return paging.listing(found, EventView.of)


@operation("events.get", scope=Scope.ACCOUNT_READ, effect=Effect.READ, for_customers=True)
async def get_event(ctx: Context, event_id: str) -> EventView:
    """One event."""
    return EventView.of(await events.get(ctx.session, ctx.tenant, event_id))
