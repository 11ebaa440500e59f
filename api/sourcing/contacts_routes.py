"""Routes of contact lookups."""

from starlette.responses import Response

from api.kernel.routing import Invoke, Router
from api.sourcing import jobs
from api.sourcing.contacts_schemas import ContactLookupView, FetchContacts
from api.sourcing.raw_schemas import PricePreview

router = Router(tags=["Raw layer"])


@router.post(
    "/people/contacts:fetch",
    status_code=202,
    operation_id="contacts.fetch",
    response_model=ContactLookupView | PricePreview,
)
async def fetch_contacts(ask: FetchContacts, invoke: Invoke) -> Response:
    """Look contact details up. Nothing found costs nothing. Preview the price with `?dry_run=true`."""
    return await invoke(
        jobs.fetch_contacts,
        ask,
        location=lambda it: f"/v1/people/contacts/{it.id}" if isinstance(it, ContactLookupView) else None,
    )


@router.get("/people/contacts/{lookup_id:id}", operation_id="contacts.get", response_model=ContactLookupView)
async def get_contacts(lookup_id: str, invoke: Invoke) -> Response:
    """A contact lookup and what it has found."""
    return await invoke(jobs.get_contacts, lookup_id)
