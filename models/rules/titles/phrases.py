"""Finds the longest known phrases in a text, on word boundaries."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from models.rules.titles.keys import Word, inflected, words

MOST_WORDS = 8

Known = Callable[[str], frozenset[str] | set[str] | None]
"""The phrases that begin with a word."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A known phrase in a text: `text[start:end]` reads as `key`."""

    key: str
    start: int
    end: int


class LabelsByWord(Protocol):
    """Titles beyond the curated ones, by their first word."""

    def starting_with(self, word: str) -> frozenset[str]:
        """The keys that begin with that word and are no word of everyday prose."""
        ...


class Phrases:
    """Known keys, in a form that is walked word by word; `labels` are further ones."""

    def __init__(self, keys: Iterable[str], labels: LabelsByWord) -> None:
        self._by_first: dict[str, set[str]] = {}
        for key in keys:
            self._by_first.setdefault(key.partition(" ")[0], set()).add(key)
        self._labels = labels

    def find(self, text: str) -> tuple[Occurrence, ...]:
        """The longest phrases from left to right, none overlapping another."""
        return tuple(_walk(words(text), self._known))

    def find_keys(self, text: str) -> tuple[Occurrence, ...]:
        """The same among the keys alone, without the labels."""
        return tuple(_walk(words(text), self._by_first.get))

    def _known(self, first: str) -> frozenset[str] | set[str]:
        curated, stored = self._by_first.get(first), self._labels.starting_with(first)
        if curated and stored:
            return curated | stored
        return curated or stored


def _walk(parts: list[Word], known: Known) -> Iterator[Occurrence]:
    at = 0
    while at < len(parts):
        found = _longest(parts, at, known)
        if found is None:
            at += 1
            continue
        key, end = found
        yield Occurrence(key, parts[at].start, parts[end - 1].end)
        at = end


def _longest(parts: list[Word], at: int, known: Known) -> tuple[str, int] | None:
    for first in inflected(parts[at].key):
        if not (keys := known(first)):
            continue
        for end in range(min(at + MOST_WORDS, len(parts)), at, -1):
            if key := _match([first, *(word.key for word in parts[at + 1 : end])], keys):
                return key, end
    return None


def _match(parts: list[str], known: frozenset[str] | set[str]) -> str | None:
    stem = " ".join(parts[:-1])
    for last in inflected(parts[-1]):
        key = f"{stem} {last}" if stem else last
        if key in known:
            return key
    return None
