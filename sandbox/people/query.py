"""Reads and evaluates the subset of Elasticsearch queries that the provider accepts.

`matching(population, query)` returns the ids of the people a query finds; `compile_query` checks a query without
any population. Everything outside the documented clauses is refused with the clause or field named.
"""

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from sandbox.people.columns import NumberColumn, WordColumn, tokens_of, wildcard
from sandbox.people.fields import FIELDS, Index, Kind, index_of
from sandbox.people.population.build import Population
from sandbox.people.population.draws import Bools, Ints

MOST_TERMS = 1000
_BOOL_PARTS = frozenset({"must", "must_not", "should"})
_EPOCH = date(1970, 1, 1)
_COMPARISONS: Mapping[str, Callable[[Ints, int], Bools]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}
Scalar = str | int | float | bool


class QueryRefused(ValueError):
    """The provider would answer 400; the message names the clause or the field."""


class Clause(ABC):
    """One condition on people."""

    @abstractmethod
    def evaluate(self, index: Index, people: int) -> Bools:
        """Return for each person whether the condition holds."""


@dataclass(frozen=True, slots=True)
class MatchAll(Clause):
    """All people."""

    def evaluate(self, index: Index, people: int) -> Bools:
        """Choose all people."""
        return np.ones(people, dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Bool(Clause):
    """All of `must`, none of `must_not`; `should` counts only where there is no `must`."""

    must: tuple[Clause, ...]
    must_not: tuple[Clause, ...]
    should: tuple[Clause, ...]

    def evaluate(self, index: Index, people: int) -> Bools:
        """Combine the parts."""
        found = np.ones(people, dtype=np.bool_)
        for clause in self.must:
            found &= clause.evaluate(index, people)
        for clause in self.must_not:
            found &= ~clause.evaluate(index, people)
        if self.should and not self.must:
            any_of = np.zeros(people, dtype=np.bool_)
            for clause in self.should:
                any_of |= clause.evaluate(index, people)
            found &= any_of
        return found


@dataclass(frozen=True, slots=True)
class Exists(Clause):
    """The field has a value."""

    field: str

    def evaluate(self, index: Index, people: int) -> Bools:
        """Choose people who have one."""
        return index.column(self.field).exists()


@dataclass(frozen=True, slots=True)
class Comparison(Clause):
    """A test on the whole value or the tokens of one text field."""

    field: str
    test: Callable[[WordColumn], Bools]

    def evaluate(self, index: Index, people: int) -> Bools:
        """Choose people with a value that passes."""
        column = index.column(self.field)
        if not isinstance(column, WordColumn):
            raise TypeError(self.field)
        return self.test(column)


@dataclass(frozen=True, slots=True)
class Within(Clause):
    """A test on one number or date field."""

    field: str
    bounds: tuple[tuple[Callable[[Ints, int], Bools], int], ...]

    def evaluate(self, index: Index, people: int) -> Bools:
        """Choose people with a value inside all bounds."""
        column = index.column(self.field)
        if not isinstance(column, NumberColumn):
            raise TypeError(self.field)
        return column.fulfilling(self._inside)

    def _inside(self, numbers: Ints) -> Bools:
        inside = np.ones(len(numbers), dtype=np.bool_)
        for compare, bound in self.bounds:
            inside &= compare(numbers, bound)
        return inside


def _only_entry(body: object, clause: str) -> tuple[str, Any]:
    if not isinstance(body, dict) or len(body) != 1:
        raise QueryRefused(f"[{clause}] takes an object with exactly one field")
    ((field, value),) = body.items()
    return field, value


def _kind_of(field: str, clause: str) -> Kind:
    if field not in FIELDS:
        raise QueryRefused(f"[{clause}] unknown field [{field}]")
    return FIELDS[field].kind


def _scalar(value: object, clause: str, field: str) -> Scalar:
    if isinstance(value, str | int | float):
        return value
    raise QueryRefused(f"[{clause}] takes a plain value for field [{field}]")


def _text(value: object, clause: str, field: str) -> str:
    if not isinstance(value, str):
        raise QueryRefused(f"[{clause}] takes text for field [{field}]")
    return value


def _day(value: object, clause: str, field: str) -> int:
    parts = str(value).split("-")
    try:
        year, month, day = (*map(int, parts), 1, 1)[:3]
        return (date(year, month, day) - _EPOCH).days
    except ValueError:
        raise QueryRefused(f"[{clause}] takes yyyy, yyyy-MM or yyyy-MM-dd for field [{field}]") from None


def _number(value: object, clause: str, field: str, kind: Kind) -> int:
    if kind is Kind.DATE:
        return _day(value, clause, field)
    if isinstance(value, bool) or not isinstance(value, int):
        raise QueryRefused(f"[{clause}] takes a whole number for field [{field}]")
    return value


def _equal(clause: str, field: str, values: Sequence[Scalar]) -> Clause:
    """Compare whole values on a keyword, one token on a text field, the number on others."""
    kind = _kind_of(field, clause)
    if kind is Kind.OBJECT:
        raise QueryRefused(f"[{clause}] field [{field}] supports only [exists]")
    if kind in (Kind.INTEGER, Kind.DATE):
        numbers = [_number(value, clause, field, kind) for value in values]
        return Bool(
            must=(),
            must_not=(),
            should=tuple(Within(field, ((operator.eq, number),)) for number in numbers) or (_no_person(),),
        )
    words = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
    if kind is Kind.TEXT:
        return Comparison(field, lambda column: column.with_any_token(words))
    return Comparison(field, lambda column: column.equal(words))


def _no_person() -> Clause:
    return Bool(must=(), must_not=(MatchAll(),), should=())


def _read_term(body: object) -> Clause:
    field, value = _only_entry(body, "term")
    return _equal("term", field, [_scalar(value, "term", field)])


def _read_terms(body: object) -> Clause:
    field, values = _only_entry(body, "terms")
    if not isinstance(values, list):
        raise QueryRefused(f"[terms] takes a list for field [{field}]")
    if len(values) > MOST_TERMS:
        raise QueryRefused(f"[terms] takes at most {MOST_TERMS} values for field [{field}]")
    return _equal("terms", field, [_scalar(value, "terms", field) for value in values])


def _read_match(body: object) -> Clause:
    field, value = _only_entry(body, "match")
    scalar = _scalar(value, "match", field)
    if _kind_of(field, "match") is Kind.TEXT:
        tokens = tokens_of(str(scalar))
        return Comparison(field, lambda column: column.with_any_token(tokens))
    return _equal("match", field, [scalar])


def _read_match_phrase(body: object) -> Clause:
    field, value = _only_entry(body, "match_phrase")
    scalar = _scalar(value, "match_phrase", field)
    if _kind_of(field, "match_phrase") is Kind.TEXT:
        tokens = tokens_of(str(scalar))
        return Comparison(field, lambda column: column.with_phrase(tokens))
    return _equal("match_phrase", field, [scalar])


def _read_pattern(clause: str, test: Callable[[str], Callable[[str], bool]]) -> Callable[[object], Clause]:
    def read(body: object) -> Clause:
        field, value = _only_entry(body, clause)
        pattern = _text(value, clause, field)
        kind = _kind_of(field, clause)
        if kind is Kind.TEXT:
            return Comparison(field, lambda column: column.with_token(test(pattern)))
        if kind is Kind.KEYWORD:
            return Comparison(field, lambda column: column.fulfilling(test(pattern)))
        raise QueryRefused(f"[{clause}] is not supported on field [{field}] of kind {kind}")

    return read


def _read_range(body: object) -> Clause:
    field, bounds = _only_entry(body, "range")
    kind = _kind_of(field, "range")
    if kind not in (Kind.INTEGER, Kind.DATE):
        raise QueryRefused(f"[range] is not supported on field [{field}] of kind {kind}")
    if not isinstance(bounds, dict) or not bounds:
        raise QueryRefused(f"[range] takes gt, gte, lt or lte for field [{field}]")
    read = []
    for name, value in bounds.items():
        if name not in _COMPARISONS:
            raise QueryRefused(f"[range] unknown parameter [{name}] for field [{field}]")
        read.append((_COMPARISONS[name], _number(value, "range", field, kind)))
    return Within(field, tuple(read))


def _read_exists(body: object) -> Clause:
    name, field = _only_entry(body, "exists")
    if name != "field":
        raise QueryRefused(f"[exists] unknown parameter [{name}]")
    field = _text(field, "exists", "field")
    _kind_of(field, "exists")
    return Exists(field)


def _read_match_all(body: object) -> Clause:
    if body != {}:
        raise QueryRefused("[match_all] takes an empty object")
    return MatchAll()


def _read_bool(body: object) -> Clause:
    if not isinstance(body, dict):
        raise QueryRefused("[bool] takes an object")
    unknown = sorted(set(body) - _BOOL_PARTS)
    if unknown:
        raise QueryRefused(f"[bool] does not support [{unknown[0]}]")
    return Bool(
        must=_read_part(body, "must"),
        must_not=_read_part(body, "must_not"),
        should=_read_part(body, "should"),
    )


def _read_part(body: Mapping[str, object], part: str) -> tuple[Clause, ...]:
    clauses = body.get(part, [])
    if isinstance(clauses, dict):
        clauses = [clauses]
    if not isinstance(clauses, list):
        raise QueryRefused(f"[bool] takes clauses in [{part}]")
    return tuple(_read_clause(clause) for clause in clauses)


_READERS: Mapping[str, Callable[[object], Clause]] = {
    "bool": _read_bool,
    "term": _read_term,
    "terms": _read_terms,
    "match": _read_match,
    "match_phrase": _read_match_phrase,
    "prefix": _read_pattern("prefix", lambda start: lambda value: value.startswith(start)),
    "wildcard": _read_pattern("wildcard", wildcard),
    "range": _read_range,
    "exists": _read_exists,
    "match_all": _read_match_all,
}


def _read_clause(clause: object) -> Clause:
    if not isinstance(clause, dict) or len(clause) != 1:
        raise QueryRefused("a clause is an object with exactly one of: " + ", ".join(_READERS))
    ((name, body),) = clause.items()
    if name not in _READERS:
        raise QueryRefused(f"unsupported clause [{name}]")
    return _READERS[name](body)


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    """A query that was read and found valid."""

    clause: Clause

    def mask(self, population: Population) -> Bools:
        """Return for each person, by number, whether a search finds them."""
        return self.clause.evaluate(index_of(population), len(population)) & population.listed


def compile_query(query: object) -> CompiledQuery:
    """Read a query, with or without the outer `{"query": …}`.

    Raises:
        QueryRefused: the provider would answer 400.
    """
    if isinstance(query, dict) and set(query) == {"query"}:
        query = query["query"]
    if isinstance(query, dict) and len(query) > 1:
        other = sorted(set(query) - {"query"} - set(_READERS)) or sorted(query)
        raise QueryRefused(f"unsupported key [{other[0]}] beside the query")
    return CompiledQuery(_read_clause(query))


def matching(population: Population, query: object) -> set[str]:
    """Return the ids of all people that a search with this query finds, without HTTP."""
    numbers = np.flatnonzero(compile_query(query).mask(population))
    return {population.person_id(number) for number in numbers.tolist()}
