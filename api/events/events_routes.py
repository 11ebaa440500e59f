"""Routes of events."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.events import events
from api.events.schemas import EventView, ListEvents
from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing

router = Router(tags=["Events"])


@router.get("/events", operation_id="events.list", response_model=Listing[EventView])
async def list_events(ask: Annotated[ListEvents, Query()], invoke: Invoke) -> Response:
    """Events of the last 30 days. To poll, pass the newest `created_at` you have processed as `created_after`."""
    return await invoke(events.list_events, ask)


@router.get("/events/{event_id:id}", operation_id="events.get", response_model=EventView)
async def get_event(event_id: str, invoke: Invoke) -> Response:
    """One event."""
    return await invoke(events.get_event, event_id)
