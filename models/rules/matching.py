"""Which of several possible people is meant: one who clearly stands out, or nobody (contract, section 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

NEAR = 0.1
"""Two people this close to each other are a tie."""
MOST_ALTERNATIVES = 5
NAME = "name"
TELLING = frozenset({"company", "profile"})
"""What has to agree besides the name: many people share a name, and a town."""


@dataclass(frozen=True, slots=True)
class Possible:
    """Somebody it can be: how sure the source is (0 to 1), and what of the question agrees."""

    person: str
    confidence: float
    matched_on: frozenset[str]


def meant(possible: Sequence[Possible], *, min_confidence: float) -> Possible | None:
    """The one who is meant. A near tie is nobody, whoever of the two is ahead; so is agreement by name alone."""
    ranked = sorted(possible, key=lambda each: -each.confidence)
    if not ranked:
        return None
    best, *others = ranked
    if best.confidence < min_confidence or not best.matched_on & TELLING:
        return None
    if others and best.confidence - others[0].confidence < NEAR:
        return None
    return best
