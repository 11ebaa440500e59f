"""What is asked of the occupation classifications (ESCO, O*NET) that stand behind the curated families."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from models.rules.titles.families import Language


@dataclass(frozen=True, slots=True)
class Label:
    """One name of an occupation; `key` is its `title_key`."""

    text: str
    key: str
    language: Language
    preferred: bool


class Occupations(Protocol):
    """Occupations by the key of a name. Numbers identify occupations within one build of the data."""

    def named(self, key: str) -> Sequence[int]:
        """Occupations with that name, those that prefer it first."""
        ...

    def labels(self, occupation: int) -> Sequence[Label]:
        """Every name, preferred ones first."""
        ...

    def neighbours(self, occupation: int) -> Sequence[int]:
        """Related occupations, nearest first: O*NET's primary tiers, or the siblings in a group of ISCO."""
        ...

    def starting_with(self, word: str) -> frozenset[str]:
        """The keys that begin with that word and can be told from prose."""
        ...


class NoOccupations:
    """An installation without classifications: the curated families alone."""

    def named(self, key: str) -> Sequence[int]:  # noqa: D102
        return ()

    def labels(self, occupation: int) -> Sequence[Label]:  # noqa: D102
        return ()

    def neighbours(self, occupation: int) -> Sequence[int]:  # noqa: D102
        return ()

    def starting_with(self, word: str) -> frozenset[str]:  # noqa: D102
        return frozenset()
