"""Walking through a list of the network by cursor or by offset, whichever it turns out to take. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from activities.upstream.unipile.client import Json
from activities.upstream.unipile.shapes import Unreadable

PAGE_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Position:
    """Where the next page begins."""

    offset: int = 0
    cursor: str | None = None

    @property
    def query(self) -> Mapping[str, str]:
        """What to ask with."""
        if self.cursor is not None:
            return {"cursor": self.cursor}
        return {"offset": str(self.offset)} if self.offset else {}


def rows_of(page: Json) -> list[Json]:
    """The rows of a page. Raises `Unreadable`."""
    rows = page.get("data")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Unreadable
    return rows


def after_page(position: Position, page: Json, *, count: int, by_cursor: bool = False) -> Position | None:
    """Where to go on after a page of `count` rows; null after the last.

    A short page is no sign of the end. Without a cursor the next offset is asked for until a page is empty, unless
    the list is known to go `by_cursor` alone.
    """
    cursor = page.get("next_cursor")
    if isinstance(cursor, str) and cursor and cursor != position.cursor:
        return Position(cursor=cursor)
    if count == 0 or by_cursor or position.cursor is not None or page.get("has_more") is False:
        return None
    return Position(offset=position.offset + count)
