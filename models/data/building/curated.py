"""Reads the hand-written tables in `models/data/curated`: tab-separated, `#` begins a comment line."""

from collections.abc import Iterator
from pathlib import Path

CURATED = Path(__file__).parent.parent / "curated"


def rows(name: str) -> Iterator[list[str]]:
    """Return cells of each line of `<name>.tsv`."""
    for line in (CURATED / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield [cell.strip() for cell in line.split("\t")]


def names_by_key(name: str) -> dict[str, list[str]]:
    """Return tables of two columns, the second holding names parted by `|`."""
    return {cells[0]: cells[1].split("|") for cells in rows(name)}
