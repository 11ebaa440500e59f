"""Finds the longest known phrases in a text, on word boundaries."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from models.rules.titles.keys import Word, words

MOST_WORDS = 8
_ENDINGS = ("s", "es", "n", "en", "e", "nen")
"""Plural and case endings of English, German, French and Dutch nouns."""
_SHORTEST_INFLECTED = 5


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A known phrase in a text: `text[start:end]` reads as `key`."""

    key: str
    start: int
    end: int


class Phrases:
    """Known keys, in a form that is walked word by word. `starting_with` gives further keys by their first word."""

    def __init__(self, keys: Iterable[str], starting_with: Callable[[str], frozenset[str]]) -> None:
        self._by_first: dict[str, set[str]] = {}
        for key in keys:
            self._by_first.setdefault(key.partition(" ")[0], set()).add(key)
        self._starting_with = starting_with

    def find(self, text: str) -> tuple[Occurrence, ...]:
        """The longest phrases from left to right, none overlapping another."""
        return tuple(self._walk(words(text)))

    def _walk(self, parts: list[Word]) -> Iterator[Occurrence]:
        at = 0
        while at < len(parts):
            found = self._longest(parts, at)
            if found is None:
                at += 1
                continue
            key, end = found
            yield Occurrence(key, parts[at].start, parts[end - 1].end)
            at = end

    def _longest(self, parts: list[Word], at: int) -> tuple[str, int] | None:
        for first in inflected(parts[at].key):
            if not (known := self._known(first)):
                continue
            for end in range(min(at + MOST_WORDS, len(parts)), at, -1):
                if key := _match([first, *(word.key for word in parts[at + 1 : end])], known):
                    return key, end
        return None

    def _known(self, first: str) -> frozenset[str] | set[str]:
        curated, stored = self._by_first.get(first), self._starting_with(first)
        if curated and stored:
            return curated | stored
        return curated or stored


def _match(parts: list[str], known: frozenset[str] | set[str]) -> str | None:
    stem = " ".join(parts[:-1])
    for last in inflected(parts[-1]):
        key = f"{stem} {last}" if stem else last
        if key in known:
            return key
    return None


def inflected(word: str) -> list[str]:
    """The word, then what it may be the plural or another case of."""
    if len(word) <= _SHORTEST_INFLECTED or word[-1] not in "sne":
        return [word]
    stems = [word[: -len(ending)] for ending in _ENDINGS if word.endswith(ending)]
    return [word, *stems, word[:-3] + "y"] if word.endswith("ies") else [word, *stems]
