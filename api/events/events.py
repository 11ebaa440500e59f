"""Events: read by pollers and by whoever looks one up."""

from api.events.schemas import EventView, ListEvents
from api.kernel.operation import Context, Effect, operation
from api.kernel.schemas import Listing
from models.access.rules.keys import Scope
from models.events.store import events


@operation("events.list", scope=Scope.ACCOUNT_READ, effect=Effect.READ, for_customers=True)
async def list_events(ctx: Context, ask: ListEvents) -> Listing[EventView]:
    """What happened; the account sees its customers' events too, a customer its own."""
    types = ask.wanted_types()
    paging = ctx.paging(ask)
    found = await events.page_of_events(ctx.session, ctx.tenant, paging.page, types=types, customer_id=ask.customer_id)
    return paging.listing(found, EventView.of)


@operation("events.get", scope=Scope.ACCOUNT_READ, effect=Effect.READ, for_customers=True)
async def get_event(ctx: Context, event_id: str) -> EventView:
    """One event."""
    return EventView.of(await events.load_event(ctx.session, ctx.tenant, event_id))
