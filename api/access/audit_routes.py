"""Routes of the audit trail."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.access import customers
from api.access.schemas import AuditEntryView
from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing, PageAsk

router = Router(tags=["Account"])


@router.get("/audit-entries", operation_id="audit_entries.list", response_model=Listing[AuditEntryView])
async def list_entries(ask: Annotated[PageAsk, Query()], invoke: Invoke) -> Response:
    """Who changed what on the account."""
    return await invoke(customers.list_entries, ask)
