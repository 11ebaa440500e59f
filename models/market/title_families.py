"""Title families: wordings of one occupation in four languages, its neighbours, function and share of workers."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import product

_BRACES = re.compile(r"\{([^{}]*)\}")
_HEAD_CELLS = 4
_WORDING_CELLS = 3


class TitleLanguage(StrEnum):
    """The languages titles are curated in."""

    EN = "en"
    DE = "de"
    FR = "fr"
    NL = "nl"


SPOKEN = {
    TitleLanguage.DE: frozenset({"DE", "AT", "CH", "LI", "LU"}),
    TitleLanguage.FR: frozenset({"FR", "BE", "CH", "LU", "MC", "CA"}),
    TitleLanguage.NL: frozenset({"NL", "BE"}),
}
"""Where titles are written in a language; in English they are written everywhere."""


def languages_of(countries: Collection[str]) -> frozenset[TitleLanguage]:
    """Return the languages in which people of these countries (ISO codes) write titles; all where none is given."""
    if not countries:
        return frozenset(TitleLanguage)
    local = {language for language, places in SPOKEN.items() if not places.isdisjoint(countries)}
    return frozenset({TitleLanguage.EN, *local})


@dataclass(frozen=True, slots=True)
class Family:
    """Titles that mean the same.

    `function` is a role of the people source; `share` the people holding such a title per 10,000 workers, roughly;
    `wordings` per language the synonyms, best first, each with its spellings; `neighbours` are ids, nearest first.
    """

    id: str
    function: str
    share: float
    neighbours: tuple[str, ...]
    wordings: Mapping[TitleLanguage, tuple[tuple[str, ...], ...]]

    def titles(self, language: TitleLanguage) -> tuple[str, ...]:
        """Return all wordings of a language: the best in all spellings, the others in one, then in their others."""
        synonyms = self.wordings.get(language, ())
        usual = (spellings[0] for spellings in synonyms[1:])
        rare = (spelling for spellings in synonyms[1:] for spelling in spellings[1:])
        return (*(synonyms[0] if synonyms else ()), *usual, *rare)


def expand(pattern: str) -> tuple[str, ...]:
    """Return the spellings of `Java {Developer,Engineer}`, in the order of the alternatives."""
    if "{" not in pattern:
        return (pattern,)
    pieces = _BRACES.split(pattern)
    choices = [piece.split(",") if number % 2 else [piece] for number, piece in enumerate(pieces)]
    return tuple(" ".join("".join(choice).split()) for choice in product(*choices))


def parse_families(lines: Iterable[str]) -> Iterator[Family]:
    """Read families from their file: a head line `id, function, share, neighbours`, then a line for each language.

    Cells are parted by tabs, neighbours by spaces, wordings by `|`; a wording line begins with a tab.
    Raises `ValueError` for a line of another shape.
    """
    head: list[str] | None = None
    wordings: dict[TitleLanguage, tuple[tuple[str, ...], ...]] = {}
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        cells = line.rstrip("\n").split("\t")
        if cells[0] == "" and len(cells) == _WORDING_CELLS and head is not None:
            wordings[TitleLanguage(cells[1])] = tuple(expand(pattern.strip()) for pattern in cells[2].split("|"))
            continue
        if not cells[0] or len(cells) != _HEAD_CELLS:
            raise ValueError(f"not a line of a title family: {line!r}")
        if head is not None:
            yield _family(head, wordings)
        head, wordings = cells, {}
    if head is not None:
        yield _family(head, wordings)


def _family(head: list[str], wordings: Mapping[TitleLanguage, tuple[tuple[str, ...], ...]]) -> Family:
    id_, function, share, neighbours = head
    return Family(
        id=id_, function=function, share=float(share), neighbours=tuple(neighbours.split()), wordings=wordings
    )
