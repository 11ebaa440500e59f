"""Signs of a country in the places that a text mentions anywhere."""

from collections import defaultdict
from collections.abc import Sequence

from models.rules.places import PlaceKind, Places
from models.rules.reading.places.spotting import Spot

LARGE = 100_000
COUNTRY, REGION, CITY = 1.5, 1.0, 1.2
MOST = 3.0
DOMINANT = 10
"""A city counts when it has so many times the people of the next place of its name in another country."""


def place_signs(found: Sequence[Spot], places: Places) -> dict[str, float]:
    """How strongly each country is hinted at by names of countries, regions and large cities, each name once."""
    signs: dict[str, float] = defaultdict(float)
    seen: set[str] = set()
    for spot in found:
        if spot.key in seen or places.is_everyday_word(spot.key) or len(spot.key) < len("ulm"):
            continue
        seen.add(spot.key)
        place, alias = spot.choices[0]
        rivals = [other for other, _ in spot.choices[1:] if other.country_code != place.country_code]
        if any(other.population * DOMINANT > place.population for other in rivals):
            continue
        if place.kind is PlaceKind.COUNTRY:
            signs[place.country_code] += COUNTRY
        elif place.kind is PlaceKind.REGION and not alias:
            signs[place.country_code] += REGION
        elif place.population >= LARGE:
            signs[place.country_code] += CITY
    return {code: min(weight, MOST) for code, weight in signs.items()}
