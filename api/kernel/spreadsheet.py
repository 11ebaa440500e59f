"""Spreadsheets: a list as CSV by RFC 4180, a page at a time, in which no cell is a formula."""

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
"""Rows that are read at a time: the most that a list gives."""

V = TypeVar("V")

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


def wants_csv(accept: str | None) -> bool:
    """Whether the `Accept` header asks for a spreadsheet."""
    kinds = [part.split(";")[0].strip().lower() for part in (accept or "").split(",")]
    return CSV in kinds


class SheetRoute(OperationRoute):
    """A list that is a spreadsheet of all its rows when `Accept` asks for `text/csv`."""

    def more_responses(self) -> dict[int | str, dict[str, Any]]:
        """What the documentation says of answers beside the usual one."""
        return {200: {"content": {CSV: {"schema": {"type": "string"}}}}}

    async def answer(self, request: IncomingRequest, ask: object, ids: Mapping[str, str]) -> Response:
        """Answer with a page, or with the spreadsheet. Errors of its first page are raised before a line goes out."""
        sheet = self.served.sheet
        if sheet is None or not isinstance(ask, PageAsk) or not wants_csv(request.headers.get("accept")):
            return await super().answer(request, ask, ids)
        pages = self._pages(request, sheet, ask)
        first = await anext(pages)
        headers = {"Content-Disposition": f'attachment; filename="{"-".join(ids.values())}.csv"'}
        return StreamingResponse(spreadsheet_lines(first, pages, sheet.columns), media_type=CSV, headers=headers)

    async def _pages(self, request: IncomingRequest, sheet: Sheet, ask: PageAsk) -> AsyncIterator[Listing[Any]]:
        """Every page of the list, from its beginning; no connection is held between them."""
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
    """The spreadsheet, a page at a time."""
    yield csv_row(columns) + _rows(first, columns)
    async for page in following:
        yield _rows(page, columns)


def _rows(page: Listing[V], columns: Sequence[str]) -> str:
    return "".join(csv_row(getattr(row, name) for name in columns) for row in page.data)
