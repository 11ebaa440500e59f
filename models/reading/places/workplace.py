"""Read the place of work of an advertisement: weigh its claims against each other and warn instead of guessing."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from models.market.place_names import Place, PlaceKind, place_key
from models.market.places import Places, great_circle_km
from models.reading.intents import Evidence, IntentLocation
from models.reading.places.claims import PlaceClaim, Strength, claims
from models.reading.places.countries import country_signs, place_signs
from models.reading.places.names import NamedPlace, lies_in_any, rather_area, spots

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
        """Return how strongly a country is hinted at, from 0 to 1, beside the strongest one or a language alone."""
        return self.signs.get(code, 0.0) / max([LANGUAGE_WORTH, *self.signs.values()])

    def likely(self, code: str) -> bool:
        """Return whether the text may well be about that country."""
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
    """Return the place a name means here; None when nothing says that the name is meant as a place."""
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
    """Return whether a name is the beginning of the full one, as `Frankfurt` is."""
    return place_key(place.name).startswith(f"{key} ")


def _written_for_sure(claim: PlaceClaim) -> bool:
    by_form = (Strength.LABEL, Strength.ADDRESS, Strength.QUALIFIED)
    return claim.strength in by_form or (claim.sure and claim.strength in (Strength.HEADER, Strength.WORKPLACE))


def _apart(one: Place, other: Place) -> bool:
    return great_circle_km(one.lat, one.lon, other.lat, other.lon) > SAME_GROUND_KM


def near_all(first: Place, others: Iterable[Place], *, km: float) -> bool:
    """Return whether every place lies within a distance of the first."""
    return all(great_circle_km(first.lat, first.lon, other.lat, other.lon) <= km for other in others)


MOST_COUNTRIES = 60
"""As many as an intent can name."""


@dataclass(frozen=True, slots=True)
class PlaceReading:
    """Where the people sought should live. `location` is null when the text does not say.

    A radius stands only when the text gives one. `spans` are the stretches of a short intent that speak of places,
    prepositions included; `excluded` is where such an intent wants no one.
    """

    location: IntentLocation | None
    evidence: tuple[Evidence, ...] = ()
    warnings: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    excluded: IntentLocation | None = None


@dataclass(slots=True)
class Findings:
    """What is collected while reading."""

    text: str
    evidence: list[Evidence] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def read(self, name: str, value: str | int, start: int, end: int) -> None:
        """Note a value of the location, and where it was read."""
        quote = self.text[start:end]
        self.evidence.append(Evidence(field=f"must.location.{name}", value=value, quote=quote, start=start, end=end))

    def fitting(self, codes: Iterable[str]) -> tuple[str, ...]:
        """Return the distinct countries; those beyond an intent's limit are left out with a warning."""
        distinct = tuple(dict.fromkeys(codes))
        if len(distinct) > MOST_COUNTRIES:
            self.warnings.append(f"More than {MOST_COUNTRIES} countries are named; the others are left out.")
        return distinct[:MOST_COUNTRIES]

    def reading(self, location: IntentLocation | None) -> PlaceReading:
        """Return the reading with everything found."""
        return PlaceReading(location, tuple(self.evidence), tuple(dict.fromkeys(self.warnings)))


# Reads the place of work of an advertisement: the claims in it, weighed against each other, without guessing.


STATED = Strength.TITLE
"""From this strength on, a stretch says outright where the job is: several places there are all meant."""

AREA_KM = 50
KNOWN_REGION = 500_000
MOST_PLACES = 20
MOST_NAMES = 200
"""An advertisement has some tens of names that may be places; what stands behind so many is a list, not a job."""

MOST_LISTED = 5
ENOUGH_SIGNS = 1.5
CLEAR_SHARE = 0.7
"""A second country with more than this share of the first one's signs makes the country unclear."""


def read_place_of_work(text: str, *, places: Places, language: str | None) -> PlaceReading:
    """Return the place of work that a job advertisement names, with evidence; a warning in place of each guess."""
    findings = Findings(text)
    spotted = list(islice(spots(text, 0, len(text), places=places), MOST_NAMES))
    found = _last_header_only(claims(text, spotted, places))
    signs = country_signs(text, language)
    for code, weight in place_signs(spotted, places).items():
        signs[code] = signs.get(code, 0.0) + weight
    leaning = _leaning(found, signs)
    resolved = [one for claim in found for item in claim.named if (one := resolve(item, claim, leaning, places))]
    chosen = _chosen(resolved, findings)
    if chosen:
        return findings.reading(_around(chosen, resolved, findings))
    _warn_unclear(resolved, findings)
    regions = _regions(found, leaning)
    if regions:
        return findings.reading(_in_regions(regions, findings, places))
    return findings.reading(_in_countries(found, leaning, findings, places))


def _last_header_only(found: Sequence[PlaceClaim]) -> list[PlaceClaim]:
    """Drop header lines but the last one that is a place: a firm's name stands before the location."""
    last = max((claim.line for claim in found if claim.strength is Strength.HEADER), default=0)
    return [claim for claim in found if claim.strength is not Strength.HEADER or claim.line == last]


def _leaning(found: Sequence[PlaceClaim], signs: Mapping[str, float]) -> Leaning:
    stated: set[str] = set()
    for claim in sorted(found, key=lambda claim: -claim.strength):
        if claim.strength >= STATED and not stated:
            stated.update(_stated_countries(claim))
    return Leaning(frozenset(stated), _stated_areas(found), signs)


def _stated_areas(found: Sequence[PlaceClaim]) -> tuple[Place, ...]:
    """Return regions that the strongest claim names outright: cities named elsewhere count only inside them."""
    strongest = max((claim.strength for claim in found if claim.named), default=None)
    if strongest is None or strongest < STATED:
        return ()
    items = [item for claim in found if claim.strength is strongest for item in claim.named]
    if any(not rather_area(item) for item in items):
        return ()
    return tuple(item.areas[0] for item in items if item.areas[0].kind is PlaceKind.REGION)


def _stated_countries(claim: PlaceClaim) -> Iterator[str]:
    yield from claim.group
    if claim.british:
        yield "GB"
    for item in claim.named:
        if item.qualified:
            yield from {place.country_code for place, _ in item.choices}
        elif rather_area(item) and (claim.strength > Strength.TITLE or item.areas[0].population >= KNOWN_REGION):
            yield item.areas[0].country_code


def _chosen(resolved: Sequence[Resolved], findings: Findings) -> list[Resolved]:
    """Return the claims that decide: those of the greatest strength that name a city clearly."""
    clear = [one for one in resolved if one.place is not None]
    for strength in sorted({one.claim.strength for one in clear}, reverse=True):
        group = [one for one in clear if one.claim.strength is strength]
        if strength >= STATED:
            return _distinct(group)[:MOST_PLACES]
        favourite = _favourite(group)
        if favourite:
            return [favourite]
        names = [one.place.name for one in _distinct(group) if one.place]
        findings.warnings.append(
            f"Several places are named ({_listed(names)}) and none stands out; no city was chosen."
        )
        return []
    return []


def _distinct(group: Iterable[Resolved]) -> list[Resolved]:
    seen: dict[str, Resolved] = {}
    for one in group:
        if one.place:
            seen.setdefault(one.place.id, one)
    return list(seen.values())


def _favourite(group: Sequence[Resolved]) -> Resolved | None:
    """Return the place named at least twice as often as any other; places next to each other count together."""
    counts: dict[str, int] = {}
    for one in group:
        if one.place:
            counts[one.place.id] = counts.get(one.place.id, 0) + 1
    distinct = _distinct(group)
    ranked = sorted(distinct, key=lambda one: -counts[one.place.id] if one.place else 0)
    best = ranked[0]
    others = [one for one in ranked[1:] if one.place and best.place and not near_all(best.place, [one.place], km=25)]
    most = max((counts[one.place.id] for one in others if one.place), default=0)
    return best if best.place and counts[best.place.id] >= 2 * most else None


def _around(chosen: Sequence[Resolved], resolved: Sequence[Resolved], findings: Findings) -> IntentLocation:
    named = [(one, one.place) for one in chosen if one.place]
    cities = [place for _, place in named]
    countries = tuple(dict.fromkeys(place.country_code for place in cities))
    radius = next((one.claim.radius_km for one in resolved if one.place == cities[0] and one.claim.radius_km), None)
    for code in countries:
        one = next(one for one, place in named if place.country_code == code)
        findings.read("countries", code, one.item.start, one.item.end)
    if len(cities) == 1 or near_all(cities[0], cities[1:], km=AREA_KM):
        findings.read("anchor_location_id", cities[0].id, named[0][0].item.start, named[0][0].item.end)
        if len(cities) > 1:
            findings.warnings.append(f"Places near each other are named; the search is around {cities[0].name}.")
        return IntentLocation(countries=countries, anchor_location_id=cities[0].id, radius_km=radius)
    for one, place in named:
        findings.read("location_ids", place.id, one.item.start, one.item.end)
    findings.warnings.append(f"Several places are named and all are searched: {_listed([c.name for c in cities])}.")
    return IntentLocation(countries=countries, location_ids=tuple(place.id for place in cities))


def _warn_unclear(resolved: Sequence[Resolved], findings: Findings) -> None:
    for one in resolved:
        if one.place is None and one.claim.strength >= Strength.ADDRESS:
            quote = findings.text[one.item.start : one.item.end]
            labels = [place.label for place in one.alternatives]
            findings.warnings.append(f"“{quote}” can mean {_listed(labels)}; none was chosen.")


def _regions(found: Sequence[PlaceClaim], leaning: Leaning) -> list[tuple[PlaceClaim, Place, int, int]]:
    """Return regions and districts that the strongest claim names, when no city is known."""
    for claim in sorted(found, key=lambda claim: -claim.strength):
        if claim.strength < Strength.WORKPLACE:
            break
        named = [
            (claim, area, item.start, item.end)
            for item in claim.named
            for area in item.areas[:1]
            if area.kind is PlaceKind.REGION and rather_area(item) and leaning.likely(area.country_code)
        ]
        if named:
            return named
    return []


def _in_regions(
    regions: Sequence[tuple[PlaceClaim, Place, int, int]], findings: Findings, places: Places
) -> IntentLocation:
    countries = tuple(dict.fromkeys(area.country_code for _, area, _, _ in regions))
    for _, area, start, end in regions:
        findings.read("location_ids", area.id, start, end)
    names = _listed([area.name for _, area, _, _ in regions])
    findings.warnings.append(f"No city is named; the search covers {names}.")
    return IntentLocation(countries=countries, location_ids=tuple(dict.fromkeys(area.id for _, area, _, _ in regions)))


def _in_countries(
    found: Sequence[PlaceClaim], leaning: Leaning, findings: Findings, places: Places
) -> IntentLocation | None:
    if leaning.stated:
        codes = findings.fitting(sorted(leaning.stated))
        _read_stated(found, codes, findings)
        findings.warnings.append(f"No city is named; the search covers all of {_names(codes, places)}.")
        return IntentLocation(countries=codes)
    codes = _inferred(leaning)
    if not codes:
        findings.warnings.append("The text does not say where the job is; no place was chosen.")
        return None
    unclear = "The country is not named and unclear" if len(codes) > 1 else "No place is named; the country is inferred"
    findings.warnings.append(f"{unclear} from the wording of the text: {_names(codes, places)}.")
    return IntentLocation(countries=codes)


def _read_stated(found: Sequence[PlaceClaim], codes: Sequence[str], findings: Findings) -> None:
    for code in codes:
        for claim in found:
            if claim.strength >= STATED and code in set(_stated_countries(claim)):
                findings.read("countries", code, claim.start, claim.end)
                break


def _inferred(leaning: Leaning) -> tuple[str, ...]:
    ranked = sorted(leaning.signs.items(), key=lambda sign: (-sign[1], sign[0]))
    if not ranked or ranked[0][1] < ENOUGH_SIGNS:
        return _tied(ranked)
    return tuple(code for code, weight in ranked[:2] if weight >= CLEAR_SHARE * ranked[0][1])


def _tied(ranked: Sequence[tuple[str, float]]) -> tuple[str, ...]:
    """Return the countries that speak the language, when nothing else decides."""
    return tuple(code for code, weight in ranked[:2] if weight >= 1.0)


def _names(codes: Iterable[str], places: Places) -> str:
    return _listed([places.country_name(code) for code in codes])


def _listed(names: Sequence[str]) -> str:
    shown = list(dict.fromkeys(names))
    more = f" and {len(shown) - MOST_LISTED} more" if len(shown) > MOST_LISTED else ""
    return ", ".join(shown[:MOST_LISTED]) + more
