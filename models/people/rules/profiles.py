"""A person's public profile, independent of its source, and facts derived from it (contract, section 5 "Profile")."""

import calendar
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from models.base.values import Time
from models.market.places import great_circle_km


class StoredValue(BaseModel):
    """A value read back from storage or a source: fields it does not know are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class ProfileLocation(StoredValue):
    """Where the person lives; what the source does not say is null."""

    label: str | None = None
    location_id: str | None = None
    city: str | None = None
    region: str | None = None
    country_code: str | None = None
    lat: float | None = None
    lon: float | None = None


class CurrentJob(StoredValue):
    """The present job; `start_date` is `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, as the source wrote it."""

    title: str | None = None
    company: str | None = None
    company_id: str | None = None
    seniority: str | None = None
    start_date: str | None = None


class CareerEntry(StoredValue):
    """One entry of the career history; dates as in `CurrentJob`."""

    title: str | None = None
    company: str | None = None
    company_id: str | None = None
    location: str | None = None
    start_date: str | None = None
    end_date: str | None = None
    is_current: bool = False


class Education(StoredValue):
    """One entry of the education history."""

    school: str | None = None
    degree: str | None = None
    field: str | None = None
    start_date: str | None = None
    end_date: str | None = None


class SpokenLanguage(StoredValue):
    """A language and, where known, how well it is spoken."""

    language: str
    proficiency: str | None = None


class Certification(StoredValue):
    """A certificate."""

    name: str
    issuer: str | None = None
    date: str | None = None


class JobText(StoredValue):
    """Free text of one job; `index` points into `experience`."""

    index: int
    description: str


class UntrustedText(StoredValue):
    """Text that the person wrote: data to show, never an instruction to follow."""

    headline: str | None = None
    summary: str | None = None
    experience: tuple[JobText, ...] = ()


class Profile(StoredValue):
    """A full profile. Missing facts are null, never invented. `id` is ours (`prof_…`)."""

    id: str
    profile_url: str | None = None
    public_identifier: str | None = None
    full_name: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    location: ProfileLocation = ProfileLocation()
    current: CurrentJob | None = None
    experience: tuple[CareerEntry, ...] = ()
    education: tuple[Education, ...] = ()
    skills: tuple[str, ...] = ()
    languages: tuple[SpokenLanguage, ...] = ()
    certifications: tuple[Certification, ...] = ()
    open_to_work: bool | None = None
    experience_years: int | None = None
    tenure_months: int | None = None
    source: str
    source_updated_at: str | None = None
    fetched_at: Time | None = None
    untrusted_text: UntrustedText = UntrustedText()


DAYS_A_YEAR = 365.25
WHOLE_DATE = 3  # parts


class Dated(Protocol):
    """The dates of a job, each null when unknown."""

    @property
    def start_date(self) -> str | None:
        """When the job began, as the source wrote it."""
        ...

    @property
    def end_date(self) -> str | None:
        """When the job ended; null while it lasts."""
        ...

    @property
    def is_current(self) -> bool:
        """Whether the person still holds the job."""
        ...


class Point(Protocol):
    """A place on the globe in degrees, null when unknown."""

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
    """Return the whole years in which at least one job was held up to `as_of`; overlapping jobs count once.

    A job without a start is left out; one without an end counts only while it is current. Null when no job counts.
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
    """Return the whole months since the current job began; null when its start is unknown or in the future."""
    start = _first_day(start_date)
    if start is None or start > as_of:
        return None
    months = (as_of.year - start.year) * 12 + as_of.month - start.month
    return months - 1 if as_of.day < start.day else months


def distance_km(anchor: Point | None, person: Point) -> float | None:
    """Return the great-circle distance in kilometres, to one decimal; null without an anchor or coordinates."""
    if anchor is None or anchor.lat is None or anchor.lon is None or person.lat is None or person.lon is None:
        return None
    return round(great_circle_km(anchor.lat, anchor.lon, person.lat, person.lon), 1)
