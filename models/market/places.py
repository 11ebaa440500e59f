"""How many people live in a set of places: the ground of a rough estimate before a source has counted."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from models.market.place_names import KIND_OF, LEVELS, Gazetteer, Level, Place, PlaceKind, ascii_form, place_key


class Residents:
    """Counts people of places. A place inside another listed one adds nothing.

    GeoNames counts districts of a city beside the city, so the cities of a country can sum up to more than its people:
    everything below a country is scaled to the country's total. Good to about a factor of two for single cities.
    """

    def __init__(self, table: Gazetteer) -> None:
        cities = slice(0, table.cities)
        totals = np.bincount(
            table.country[cities], weights=table.population[cities].astype(float), minlength=len(table.countries)
        )
        whole = np.array([float(table.population[country.row]) for country in table.countries])
        self._scale = np.minimum(1.0, whole / np.maximum(totals, 1.0))
        self._table = table

    def count(self, rows: Iterable[int]) -> int:
        """Return people in the union of the places of these rows."""
        wanted = frozenset(rows)
        return round(sum(self._people(row) for row in wanted if wanted.isdisjoint(self._around(row))))

    def _people(self, row: int) -> float:
        people = float(self._table.population[row])
        if LEVELS[self._table.level[row]] is Level.COUNTRY:
            return people
        return people * float(self._scale[self._table.country[row]])

    def _around(self, row: int) -> list[int]:
        table = self._table
        areas = (table.countries[table.country[row]].row, int(table.region[row]), int(table.district[row]))
        return [area for area in areas if area not in (row, -1)]


# Finding places: by id, by name, by distance, by the words of a people source.


SEPARATORS = re.compile(r"\s*[,;|()\[\]/]\s*|\s+[-–—]\s+")
CODED_COUNTRIES = ("US", "CA", "AU", "CH", "FR")
LEVEL_BONUS = {Level.COUNTRY: 1.5, Level.CITY: 1.0, Level.METRO: 0.5, Level.REGION: -1.0, Level.DISTRICT: -2.0}
ALIAS_PENALTY = 0.7
MOST_QUALIFIER_WORDS = 3
MOST_DIGITS = 12
ROUGHNESS, EXACTNESS = 1e-6, 1e-12
"""How far a cosine of single and of double precision may be off."""

SAME_GROUND_KM = 25
DOMINANT = 20
"""A city with so many times the people of its next namesake is the one that is meant."""


@dataclass(frozen=True, slots=True)
class SourcePlaceNames:
    """A location id in the words sources use: lower-case English ASCII; `city` is null for a region or country."""

    city: str | None
    region: str | None
    country_code: str
    country: str


def unit_vectors(lat: NDArray[np.floating], lon: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the points on the unit sphere: three rows of coordinates."""
    phi, theta = np.radians(lat.astype(np.float64)), np.radians(lon.astype(np.float64))
    return np.stack((np.cos(phi) * np.cos(theta), np.cos(phi) * np.sin(theta), np.sin(phi)))


class Places:
    """All known places. Holds no state but the table; safe to share between threads and tasks."""

    def __init__(self, table: Gazetteer) -> None:
        self._table = table
        self._vectors = unit_vectors(table.lat[: table.cities], table.lon[: table.cities])
        self._rough = self._vectors.astype(np.float32)
        self._by_id = np.argsort(table.ids, kind="stable")
        self._sorted_ids = table.ids[self._by_id]
        self._place = lru_cache(maxsize=20_000)(self._build)
        self._residents = Residents(table)
        self._ranked = lru_cache(maxsize=20_000)(self._rank)
        self._areas = lru_cache(maxsize=5_000)(self._find_areas)
        self._with_key = lru_cache(maxsize=50_000)(self._find_key)
        self._countries = {country.code: country for country in table.countries}
        self._iso3 = {country.iso3: country.code for country in table.countries}

    # --- by id

    def get(self, location_id: str) -> Place:
        """Return the place of an id; raises `KeyError` for an unknown one."""
        return self._place(self._row(location_id))

    def _row(self, location_id: str) -> int:
        prefix, _, digits = location_id.partition("_")
        if prefix != "loc" or len(digits) > MOST_DIGITS or not digits.isascii() or not digits.isdigit():
            raise KeyError(location_id)
        number = int(digits)
        at = int(np.searchsorted(self._sorted_ids, number))
        if at == len(self._sorted_ids) or int(self._sorted_ids[at]) != number:
            raise KeyError(location_id)
        return int(self._by_id[at])

    def _build(self, row: int) -> Place:
        table = self._table
        level = LEVELS[table.level[row]]
        country = table.countries[table.country[row]]
        region = self._region_name(row)
        zone = int(table.time_zone[row])
        return Place(
            id=f"loc_{table.ids[row]}",
            name=table.names[row],
            kind=KIND_OF[level],
            region=region,
            country_code=country.code,
            lat=round(float(table.lat[row]), 5),
            lon=round(float(table.lon[row]), 5),
            population=int(table.population[row]),
            time_zone=table.time_zones[zone] if zone >= 0 else None,
            label=_label(table.names[row], region=region, country=country.names["en"], level=level),
            radius_km=table.radii.get(row),
        )

    def _region_name(self, row: int) -> str | None:
        region = int(self._table.region[row])
        return self._table.names[region] if region >= 0 else None

    # --- by name

    def find(
        self, query: str, *, country: str | None = None, kind: PlaceKind | None = None, limit: int = 10
    ) -> list[Place]:
        """Return all places a query can mean, best first: those with that name, else those whose name begins so.

        `query` may carry its area: `Springfield, IL`, `Gent (Belgium)`, `07 - Privas`. `country` is an ISO code.
        """
        wanted = [row for row in self._exact_rows(query) if self._matches(row, country=country, kind=kind)]
        if not wanted:
            begun = self._prefix_rows(query, limit=limit)
            wanted = [row for row in begun if self._matches(row, country=country, kind=kind)]
        return [self._place(row) for row in wanted[:limit]]

    def named(self, name: str) -> list[Place]:
        """Return places with exactly this name, best first; the name stands alone, without its area."""
        return [self._place(row) for row in self._ranked(place_key(name))]

    def with_key(self, key: str) -> tuple[tuple[Place, bool], ...]:
        """Return places with a name of this `place_key`, best first, each with whether the name is only an alias."""
        return self._with_key(key)

    def _find_key(self, key: str) -> tuple[tuple[Place, bool], ...]:
        aliases = {hit.row: hit.alias for hit in self._table.name_index.exact(key)}
        return tuple((self._place(row), aliases[row]) for row in self._ranked(key))

    def longest_name(self, word: str) -> int:
        """Return how many words the longest name has that begins with this word (a `place_key`); 0 when none does."""
        return self._table.name_index.longest(word)

    def is_everyday_word(self, key: str) -> bool:
        """Return whether a name is also an everyday word: in prose it then names a place only beside other signs."""
        return self._table.name_index.everyday(key)

    def lies_in(self, place: Place, area: Place) -> bool:
        """Return whether a place is an area, or lies in it."""
        row, outer = self._row(place.id), self._row(area.id)
        return row == outer or outer in self._areas_around(row)

    def areas(self, text: str) -> list[Place]:
        """Return the countries, regions and districts that a text names, also by codes such as `CA` or `BC`."""
        return [self._place(row) for row in sorted(self._areas(text), key=lambda row: (-self._score(row), row))]

    def _matches(self, row: int, *, country: str | None, kind: PlaceKind | None) -> bool:
        if kind is not None and KIND_OF[LEVELS[self._table.level[row]]] != kind:
            return False
        return country is None or self._table.countries[self._table.country[row]].code == country

    def _exact_rows(self, query: str) -> Sequence[int]:
        key = place_key(query)
        code = self._iso3.get(query.strip())
        if code:
            return [self._countries[code].row]
        return self._ranked(key) or self._qualified_rows(query)

    def _rank(self, key: str) -> Sequence[int]:
        if not key:
            return ()
        scores: dict[int, float] = {}
        for row, alias in self._table.name_index.exact(key):
            score = self._score(row) - (ALIAS_PENALTY if alias else 0.0)
            scores[row] = max(score, scores.get(row, -math.inf))
        return tuple(sorted(scores, key=lambda row: (-scores[row], row)))

    def _score(self, row: int) -> float:
        return math.log10(int(self._table.population[row]) + 1) + LEVEL_BONUS[LEVELS[self._table.level[row]]]

    def _qualified_rows(self, query: str) -> Sequence[int]:
        parts = [part for part in SEPARATORS.split(query) if place_key(part)]
        if len(parts) > 1:
            named_first = self._ranked(place_key(parts[0]))
            return self._within(parts[0], parts[1:]) if named_first else self._within(parts[-1], parts[:-1])
        words = query.split()
        for taken in range(1, min(len(words) - 1, MOST_QUALIFIER_WORDS) + 1):
            head, tail = " ".join(words[:-taken]), words[-taken:]
            rows = self._within(head, [" ".join(tail)], strict=True) or self._within(head, tail, strict=True)
            if rows:
                return rows
        return ()

    def _within(self, name: str, qualifiers: list[str], *, strict: bool = False) -> Sequence[int]:
        """Return the rows called `name` inside all areas that the qualifiers name; unknown ones only if `strict`."""
        rows = self._ranked(place_key(name))
        for qualifier in qualifiers:
            if not rows:
                break
            areas = self._areas(qualifier)
            if areas:
                rows = [row for row in rows if not areas.isdisjoint(self._areas_around(row))]
            elif strict:
                return ()
        return rows

    def _areas_around(self, row: int) -> tuple[int, int, int]:
        table = self._table
        country = table.countries[table.country[row]].row
        return (country, int(table.region[row]), int(table.district[row]))

    def _find_areas(self, text: str) -> frozenset[int]:
        """Return rows of the countries, regions and districts that a text names, codes included."""
        areas = {
            row for row, _ in self._table.name_index.exact(place_key(text)) if LEVELS[self._table.level[row]] in AREAS
        }
        code = self.country_code(text)
        if code is not None:
            areas.add(self._countries[code].row)
        stripped = text.strip()
        if stripped.isupper() or stripped.isdigit():
            for country in CODED_COUNTRIES:
                areas.update(row for row, _ in self._table.name_index.exact(f"{country.lower()}:{stripped.lower()}"))
        return frozenset(areas)

    def _prefix_rows(self, query: str, *, limit: int) -> list[int]:
        key = place_key(query)
        if len(key) < 2:  # noqa: PLR2004 - one letter names nothing
            return []
        hits = self._table.name_index.prefix(key, limit=limit * 20)
        return sorted({hit.row for hit in hits}, key=lambda row: (-self._score(row), row))

    # --- by distance

    def area(self, anchor: Place, radius_km: float) -> list[Place]:
        """Return the cities within a great-circle distance of the anchor, itself included, most populous first."""
        point = unit_vectors(np.array([anchor.lat]), np.array([anchor.lon]))[:, 0]
        least = math.cos(radius_km / EARTH_KM)
        x, y, z = self._rough
        rough = x * np.float32(point[0]) + y * np.float32(point[1]) + z * np.float32(point[2])
        near = np.flatnonzero(rough >= np.float32(least - ROUGHNESS))
        exact = (self._vectors[:, near] * point[:, None]).sum(axis=0)
        return [self._place(int(row)) for row in near[exact >= least - EXACTNESS]]

    # --- countries and groups of countries

    def country_code(self, text: str) -> str | None:
        """Return the ISO 3166-1 alpha-2 code a text names, in four languages or by code; `UK` and England are GB."""
        stripped = text.strip()
        if stripped in self._countries:
            return stripped
        if stripped in self._iso3:
            return self._iso3[stripped]
        return self._table.country_keys.get(place_key(stripped))

    @property
    def country_codes(self) -> tuple[str, ...]:
        """The codes of all countries."""
        return tuple(self._countries)

    def country_name(self, code: str, language: str = "en") -> str:
        """Return a country's name in `en`, `de`, `fr` or `nl`; raises `KeyError` for an unknown code or language."""
        return self._countries[code].names[language]

    def country(self, code: str) -> Place:
        """Return the place of a country code; raises `KeyError` for an unknown one."""
        return self._place(self._countries[code].row)

    def group(self, text: str) -> tuple[str, ...]:
        """Return the country codes of a group such as `DACH` or `EU`; empty when it names none."""
        return self._table.groups.get(place_key(text), ())

    def metro(self, text: str) -> Place | None:
        """Return the metropolitan area a text names."""
        return next((place for place in self.named(text) if place.kind is PlaceKind.METRO), None)

    # --- in the words of a people source

    def names(self, location_id: str) -> SourcePlaceNames:
        """Return the English names of an id, lower case and ASCII.

        Raises `KeyError` for an unknown id and for a metro or district, which sources do not know: see `searchable`.
        """
        row = self._row(location_id)
        if LEVELS[self._table.level[row]] in (Level.METRO, Level.DISTRICT):
            raise KeyError(location_id)
        place = self._place(row)
        country = self.country_name(place.country_code).lower()
        region = ascii_form(place.region).lower() if place.region else None
        if place.kind is PlaceKind.COUNTRY:
            return SourcePlaceNames(city=None, region=None, country_code=place.country_code, country=country)
        if place.kind is PlaceKind.REGION:
            return SourcePlaceNames(city=None, region=region, country_code=place.country_code, country=country)
        return SourcePlaceNames(ascii_form(place.name).lower(), region, place.country_code, country)

    def location_id(self, *, city: str | None, region: str | None, country_code: str | None) -> str | None:
        """Return the id of a place a source named, when the names leave one choice, or one beside mere villages."""
        if country_code is None or country_code not in self._countries:
            return None
        area = self._source_region(region, country_code) if region else None
        if city is None:
            return f"loc_{self._table.ids[area]}" if area is not None else self.country(country_code).id
        rows = [row for row in self._city_rows(city, country_code) if area is None or self._table.region[row] == area]
        if not rows or any(self._rivals(rows[0], other) for other in rows[1:]):
            return None
        return f"loc_{self._table.ids[rows[0]]}"

    def _rivals(self, row: int, other: int) -> bool:
        """Return whether a name may as well mean the other city: no village beside it, and not the same ground."""
        one, two = self._place(row), self._place(other)
        dominated = one.population >= DOMINANT * two.population
        return not dominated and great_circle_km(one.lat, one.lon, two.lat, two.lon) > SAME_GROUND_KM

    def _city_rows(self, city: str, country_code: str) -> list[int]:
        hits = [
            hit
            for hit in self._table.name_index.exact(place_key(city))
            if self._matches(hit.row, country=country_code, kind=PlaceKind.CITY)
        ]
        usual = {hit.row for hit in hits if not hit.alias}
        return sorted(usual or {hit.row for hit in hits})

    def _source_region(self, region: str, country_code: str) -> int | None:
        for row in self._ranked(place_key(region)):
            if LEVELS[self._table.level[row]] is Level.REGION and self._matches(row, country=country_code, kind=None):
                return row
        return None

    # --- how many

    def people_share(self, *, location_ids: Iterable[str] = (), countries: Iterable[str] = ()) -> int:
        """Estimate how many people live in the union of these places; raises `KeyError` for an unknown one."""
        rows = [self._row(location_id) for location_id in location_ids]
        return self._residents.count([*rows, *(self._countries[code].row for code in countries)])

    # --- what a search can name

    def searchable(self, location_ids: Iterable[str]) -> list[Place]:
        """Return the area in places that sources know: metros and districts as cities, most populous first."""
        found: dict[str, Place] = {}
        for location_id in location_ids:
            for place in self._parts(self._row(location_id)):
                found.setdefault(place.id, place)
        return sorted(found.values(), key=lambda place: (-place.population, place.id))

    def _parts(self, row: int) -> list[Place]:
        level = LEVELS[self._table.level[row]]
        if level is Level.METRO:
            place = self._place(row)
            return self.area(place, place.radius_km or 0)
        if level is Level.DISTRICT:
            inside = np.flatnonzero(self._table.district[: self._table.cities] == row)
            return [self._place(int(city)) for city in inside]
        return [self._place(row)]


AREAS = frozenset({Level.REGION, Level.DISTRICT, Level.COUNTRY})


def _label(name: str, *, region: str | None, country: str, level: Level) -> str:
    if level is Level.COUNTRY:
        return country
    if level is Level.REGION or region is None:
        return f"{name}, {country}"
    return f"{name}, {country}" if region == name else f"{name}, {region}, {country}"


EARTH_KM = 6371.0088


def great_circle_km(lat: float, lon: float, other_lat: float, other_lon: float) -> float:
    """Return the haversine distance of two points given in degrees."""
    phi, other_phi = math.radians(lat), math.radians(other_lat)
    half_lat, half_lon = (other_phi - phi) / 2, math.radians(other_lon - lon) / 2
    chord = math.sin(half_lat) ** 2 + math.cos(phi) * math.cos(other_phi) * math.sin(half_lon) ** 2
    return 2 * EARTH_KM * math.asin(min(1.0, math.sqrt(chord)))
