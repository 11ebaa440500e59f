"""Keyset paging: opaque cursors bound to a list and its filters, and the one query that reads a page (section 1).

A row inserted while a caller pages is never shown twice and never hides another: positions are values, not offsets.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, Select, SQLColumnExpression, and_, or_
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.errors import InvalidRequest

R = TypeVar("R")

Key = datetime | int | str
Column = SQLColumnExpression[Any]
_TAG = 12


@dataclass(frozen=True, slots=True)
class Page:
    """What is wanted of a list: at most `limit` rows behind `after`, created between the two moments (exclusive)."""

    limit: int
    after: tuple[Key, ...] | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class Slice(Generic[R]):
    """The rows of a page, and where the next one begins: null on the last."""

    rows: Sequence[R]
    next: tuple[Key, ...] | None


@dataclass(frozen=True, slots=True)
class By:
    """One column of a list's order. The columns of an order are unique together."""

    column: Column
    descending: bool = False


def newest_first(created_at: Column, id: Column) -> tuple[By, By]:
    """The order of every list but the candidates."""
    return By(created_at, descending=True), By(id, descending=True)


async def fetch(
    session: AsyncSession, query: Select[R], page: Page, *, order: Sequence[By], created_at: Column | None = None
) -> Slice[R]:
    """Read a page of entities. `order` names the columns, `created_at` the one that the moments bound."""
    wanted = query
    if created_at is not None and page.created_after is not None:
        wanted = wanted.where(created_at > page.created_after)
    if created_at is not None and page.created_before is not None:
        wanted = wanted.where(created_at < page.created_before)
    if page.after is not None:
        wanted = wanted.where(_behind(order, page.after))
    wanted = wanted.order_by(*(by.column.desc() if by.descending else by.column for by in order))
    rows = (await session.scalars(wanted.limit(page.limit + 1))).all()
    shown = rows[: page.limit]
    return Slice(shown, _position(shown[-1], order) if len(rows) > page.limit else None)


def _behind(order: Sequence[By], after: tuple[Key, ...]) -> ColumnElement[bool]:
    """Row comparison, spelled out because its columns may run in different directions."""
    steps = []
    for place, (by, value) in enumerate(zip(order, after, strict=True)):
        equal = [earlier.column == key for earlier, key in zip(order[:place], after[:place], strict=True)]
        steps.append(and_(*equal, by.column < value if by.descending else by.column > value))
    return or_(*steps)


def _position(row: object, order: Sequence[By]) -> tuple[Key, ...]:
    columns: list[Any] = [by.column for by in order]
    return tuple(getattr(row, column.key) for column in columns)


class Cursors:
    """Writes and reads the cursors of one list with one set of filters, authenticated by the installation's key."""

    def __init__(self, key: bytes, *, list_name: str, filters: object) -> None:
        self._key = key
        self._list = hashlib.sha256(list_name.encode()).digest()[:8]
        self._filters = hashlib.sha256(json.dumps(filters, sort_keys=True, default=str).encode()).digest()[:8]

    def write(self, position: tuple[Key, ...] | None) -> str | None:
        """The cursor of a position."""
        if position is None:
            return None
        told = self._list + self._filters + json.dumps([_told(key) for key in position]).encode()
        return base64.urlsafe_b64encode(self._tag(told) + told).decode().rstrip("=")

    def read(self, cursor: str | None) -> tuple[Key, ...] | None:
        """The position of a cursor; null for a cursor of other filters, which start at their first page.

        Raises `InvalidRequest` for a cursor that is damaged or of another list.
        """
        if cursor is None:
            return None
        told = self._checked(cursor)
        if told[:8] != self._list:
            raise InvalidRequest("This cursor belongs to another list.", field="cursor")
        if told[8:16] != self._filters:
            return None
        return tuple(_read(key) for key in json.loads(told[16:]))

    def _checked(self, cursor: str) -> bytes:
        try:
            raw = base64.b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except (ValueError, binascii.Error):
            raw = b""
        tag, told = raw[:_TAG], raw[_TAG:]
        if not hmac.compare_digest(tag, self._tag(told)):
            raise InvalidRequest("This cursor is damaged.", field="cursor")
        return told

    def _tag(self, told: bytes) -> bytes:
        return hmac.new(self._key, told, hashlib.sha256).digest()[:_TAG]


def _told(key: Key) -> int | str | list[str]:
    return [key.isoformat()] if isinstance(key, datetime) else key


def _read(key: int | str | list[str]) -> Key:
    return datetime.fromisoformat(key[0]) if isinstance(key, list) else key
