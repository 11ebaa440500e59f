"""Reads the places of the reference file into the table that the rules search."""

import json
import sqlite3
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from models.rules.places import CountryNames, Gazetteer, Hit, Places

EXACT = "SELECT row, alias FROM place_key WHERE key = ? ORDER BY row"
LONGEST = "SELECT longest FROM place_word WHERE word = ?"
EVERYDAY = "SELECT 1 FROM everyday_word WHERE word = ?"
PREFIX = "SELECT row, alias FROM place_key WHERE key >= ? AND key < ? ORDER BY row LIMIT ?"


class StoredNames:
    """Rows by the key of a name, from the reference file."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._exact = lru_cache(maxsize=50_000)(self._read)
        self.longest = lru_cache(maxsize=50_000)(self._longest)
        self.everyday = lru_cache(maxsize=50_000)(self._everyday)

    def exact(self, key: str) -> Sequence[Hit]:
        """Every row with that name, most people first."""
        return self._exact(key)

    def _read(self, key: str) -> tuple[Hit, ...]:
        return tuple(Hit(row, bool(alias)) for row, alias in self._database.execute(EXACT, (key,)))

    def _longest(self, word: str) -> int:
        found = self._database.execute(LONGEST, (word,)).fetchone()
        return int(found[0]) if found else 0

    def _everyday(self, key: str) -> bool:
        return self._database.execute(EVERYDAY, (key,)).fetchone() is not None

    def prefix(self, key: str, *, limit: int) -> Sequence[Hit]:
        """Rows with a name that begins like that, most people first."""
        return [Hit(row, bool(alias)) for row, alias in self._database.execute(PREFIX, (key, key + "~", limit))]


def value(database: sqlite3.Connection, name: str) -> bytes:
    """One named value of the file; raises `KeyError` when the file lacks it."""
    found = database.execute("SELECT data FROM value WHERE name = ?", (name,)).fetchone()
    if found is None:
        raise KeyError(name)
    return bytes(found[0])


def load_places(database: sqlite3.Connection) -> Places:
    """The places, with their names looked up in the file."""
    facts = json.loads(value(database, "place.facts"))

    def read(name: str) -> bytes:
        return value(database, f"place.{name}")

    table = Gazetteer(
        ids=np.frombuffer(read("ids"), dtype="<i8"),
        names=tuple(read("names").decode().split("\n")),
        level=np.frombuffer(read("level"), dtype="u1"),
        country=np.frombuffer(read("country"), dtype="<i2"),
        region=np.frombuffer(read("region"), dtype="<i4"),
        district=np.frombuffer(read("district"), dtype="<i4"),
        lat=np.frombuffer(read("lat"), dtype="<f4"),
        lon=np.frombuffer(read("lon"), dtype="<f4"),
        population=np.frombuffer(read("population"), dtype="<i8"),
        time_zone=np.frombuffer(read("time_zone"), dtype="<i2"),
        time_zones=tuple(facts["time_zones"]),
        countries=tuple(CountryNames(**country) for country in facts["countries"]),
        radii={int(row): radius for row, radius in facts["radii"].items()},
        cities=facts["cities"],
        country_keys=facts["country_keys"],
        groups={key: tuple(codes) for key, codes in facts["groups"].items()},
        name_index=StoredNames(database),
    )
    return Places(table)
