"""The tools for those who build a search piece by piece, and the raw layer."""

from typing import Any

from pydantic import Field

from api.mcp.invocation import Invocation, Json, within
from api.mcp.tool import Arguments, Executing, Tool, simple
from api.mcp.toolsets import Toolset
from api.operations import events, intents, lookups, raw, search_plans, suppressions
from api.operations.intents import IntentChange
from api.schemas.events import EventView, ListEvents
from api.schemas.intents import CreateIntent, GivenIntent, IntentView
from api.schemas.lists import Listing
from api.schemas.lookups import (
    AreaView,
    CompanyView,
    FilterValue,
    FindArea,
    FindCompanies,
    FindFilterValues,
    FindLocations,
    LocationView,
)
from api.schemas.raw import MatchPerson, PeopleFound, PersonMatched, PricePreview, SearchPeople
from api.schemas.registers import NamePerson, SuppressionView
from api.schemas.search_plans import CreatePlan, PlanView


class ResolveLocation(FindLocations, Arguments):
    """A place by name."""


class ResolveArea(FindArea, Arguments):
    """A circle around a town, given by name or by id."""


class ResolveCompanies(FindCompanies, Arguments):
    """A company by name or by domain."""


class ListFilterValues(FindFilterValues, Arguments):
    """A filter."""


class DraftIntent(CreateIntent, Arguments):
    """A description, an intent, or both."""


class UpdateIntent(Arguments):
    """An intent, and what is to be different."""

    intent_id: str = Field(description="Of draft_intent or start_search.")
    intent: GivenIntent = Field(description="Changes: a given field replaces, null clears, what is left out stays.")


async def _update(call: Invocation, asked: UpdateIntent) -> Json:
    with within("intent"):
        return await call.invoke(intents.change_intent, IntentChange(asked.intent_id, asked.intent))


class PlanSearch(CreatePlan, Arguments):
    """A stored intent, or a description and/or an intent."""


class SearchPeopleRaw(SearchPeople, Executing):
    """Filters as the people source takes them."""


class Match(MatchPerson, Executing):
    """Somebody by name and employer."""


class AddSuppression(NamePerson, Arguments):
    """One person."""


class ListAllEvents(ListEvents, Arguments):
    """Which events to show, newest first."""


def _row(operation: Any, arguments: Any, **row: Any) -> Tool[Any]:  # noqa: ANN401 - of any types that belong together
    """A tool whose arguments are those of its operation, and what else a tool takes."""
    ask = next(base for base in arguments.__bases__ if not issubclass(base, Arguments))
    run = simple(operation, lambda asked: asked.narrowed(ask))
    return Tool(toolset=Toolset.ADVANCED, operation=operation, arguments=arguments, run=run, **row)


TOOLS: tuple[Tool[Any], ...] = (
    _row(
        lookups.find_locations,
        ResolveLocation,
        name="resolve_location",
        title="Resolve a location",
        description="Ids of the places that a name can mean, best first. Filters take ids, not names. Free.",
        answers=Listing[LocationView],
    ),
    _row(
        lookups.find_area,
        ResolveArea,
        name="resolve_area",
        title="Resolve an area",
        description="The location ids within a radius of a town, for search_people_raw. Free.",
        answers=AreaView,
    ),
    _row(
        lookups.find_companies,
        ResolveCompanies,
        name="resolve_companies",
        title="Resolve companies",
        description="Ids of companies by name or domain. Free.",
        answers=Listing[CompanyView],
    ),
    _row(
        lookups.find_filter_values,
        ListFilterValues,
        name="list_filter_values",
        title="List filter values",
        description="The values that a filter takes: countries, languages, seniority, functions, industries, titles."
        " Free.",
        answers=Listing[FilterValue],
    ),
    _row(
        intents.create_intent,
        DraftIntent,
        name="draft_intent",
        title="Draft an intent",
        description="Turn a job description into an editable search profile with must, nice and exclude, and see where"
        " each value was read. Free. start_search does this and plans at once.",
        answers=IntentView,
    ),
    Tool(
        name="update_intent",
        title="Update an intent",
        toolset=Toolset.ADVANCED,
        description="Change a stored intent. Plans made before stay as they are: plan again afterwards. Free.",
        arguments=UpdateIntent,
        answers=IntentView,
        run=_update,
        operation=intents.change_intent,
    ),
    _row(
        search_plans.create_plan,
        PlanSearch,
        name="plan_search",
        title="Plan a search",
        description="The ladder of tiers with every filter, and the estimate that start_search shows in short. Free."
        " The plan's id is a search_id.",
        answers=PlanView,
    ),
    _row(
        raw.search_people,
        SearchPeopleRaw,
        name="search_people_raw",
        title="Search people, raw",
        description="One page of a search with the source's own filters; an unsupported one is refused, never ignored."
        " 1 credit for each person you have not been shown before. Without confirm it shows the most it can cost.",
        answers=PeopleFound | PricePreview,
        open_world=True,
    ),
    _row(
        raw.match_person,
        Match,
        name="match_person",
        title="Match a person",
        description="The one person of this name at this employer, never a guess: match is null when nobody clearly"
        " stands out. 2 credits for a profile fetched live. Without confirm it shows the most it can cost.",
        answers=PersonMatched | PricePreview,
        open_world=True,
    ),
    _row(
        suppressions.create_suppression,
        AddSuppression,
        name="add_suppression",
        title="Add a suppression",
        description="Never fetch, charge, show or contact a person again, and stop what is planned for them. Use it"
        " when somebody asks to be left alone. Free.",
        answers=SuppressionView,
        destructive=True,
    ),
    _row(
        events.list_events,
        ListAllEvents,
        name="list_events",
        title="List events",
        description="What happened in the last 30 days: ids, statuses and counts. To poll, pass the newest created_at"
        " you have seen as created_after. Free.",
        answers=Listing[EventView],
    ),
)
