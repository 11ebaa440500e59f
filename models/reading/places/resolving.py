"""Decides which of the places of one name is meant, or that this cannot be told."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from models.market.place_names import Place, PlaceKind, place_key
from models.market.places import Places, great_circle_km
from models.reading.places.claims import PlaceClaim
from models.reading.places.frames import Strength
from models.reading.places.segments import NamedPlace, lies_in_any, rather_area

ALIAS_PENALTY, SHORT_FORM_PENALTY = 1.0, 0.3
COUNTRY_BONUS = 2.5
NEIGHBOUR_BONUS = 1.5
CLEAR_LEAD = 0.25
SAME_GROUND_KM = 30
LANGUAGE_WORTH, LIKELY = 2.0, 0.5
"""A country is likely when it has this share of the signs of the first."""

LARGE = 100_000
KNOWN = 20_000
LONGEST_ABBREVIATION = 3
ENGLISH_SPEAKING = frozenset({"AU", "CA", "GB", "IE", "NZ", "US"})


@dataclass(frozen=True, slots=True)
class Leaning:
    """Which countries a text is about: those it states, the regions it states, and the signs of countries."""

    stated: frozenset[str]
    areas: tuple[Place, ...]
    signs: Mapping[str, float]

    def share(self, code: str) -> float:
        """0 to 1: how much a country is hinted at beside the one most hinted at, or beside a language's worth."""
        return self.signs.get(code, 0.0) / max([LANGUAGE_WORTH, *self.signs.values()])

    def likely(self, code: str) -> bool:
        """Whether the text may well be about that country."""
        if self.stated:
            return code in self.stated
        return self.share(code) >= LIKELY


@dataclass(frozen=True, slots=True)
class Resolved:
    """A name with the place it means, or with several that it may mean when `place` is null."""

    item: NamedPlace
    claim: PlaceClaim
    place: Place | None
    alternatives: tuple[Place, ...] = ()


SMALLEST = {
    # strength: people in a likely country, people elsewhere
    Strength.HEADER: (0, 15_000),
    Strength.LABEL: (0, 1_000),
    Strength.TITLE: (300, 50_000),
    Strength.WORKPLACE: (300, LARGE),
    Strength.QUALIFIED: (0, 0),
    Strength.ADDRESS: (0, 0),
    Strength.SEAT: (5_000, 200_000),
    Strength.MENTION: (20_000, 500_000),
}


def resolve(item: NamedPlace, claim: PlaceClaim, leaning: Leaning, places: Places) -> Resolved | None:
    """The place a name means here; None when nothing says that the name is meant as a place."""
    if not item.qualified and rather_area(item):
        return None
    everyday = places.is_everyday_word(item.key)
    beside = [other.choices[0][0] for other in claim.named if other is not item and other.choices]
    credible = [
        (_score(place, item.key, leaning, beside, alias=alias, settled=item.qualified), place)
        for place, alias in item.choices
        if _credible(place, item, claim, leaning, alias=alias, everyday=everyday)
        and (claim.strength >= Strength.TITLE or not leaning.areas or lies_in_any(place, leaning.areas, places))
    ]
    scored = sorted(credible, key=lambda scored: (-scored[0], -scored[1].population, scored[1].id))
    if not scored:
        return None
    best, place = scored[0]
    rivals = [other for score, other in scored[1:] if best - score < CLEAR_LEAD and _apart(place, other)]
    if rivals:
        return Resolved(item, claim, None, (place, *rivals))
    return Resolved(item, claim, place)


def _score(place: Place, key: str, leaning: Leaning, beside: Sequence[Place], *, alias: bool, settled: bool) -> float:
    penalty = SHORT_FORM_PENALTY if short_form(place, key) else ALIAS_PENALTY
    score = math.log10(place.population + 1) - (penalty if alias else 0.0)
    if any(not _apart(place, other) for other in beside):
        score += NEIGHBOUR_BONUS
    if place.kind is PlaceKind.METRO:
        score -= CLEAR_LEAD
    if leaning.stated:
        return score + (COUNTRY_BONUS if place.country_code in leaning.stated else 0.0)
    return score if settled else score + COUNTRY_BONUS * leaning.share(place.country_code)


def _credible(
    place: Place, item: NamedPlace, claim: PlaceClaim, leaning: Leaning, *, alias: bool, everyday: bool
) -> bool:
    if leaning.stated and place.country_code not in leaning.stated and claim.strength < Strength.TITLE:
        return False
    if item.qualified:
        return True
    likely = leaning.likely(place.country_code)
    smallest = max(claim.least, SMALLEST[claim.strength][0 if likely else 1])
    if everyday and not _written_for_sure(claim):
        if claim.strength is Strength.MENTION and place.country_code in ENGLISH_SPEAKING:
            return False
        smallest = max(smallest, LARGE if likely else 10 * LARGE)
    if alias and len(item.key) <= LONGEST_ABBREVIATION and claim.strength < Strength.LABEL:
        return False
    if alias and (everyday or not claim.sure) and not short_form(place, item.key):
        smallest = max(smallest, KNOWN if likely and claim.strength >= Strength.ADDRESS and not everyday else LARGE)
    return place.population >= smallest


def short_form(place: Place, key: str) -> bool:
    """Whether a name is the beginning of the full one, as `Frankfurt` is."""
    return place_key(place.name).startswith(f"{key} ")


def _written_for_sure(claim: PlaceClaim) -> bool:
    by_form = (Strength.LABEL, Strength.ADDRESS, Strength.QUALIFIED)
    return claim.strength in by_form or (claim.sure and claim.strength in (Strength.HEADER, Strength.WORKPLACE))


def _apart(one: Place, other: Place) -> bool:
    return great_circle_km(one.lat, one.lon, other.lat, other.lon) > SAME_GROUND_KM


def near_all(first: Place, others: Iterable[Place], *, km: float) -> bool:
    """Whether every place lies within a distance of the first."""
    return all(great_circle_km(first.lat, first.lon, other.lat, other.lon) <= km for other in others)
