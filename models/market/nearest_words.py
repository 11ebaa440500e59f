"""The known word that a mistyped one is near to: of titles, skills, places, companies and languages."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import NamedTuple

from rapidfuzz.distance import OSA

from models.market.title_words import fold, inflected

SHORTEST_MISTYPED = 4
LONG_WORD = 8
"""Words of at least so many letters may differ in two letters, shorter ones in one."""
MUCH_MORE_USUAL = 8


class WordKind(StrEnum):
    """What a known word belongs to."""

    TITLE = "title"
    SKILL = "skill"
    PLACE = "place"
    COMPANY = "company"
    LANGUAGE = "language"


INFLECTED_KINDS = frozenset({WordKind.TITLE, WordKind.SKILL})


class KnownWord(NamedTuple):
    """A word, how it is usually written, and how usual it is among words of all kinds.

    Words of one `meaning` are the same town or occupation: between them there is no choice to make.
    """

    form: str
    kind: WordKind
    weight: float
    text: str
    meaning: str


class NearWord(NamedTuple):
    """The known word that is meant, what it belongs to, and by how many letters it was mistyped."""

    text: str
    kinds: frozenset[WordKind]
    edits: int


class NearestWords:
    """Finds the known word near a mistyped one. The vocabulary is read at the first question; safe to share."""

    def __init__(self, vocabulary: Callable[[], Iterable[KnownWord]]) -> None:
        self._read = vocabulary
        self.nearest = lru_cache(maxsize=5_000)(self._nearest)

    def knows(self, word: str) -> bool:
        """Return whether the word is one of the known ones as it stands, whatever its case and accents."""
        return fold(word) in self._known

    def _is_known(self, key: str) -> bool:
        """Return whether a word is known, or is the plural or another case of a title's or a skill's word."""
        inflections = (one for form in inflected(key)[1:] for one in self._known.get(form, ()))
        return key in self._known or any(one.kind in INFLECTED_KINDS for one in inflections)

    @cached_property
    def _known(self) -> dict[str, list[KnownWord]]:
        known: dict[str, list[KnownWord]] = defaultdict(list)
        for word in self._read():
            known[fold(word.form)].append(word)
        return known

    @cached_property
    def _by_start(self) -> dict[tuple[str, int], list[str]]:
        """The words by their first letter and length."""
        table: dict[tuple[str, int], list[str]] = defaultdict(list)
        for key in self._known:
            if key:
                table[key[0], len(key)].append(key)
        return table

    def _nearest(self, word: str, kinds: Collection[WordKind] = frozenset(WordKind)) -> NearWord | None:
        """Return the one known word of these kinds near a mistyped one; null when none or several are near.

        A swap of neighbours is one edit. The first letter counts as typed right. Null as well for a word that is known
        as it stands, has a figure, or is shorter than `SHORTEST_MISTYPED`; `kinds` is a frozen set.
        """
        key = fold(word)
        if len(key) < SHORTEST_MISTYPED or not key.isalpha() or self._is_known(key):
            return None
        most = 2 if len(key) >= LONG_WORD else 1
        near: dict[int, list[str]] = defaultdict(list)
        for length in range(len(key) - most, len(key) + most + 1):
            for candidate in self._by_start.get((key[0], length), ()):
                edits = OSA.distance(key, candidate, score_cutoff=most)
                if edits <= most and any(known.kind in kinds for known in self._known[candidate]):
                    near[edits].append(candidate)
        if not near:
            return None
        edits = min(near)
        words = [one for candidate in near[edits] for one in self._known[candidate] if one.kind in kinds]
        chosen = max(words, key=lambda one: one.weight)
        same_forms = {fold(one.form) for one in words if one.meaning == chosen.meaning}
        rivals = (one for one in words if fold(one.form) not in same_forms)
        if any(chosen.weight < MUCH_MORE_USUAL * rival.weight for rival in rivals):
            return None
        same = frozenset(one.kind for one in words if fold(one.form) == fold(chosen.form))
        return NearWord(chosen.text, same, edits)
