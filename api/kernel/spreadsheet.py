"""Spreadsheets: a list as CSV (RFC 4180), read a page at a time, without cells that are formulas."""

import csv
import io
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from starlette.responses import Response, StreamingResponse

from api.kernel.kernel import Kernel
from api.kernel.operation import Sheet
from api.kernel.routing import IncomingRequest, OperationRoute
from api.kernel.schemas import Listing, PageAsk

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
TELEPHONE = re.compile(r"\+?[0-9][0-9 ()./-]*")

CSV = "text/csv"
PAGE = 100
"""Rows read at a time: the largest page of a list."""

V = TypeVar("V")

Cell = str | int | float | None


def csv_row(cells: Iterable[Cell]) -> str:
    """Return one line with CRLF. Null is an empty cell; a text that a spreadsheet would execute gets a `'` prefix."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow([_harmless(cell) for cell in cells])
    return line.getvalue()


def _harmless(cell: Cell) -> Cell:
    if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) and not TELEPHONE.fullmatch(cell):
        return f"'{cell}"
    return cell


def wants_csv(accept: str | None) -> bool:
    """Return whether the `Accept` header asks for a spreadsheet."""
    kinds = [part.split(";")[0].strip().lower() for part in (accept or "").split(",")]
    return CSV in kinds


class SheetRoute(OperationRoute):
    """A list that is a spreadsheet of all its rows if `Accept` asks for `text/csv`."""

    def more_responses(self) -> dict[int | str, dict[str, Any]]:
        """Return the documentation of the other answers."""
        return {200: {"content": {CSV: {"schema": {"type": "string"}}}}}

    async def answer(self, request: IncomingRequest, ask: object, ids: Mapping[str, str]) -> Response:
        """Answer with a page or the spreadsheet. Errors of its first page are raised before any line is sent."""
        sheet = self.served.sheet
        if sheet is None or not isinstance(ask, PageAsk) or not wants_csv(request.headers.get("accept")):
            return await super().answer(request, ask, ids)
        pages = self._pages(request, sheet, ask)
        first = await anext(pages)
        headers = {"Content-Disposition": f'attachment; filename="{"-".join(ids.values())}.csv"'}
        return StreamingResponse(spreadsheet_lines(first, pages, sheet.columns), media_type=CSV, headers=headers)

    async def _pages(self, request: IncomingRequest, sheet: Sheet, ask: PageAsk) -> AsyncIterator[Listing[Any]]:
        """Yield all pages of the list; no connection is held between them."""
        kernel: Kernel = request.app.state.kernel
        following: str | None = None
        while True:
            step = ask.model_copy(update={**sheet.asked, "cursor": following, "limit": PAGE})
            page: Listing[Any] = await kernel.read(self.operation, step, request.call)
            yield page
            following = page.next_cursor
            if following is None:
                return


async def spreadsheet_lines(
    first: Listing[V], following: AsyncIterator[Listing[V]], columns: Sequence[str]
) -> AsyncIterator[str]:
    """Yield the spreadsheet, a page at a time."""
    yield csv_row(columns) + _rows(first, columns)
    async for page in following:
        yield _rows(page, columns)


def _rows(page: Listing[V], columns: Sequence[str]) -> str:
    return "".join(csv_row(getattr(row, name) for name in columns) for row in page.data)
