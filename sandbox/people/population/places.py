"""Countries, cities and metropolitan areas of the invented labour market."""

import gzip
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from math import cos, radians

import numpy as np

from sandbox.data.build_cities import ascii_form
from sandbox.people.population.draws import Floats, Ints

DATA = files("sandbox.data")
_KM_PER_DEGREE = 111.2
# A city of 400,000 has twice as many profiles per inhabitant as a village, one of a million or more 3.5 times.
_DENSER_EVERY, _DENSEST = 400_000, 1_000_000
_CONTINENTS = {"US": "north america", "CA": "north america", "IN": "asia", "AU": "oceania"}


@dataclass(frozen=True, slots=True)
class Country:
    """One country: its share of people in tenths of a per cent, and how people there are named and speak."""

    code: str
    name: str
    continent: str
    weight: int
    phone: str
    cultures: Mapping[str, int]
    languages: Mapping[str, int]
    legal: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class City:
    """One place with at least a thousand inhabitants; names are lower-case ASCII, in English where one exists."""

    geonameid: int
    locality: str
    region: str
    country: Country
    latitude: float
    longitude: float
    population: int
    metro: str | None

    @property
    def name(self) -> str:
        """The full place name: locality, region, country."""
        return ", ".join(part for part in (self.locality, self.region, self.country.name) if part)

    @property
    def geo(self) -> str:
        """Coordinates as the text `lat,lon`."""
        return f"{self.latitude:.2f},{self.longitude:.2f}"


@dataclass(frozen=True, slots=True)
class Places:
    """All countries and cities; cities of one country stand together, largest first."""

    countries: tuple[Country, ...]
    cities: tuple[City, ...]
    first_city: Ints
    """For each country the index of its largest city, and one past the last city at the end."""
    city_country: Ints
    populations: Ints

    def largest(self, country: int, count: int) -> range:
        """Return the indexes of the largest cities of a country."""
        first, last = int(self.first_city[country]), int(self.first_city[country + 1])
        return range(first, min(last, first + count))

    def draw_cities(self, countries: Ints, units: Floats) -> Ints:
        """Choose a city for each person by its inhabitants; profiles are denser in large cities."""
        density = self.populations + self.populations * np.minimum(self.populations, _DENSEST) // _DENSER_EVERY
        ends = np.concatenate(([0], np.cumsum(density)))
        low = ends[self.first_city[countries]]
        high = ends[self.first_city[countries + 1]]
        cities: Ints = np.searchsorted(ends, low + np.floor(units * (high - low)), side="right") - 1
        return cities


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    return ascii_form(text).lower()


def _metros() -> list[tuple[str, str, float, float, float]]:
    rows = (line.split("\t") for line in DATA.joinpath("metros.tsv").read_text(encoding="utf-8").splitlines())
    return [(row[5], row[1], float(row[2]), float(row[3]), float(row[4])) for row in rows]


def _metro_of(metros: list[tuple[str, float, float, float]], latitude: float, longitude: float) -> str | None:
    for name, centre_latitude, centre_longitude, radius_km in metros:
        north = (latitude - centre_latitude) * _KM_PER_DEGREE
        east = (longitude - centre_longitude) * _KM_PER_DEGREE * cos(radians(latitude))
        if north * north + east * east <= radius_km * radius_km:
            return name
    return None


def _countries() -> tuple[Country, ...]:
    table = tomllib.loads(DATA.joinpath("countries.toml").read_text(encoding="utf-8"))
    return tuple(
        Country(
            code=code,
            name=row["name"],
            continent=_CONTINENTS.get(code, "europe"),
            weight=round(row["weight"] * 10),
            phone=row["phone"],
            cultures=row["cultures"],
            languages=row["languages"],
            legal=tuple(row["legal"]),
        )
        for code, row in table.items()
    )


@lru_cache(maxsize=1)
def load_places() -> Places:
    """Read the shipped place files once per process."""
    countries = _countries()
    metros: dict[str, list[tuple[str, float, float, float]]] = {}
    for name, code, latitude, longitude, radius in _metros():
        metros.setdefault(code, []).append((name, latitude, longitude, radius))
    by_country: dict[str, list[City]] = {country.code: [] for country in countries}
    known = {country.code: country for country in countries}
    for line in gzip.decompress(DATA.joinpath("cities.tsv.gz").read_bytes()).decode().splitlines():
        key, _, ascii_name, region, code, latitude_text, longitude_text, population = line.split("\t")
        latitude, longitude = float(latitude_text), float(longitude_text)
        metro = _metro_of(metros[code], latitude, longitude) if code in metros else None
        by_country[code].append(
            City(
                geonameid=int(key),
                locality=ascii_name.lower(),
                region=_plain(region),
                country=known[code],
                latitude=latitude,
                longitude=longitude,
                population=int(population),
                metro=metro,
            )
        )
    cities = tuple(city for country in countries for city in by_country[country.code])
    sizes = [len(by_country[country.code]) for country in countries]
    return Places(
        countries=countries,
        cities=cities,
        first_city=np.concatenate(([0], np.cumsum(np.array(sizes, dtype=np.int64)))),
        city_country=np.repeat(np.arange(len(countries), dtype=np.int64), sizes),
        populations=np.array([city.population for city in cities], dtype=np.int64),
    )
