"""Evaluates a query on one record, slowly and directly by the rules, to check the index against."""

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

from sandbox.people.fields import FIELDS, Kind
from tests.sandbox.conftest import Object


def _values(record: object, path: list[str]) -> Iterator[object]:
    if isinstance(record, list):
        for item in record:
            yield from _values(item, path)
    elif not path:
        if record is not None:
            yield record
    elif isinstance(record, dict):
        yield from _values(record.get(path[0]), path[1:])


def values(record: Object, field: str) -> list[object]:
    return list(_values(record, field.removesuffix(".text").split(".")))


def tokens(text: object) -> list[str]:
    return re.findall(r"\w+(?:['’.]\w+)*", str(text).lower())


def day(text: object) -> date:
    year, month, number = (*map(int, str(text).split("-")), 1, 1)[:3]
    return date(year, month, number)


def _phrase(words: list[str], phrase: list[str]) -> bool:
    starts = range(len(words) - len(phrase) + 1)
    return bool(phrase) and any(words[start : start + len(phrase)] == phrase for start in starts)


def _same(value: object, wanted: object) -> bool:
    return type(value) is type(wanted) and value == wanted


def _in_range(value: object, bounds: Object, kind: Kind) -> bool:
    if isinstance(value, bool):
        return False
    read: Callable[[Any], Any] = day if kind is Kind.DATE else int
    left = read(value)
    tests = {
        "gt": lambda bound: left > bound,
        "gte": lambda bound: left >= bound,
        "lt": lambda bound: left < bound,
        "lte": lambda bound: left <= bound,
    }
    return all(tests[name](read(bound)) for name, bound in bounds.items())


def holds(record: Object, clause: Object) -> bool:
    ((name, body),) = clause.items()
    if name == "match_all":
        return True
    if name == "bool":
        must, must_not, should = ([*body.get(part, [])] for part in ("must", "must_not", "should"))
        return (
            all(holds(record, each) for each in must)
            and not any(holds(record, each) for each in must_not)
            and (bool(must) or not should or any(holds(record, each) for each in should))
        )
    if name == "exists":
        # A contact field that is false means that there is none; a flag that is false exists.
        flag = FIELDS[body["field"]].kind is Kind.BOOLEAN
        return any((flag or value is not False) and value != [] for value in values(record, body["field"]))
    ((field, wanted),) = body.items()
    kind = FIELDS[field].kind
    found = values(record, field)
    if name == "range":
        return any(_in_range(value, wanted, kind) for value in found)
    text = kind is Kind.TEXT
    tests = {
        "term": lambda value: wanted in tokens(value) if text else _same(value, wanted),
        "terms": lambda value: any(each in tokens(value) if text else _same(value, each) for each in wanted),
        "match": lambda value: bool({*tokens(wanted)} & {*tokens(value)}) if text else _same(value, wanted),
        "match_phrase": lambda value: _phrase(tokens(value), tokens(wanted)) if text else _same(value, wanted),
        "prefix": lambda value: any(
            str(each).startswith(wanted) for each in (tokens(value) if text else [value]) if each is not True
        ),
    }
    return any(tests[name](value) for value in found)
