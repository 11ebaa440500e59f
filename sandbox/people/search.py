"""Person search: pages of people that a query finds, in an order that does not change."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sandbox.faults import FaultKind
from sandbox.people import ask as people_ask
from sandbox.people.fields import index_of
from sandbox.people.gate import Call
from sandbox.people.population.build import Population
from sandbox.people.population.draws import Bools
from sandbox.people.presence import Presence
from sandbox.people.query import QueryRefused, compile_query
from sandbox.people.wire import Answer, ApiError, selected, titled, wanted_fields

MOST_ROWS = 100
_LAST_OFFSET = 9999
_KNOWN = frozenset(["query", "sql", "size", "scroll_token", "from", "dataset", "titlecase", "data_include", "pretty"])
# The field that a person must have to belong to a data set; None: all people, "": no person.
_DATASETS: Mapping[str, str | None] = {
    "all": None,
    "resume": None,
    "email": "work_email",
    "phone": "mobile_phone",
    "mobile_phone": "mobile_phone",
    "street_address": "",
    "consumer_social": "",
    "developer": "",
}


@dataclass(frozen=True, slots=True)
class _Page:
    """The parameters of one call."""

    size: int
    start: int
    after: int
    """The number of the last person on earlier pages, -1 for none."""
    digest: str


@dataclass(frozen=True, slots=True)
class Search:
    """Answers person/search."""

    population: Population
    presence: Presence

    def perform(self, call: Call) -> Answer:
        """Return one page.

        Raises:
            ApiError: 400 for a bad parameter or query, 404 when nothing (more) is found.
        """
        ask = call.ask
        query = self._query_of(ask)
        page = self._page_of(call, query)
        try:
            mask = compile_query(query).mask(self.population)
        except QueryRefused as refusal:
            raise ApiError(400, str(refusal)) from None
        found = np.flatnonzero(mask & self.presence.mask & self._dataset(people_ask.text(ask, "dataset")))
        rows = found[found > page.after][page.start : page.start + page.size].tolist()
        if not rows:
            raise ApiError(404, "no records were found matching your request")
        last = rows[-1]
        if page.after >= 0 and call.strike(FaultKind.DUPLICATE_ROWS):
            rows = [*found[found <= page.after][-max(1, len(rows) // 3) :].tolist(), *rows][: page.size]
            last = rows[-1]
        return self._answer(ask, rows=rows, last=last, total=len(found), page=page)

    def _answer(self, ask: Mapping[str, Any], *, rows: list[int], last: int, total: int, page: _Page) -> Answer:
        data_include = people_ask.text(ask, "data_include")
        records = [
            selected(self.population.record(number, wanted_fields(data_include)), data_include) for number in rows
        ]
        if people_ask.flag(ask, "titlecase"):
            records = [titled(record) for record in records]
        # A short page is the last one; a full last page keeps its token, and the next call is answered 404.
        token = f"{last}${page.digest}" if len(rows) == page.size else None
        body = {"status": 200, "data": records, "scroll_token": token, "total": total}
        return Answer(body, credits=len(records))

    def _query_of(self, ask: Mapping[str, Any]) -> dict[str, Any]:
        unknown = sorted(set(ask) - _KNOWN)
        if unknown:
            raise ApiError(400, f"unknown parameter {unknown[0]}")
        if "sql" in ask:
            raise ApiError(400, "sql is not supported")
        query = people_ask.json_object(ask, "query")
        if not query:
            raise ApiError(400, "query is missing")
        return query

    def _page_of(self, call: Call, query: Mapping[str, Any]) -> _Page:
        ask = call.ask
        token = people_ask.text(ask, "scroll_token")
        start = people_ask.whole(ask, "from", low=0, high=_LAST_OFFSET, default=0)
        size = people_ask.whole(ask, "size", low=1, high=MOST_ROWS, default=1)
        digest = _digest(query, people_ask.text(ask, "dataset"))
        if token is None:
            return _Page(size=size, start=start, after=-1, digest=digest)
        if "from" in ask:
            raise ApiError(400, "from cannot be used with scroll_token")
        number, _, mark = token.partition("$")
        if not number.isdigit() or mark != digest or call.strike(FaultKind.REFUSED_SCROLL_TOKEN):
            raise ApiError(400, "scroll_token is not valid for this query")
        return _Page(size=size, start=0, after=int(number), digest=digest)

    def _dataset(self, names: str | None) -> Bools:
        all_people = np.ones(len(self.population), dtype=np.bool_)
        wanted = [name.strip() for name in (names or "resume").split(",") if name.strip()]
        included = [self._members(name) for name in wanted if not name.startswith("-")]
        found = np.logical_or.reduce(included) if included else all_people
        for name in wanted:
            if name.startswith("-"):
                found = found & ~self._members(name[1:])
        return np.asarray(found, dtype=np.bool_)

    def _members(self, name: str) -> Bools:
        if name not in _DATASETS:
            raise ApiError(400, f"dataset must be of {', '.join(_DATASETS)}")
        field = _DATASETS[name]
        if field:
            return index_of(self.population).column(field).exists()
        return np.full(len(self.population), field is None, dtype=np.bool_)


def _digest(query: Mapping[str, Any], dataset: str | None) -> str:
    text = json.dumps([query, dataset], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
