"""Spreadsheets: rows of CSV by RFC 4180 in which no cell is a formula."""

import csv
import io
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, TypeVar

from starlette.responses import Response, StreamingResponse

from api.kernel.schemas import Listing

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


# Spreadsheets of lists: every page, one after the other, as CSV that is never held as a whole.


V = TypeVar("V")

CSV = "text/csv"
AS_CSV: dict[int | str, dict[str, Any]] = {200: {"content": {CSV: {"schema": {"type": "string"}}}}}
"""What a route that gives spreadsheets says of its answers."""


def wants_csv(accept: str | None) -> bool:
    """Whether the `Accept` header asks for a spreadsheet."""
    kinds = [part.split(";")[0].strip().lower() for part in (accept or "").split(",")]
    return CSV in kinds


async def spreadsheet(pages: AsyncIterator[Listing[V]], columns: Sequence[str], *, name: str) -> Response:
    """The answer. Errors of the first page are raised, before a line goes out."""
    first = await anext(pages)
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return StreamingResponse(lines(first, pages, columns), media_type=CSV, headers=headers)


async def lines(first: Listing[V], following: AsyncIterator[Listing[V]], columns: Sequence[str]) -> AsyncIterator[str]:
    """The spreadsheet, a page at a time."""
    yield csv_row(columns) + _rows(first, columns)
    async for page in following:
        yield _rows(page, columns)


def _rows(page: Listing[V], columns: Sequence[str]) -> str:
    return "".join(csv_row(getattr(row, name) for name in columns) for row in page.data)
