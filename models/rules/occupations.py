"""What the shipped taxonomies say about occupations: their labels, and which are related (ESCO, O*NET)."""

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from models.rules.places.names import ascii_form

NOT_WORD = re.compile(r"[^a-z0-9+#]+")
JOINED = re.compile(r"(?<=[a-z])-(?=[a-z])")


class Concept(NamedTuple):
    """One occupation. `id` is `esco:<uuid>` or `onet:<code>`; `isco` the four-digit group, null for O*NET."""

    id: str
    name: str
    isco: str | None


class Label(NamedTuple):
    """What an occupation is called. `preferred` marks the taxonomy's own name; O*NET speaks English only."""

    text: str
    language: str
    concept: Concept
    preferred: bool


class Related(NamedTuple):
    """An occupation next to another, by O*NET: tier 0 is closest, 2 supplemental; rank counts from 1 over all."""

    concept: Concept
    tier: int
    rank: int


class Occupations(Protocol):
    """The taxonomies, looked up by label or concept."""

    def labelled(self, title: str) -> Sequence[Label]:
        """Labels equal to a title by `label_key`, preferred ones first."""
        ...

    def labels(self, concept_id: str) -> Sequence[Label]:
        """All labels of an occupation, preferred ones first; empty for an unknown one."""
        ...

    def related(self, concept_id: str) -> Sequence[Related]:
        """O*NET's related occupations, closest first; empty for ESCO."""
        ...

    def group(self, isco: str) -> Sequence[Concept]:
        """ESCO's occupations of a four-digit ISCO group."""
        ...


def label_key(text: str) -> str:
    """The form in which labels are compared: plain lower-case words; `c++` and `c#` stay what they are."""
    return " ".join(NOT_WORD.sub(" ", JOINED.sub(" ", ascii_form(text).lower())).split())
