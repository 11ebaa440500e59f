"""Single people: enrich, identify, bulk enrich, retrieve and bulk retrieve."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.faults import FaultKind
from sandbox.people import ask as people_ask
from sandbox.people.gate import Call
from sandbox.people.lookup import KNOWN, Lookup, Match
from sandbox.people.population.build import Population
from sandbox.people.presence import Presence
from sandbox.people.required import fulfils
from sandbox.people.wire import Answer, ApiError, selected, titled, wanted_fields

MOST_REQUESTS = 100
_MOST_IDENTIFIED = 20
_DEFAULT_LIKELIHOOD = 2
_CONTROL = frozenset(
    {"min_likelihood", "required", "titlecase", "data_include", "include_if_matched", "pretty", "size"}
)
_RETRIEVE = frozenset({"titlecase", "pretty", "filter_updated", "request_version", "data_include"})
_NO_MATCH = "no records were found matching your request"


@dataclass(frozen=True, slots=True)
class People:
    """Answers the calls for single people."""

    population: Population
    presence: Presence
    lookup: Lookup

    def enrich(self, call: Call) -> Answer:
        """Return the best match with its likelihood; 404 when there is none."""
        return Answer(self._enriched(call.ask), credits=1)

    def identify(self, call: Call) -> Answer:
        """Return up to twenty possible people with their scores."""
        if "pdl_id" in call.ask:
            raise ApiError(400, "unknown parameter pdl_id")
        _refuse_unknown(call.ask, KNOWN | _CONTROL)
        matches = [
            {
                "data": self._shown(match.number, call.ask),
                "match_score": min(99, match.likelihood * 10),
                "matched_on": list(match.matched),
            }
            for match in self.lookup.find(call.ask)[:_MOST_IDENTIFIED]
        ]
        if not matches:
            raise ApiError(404, _NO_MATCH)
        return Answer({"status": 200, "matches": matches}, credits=1)

    def bulk(self, call: Call) -> Answer:
        """Enrich up to a hundred people; a bare list in the order of the requests."""
        shared = {name: value for name, value in call.ask.items() if name != "requests"}
        _refuse_unknown(shared, _CONTROL)
        items = []
        for request in _requests(call.ask):
            item = self._bulk_item(call, shared, request)
            if "metadata" in request:
                item["metadata"] = request["metadata"]
            items.append(item)
        return Answer(items, credits=sum(item["status"] == 200 for item in items))

    def retrieve(self, call: Call) -> Answer:
        """Return one record by id."""
        self._refuse_when_disabled(call)
        _refuse_unknown(call.ask, _RETRIEVE)
        number = self.presence.resolve(call.path["person_id"])
        if number is None:
            raise ApiError(404, _NO_MATCH)
        return Answer({"status": 200, "data": self._shown(number, call.ask), "billed": True}, credits=1)

    def retrieve_bulk(self, call: Call) -> Answer:
        """Return up to a hundred records by id; a bare list in the order of the requests."""
        self._refuse_when_disabled(call)
        items = []
        for request in _requests(call.ask):
            person_id = request.get("id")
            if not isinstance(person_id, str):
                raise ApiError(400, "requests: each needs an id")
            number = self.presence.resolve(person_id)
            item: dict[str, Any] = {"status": 404}
            if number is not None:
                item = {"status": 200, "data": self._shown(number, call.ask), "billed": True}
            if "metadata" in request:
                item["metadata"] = request["metadata"]
            items.append(item)
        return Answer(items, credits=sum(item["status"] == 200 for item in items))

    def _bulk_item(self, call: Call, shared: Mapping[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
        params = request.get("params")
        if not isinstance(params, dict):
            raise ApiError(400, "requests: each needs params")
        struck = call.strike(FaultKind.ITEM_ERROR)
        if struck:
            return ApiError(struck.status or 500, "this item could not be processed").body()
        try:
            return self._enriched({name: value for name, value in {**shared, **params}.items() if value is not None})
        except ApiError as error:
            return error.body()

    def _enriched(self, ask: Mapping[str, Any]) -> dict[str, Any]:
        _refuse_unknown(ask, KNOWN | _CONTROL)
        least = people_ask.whole(ask, "min_likelihood", low=0, high=10, default=_DEFAULT_LIKELIHOOD)
        required = people_ask.text(ask, "required")
        for match in self.lookup.find(ask):
            if match.likelihood >= least and fulfils(required, self.population.record(match.number)):
                return self._enrichment(match, ask)
        raise ApiError(404, _NO_MATCH)

    def _enrichment(self, match: Match, ask: Mapping[str, Any]) -> dict[str, Any]:
        body = {"status": 200, "likelihood": match.likelihood, "data": self._shown(match.number, ask)}
        if people_ask.flag(ask, "include_if_matched"):
            body["matched"] = list(match.matched)
        return body

    def _shown(self, number: int, ask: Mapping[str, Any]) -> dict[str, Any]:
        data_include = people_ask.text(ask, "data_include")
        record = selected(self.population.record(number, wanted_fields(data_include)), data_include)
        return titled(record) if people_ask.flag(ask, "titlecase") else record

    def _refuse_when_disabled(self, call: Call) -> None:
        fault = call.strike(FaultKind.RETRIEVE_DISABLED)
        if fault is not None:
            raise ApiError(fault.status or 403, "this key has no access to the retrieve API")


def _refuse_unknown(ask: Mapping[str, Any], known: frozenset[str]) -> None:
    unknown = sorted(set(ask) - known)
    if unknown:
        raise ApiError(400, f"unknown parameter {unknown[0]}")


def _requests(ask: Mapping[str, Any]) -> list[dict[str, Any]]:
    requests = ask.get("requests")
    if not isinstance(requests, list) or not 1 <= len(requests) <= MOST_REQUESTS:
        raise ApiError(400, f"requests must be a list of 1 to {MOST_REQUESTS} objects")
    if not all(isinstance(request, dict) for request in requests):
        raise ApiError(400, f"requests must be a list of 1 to {MOST_REQUESTS} objects")
    return requests
