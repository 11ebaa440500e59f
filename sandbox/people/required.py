"""Evaluates the `required` parameter: field names joined by AND, OR and parentheses."""

import re
from collections.abc import Mapping
from typing import Any

from sandbox.people.wire import ApiError

_TOKEN = re.compile(r"\s*(\(|\)|[A-Za-z_.]+)")


class _Reader:
    def __init__(self, expression: str, record: Mapping[str, Any]) -> None:
        self._tokens = _TOKEN.findall(expression)
        if "".join(self._tokens) != re.sub(r"\s", "", expression):
            raise ApiError(400, "required is not a valid expression")
        self._record = record
        self._at = 0

    def value(self) -> bool:
        result = self._any_of()
        if self._at != len(self._tokens):
            raise ApiError(400, "required is not a valid expression")
        return result

    def _next_is(self, word: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at].lower() == word:
            self._at += 1
            return True
        return False

    def _any_of(self) -> bool:
        result = self._all_of()
        while self._next_is("or"):
            result = self._all_of() or result
        return result

    def _all_of(self) -> bool:
        result = self._single()
        while self._next_is("and"):
            result = self._single() and result
        return result

    def _single(self) -> bool:
        if self._next_is("("):
            result = self._any_of()
            if not self._next_is(")"):
                raise ApiError(400, "required is not a valid expression")
            return result
        if self._at >= len(self._tokens):
            raise ApiError(400, "required is not a valid expression")
        name = self._tokens[self._at]
        self._at += 1
        return bool(self._record.get(name))


def fulfils(expression: str | None, record: Mapping[str, Any]) -> bool:
    """Return whether a record has the required fields; no expression requires nothing.

    Raises:
        ApiError: 400 for an expression that cannot be read.
    """
    return expression is None or _Reader(expression, record).value()
