"""The tools of lists and of the seen register."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from api.kernel.schemas import Answer, Listing, Name, PageAsk
from api.mcp.invocation import Invocation, Json
from api.mcp.tool import Arguments, Tool, simple
from api.mcp.toolsets import Toolset
from api.people import lists, seen
from api.people.lists import Addition, NewList
from api.people.schemas import (
    AddPeople,
    ChangeSeen,
    CheckSeen,
    ListPeople,
    ListPersonView,
    ListView,
    PeopleAdded,
    ProfileId,
    SeenChecked,
    SeenEntryView,
)
from api.people.seen import SeenChange
from models.base.errors import InvalidRequest

ListId = Annotated[str, Field(description="Of list_lists or save_to_list.")]


class SaveToList(AddPeople, Arguments):
    """A list, new or there, and the people to put into it."""

    list_id: str | None = Field(default=None, description="A list that there is. Or give list_name.")
    list_name: Name | None = Field(default=None, description="Makes a new list of this name.")

    @model_validator(mode="after")
    def _one_list(self) -> "SaveToList":
        if (self.list_id is None) is (self.list_name is None):
            raise InvalidRequest("Give list_id, or list_name for a new list.", field="list_id")
        return self


class ListWithPeople(Answer):
    """A list and a page of its people, newest first."""

    object: Literal["list_people"] = "list_people"
    list: ListView
    people: Listing[ListPersonView]


async def _save(call: Invocation, asked: SaveToList) -> Json:
    people = asked.narrowed(AddPeople)
    if asked.list_name is not None:
        return await call.invoke(lists.create_with_people, NewList(asked.list_name, people))
    if asked.list_id is None:
        raise AssertionError("one of both was given")
    return await call.invoke(lists.add_people, Addition(asked.list_id, people))


class ListLists(PageAsk, Arguments):
    """Which lists to show, newest first."""


class GetList(PageAsk, Arguments):
    """A list, and which of its people."""

    list_id: ListId


async def _get(call: Invocation, asked: GetList) -> ListWithPeople:
    shown = await call.read(lists.get_list, asked.list_id)
    ask = ListPeople.model_validate({"list_id": asked.list_id, **dict(asked.narrowed(PageAsk))})
    return ListWithPeople(list=shown, people=await call.read(lists.list_people, ask))


class SetCandidateStatus(ChangeSeen, Arguments):
    """A person, and what is to be noted."""

    profile_id: ProfileId = Field(description="The person.")


class CheckCandidates(CheckSeen, Arguments):
    """People to look up in the register."""


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="save_to_list",
        title="Save people to a list",
        toolset=Toolset.SOURCING,
        description="Put people into a list, or into a new one (list_name). People who are in it stay as they are, so"
        " repeating does no harm; suppressed people are left out and counted. Free.",
        arguments=SaveToList,
        answers=PeopleAdded,
        run=_save,
        operation=lists.add_people,
    ),
    Tool(
        name="list_lists",
        title="List lists",
        toolset=Toolset.SOURCING,
        description="Every list of people, newest first. Free.",
        arguments=ListLists,
        answers=Listing[ListView],
        run=simple(lists.list_lists, lambda asked: asked.narrowed(PageAsk)),
        operation=lists.list_lists,
    ),
    Tool(
        name="get_list",
        title="Get a list",
        toolset=Toolset.SOURCING,
        description="A list and its people, newest first, each with the facts you have a right to. Free.",
        arguments=GetList,
        answers=ListWithPeople,
        run=_get,
        operation=lists.get_list,
        open_world=True,
    ),
    Tool(
        name="set_candidate_status",
        title="Set a candidate's status",
        toolset=Toolset.SOURCING,
        description="Note about a person, in the seen register: status, tags, a note, or do_not_contact=true, which"
        " stops everything that is planned for them. Free.",
        arguments=SetCandidateStatus,
        answers=SeenEntryView,
        run=simple(seen.change_seen, lambda asked: SeenChange(asked.profile_id, asked.narrowed(ChangeSeen))),
        operation=seen.change_seen,
        destructive=True,
    ),
    Tool(
        name="check_candidates",
        title="Check candidates",
        toolset=Toolset.SOURCING,
        description="Ask about up to 500 people before doing anything with them: seen, contacted, do_not_contact,"
        " suppressed? One row for each, ids first. Free.",
        arguments=CheckCandidates,
        answers=SeenChecked,
        run=simple(seen.check_seen, lambda asked: asked.narrowed(CheckSeen)),
        operation=seen.check_seen,
    ),
)
