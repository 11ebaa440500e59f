"""What the shipped taxonomies say about occupations: their labels, and which are related (ESCO, O*NET)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from models.market.place_names import ascii_form
from models.market.places import Places

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
        """Return labels equal to a title by `label_key`, preferred ones first."""
        ...

    def labels(self, concept_id: str) -> Sequence[Label]:
        """Return all labels of an occupation, preferred ones first; empty for an unknown one."""
        ...

    def related(self, concept_id: str) -> Sequence[Related]:
        """Return O*NET's related occupations, closest first; empty for ESCO."""
        ...

    def group(self, isco: str) -> Sequence[Concept]:
        """Return ESCO's occupations of a four-digit ISCO group."""
        ...


def label_key(text: str) -> str:
    """Return the form in which labels are compared: plain lower-case words; `c++` and `c#` stay what they are."""
    return " ".join(NOT_WORD.sub(" ", JOINED.sub(" ", ascii_form(text).lower())).split())


# A rough count of the people who hold an occupation in some places, before any source has counted.


EMPLOYED = 0.46
SHARE_WITHIN_GROUP = 0.25
"""How much of a two-digit group one of its four-digit groups holds: people are sought in the large ones."""


@dataclass(frozen=True, slots=True)
class GroupShare:
    """A two-digit ISCO group: its share of all employed, and how many of 100 keep a public profile."""

    employed: float
    visible: float


@dataclass(frozen=True, slots=True)
class RoughStatistics:
    """Counts from shipped shares; `shares` are by two-digit ISCO group."""

    places: Places
    occupations: Occupations
    shares: Mapping[str, GroupShare]

    def people(self, titles: Sequence[str], *, location_ids: Sequence[str], countries: Sequence[str]) -> int | None:
        """Return how many people with such a title live there, everywhere known when no place is given.

        None when no title is known. Raises `KeyError` for an unknown place.
        """
        groups = {group for title in titles for group in self._groups(title)}
        if not groups:
            return None
        residents = self._residents(location_ids, countries)
        return round(residents * EMPLOYED * sum(self._share(group) for group in groups))

    def _residents(self, location_ids: Sequence[str], countries: Sequence[str]) -> int:
        if location_ids or countries:
            return self.places.people_share(location_ids=location_ids, countries=countries)
        return self.places.people_share(countries=self.places.country_codes)

    def _groups(self, title: str) -> Iterable[str]:
        """Return the four-digit groups of the concepts a title names; of a taxonomy's own name only the best match."""
        found = [label for label in self.occupations.labelled(title) if label.concept.isco]
        preferred = [label for label in found if label.preferred]
        return {label.concept.isco for label in preferred or found[:1] if label.concept.isco}

    def _share(self, group: str) -> float:
        share = self.shares.get(group[:2])
        return share.employed * share.visible * SHARE_WITHIN_GROUP if share else 0.0
