"""Routes of suppressions, the seen register and erasures."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing, PageAsk
from api.people import seen, suppressions
from api.people.registers_schemas import (
    ChangeSeen,
    CheckSeen,
    ErasureView,
    ImportSeen,
    ListSeen,
    NamePerson,
    NewSuppression,
    RequestErasure,
    SeenChecked,
    SeenEntryView,
    SeenImported,
    SuppressionView,
)
from api.people.seen import SeenChange

router = Router(tags=["Registers"])


@router.get("/suppressions", operation_id="suppressions.list", response_model=Listing[SuppressionView])
async def list_suppressions(ask: Annotated[PageAsk, Query()], invoke: Invoke) -> Response:
    """Suppressions made here, newest first; at the account those of its customers too."""
    return await invoke(suppressions.list_suppressions, ask)


@router.post(
    "/suppressions",
    status_code=201,
    operation_id="suppressions.create",
    response_model=SuppressionView,
    responses={200: {"model": SuppressionView, "description": "It was there already."}},
)
async def create_suppression(ask: NamePerson, invoke: Invoke) -> Response:
    """Suppress a person by `profile_id` or `profile_url`: from now on never fetched, charged, shown or contacted."""
    return await invoke(
        suppressions.create_suppression, ask, status=lambda made: 201 if isinstance(made, NewSuppression) else 200
    )


@router.delete("/suppressions/{suppression_id:id}", status_code=204, operation_id="suppressions.delete")
async def delete_suppression(suppression_id: str, invoke: Invoke) -> Response:
    """Lift a suppression whose reason is `manual`; what a person asked for stays (`conflict`)."""
    return await invoke(suppressions.delete_suppression, suppression_id)


@router.get("/seen", operation_id="seen.list", response_model=Listing[SeenEntryView])
async def list_seen(ask: Annotated[ListSeen, Query()], invoke: Invoke) -> Response:
    """The seen register, newest first."""
    return await invoke(seen.list_seen, ask)


@router.patch("/seen/{profile_id:id}", operation_id="seen.change", response_model=SeenEntryView)
async def change_seen(profile_id: str, ask: ChangeSeen, invoke: Invoke) -> Response:
    """Note something about a person; the entry is made when there is none."""
    return await invoke(seen.change_seen, SeenChange(profile_id, ask))


@router.post("/seen:import", operation_id="seen.import", response_model=SeenImported)
async def import_seen(ask: ImportSeen, invoke: Invoke) -> Response:
    """Merge up to 10,000 people into the register, all or nobody; `do_not_contact` is never lowered."""
    return await invoke(seen.import_seen, ask)


@router.post("/seen:check", operation_id="seen.check", response_model=SeenChecked)
async def check_seen(ask: CheckSeen, invoke: Invoke) -> Response:
    """Ask about up to 500 people."""
    return await invoke(seen.check_seen, ask)


@router.post("/erasures", status_code=202, operation_id="erasures.create", response_model=ErasureView)
async def create_erasure(ask: RequestErasure, invoke: Invoke) -> Response:
    """Erase a person, by one of `profile_id`, `profile_url` and `email`, from the account with all its customers.

    Profile, contacts, messages, list and seen entries and candidates go; keyed hashes stay, by which the person is
    refused when met again.
    """
    return await invoke(suppressions.create_erasure, ask, location=lambda made: f"/v1/erasures/{made.id}")


@router.get("/erasures/{erasure_id:id}", operation_id="erasures.get", response_model=ErasureView)
async def get_erasure(erasure_id: str, invoke: Invoke) -> Response:
    """One erasure."""
    return await invoke(suppressions.get_erasure, erasure_id)
