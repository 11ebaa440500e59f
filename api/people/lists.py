"""Lists of people (contract, section 5 "Registers")."""

from dataclasses import dataclass

from api.kernel.operation import Context, Effect, Noun, Sheet, operation
from api.kernel.schemas import Listing, PageAsk
from api.people.named_people import find_people, in_lists, sort_out, writable
from api.people.schemas import (
    LIST_COLUMNS,
    MAX_BULK,
    AddPeople,
    ChangeList,
    ChangePerson,
    CreateList,
    ListPeople,
    ListPersonView,
    ListView,
    PeopleAdded,
    RegisterOmitted,
)
from models.access.rules.keys import Scope
from models.base.errors import InvalidRequest, NotFound
from models.people.store import lists, people
from models.people.store.lists import PersonFacts
from models.people.tables import PeopleList

LISTS = Noun("Lists", "Lists of people, kept by hand.")


@dataclass(frozen=True, slots=True)
class ListChange:
    """A list and what is to become of it."""

    list_id: str
    change: ChangeList


@dataclass(frozen=True, slots=True)
class Addition:
    """A list and who is to be put into it."""

    list_id: str
    people: AddPeople


@dataclass(frozen=True, slots=True)
class NewList:
    """A list to be made, and who is to be put into it."""

    name: str
    people: AddPeople


@dataclass(frozen=True, slots=True)
class ListEntry:
    """A person in a list."""

    list_id: str
    profile_id: str


@dataclass(frozen=True, slots=True)
class EntryChange:
    """A person in a list and what is to be noted."""

    list_id: str
    profile_id: str
    change: ChangePerson


@operation("lists.list", scope=Scope.SOURCING_READ, effect=Effect.READ, route=LISTS.get("/lists"))
async def list_lists(ctx: Context, ask: PageAsk) -> Listing[ListView]:
    """Every list, newest first."""
    paging = ctx.paging(ask)
    found = await lists.page_of_people_lists(ctx.session, ctx.tenant, paging.page)
    counts = await lists.count_list_people(ctx.session, ctx.tenant, [row.id for row in found.rows])
    return paging.listing(found, lambda row: _shown(row, counts.get(row.id, 0)))


@operation(
    "lists.create",
    scope=Scope.SOURCING_WRITE,
    effect=Effect.WRITE,
    route=LISTS.post("/lists", status=201, location="/lists/{answer.id}"),
)
async def create_list(ctx: Context, ask: CreateList) -> ListView:
    """Make an empty list."""
    made = await lists.create_people_list(ctx.session, ctx.tenant, name=ask.name, description=ask.description)
    return _shown(made, 0)


@operation("lists.get", scope=Scope.SOURCING_READ, effect=Effect.READ, route=LISTS.get("/lists/{list_id:id}"))
async def get_list(ctx: Context, list_id: str) -> ListView:
    """One list."""
    return await _view(ctx, await lists.load_people_list(ctx.session, ctx.tenant, list_id))


@operation("lists.change", scope=Scope.SOURCING_WRITE, effect=Effect.WRITE, route=LISTS.patch("/lists/{list_id:id}"))
async def change_list(ctx: Context, ask: ListChange) -> ListView:
    """Change name or description."""
    change, given = ask.change, ask.change.model_fields_set
    if "name" in given and change.name is None:
        raise InvalidRequest("name cannot be null.", field="name")
    row = await lists.load_people_list(ctx.session, ctx.tenant, ask.list_id, keep=True)
    for name in given:
        setattr(row, name, getattr(change, name))
    row.updated_at = ctx.now
    return await _view(ctx, row)


@operation("lists.delete", scope=Scope.SOURCING_WRITE, effect=Effect.WRITE, route=LISTS.delete("/lists/{list_id:id}"))
async def delete_list(ctx: Context, list_id: str) -> None:
    """Delete a list with its entries; the people stay in the seen register."""
    await lists.delete_people_list(ctx.session, ctx.tenant, list_id)


@operation(
    "lists.people.list",
    scope=Scope.SOURCING_READ,
    effect=Effect.READ,
    route=LISTS.get("/lists/{list_id:id}/people", sheet=Sheet(LIST_COLUMNS)),
)
async def list_people(ctx: Context, ask: ListPeople) -> Listing[ListPersonView]:
    """A list's people, newest first; with `Accept: text/csv` a spreadsheet of all of them."""
    await lists.load_people_list(ctx.session, ctx.tenant, ask.list_id)
    paging = ctx.paging(ask, within=ask.list_id)
    found = await lists.page_of_list_people(ctx.session, ctx.tenant, ask.list_id, paging.page)
    known = await lists.facts_of_people(ctx.session, ctx.tenant, [row.profile_id for row in found.rows])
    nothing = PersonFacts(None, None, None, None)
    return paging.listing(found, lambda row: ListPersonView.of(row, known.get(row.profile_id, nothing)))


@operation(
    "lists.people.add",
    scope=Scope.SOURCING_WRITE,
    effect=Effect.WRITE,
    route=LISTS.post("/lists/{list_id:id}/people", status=201),
)
async def add_people(ctx: Context, ask: Addition) -> PeopleAdded:
    """Put up to 10,000 people into a list, by `profile_ids` and `profile_urls`; suppressed people are left out."""
    owner = await lists.load_people_list(ctx.session, ctx.tenant, ask.list_id, keep=True)
    named = in_lists(ask.people.profile_ids, ask.people.profile_urls, most=MAX_BULK)
    sorted_out = await sort_out(ctx, await find_people(ctx, named))
    added = await lists.add_to_list(
        ctx.session, owner, sorted_out.places, status=ask.people.status, note=ask.people.note
    )
    return PeopleAdded(
        list_id=owner.id,
        added=added,
        already_there=len(sorted_out.places) - added,
        omitted=RegisterOmitted(suppressed=sorted_out.suppressed, duplicates=sorted_out.duplicates),
    )


@operation("lists.create_with_people", scope=Scope.SOURCING_WRITE, effect=Effect.WRITE)
async def create_with_people(ctx: Context, ask: NewList) -> PeopleAdded:
    """Make a list of people: all of it, or no list either. Without a route of its own."""
    made = await create_list.handler(ctx, CreateList(name=ask.name))
    return await add_people.handler(ctx, Addition(made.id, ask.people))


@operation(
    "lists.people.change",
    scope=Scope.SOURCING_WRITE,
    effect=Effect.WRITE,
    route=LISTS.patch("/lists/{list_id:id}/people/{profile_id:id}"),
)
async def change_person(ctx: Context, ask: EntryChange) -> ListPersonView:
    """Change status or note of a person in a list."""
    owner = await lists.load_people_list(ctx.session, ctx.tenant, ask.list_id, keep=True)
    profile_id = await writable(ctx, ask.profile_id)
    row = await lists.lock_list_entry(ctx.session, owner.id, profile_id)
    for name in ask.change.model_fields_set:
        setattr(row, name, getattr(ask.change, name))
    row.updated_at = ctx.now
    await ctx.session.flush()
    known = await lists.facts_of_people(ctx.session, ctx.tenant, [profile_id])
    return ListPersonView.of(row, known[profile_id])


@operation(
    "lists.people.remove",
    scope=Scope.SOURCING_WRITE,
    effect=Effect.WRITE,
    route=LISTS.delete("/lists/{list_id:id}/people/{profile_id:id}"),
)
async def remove_person(ctx: Context, ask: ListEntry) -> None:
    """Take a person out of a list."""
    owner = await lists.load_people_list(ctx.session, ctx.tenant, ask.list_id, keep=True)
    standing = (await people.lock_people(ctx.session, [ask.profile_id])).get(ask.profile_id)
    if standing is None:
        raise NotFound("This person is not in the list.")
    await ctx.session.delete(await lists.lock_list_entry(ctx.session, owner.id, standing))


async def _view(ctx: Context, row: PeopleList) -> ListView:
    await ctx.session.flush()
    counts = await lists.count_list_people(ctx.session, ctx.tenant, [row.id])
    return _shown(row, counts.get(row.id, 0))


def _shown(row: PeopleList, people_count: int) -> ListView:
    shown = row.model_dump(include=set(ListView.model_fields))
    return ListView.model_validate(shown | {"people_count": people_count})
