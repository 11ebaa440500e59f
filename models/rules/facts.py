"""Facts derived from a profile: years of experience, tenure and distance; None where the profile does not say.

Dates are `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. A partial start counts from its first day, a partial end to its last, so a
missing month never takes experience away.
"""

import calendar
import math
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Protocol

EARTH_KM = 6371.0088
DAYS_A_YEAR = 365.25
WHOLE_DATE = 3  # parts


class Dated(Protocol):
    """A job as far as its dates go."""

    @property
    def start_date(self) -> str | None:
        """When it began, as the source wrote it."""
        ...

    @property
    def end_date(self) -> str | None:
        """When it ended; null while it lasts or when unknown."""
        ...

    @property
    def is_current(self) -> bool:
        """Whether it lasts."""
        ...


class Point(Protocol):
    """Degrees; null when unknown."""

    @property
    def lat(self) -> float | None:
        """Degrees north."""
        ...

    @property
    def lon(self) -> float | None:
        """Degrees east."""
        ...


def _first_day(text: str | None) -> date | None:
    numbers = _numbers(text)
    return _date(*numbers, *(1, 1)[len(numbers) - 1 :]) if numbers else None


def _last_day(text: str | None) -> date | None:
    numbers = _numbers(text)
    if len(numbers) == WHOLE_DATE:
        return _date(*numbers)
    first = _date(*numbers, *(12, 1)[len(numbers) - 1 :]) if numbers else None
    return first.replace(day=calendar.monthrange(first.year, first.month)[1]) if first else None


def _numbers(text: str | None) -> tuple[int, ...]:
    parts = (text or "").split("-")
    if len(parts) > WHOLE_DATE or not all(part.isascii() and part.isdigit() for part in parts):
        return ()
    return tuple(map(int, parts))


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except (ValueError, OverflowError):
        return None


def experience_years(jobs: Iterable[Dated], *, as_of: date) -> int | None:
    """Whole years in which at least one job was held up to `as_of`; overlapping jobs count once.

    A job without a start is left out; one without an end counts only while it is current. None when no job counts.
    """
    spans = sorted(span for job in jobs if (span := _span(job, as_of=as_of)))
    if not spans:
        return None
    days, reached = 0, date.min
    for start, end in spans:
        begin = max(start, reached)
        if end > begin:
            days += (end - begin).days
            reached = end
    return int((days + 1) / DAYS_A_YEAR)  # one day of grace: 365 days are a year too


def _span(job: Dated, *, as_of: date) -> tuple[date, date] | None:
    start = _first_day(job.start_date)
    end = as_of if job.is_current else _last_day(job.end_date)
    if start is None or end is None or start > as_of:
        return None
    return (start, min(end + timedelta(days=1), as_of)) if start <= end else None


def tenure_months(start_date: str | None, *, as_of: date) -> int | None:
    """Whole months since the current job began; None when its start is unknown or lies ahead."""
    start = _first_day(start_date)
    if start is None or start > as_of:
        return None
    months = (as_of.year - start.year) * 12 + as_of.month - start.month
    return months - 1 if as_of.day < start.day else months


def distance_km(anchor: Point | None, person: Point) -> float | None:
    """Great-circle distance in kilometres, one decimal; None without an anchor or coordinates."""
    if anchor is None or anchor.lat is None or anchor.lon is None or person.lat is None or person.lon is None:
        return None
    return round(great_circle_km(anchor.lat, anchor.lon, person.lat, person.lon), 1)


def great_circle_km(lat: float, lon: float, other_lat: float, other_lon: float) -> float:
    """Haversine distance of two points given in degrees."""
    phi, other_phi = math.radians(lat), math.radians(other_lat)
    half_lat, half_lon = (other_phi - phi) / 2, math.radians(other_lon - lon) / 2
    chord = math.sin(half_lat) ** 2 + math.cos(phi) * math.cos(other_phi) * math.sin(half_lon) ** 2
    return 2 * EARTH_KM * math.asin(min(1.0, math.sqrt(chord)))
