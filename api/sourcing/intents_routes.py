"""Routes of intents."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing, PageAsk
from api.sourcing import intents
from api.sourcing.intents import IntentChange
from api.sourcing.intents_schemas import CreateIntent, GivenIntent, IntentView

router = Router(tags=["Intents"])


@router.post("/intents", status_code=201, operation_id="intents.create", response_model=IntentView)
async def create_intent(ask: CreateIntent, invoke: Invoke) -> Response:
    """Turn a job description, or given fields, or both into an editable search profile. Free."""
    return await invoke(intents.create_intent, ask, location=lambda intent: f"/v1/intents/{intent.id}")


@router.get("/intents", operation_id="intents.list", response_model=Listing[IntentView])
async def list_intents(ask: Annotated[PageAsk, Query()], invoke: Invoke) -> Response:
    """Every intent, newest first."""
    return await invoke(intents.list_intents, ask)


@router.get("/intents/{intent_id:id}", operation_id="intents.get", response_model=IntentView)
async def get_intent(intent_id: str, invoke: Invoke) -> Response:
    """One intent."""
    return await invoke(intents.get_intent, intent_id)


@router.patch("/intents/{intent_id:id}", operation_id="intents.change", response_model=IntentView)
async def change_intent(intent_id: str, ask: GivenIntent, invoke: Invoke) -> Response:
    """Change an intent: in each block a given field replaces, `null` clears, what is left out stays."""
    return await invoke(intents.change_intent, IntentChange(intent_id, ask))
