"""Events: listed by pollers, or read one at a time."""

from api.events.schemas import EventView, ListEvents
from api.kernel.operation import Context, Effect, Noun, operation
from api.kernel.schemas import Listing
from models.access.rules.keys import Scope
from models.events.store import events

EVENTS = Noun("Events", "What happened, to be polled or sent by webhook.")


@operation("events.list", scope=Scope.ACCOUNT_READ, effect=Effect.READ, route=EVENTS.get("/events"), for_customers=True)
async def list_events(ctx: Context, ask: ListEvents) -> Listing[EventView]:
    """Events of the last 30 days. To poll, pass the newest `created_at` you have processed as `created_after`."""
    types = ask.wanted_types()
    paging = ctx.paging(ask)
    found = await events.page_of_events(ctx.session, ctx.tenant, paging.page, types=types, customer_id=ask.customer_id)
    return paging.listing(found, EventView.of)


@operation(
    "events.get",
    scope=Scope.ACCOUNT_READ,
    effect=Effect.READ,
    route=EVENTS.get("/events/{event_id:id}"),
    for_customers=True,
)
async def get_event(ctx: Context, event_id: str) -> EventView:
    """One event."""
    return EventView.of(await events.load_event(ctx.session, ctx.tenant, event_id))
