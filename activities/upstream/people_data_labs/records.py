"""A person record of People Data Labs as our `Profile`; what the source withholds or garbles is missing, not invented.

On plans without contact data some fields are booleans (`true`: exists, withheld). Fields are read one by one with the
type expected of them; any other type counts as missing. Birth dates and sex are never read, contact data only when
they are what is asked for.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

from activities.upstream.people_data_labs import letter_case
from activities.upstream.ports.people import Directory, FoundPerson
from models.people.rules.identity import InvalidProfileUrl, canonical_profile_url, profile_slug
from models.people.rules.profiles import (
    CareerEntry,
    Certification,
    CurrentJob,
    Education,
    JobText,
    Profile,
    ProfileLocation,
    SpokenLanguage,
    UntrustedText,
    experience_years,
    tenure_months,
)
from models.sourcing.rules.filters import PEOPLE_DATA_LABS

Record = dict[str, Any]

SEARCH_FIELDS = (
    *("id", "full_name", "linkedin_url", "job_title", "job_company_name", "location_name"),
    *("job_title_levels", "location_geo", "skills", "languages"),
)
"""Of a person on a search page; those of the second line only put a page in order."""
PROFILE_FIELDS = (
    *("id", "full_name", "first_name", "last_name", "linkedin_url", "headline", "summary"),
    *("location_name", "location_locality", "location_region", "location_country", "location_geo"),
    *("job_title", "job_title_levels", "job_company_name", "job_start_date", "job_last_changed", "job_last_verified"),
    *("job_summary", "location_last_updated", "experience", "education", "skills", "languages", "certifications"),
)
CONTACT_FIELDS = (
    *("id", "recommended_personal_email", "personal_emails", "work_email"),
    *("mobile_phone", "phone_numbers"),
)
ADDRESS = re.compile(r"[^@\s]{1,64}@[^@\s]{1,250}")
NUMBER = re.compile(r"\+[0-9]{6,15}", re.ASCII)

LINE = 300
TEXT = 20_000
MOST_ENTRIES = 200
BEST_PROFICIENCY = 5
PARTIAL_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?", re.ASCII)
COUNTRY_CODES = {name: code for code, names in PEOPLE_DATA_LABS.countries.items() for name in names}
SENIORITY_RANK = {level: rank for rank, level in enumerate(PEOPLE_DATA_LABS.vocabulary["seniority"])}

_NOT_STORABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def found_person(record: Record, directory: Directory, *, as_of: date) -> FoundPerson:
    """Return a search row."""
    return FoundPerson(
        source_id=source_id(record) or "",
        profile_url=_profile_url(record),
        full_name=cased(record.get("full_name"), letter_case.person_name),
        title=cased(record.get("job_title"), letter_case.title),
        company=cased(record.get("job_company_name"), letter_case.company),
        location=cased(record.get("location_name"), letter_case.place),
        profile=profile(record, directory, as_of=as_of),
    )


def profile(record: Record, directory: Directory, *, as_of: date) -> Profile:
    """Return a full profile without our id; facts are those of the day `as_of`."""
    entries = sorted(_objects(record.get("experience")), key=_newest_first)
    jobs = tuple(map(_job, entries))
    current = _current(record, entries, jobs)
    url = _profile_url(record)
    return Profile(
        id="",
        profile_url=url,
        public_identifier=profile_slug(url) if url else None,
        full_name=cased(record.get("full_name"), letter_case.person_name),
        first_name=cased(record.get("first_name"), letter_case.person_name),
        last_name=cased(record.get("last_name"), letter_case.family_name),
        location=_location(record, directory),
        current=current,
        experience=jobs,
        education=tuple(map(_education, _objects(record.get("education")))),
        skills=tuple(dict.fromkeys(lines(record.get("skills")))),
        languages=tuple(_languages(record)),
        certifications=tuple(_certifications(record)),
        experience_years=experience_years(jobs, as_of=as_of),
        tenure_months=tenure_months(current.start_date if current else None, as_of=as_of),
        source=PEOPLE_DATA_LABS.name,
        source_updated_at=_last_update(record),
        untrusted_text=_untrusted(record, entries),
    )


def source_id(record: Record) -> str | None:
    """Return the source's id of the person."""
    value = record.get("id")
    return value if isinstance(value, str) and 0 < len(value) <= LINE else None


def emails(record: Record) -> tuple[str, ...]:
    """Return the e-mail addresses, personal ones first."""
    return _values(record, ("recommended_personal_email", "personal_emails", "work_email"), ADDRESS)


def phones(record: Record) -> tuple[str, ...]:
    """Return the telephone numbers as `+` and digits, the mobile one first."""
    return _values(record, ("mobile_phone", "phone_numbers"), NUMBER)


def _values(record: Record, fields: tuple[str, ...], form: re.Pattern[str]) -> tuple[str, ...]:
    found: list[str] = []
    for field in fields:
        value = record.get(field)
        found += lines(value if isinstance(value, list) else [value])
    return tuple(dict.fromkeys(one for one in found if form.fullmatch(one)))


def held_before(record: Record, is_the_company: Callable[[Record], bool]) -> bool:
    """Return whether one and the same job was at such a company and has ended."""
    return any(
        _partial_date(entry.get("end_date")) and is_the_company(_object(entry.get("company")))
        for entry in _objects(record.get("experience"))
    )


def _job(entry: Record) -> CareerEntry:
    end = _partial_date(entry.get("end_date"))
    start = _partial_date(entry.get("start_date"))
    place = next(iter(lines(entry.get("location_names"))), None)
    return CareerEntry(
        title=cased(_object(entry.get("title")).get("name"), letter_case.title),
        company=cased(_object(entry.get("company")).get("name"), letter_case.company),
        location=letter_case.place(place) if place else None,
        start_date=start,
        end_date=end,
        # Without any date only the source's own mark says that a job lasts.
        is_current=end is None and (start is not None or entry.get("is_primary") is True),
    )


def _current(record: Record, entries: list[Record], jobs: tuple[CareerEntry, ...]) -> CurrentJob | None:
    """Return the source's main job; another open one when the main one has ended."""
    main = next((job for entry, job in zip(entries, jobs, strict=True) if entry.get("is_primary") is True), None)
    title = cased(record.get("job_title"), letter_case.title)
    company = cased(record.get("job_company_name"), letter_case.company)
    if (title or company) and (main is None or main.end_date is None):
        return CurrentJob(
            title=title,
            company=company,
            seniority=_seniority(record.get("job_title_levels")),
            start_date=_partial_date(record.get("job_start_date")) or (main.start_date if main else None),
        )
    for entry, job in zip(entries, jobs, strict=True):
        if job.is_current:
            levels = _object(entry.get("title")).get("levels")
            return CurrentJob(
                title=job.title, company=job.company, seniority=_seniority(levels), start_date=job.start_date
            )
    return None


def _newest_first(entry: Record) -> tuple[bool, bool, list[int], list[int]]:
    """Sort key: the main job, other open jobs, then by end and start, latest first; jobs without dates last."""
    start, end = _partial_date(entry.get("start_date")), _partial_date(entry.get("end_date"))
    is_open = end is None and (start is not None or entry.get("is_primary") is True)
    return (entry.get("is_primary") is not True or not is_open, not is_open, _backwards(end), _backwards(start))


def _backwards(partial: str | None) -> list[int]:
    return [-int(number) for number in (partial or "0").split("-")]


def _seniority(value: Any) -> str | None:  # noqa: ANN401 - JSON
    levels = lines([value] if isinstance(value, str) else value)
    known = [level for level in levels if level in SENIORITY_RANK]
    return max(known, key=SENIORITY_RANK.__getitem__) if known else next(iter(levels), None)


def _education(entry: Record) -> Education:
    return Education(
        school=cased(_object(entry.get("school")).get("name"), letter_case.title),
        degree=", ".join(letter_case.title(degree) for degree in lines(entry.get("degrees"))) or None,
        field=", ".join(letter_case.title(major) for major in lines(entry.get("majors"))) or None,
        start_date=_partial_date(entry.get("start_date")),
        end_date=_partial_date(entry.get("end_date")),
    )


def _languages(record: Record) -> Iterator[SpokenLanguage]:
    for entry in _objects(record.get("languages")):
        level = entry.get("proficiency")
        rated = isinstance(level, int) and 0 < level <= BEST_PROFICIENCY
        if name := line(entry.get("name")):
            yield SpokenLanguage(language=name, proficiency=f"{level}/{BEST_PROFICIENCY}" if rated else None)


def _certifications(record: Record) -> Iterator[Certification]:
    for entry in _objects(record.get("certifications")):
        if name := cased(entry.get("name"), letter_case.title):
            yield Certification(
                name=name,
                issuer=cased(entry.get("organization"), letter_case.company),
                date=_partial_date(entry.get("start_date")),
            )


def _location(record: Record, directory: Directory) -> ProfileLocation:
    city, region, country = (line(record.get(f"location_{part}")) for part in ("locality", "region", "country"))
    country_code = COUNTRY_CODES.get(country.lower()) if country else None
    lat, lon = _coordinates(record.get("location_geo"))
    label = line(record.get("location_name")) or ", ".join(part for part in (city, region, country) if part)
    return ProfileLocation(
        label=letter_case.place(label) if label else None,
        location_id=directory.location_id(city=city, region=region, country_code=country_code),
        city=letter_case.place(city) if city else None,
        region=letter_case.place(region) if region else None,
        country_code=country_code,
        lat=lat,
        lon=lon,
    )


def _coordinates(value: Any) -> tuple[float | None, float | None]:  # noqa: ANN401 - JSON
    try:
        lat, lon = map(float, (line(value) or "").split(","))
    except ValueError:
        return None, None
    return (lat, lon) if abs(lat) <= 90 and abs(lon) <= 180 else (None, None)  # noqa: PLR2004 - degrees


def _untrusted(record: Record, entries: list[Record]) -> UntrustedText:
    texts = [(index, _text(entry.get("summary"))) for index, entry in enumerate(entries)]
    if entries and texts[0][1] is None and entries[0].get("is_primary") is True:
        texts[0] = (0, _text(record.get("job_summary")))
    return UntrustedText(
        headline=_text(record.get("headline")),
        summary=_text(record.get("summary")),
        experience=tuple(JobText(index=index, description=text) for index, text in texts if text),
    )


def _profile_url(record: Record) -> str | None:
    url = line(record.get("linkedin_url"))
    try:
        return canonical_profile_url(url) if url else None
    except InvalidProfileUrl:
        return None


def _last_update(record: Record) -> str | None:
    fields = ("job_last_verified", "job_last_changed", "location_last_updated")
    return max((day for field in fields if (day := _partial_date(record.get(field)))), default=None)


def _partial_date(value: Any) -> str | None:  # noqa: ANN401 - JSON
    return value if isinstance(value, str) and PARTIAL_DATE.fullmatch(value) else None


def cased(value: Any, case: Callable[[str], str]) -> str | None:  # noqa: ANN401 - JSON
    """Return one line of text in the letter case that it is written in."""
    one = line(value)
    return case(one) if one else None


def line(value: Any) -> str | None:  # noqa: ANN401 - JSON
    """Return one line of text; null for anything else, a withheld field's boolean too."""
    return " ".join(text.split())[:LINE].strip() or None if (text := _text(value)) else None


def _text(value: Any) -> str | None:  # noqa: ANN401 - JSON
    """Return text the database can store: without NUL and other control characters, and without half characters."""
    if not isinstance(value, str):
        return None
    return unicodedata.normalize("NFC", _NOT_STORABLE.sub("", value))[:TEXT].strip() or None


def lines(value: Any) -> list[str]:  # noqa: ANN401 - JSON
    """Return the lines of a list, without what is none."""
    return [one for item in value[:MOST_ENTRIES] if (one := line(item))] if isinstance(value, list) else []


def _objects(value: Any) -> list[Record]:  # noqa: ANN401 - JSON
    return [item for item in value[:MOST_ENTRIES] if isinstance(item, dict)] if isinstance(value, list) else []


def _object(value: Any) -> Record:  # noqa: ANN401 - JSON
    return value if isinstance(value, dict) else {}
