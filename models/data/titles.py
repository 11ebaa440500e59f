"""Reads the curated title families, and the labels of the reference file by their first word."""

import sqlite3
from functools import lru_cache
from pathlib import Path

from models.rules.occupations import Occupations
from models.rules.titles import Family, Titles, is_generic, parse, title_key

FAMILIES = Path(__file__).parent / "curated" / "title_families"
BY_FIRST_WORD = (
    "SELECT text, language, preferred FROM label WHERE key = :word OR (key >= :word || ' ' AND key < :word || '!')"
)
SHORTEST_SINGLE = 9
"""A label of one shorter word is too easily everyday prose, unless it is a taxonomy's own German or Dutch name."""
SHORTEST_PREFERRED = 7


class StoredLabels:
    """Labels of the taxonomies that can be told from prose."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self.starting_with = lru_cache(maxsize=50_000)(self._read)

    def _read(self, word: str) -> frozenset[str]:
        rows = self._database.execute(BY_FIRST_WORD, {"word": word})
        return frozenset(title_key(text) for text, language, preferred in rows if _telling(text, language, preferred))


def _telling(text: str, language: str, preferred: int) -> bool:
    if is_generic(text):
        return False
    if " " in title_key(text):
        return True
    compound = language in ("de", "nl")
    return compound and len(text) >= (SHORTEST_PREFERRED if preferred else SHORTEST_SINGLE)


def read_families(folder: Path = FAMILIES) -> list[Family]:
    """Every family of every sector; raises `ValueError` for a damaged file."""
    files = sorted(folder.glob("*.tsv"))
    return [family for file in files for family in parse(file.read_text(encoding="utf-8").splitlines())]


def load_titles(database: sqlite3.Connection, occupations: Occupations) -> Titles:
    """The titles, with the taxonomies behind them."""
    return Titles(read_families(), occupations, StoredLabels(database))
