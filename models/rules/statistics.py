"""A rough count of the people who hold an occupation in some places, before any source has counted.

People who live there × the share that is employed × the share of the occupation's ISCO group × how many of that group
keep a public profile. Shares are of industrial countries and the same everywhere, so the figure is good to an order
of magnitude and no more: it is for pricing a plan, never for a promise.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from models.rules.occupations import Occupations
from models.rules.places import Places

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
        """How many people with such a title live there, everywhere known when no place is given.

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
        """Four-digit groups of the concepts a title names, the best match alone when it is a taxonomy's own name."""
        found = [label for label in self.occupations.labelled(title) if label.concept.isco]
        preferred = [label for label in found if label.preferred]
        return {label.concept.isco for label in preferred or found[:1] if label.concept.isco}

    def _share(self, group: str) -> float:
        share = self.shares.get(group[:2])
        return share.employed * share.visible * SHARE_WITHIN_GROUP if share else 0.0
