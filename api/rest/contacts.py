"""Routes of contact lookups."""

from starlette.responses import Response

from api.operations import contacts
from api.rest.routing import Invoke, Router
from api.schemas.contacts import ContactLookupView, FetchContacts
from api.schemas.raw import PricePreview

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
        contacts.fetch_contacts,
        ask,
        location=lambda it: f"/v1/people/contacts/{it.id}" if isinstance(it, ContactLookupView) else None,
    )


@router.get("/people/contacts/{lookup_id:id}", operation_id="contacts.get", response_model=ContactLookupView)
async def get_contacts(lookup_id: str, invoke: Invoke) -> Response:
    """A contact lookup and what it has found."""
    return await invoke(contacts.get_contacts, lookup_id)
