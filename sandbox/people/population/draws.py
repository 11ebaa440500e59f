"""Reproducible chance: every draw is a pure function of seed, stream name and key."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB


def mixed(word: int) -> int:
    """Scatter a 64-bit word over all 64-bit words (the finaliser of SplitMix64)."""
    word = (word + _STEP) & _MASK
    word = ((word ^ (word >> 30)) * _FIRST) & _MASK
    word = ((word ^ (word >> 27)) * _SECOND) & _MASK
    return word ^ (word >> 31)


def _mixed_words(words: Words) -> Words:
    words = words + np.uint64(_STEP)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(_FIRST)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(_SECOND)
    return words ^ (words >> np.uint64(31))


@lru_cache(maxsize=4096)
def _stream_start(seed: int, stream: str) -> int:
    word = 0xCBF29CE484222325
    for byte in stream.encode():
        word = ((word ^ byte) * 0x100000001B3) & _MASK
    return mixed(word ^ mixed(seed & _MASK))


@dataclass(frozen=True, slots=True)
class Draws:
    """Uniform draws in [0, 1) that depend on nothing but (seed, stream, key).

    Only integer arithmetic is used, so the same seed gives the same people with every numpy and on every
    machine, and the first thousand people of a large population are those of a small one.
    """

    seed: int

    def unit(self, stream: str, keys: Ints) -> Floats:
        """Draw one number for each key."""
        start = np.uint64(_stream_start(self.seed, stream))
        words = _mixed_words(start ^ _mixed_words(keys.astype(np.uint64)))
        return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def word_at(self, stream: str, key: int) -> int:
        """Draw a 64-bit word for one key."""
        return mixed(_stream_start(self.seed, stream) ^ mixed(key))

    def unit_at(self, stream: str, key: int) -> float:
        """Draw the same number as `unit` does for this key."""
        return float((self.word_at(stream, key) >> 11) * 2.0**-53)

    def below(self, stream: str, key: int, bound: int) -> int:
        """Draw an integer in [0, bound)."""
        return int(self.unit_at(stream, key) * bound)


def picks(units: Floats, weights: Ints) -> Ints:
    """Turn uniform draws into indexes of `weights`, in proportion to them."""
    ends = np.cumsum(weights)
    return np.searchsorted(ends, np.floor(units * float(ends[-1])), side="right").astype(np.int64)
