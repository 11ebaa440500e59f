"""Assembles the people side: population, operations and control."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sandbox.clock import Clock
from sandbox.faults import Faults
from sandbox.people.companies import Companies
from sandbox.people.control import people_control
from sandbox.people.feeds import Feeds
from sandbox.people.gate import Gate, Operation
from sandbox.people.ledger import PROVIDER, CallLog, Credits, RateLimits
from sandbox.people.locations import Locations
from sandbox.people.lookup import Lookup
from sandbox.people.person import People
from sandbox.people.population.build import Population
from sandbox.people.presence import Presence
from sandbox.people.search import Search
from sandbox.people.suggestions import Suggestions
from sandbox.people.wire import ApiError, encoded, respond
from sandbox.side import Side
from sandbox.state import State

_ANY = ("GET", "POST", "PUT", "PATCH", "DELETE")
_GET, _POST, _BOTH = frozenset({"GET"}), frozenset({"POST"}), frozenset({"GET", "POST"})


@dataclass(frozen=True, slots=True)
class PeopleSettings:
    """Options of the people side: valid keys, latency of every call, calls per minute by operation or `*`."""

    api_keys: frozenset[str]
    latency_ms: int = 0
    per_minute: Mapping[str, int] = field(default_factory=dict)


def _operations(population: Population, presence: Presence) -> tuple[Operation, ...]:
    search = Search(population, presence)
    people = People(population, presence, Lookup(population, presence))
    companies, locations = Companies(population), Locations(population.columns.places)
    suggestions, feeds = Suggestions(population), Feeds(population, presence)
    return (
        Operation("person/search", "/v5/person/search", _BOTH, "search", search.perform),
        Operation("person/enrich", "/v5/person/enrich", _BOTH, "enrich", people.enrich),
        Operation("person/identify", "/v5/person/identify", _GET, "person_identify", people.identify),
        Operation("person/bulk", "/v5/person/bulk", _POST, "enrich", people.bulk),
        # Before the path with an id, which would match "bulk".
        Operation("person/retrieve/bulk", "/v5/person/retrieve/bulk", _POST, "retrieve", people.retrieve_bulk),
        Operation("person/retrieve", "/v5/person/retrieve/{person_id}", _GET, "retrieve", people.retrieve),
        Operation("person/subjectrequest", "/v5/person/subjectrequest", _GET, "subject_request", feeds.opt_outs),
        Operation("person/changelog", "/v5/person/changelog", _POST, "changelog", feeds.changelog),
        Operation("autocomplete", "/v5/autocomplete", _BOTH, "autocomplete", suggestions.perform),
        Operation("company/enrich", "/v5/company/enrich", _GET, "enrich_company", companies.enrich),
        Operation("company/clean", "/v5/company/clean", _BOTH, "clean_company", companies.clean),
        Operation("location/clean", "/v5/location/clean", _BOTH, "clean_location", locations.clean),
    )


async def _unknown_path(_: Request) -> Response:
    return respond(404, encoded(ApiError(404, "there is no such path").body()), {}, compress=False)


def people_side(
    *, population: Population, state: State, clock: Clock, faults: Faults, settings: PeopleSettings
) -> Side:
    """Build the people side of the sandbox."""
    presence = Presence(population, state)
    log, credits = CallLog(state, clock), Credits(state)
    limits = RateLimits(clock, dict(settings.per_minute))
    operations = _operations(population, presence)
    gate = Gate(
        clock=clock,
        faults=faults,
        log=log,
        credits=credits,
        limits=limits,
        api_keys=settings.api_keys,
        latency_ms=settings.latency_ms,
    )
    names = frozenset(operation.name for operation in operations)
    return Side(
        provider=PROVIDER,
        operations=names,
        routes=(
            *(
                Route(operation.path, gate.endpoint(operation), methods=list(_ANY), name=operation.name)
                for operation in operations
            ),
            Route("/v5/{path:path}", _unknown_path, methods=list(_ANY)),
        ),
        control=people_control(
            population=population,
            presence=presence,
            log=log,
            credits=credits,
            limits=limits,
            operations=names,
        ),
        next_at=lambda: None,
    )
