"""Companies and groups of companies named in a text, and names that are words or products too."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

import ahocorasick

from models.market.companies import Companies, Company, company_key
from models.market.curated import curated_rows
from models.market.place_names import ascii_form
from models.market.skills import Skills, fold_text

SHORT_NAME = 3
"""A name of so few letters means the company only where it is written in capitals, as `ING`."""
_NOT_ID = re.compile(r"[^0-9a-z]")
_ID_CELL = 3


class CuratedCompany(NamedTuple):
    """A company of the curated table and all its usual names, best first."""

    company: Company
    names: tuple[str, ...]


class CompanyGroup(NamedTuple):
    """Companies that are asked for by one name: `name` is shown, `as_of` a month, `source` who says who belongs."""

    name: str
    names: tuple[str, ...]
    as_of: str
    source: str
    company_ids: tuple[str, ...]


class AlsoMeans(StrEnum):
    """What the name of a company may mean besides the company."""

    WORD = "word"
    SOFTWARE = "software"


class CompanyMention(NamedTuple):
    """The companies or the group that `text[start:end]` can mean.

    `certain` is false for a name that is a word or a product too, or is written like no name: it means the company
    only behind a sign such as `at`, `from`, `ex-`. `companies` has several members where the name leaves a choice,
    and those of the group for a group.
    """

    start: int
    end: int
    companies: tuple[Company, ...]
    group: CompanyGroup | None
    certain: bool


def curated_companies() -> Iterator[CuratedCompany]:
    """Return the curated companies; the id follows from the domain unless the table names that of a listed firm."""
    for cells in curated_rows("companies"):
        domain, country, names = cells[0], cells[1], tuple(cells[2].split("|"))
        own_id = cells[_ID_CELL] if len(cells) > _ID_CELL else "co_" + _NOT_ID.sub("", domain)
        yield CuratedCompany(Company(own_id, names[0], country, domain), names)


def curated_groups(curated: Iterable[CuratedCompany]) -> Iterator[CompanyGroup]:
    """Return the groups of companies, their members as ids."""
    ids = {company.domain: company.id for company, _ in curated}
    for names, as_of, source, members in curated_rows("company_groups"):
        spelled = tuple(names.split("|"))
        yield CompanyGroup(
            spelled[0], spelled, as_of, source, tuple(ids.get(member, member) for member in members.split())
        )


def ambiguous_names() -> dict[str, AlsoMeans]:
    """Return what the name of each company with this `company_key` may mean besides; a word before a product."""
    meanings = {kind: names.split("|") for kind, names in curated_rows("company_words")}
    return {company_key(name): meaning for meaning in reversed(AlsoMeans) for name in meanings[meaning]}


class KnownCompanyNames:
    """Finds well-known companies and groups in texts. Holds no state but its tables; safe to share."""

    def __init__(
        self,
        companies: Companies,
        names: Iterable[str],
        groups: Iterable[CompanyGroup],
        also: Mapping[str, AlsoMeans],
        skills: Skills,
    ) -> None:
        self._companies, self._also, self._skills = companies, also, skills
        self._groups = {company_key(name): group for group in groups for name in group.names}
        self._automaton = ahocorasick.Automaton()
        for name in (*names, *self._group_names()):
            for spelling in {fold_text(name), fold_text(ascii_form(name))}:
                self._automaton.add_word(spelling, (len(spelling), name))
        self._automaton.make_automaton()

    def _group_names(self) -> Iterator[str]:
        for group in self._groups.values():
            yield from group.names

    def group(self, name: str) -> CompanyGroup | None:
        """Return the group a name stands for, such as `FAANG`, `the big four` or `DAX 40`; null for any other name."""
        key = company_key(name)
        return self._groups.get(key) or self._groups.get(key.partition(" ")[2] if key.startswith("the ") else "")

    def also_means(self, name: str) -> AlsoMeans | None:
        """Return whether the name of a company is a word or a product too; null when it is neither."""
        return self._also.get(company_key(name))

    def mentions(self, text: str) -> tuple[CompanyMention, ...]:
        """Return well-known companies and groups named in a text, from left to right, the longest where several fit.

        A name inside the longer name of a skill is none (`Google Ads`, `Oracle Database`). Linear in the text's length.
        """
        folded, reached = fold_text(text), 0
        taken = deque((skill.start, skill.end) for skill in self._skills.find(text))
        found: list[CompanyMention] = []
        for start, end, name in sorted(self._hits(folded), key=lambda hit: (hit[0], -hit[1])):
            while taken and taken[0][1] <= start:
                taken.popleft()
            inside = taken and taken[0][0] <= start and end <= taken[0][1] and taken[0][1] - taken[0][0] > end - start
            if start >= reached and not inside:
                reached = end
                found.append(self._mention(text, start, end, name))
        return tuple(found)

    def _hits(self, folded: str) -> Iterator[tuple[int, int, str]]:
        for last, (length, name) in self._automaton.iter(folded):
            start, end = last + 1 - length, last + 1
            if (start and folded[start - 1].isalnum()) or (end < len(folded) and folded[end].isalnum()):
                continue
            yield start, end, name

    def _mention(self, text: str, start: int, end: int, name: str) -> CompanyMention:
        group = self._groups.get(company_key(name))
        if group:
            members = tuple(self._companies.get(company_id) for company_id in group.company_ids)
            return CompanyMention(start, end, members, group, certain=True)
        written = text[start:end]
        as_name = written == name or len(name) > SHORT_NAME
        certain = as_name and company_key(name) not in self._also
        return CompanyMention(start, end, tuple(self._companies.named(name)), None, certain)
