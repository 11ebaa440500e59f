"""Words that stand beside places without naming one: working from home, working time, points of the compass."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from models.market.place_names import Place, place_key
from models.market.places import Places
from models.reading.languages import words

NOISE = frozenset(place_key(part) for word in words(lambda each: each.places.noise) for part in word.split("-"))
NUMBER = re.compile(r"\d+\w?|[xX]\d+")


def is_place_noise(part: str) -> bool:
    """Whether a stretch holds nothing but such words and numbers."""
    return all(word in NOISE or NUMBER.fullmatch(word) for word in place_key(part).split())


def without_place_noise(part: str) -> str:
    """The stretch without such words, as a key."""
    return " ".join(word for word in place_key(part).split() if word not in NOISE)


# Finds names of places in a stretch of text, longest first.


WORD = re.compile(r"[^\W_]+")
WITHIN_NAME = re.compile(r"\.?[ \u00a0]{0,2}|\.-|\s?[-‑]\s?|['’]\s?|/|[ \u00a0]?\(")
LONGEST_NAME = 7
_key = lru_cache(maxsize=50_000)(place_key)


class Spot(NamedTuple):
    """A name in the text: its offsets, its key, and the places so called, best first, with whether by an alias."""

    start: int
    end: int
    key: str
    choices: tuple[tuple[Place, bool], ...]


def spots(text: str, start: int, end: int, *, places: Places, any_case: bool = False) -> Iterator[Spot]:
    """Names between two offsets that do not overlap; only words with a capital begin one unless `any_case`."""
    words = list(WORD.finditer(text, start, end))
    at = 0
    while at < len(words):
        spot = _longest(text, words, at, places) if any_case or _may_begin(text, words[at]) else None
        if spot is None:
            at += 1
            continue
        yield spot
        while at < len(words) and words[at].start() < spot.end:
            at += 1


def _may_begin(text: str, word: re.Match[str]) -> bool:
    first = word.group()[0]
    after_apostrophe = word.group() == "s" and text[word.start() - 1 : word.start()] in ("'", "’")
    return first.isupper() or after_apostrophe


def _longest(text: str, words: list[re.Match[str]], at: int, places: Places) -> Spot | None:
    first = _key(words[at].group())
    most = min(places.longest_name(first.split()[0]) if first else 0, LONGEST_NAME)
    reach = 1
    while reach < most and at + reach < len(words) and _joined(text, words[at + reach - 1], words[at + reach]):
        reach += 1
    for count in range(min(reach, most), 0, -1):
        start, end = words[at].start(), words[at + count - 1].end()
        key = _key(text[start:end])
        choices = places.with_key(key)
        if choices:
            return Spot(start, _closed(text, end), key, choices)
    return None


def _joined(text: str, one: re.Match[str], other: re.Match[str]) -> bool:
    return WITHIN_NAME.fullmatch(text, one.end(), other.start()) is not None


def _closed(text: str, end: int) -> int:
    """Take in the bracket that belongs to the name, as in `Halle (Saale)`."""
    opened = text.rfind("(", max(0, end - 20), end)
    belongs = text[end : end + 1] == ")" and opened > text.rfind(")", 0, end)
    return end + 1 if belongs else end
