"""Routes of events."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.operations import events as operations
from api.rest.routing import Invoke, Router
from api.schemas.events import EventView, ListEvents
from api.schemas.lists import Listing

router = Router(tags=["Events"])


@router.get("/events", operation_id="events.list", response_model=Listing[EventView])
async def list_events(ask: Annotated[ListEvents, Query()], invoke: Invoke) -> Response:
    """Events of the last 30 days. To poll, pass the newest `created_at` you have processed as `created_after`."""
    return await invoke(operations.list_events, ask)


@router.get("/events/{event_id:id}", operation_id="events.get", response_model=EventView)
async def get_event(event_id: str, invoke: Invoke) -> Response:
    """One event."""
    return await invoke(operations.get_event, event_id)
