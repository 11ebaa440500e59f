"""Reads the hand-written tables in `models/data/curated`: tab-separated, `#` begins a comment line."""

from collections.abc import Iterator
from pathlib import Path

CURATED = Path(__file__).parents[1] / "data" / "curated"


def curated_rows(name: str) -> Iterator[list[str]]:
    """Yield the cells of each line of `<name>.tsv`, without empty cells at its end."""
    for line in (CURATED / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield [cell.strip() for cell in line.rstrip().split("\t")]


def names_by_key(name: str) -> dict[str, list[str]]:
    """Return a table of two columns as a mapping; the second column holds names separated by `|`."""
    return {cells[0]: cells[1].split("|") for cells in curated_rows(name)}
