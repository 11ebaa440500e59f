"""Reads the curated title families into the table that the rules search."""

from functools import lru_cache
from pathlib import Path

from models.rules.titles import Family, NoOccupations, Titles, parse

FAMILIES = Path(__file__).parent / "curated" / "title_families"


def read_families(folder: Path = FAMILIES) -> list[Family]:
    """Every family of every sector; raises `ValueError` for a damaged file."""
    return [
        family
        for file in sorted(folder.glob("*.tsv"))
        for family in parse(file.read_text(encoding="utf-8").splitlines())
    ]


@lru_cache(maxsize=1)
def load_titles() -> Titles:
    """The titles, read once per process."""
    return Titles(read_families(), NoOccupations())
