"""Spreadsheets: rows of CSV by RFC 4180 in which no cell is a formula."""

import csv
import io
import re
from collections.abc import Iterable

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
TELEPHONE = re.compile(r"\+?[0-9][0-9 ()./-]*")

Cell = str | int | float | None


def csv_row(cells: Iterable[Cell]) -> str:
    """One line, ending with CRLF. Null is an empty cell; a text that a spreadsheet would run starts with `'`."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow([_harmless(cell) for cell in cells])
    return line.getvalue()


def _harmless(cell: Cell) -> Cell:
    if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) and not TELEPHONE.fullmatch(cell):
        return f"'{cell}"
    return cell
