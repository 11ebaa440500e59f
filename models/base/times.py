"""Moments as JSON shows them everywhere (contract, section 1)."""

from calendar import monthrange
from datetime import UTC, datetime
from typing import Annotated

from pydantic import PlainSerializer, WithJsonSchema

from models.base.errors import rfc3339

Time = Annotated[
    datetime,
    PlainSerializer(rfc3339, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""RFC 3339, UTC, milliseconds, `Z`."""

# Calendar months: billing cycles, the life of credits, the month of a cap. All moments are UTC.


_MONTHS = 12


def add_months(at: datetime, months: int) -> datetime:
    """The same day and time so many months later, or the last day of a month that is shorter."""
    years, month = divmod(at.month - 1 + months, _MONTHS)
    year = at.year + years
    return at.replace(year=year, month=month + 1, day=min(at.day, monthrange(year, month + 1)[1]))


def cycle_end(*, anchor: datetime, starts_at: datetime, cycles: int) -> datetime:
    """When the `cycles`-th monthly cycle ends, counted from the one that begins at `starts_at`.

    Cycles begin on the day of `anchor`, or on the last day of a month that is shorter: after 31 January comes the end
    of February, then 31 March again.
    """
    passed = (starts_at.year - anchor.year) * _MONTHS + starts_at.month - anchor.month
    if add_months(anchor, passed) != starts_at:  # the cycles were moved: they count from here
        return add_months(starts_at, cycles)
    return add_months(anchor, passed + cycles)


def month_start(now: datetime) -> datetime:
    """The beginning of the UTC month."""
    return datetime(now.year, now.month, 1, tzinfo=UTC)


def next_month(now: datetime) -> datetime:
    """The beginning of the next UTC month."""
    return add_months(month_start(now), 1)
