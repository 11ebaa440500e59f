"""Schools and groups of schools, as texts name them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import ahocorasick

from models.market.curated import curated_rows
from models.market.place_names import ascii_form
from models.market.skills import fold_text

_NOT_ID = re.compile(r"[^0-9a-z]")
SHORT_SCHOOL = 3
"""A name of so few letters means the school only in capitals, as `HEC`."""


class School(NamedTuple):
    """A school. `id` is `sch_` and its domain without signs."""

    id: str
    name: str
    country_code: str
    domain: str


class SchoolMention(NamedTuple):
    """The school, or the schools of a group, that `text[start:end]` names; `group` is null for a single one.

    A name may also be a town (`Oxford`, `Delft`): it means the school beside a word of study.
    """

    start: int
    end: int
    schools: tuple[School, ...]
    group: str | None


class Schools:
    """The curated schools. Holds no state but its tables; safe to share between threads and tasks."""

    def __init__(
        self, named: Mapping[School, Sequence[str]], groups: Mapping[tuple[str, ...], Sequence[School]]
    ) -> None:
        self._by_id = {school.id: school for school in named}
        self._known: dict[str, tuple[str, tuple[School, ...], str | None]] = {}
        for school, names in named.items():
            self._add(names, (school,), None)
        for names, schools in groups.items():
            self._add(names, tuple(schools), names[0])
        self._automaton = ahocorasick.Automaton()
        for form in self._known:
            self._automaton.add_word(form, form)
        self._automaton.make_automaton()

    def _add(self, names: Iterable[str], schools: tuple[School, ...], group: str | None) -> None:
        for name in names:
            for form in (fold_text(name), fold_text(ascii_form(name))):
                self._known.setdefault(form, (name, schools, group))

    def get(self, school_id: str) -> School:
        """Return the school of an id; raises `KeyError` for an unknown one."""
        return self._by_id[school_id]

    def named(self, name: str) -> tuple[School, ...]:
        """Return the school of a name, or those of a group's name; empty for an unknown one."""
        known = self._known.get(fold_text(name.strip()))
        return known[1] if known else ()

    def find(self, text: str) -> tuple[SchoolMention, ...]:
        """Return the schools and groups named in a text, the longest names, none overlapping another."""
        reached, found = 0, []
        for start, end, form in sorted(self._hits(text), key=lambda hit: (hit[0], -hit[1])):
            if start >= reached:
                reached = end
                _, schools, group = self._known[form]
                found.append(SchoolMention(start, end, schools, group))
        return tuple(found)

    def _hits(self, text: str) -> Iterator[tuple[int, int, str]]:
        folded = fold_text(text)
        for last, form in self._automaton.iter(folded):
            start, end = last + 1 - len(form), last + 1
            apart = not folded[max(0, start - 1) : start].isalnum() and not folded[end : end + 1].isalnum()
            if apart and (len(form) > SHORT_SCHOOL or text[start:end] == self._known[form][0]):
                yield start, end, form


def read_schools() -> Schools:
    """Return the curated schools and groups."""
    named = {
        School("sch_" + _NOT_ID.sub("", domain), names.split("|")[0], country, domain): tuple(names.split("|"))
        for domain, country, names in curated_rows("schools")
    }
    at = {school.domain: school for school in named}
    groups = {
        tuple(names.split("|")): [at[domain] for domain in domains.split()]
        for names, domains in curated_rows("school_groups")
    }
    return Schools(named, groups)
