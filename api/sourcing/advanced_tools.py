"""The tools for those who build a search piece by piece, and the raw layer."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field, JsonValue, model_validator

from api.events import events
from api.events.schemas import EventView, ListEvents
from api.kernel.operation import Operation
from api.kernel.schemas import Listing
from api.mcp.invocation import Invocation, Json, within
from api.mcp.tool import Arguments, Executing, Tool, asked_of, simple
from api.mcp.toolsets import Toolset
from api.people import suppressions
from api.people.schemas import NamePerson, SuppressionView
from api.sourcing import lookups, plans, raw
from api.sourcing.lookups_schemas import (
    AreaView,
    CompaniesFetched,
    CompanyView,
    FetchCompanies,
    FilterValue,
    FindArea,
    FindCompanies,
    FindFilterValues,
    FindLocations,
    LocationView,
)
from api.sourcing.plans import IntentChange
from api.sourcing.plans_schemas import CreateIntent, CreatePlan, GivenIntent, IntentView, PlanView
from api.sourcing.raw_schemas import MatchPerson, PeopleFound, PersonMatched, PricePreview, SearchPeople
from models.base.errors import InvalidRequest


class ResolveLocation(FindLocations, Arguments):
    """A place by name."""


class ResolveArea(FindArea, Arguments):
    """A circle around a town, given by name or by id."""


class ResolveCompanies(FindCompanies, Executing):
    """A company by name or by domain."""

    live: bool = Field(
        default=False,
        description="true: ask the live source for exactly this one, with industry and size. {price.live_company}"
        " credit when it is found"
        " and was not known; a preview of the price without confirm.",
    )

    @model_validator(mode="after")
    def _one_way(self) -> "ResolveCompanies":
        if not self.live and {"confirm", "idempotency_key"} & self.model_fields_set:
            raise InvalidRequest("confirm belongs to live: looking up what is known is free.", field="confirm")
        if self.live and (self.q is None) is (self.domain is None):
            raise InvalidRequest("Give q or domain.", field="q")
        if self.live and "limit" in self.model_fields_set:
            raise InvalidRequest("limit does not go with live, which looks for one company.", field="limit")
        return self


async def _companies(call: Invocation, asked: ResolveCompanies) -> Json:
    if not asked.live:
        return await call.invoke(lookups.find_companies, asked.narrowed(FindCompanies))
    names, domains = ([one] if one is not None else [] for one in (asked.q, asked.domain))
    wanted = asked_of(FetchCompanies, {"names": names, "domains": domains})
    return await call.invoke(raw.fetch_companies, wanted)


def _looked_up(given: Mapping[str, JsonValue]) -> Operation[Any, Any]:
    return raw.fetch_companies if given.get("live") is True else lookups.find_companies


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
        return await call.invoke(plans.change_intent, IntentChange(asked.intent_id, asked.intent))


class PlanSearch(CreatePlan, Arguments):
    """A stored intent, or a description and/or an intent."""


class SearchPeopleRaw(SearchPeople, Executing):
    """Filters as the people source takes them."""


class Match(MatchPerson, Executing):
    """A person by name and employer."""


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
        description="Ids of the places that a name can mean, best first: filters take ids, never names. Use it before"
        " refine_search or update_intent with a location. Free.",
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
    Tool(
        name="resolve_companies",
        title="Resolve companies",
        toolset=Toolset.ADVANCED,
        description="Ids of companies by name or domain, best first. Free. What is not known can be asked of the live"
        " source with live=true and confirm=true: {price.live_company} credit if it is found.",
        arguments=ResolveCompanies,
        answers=Listing[CompanyView] | CompaniesFetched | PricePreview,
        run=_companies,
        operation=lookups.find_companies,
        chosen=_looked_up,
        names={"names": "q", "names.0": "q", "domains": "domain", "domains.0": "domain"},
        open_world=True,
    ),
    _row(
        lookups.find_filter_values,
        ListFilterValues,
        name="list_filter_values",
        title="List filter values",
        description="The values that a filter takes: countries, languages, seniority, functions, industries, titles."
        " Use it before search_people_raw. Free.",
        answers=Listing[FilterValue],
    ),
    _row(
        plans.create_intent,
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
        operation=plans.change_intent,
    ),
    _row(
        plans.create_plan,
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
        " {price.lead} credit for each person you have not been shown before. Without confirm it shows the most it"
        " can cost.",
        answers=PeopleFound | PricePreview,
        open_world=True,
    ),
    _row(
        raw.match_person,
        Match,
        name="match_person",
        title="Match a person",
        description="The person of this name at this employer, never a guess: match is null if no person clearly stands"
        " out. A match costs {price.lead} credit, once per person, and {price.live_profile} more if the profile is"
        " fetched live; no match is free. Without confirm it shows the most it can cost.",
        answers=PersonMatched | PricePreview,
        open_world=True,
    ),
    _row(
        suppressions.create_suppression,
        AddSuppression,
        name="add_suppression",
        title="Add a suppression",
        description="Never fetch, charge, show or contact a person again, and stop what is planned for them. Use it"
        " when a person asks to be left alone. Free.",
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
