"""Routes of lists of people."""

from typing import Annotated

from fastapi import Header, Query
from starlette.responses import Response

from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing, PageAsk
from api.kernel.spreadsheet import AS_CSV, spreadsheet, wants_csv
from api.people import lists
from api.people.lists import Addition, EntryChange, ListChange, ListEntry
from api.people.lists_schemas import (
    LIST_COLUMNS,
    AddPeople,
    ChangeList,
    ChangePerson,
    CreateList,
    ListPeople,
    ListPersonView,
    ListView,
    PeopleAdded,
)

router = Router(tags=["Lists"])


@router.get("/lists", operation_id="lists.list", response_model=Listing[ListView])
async def list_lists(ask: Annotated[PageAsk, Query()], invoke: Invoke) -> Response:
    """Every list, newest first."""
    return await invoke(lists.list_lists, ask)


@router.post("/lists", status_code=201, operation_id="lists.create", response_model=ListView)
async def create_list(ask: CreateList, invoke: Invoke) -> Response:
    """Make an empty list."""
    return await invoke(lists.create_list, ask, location=lambda made: f"/v1/lists/{made.id}")


@router.get("/lists/{list_id:id}", operation_id="lists.get", response_model=ListView)
async def get_list(list_id: str, invoke: Invoke) -> Response:
    """One list."""
    return await invoke(lists.get_list, list_id)


@router.patch("/lists/{list_id:id}", operation_id="lists.change", response_model=ListView)
async def change_list(list_id: str, ask: ChangeList, invoke: Invoke) -> Response:
    """Change name or description."""
    return await invoke(lists.change_list, ListChange(list_id, ask))


@router.delete("/lists/{list_id:id}", status_code=204, operation_id="lists.delete")
async def delete_list(list_id: str, invoke: Invoke) -> Response:
    """Delete a list with its entries; the people stay in the seen register."""
    return await invoke(lists.delete_list, list_id)


@router.get(
    "/lists/{list_id:id}/people",
    operation_id="lists.people.list",
    response_model=Listing[ListPersonView],
    responses=AS_CSV,
)
async def list_people(
    list_id: str,
    query: Annotated[PageAsk, Query()],
    invoke: Invoke,
    accept: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> Response:
    """A list's people, newest first; with `Accept: text/csv` a spreadsheet of all of them."""
    ask = ListPeople(list_id=list_id, **dict(query))
    if not wants_csv(accept):
        return await invoke(lists.list_people, ask)
    return await spreadsheet(invoke.pages(lists.list_people, ask), LIST_COLUMNS, name=list_id)


@router.post("/lists/{list_id:id}/people", status_code=201, operation_id="lists.people.add", response_model=PeopleAdded)
async def add_people(list_id: str, ask: AddPeople, invoke: Invoke) -> Response:
    """Put up to 10,000 people into a list, by `profile_ids` and `profile_urls`; suppressed people are left out."""
    return await invoke(lists.add_people, Addition(list_id, ask))


@router.patch(
    "/lists/{list_id:id}/people/{profile_id:id}", operation_id="lists.people.change", response_model=ListPersonView
)
async def change_person(list_id: str, profile_id: str, ask: ChangePerson, invoke: Invoke) -> Response:
    """Change status or note of a person in a list."""
    return await invoke(lists.change_person, EntryChange(ListEntry(list_id, profile_id), ask))


@router.delete("/lists/{list_id:id}/people/{profile_id:id}", status_code=204, operation_id="lists.people.remove")
async def remove_person(list_id: str, profile_id: str, invoke: Invoke) -> Response:
    """Take a person out of a list."""
    return await invoke(lists.remove_person, ListEntry(list_id, profile_id))
