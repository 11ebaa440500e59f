"""What texts call industries, functions, sizes and kinds of employers, degrees and subjects, in the source's values."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

import ahocorasick

from models.market.curated import curated_rows
from models.market.skills import fold_text


class AttributeKind(StrEnum):
    """What a word tells of a person: of the employer, the field of work, or the studies."""

    INDUSTRY = "industry"
    FUNCTION = "function"
    SIZE = "size"
    TYPE = "type"
    DEGREE = "degree"
    MAJOR = "major"


class AttributeMention(NamedTuple):
    """`text[start:end]` names values of a kind, of which any fits; `also` are other kinds that the words may mean."""

    kind: AttributeKind
    values: tuple[str, ...]
    start: int
    end: int
    also: frozenset[AttributeKind] = frozenset()


class AttributeRow(NamedTuple):
    """The values that some forms mean."""

    kind: AttributeKind
    values: tuple[str, ...]
    forms: tuple[str, ...]


class Attributes:
    """Finds such words in texts. Holds no state but its tables; safe to share between threads and tasks."""

    def __init__(self, rows: Iterable[AttributeRow]) -> None:
        self._values: dict[str, dict[AttributeKind, tuple[str, ...]]] = {}
        for row in rows:
            own = (row.values[0],) if len(row.values) == 1 else ()
            for form in (*row.forms, *own):
                self._values.setdefault(fold_text(form), {}).setdefault(row.kind, row.values)
        self._automaton = ahocorasick.Automaton()
        for form in self._values:
            self._automaton.add_word(form, form)
        self._automaton.make_automaton()

    def named(self, kind: AttributeKind, text: str) -> tuple[str, ...]:
        """Return the values that a text means as a whole, with or without an article; empty when it means none."""
        key = fold_text(text.strip())
        found = self._values.get(key) or self._values.get(
            key.partition(" ")[2] if key.split(" ")[0] in _ARTICLES else ""
        )
        return (found or {}).get(kind, ())

    def find(self, text: str, *kinds: AttributeKind) -> tuple[AttributeMention, ...]:
        """Return what a text names of these kinds, of all where none is given: the longest forms, none overlapping.

        Many forms are everyday words (`design`, `security`, `large`): they count where the clause speaks of an employer
        or of studies. A form of several kinds is given as the first of `kinds` that it may mean.
        """
        wanted, reached = kinds or tuple(AttributeKind), 0
        found: list[AttributeMention] = []
        for start, end in sorted(self._hits(fold_text(text)), key=lambda hit: (hit[0], -hit[1])):
            meanings = self._values[fold_text(text[start:end])]
            kind = next((kind for kind in wanted if kind in meanings), None)
            if kind is not None and start >= reached:
                reached = end
                found.append(AttributeMention(kind, meanings[kind], start, end, frozenset(meanings) - {kind}))
        return tuple(found)

    def _hits(self, folded: str) -> Iterator[tuple[int, int]]:
        for last, form in self._automaton.iter(folded):
            start, end = last + 1 - len(form), last + 1
            before, after = folded[max(0, start - 1) : start], folded[end : end + 1]
            if not before.isalnum() and not after.isalnum():
                yield start, end


_ARTICLES = frozenset(
    [
        "a",
        "an",
        "the",
        "der",
        "die",
        "das",
        "dem",
        "den",
        "ein",
        "eine",
        "einem",
        "einer",
        "le",
        "la",
        "les",
        "un",
        "une",
        "de",
        "het",
        "een",
    ]
)

SIZES = (
    ("1-10", 1, 10),
    ("11-50", 11, 50),
    ("51-200", 51, 200),
    ("201-500", 201, 500),
    ("501-1000", 501, 1000),
    ("1001-5000", 1001, 5000),
    ("5001-10000", 5001, 10_000),
    ("10001+", 10_001, 10_000_000),
)
"""The sizes of the source with the fewest and the most people of each."""


def sizes_between(fewest: int | None, most: int | None) -> tuple[str, ...]:
    """Return the sizes that overlap this number of people by more than their border; null is no bound.

    `sizes_between(None, 50)` gives `1-10` and `11-50`, `sizes_between(50, 200)` gives `51-200` alone.
    """
    low, high = fewest or 0, SIZES[-1][2] if most is None else most
    touched = [(name, min(high, last) - max(low, first)) for name, first, last in SIZES]
    inside = tuple(name for name, shared in touched if shared > 0)
    return inside or tuple(name for name, shared in touched if shared == 0)[:1]


def read_attributes() -> Attributes:
    """Return the curated words."""
    return Attributes(
        AttributeRow(AttributeKind(kind), tuple(values.split("|")), tuple(forms.split("|")))
        for kind, values, forms in curated_rows("attributes")
    )
