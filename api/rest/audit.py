"""Routes of the audit trail."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.operations import audit as operations
from api.rest.routing import Invoke, Router
from api.schemas.account import AuditEntryView
from api.schemas.lists import Listing, PageAsk

router = Router(tags=["Account"])


@router.get("/audit-entries", operation_id="audit_entries.list", response_model=Listing[AuditEntryView])
async def list_entries(ask: Annotated[PageAsk, Query()], invoke: Invoke) -> Response:
    """Who changed what on the account."""
    return await invoke(operations.list_entries, ask)
