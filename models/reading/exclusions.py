"""What a text rules out: `not agencies`, `kein Java`, `hors Paris`, `geen freelancers`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from models.reading.languages import AND, OR, phrases

EXCLUSION = re.compile(
    rf"(?<![\w-]){phrases(lambda each: each.exclusions.not_)}(?=\s|['’]|(?<=['’]))\s*(?P<what>[^,;.|\n\r]{{2,80}})",
    re.IGNORECASE,
)
_ALSO_NOT = phrases(lambda each: each.exclusions.also_not)
BETWEEN = re.compile(
    rf"\s*(?:/|&|\b(?:{AND}|{OR}|{_ALSO_NOT})\b)\s*(?:{_ALSO_NOT}\s)?",
    re.IGNORECASE,
)
NOT_NEEDED = re.compile(rf"\b{phrases(lambda each: each.exclusions.needed)}\b", re.IGNORECASE)
AGENCIES = re.compile(rf"{phrases(lambda each: each.exclusions.agencies)}\b", re.IGNORECASE)
NO_AGENCIES = re.compile(phrases(lambda each: each.exclusions.no_agencies), re.IGNORECASE)
"""How advertisements turn agencies away."""
NO_FREELANCERS = re.compile(rf"(?<!\w){phrases(lambda each: each.exclusions.no_freelancers)}(?!\w)", re.IGNORECASE)
FREELANCE = re.compile(phrases(lambda each: each.exclusions.freelance), re.IGNORECASE)
EXCLUDED_LEVEL = re.compile(rf"(?P<level>{phrases(lambda each: each.exclusions.levels)})s?", re.IGNORECASE)
"""Levels that titles carry: `no juniors`."""
REMOTE = re.compile(
    rf"(?<![\w-])(?:(?:fully|100\s?%)\s)?{phrases(lambda each: each.exclusions.remote)}(?![\w-])", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Exclusion:
    """One thing ruled out."""

    what: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Exclusions:
    """What a short intent rules out, and every stretch that says so, `no German required` included."""

    found: tuple[Exclusion, ...]
    taken: tuple[tuple[int, int], ...]


def read_exclusions(text: str) -> Exclusions:
    """Return what a short intent rules out, one entry for each thing; what is merely not required does not count."""
    said = list(EXCLUSION.finditer(text))
    found = [exclusion for one in said if not NOT_NEEDED.search(one["what"]) for exclusion in _things(text, one)]
    return Exclusions(found=tuple(found), taken=tuple(one.span() for one in said))


def _things(text: str, said: re.Match[str]) -> Iterator[Exclusion]:
    start = said.start("what")
    for cut in [*BETWEEN.finditer(text, start, said.end("what")), None]:
        raw = text[start : cut.start() if cut else said.end("what")]
        if what := raw.strip():
            begins = start + raw.index(what)
            yield Exclusion(what, begins, begins + len(what))
        start = cut.end() if cut else start
