"""Searchable columns: the values of one field for all people, with one boolean per person as the answer."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property

import numpy as np

from sandbox.people.population.draws import Bools, Ints

_TOKEN = re.compile(r"\w+(?:['’.]\w+)*")


def tokens_of(text: str) -> list[str]:
    """Split text as the standard analyser does: words in lower case, inner dots and apostrophes kept."""
    return _TOKEN.findall(text.lower())


@dataclass(frozen=True, eq=False)
class Entries:
    """The owners of a column's entries: one entry per person, or any number when `owners` is given."""

    people: int
    owners: Ints | None = None

    def owned(self, chosen: Bools) -> Bools:
        """Return for each person whether any of their entries is chosen."""
        if self.owners is None:
            return chosen
        mask = np.zeros(self.people, dtype=np.bool_)
        mask[self.owners[chosen]] = True
        return mask


@dataclass(frozen=True, eq=False)
class WordColumn:
    """Text values by code into distinct `values`; code -1 stands for no value.

    `withheld` marks people of whom a value exists but is not shown: `exists` finds them, no comparison does.
    """

    entries: Entries
    values: tuple[str, ...]
    codes: Ints
    withheld: Bools | None = None

    def exists(self) -> Bools:
        """Return which people have a value."""
        present = self.entries.owned(self.codes >= 0)
        return present if self.withheld is None else present | self.withheld

    def equal(self, wanted: Sequence[str]) -> Bools:
        """Return which people have one of these values, compared as a whole."""
        codes = [code for value in wanted if (code := self._code_of.get(value)) is not None]
        return self._having(codes)

    def fulfilling(self, test: Callable[[str], bool]) -> Bools:
        """Return which people have a value that passes a test."""
        return self._having([code for code, value in enumerate(self.values) if test(value)])

    def with_token(self, test: Callable[[str], bool]) -> Bools:
        """Return which people have a value with a token that passes a test."""
        hits = [self._by_token[token] for token in self._by_token if test(token)]
        return self._having([code for codes in hits for code in codes])

    def with_any_token(self, tokens: Sequence[str]) -> Bools:
        """Return which people have a value with at least one of the tokens."""
        return self._having([code for token in tokens for code in self._by_token.get(token, ())])

    def with_phrase(self, tokens: Sequence[str]) -> Bools:
        """Return which people have a value with these tokens next to one another and in this order."""
        if not tokens:
            return np.zeros(self.entries.people, dtype=np.bool_)
        rarest = min((self._by_token.get(token, []) for token in tokens), key=len)
        return self._having([code for code in rarest if _contains(self._tokens[code], tokens)])

    def _having(self, codes: Sequence[int]) -> Bools:
        if len(codes) == 0:
            return np.zeros(self.entries.people, dtype=np.bool_)
        chosen = np.zeros(len(self.values) + 1, dtype=np.bool_)
        chosen[np.asarray(codes, dtype=np.int64)] = True
        # Code -1 reads the last entry, which has no value.
        return self.entries.owned(chosen[self.codes])

    @cached_property
    def _code_of(self) -> dict[str, int]:
        return {value: code for code, value in enumerate(self.values)}

    @cached_property
    def _tokens(self) -> list[list[str]]:
        return [tokens_of(value) for value in self.values]

    @cached_property
    def _by_token(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for code, tokens in enumerate(self._tokens):
            for token in dict.fromkeys(tokens):
                found.setdefault(token, []).append(code)
        return found


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """Numbers, or dates as days since 1970 padded to the first day; `present` marks entries that have one."""

    entries: Entries
    numbers: Ints
    present: Bools
    withheld: Bools | None = None

    def exists(self) -> Bools:
        """Return which people have a value."""
        present = self.entries.owned(self.present)
        return present if self.withheld is None else present | self.withheld

    def fulfilling(self, test: Callable[[Ints], Bools]) -> Bools:
        """Return which people have a number that passes a test."""
        return self.entries.owned(self.present & test(self.numbers))


@dataclass(frozen=True, eq=False)
class PresenceColumn:
    """A field that can only be tested for presence."""

    there: Bools

    def exists(self) -> Bools:
        """Return which people have the field."""
        return self.there


Column = WordColumn | NumberColumn | PresenceColumn


def _contains(tokens: Sequence[str], phrase: Sequence[str]) -> bool:
    width = len(phrase)
    return any(list(tokens[start : start + width]) == list(phrase) for start in range(len(tokens) - width + 1))


def wildcard(pattern: str) -> Callable[[str], bool]:
    """Return a test for a pattern in which `*` stands for any text and `?` for one letter."""
    literal = pattern.replace("[", "[[]")
    compiled = re.compile(translate(literal))
    return lambda value: compiled.match(value) is not None


def coded(values: Sequence[str | None]) -> tuple[tuple[str, ...], Ints]:
    """Return the distinct values and the code of each entry, -1 for None."""
    numbers: dict[str, int] = {}
    codes = [-1 if value is None else numbers.setdefault(value, len(numbers)) for value in values]
    return tuple(numbers), np.array(codes, dtype=np.int64)
