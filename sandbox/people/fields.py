"""The searchable fields of a person and where their values come from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache

import numpy as np

from sandbox.people.columns import Column, Entries, NumberColumn, PresenceColumn, WordColumn, coded
from sandbox.people.population.build import Population
from sandbox.people.population.columns import NOW, OPEN, SELF_EMPLOYED, Oddity, Precision, Words
from sandbox.people.population.draws import Bools, Ints
from sandbox.people.population.employers import Employer
from sandbox.people.population.occupations import Title
from sandbox.people.population.places import City
from sandbox.people.population.records import ALL_DEGREES


class Kind(StrEnum):
    """How a field is compared."""

    KEYWORD = "keyword"
    TEXT = "text"
    INTEGER = "integer"
    DATE = "date"
    BOOLEAN = "boolean"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class Field:
    """One searchable field: its kind, and how its column is made from the population."""

    kind: Kind
    column: Callable[["Sources"], Column]


class Sources:
    """The population with the intermediate arrays that several columns share."""

    def __init__(self, population: Population) -> None:
        self.population = population
        self.columns = population.columns
        self.people = Entries(len(population))

    @cached_property
    def jobs(self) -> Entries:
        """Entries of all jobs."""
        return Entries(len(self.population), self.columns.jobs.runs.owners)

    @cached_property
    def studies(self) -> Entries:
        """Entries of all education."""
        return Entries(len(self.population), self.columns.studies.runs.owners)

    @cached_property
    def dated(self) -> Bools:
        """For each person whether the record has dates."""
        return ~self.columns.has(Oddity.NO_DATES)

    @cached_property
    def primary(self) -> Ints:
        """The current main job of each person, or -1."""
        return self.columns.primary_job()

    @cached_property
    def withheld(self) -> Bools:
        """For each person whether contact details exist but are not shown."""
        return self.columns.has(Oddity.CONTACTS_WITHHELD)

    def days(self, owners: Ints, months: Ints, *, exactly: bool = False) -> Ints:
        """Convert months into days since 1970, padded to the first day if a person states no exact date."""
        precision = np.full(len(owners), Precision.DAY) if exactly else self.columns.precision[owners]
        day = np.floor(self.columns.draws.unit("day", owners * 8192 + months % 8192) * 28).astype(np.int64)
        padded = np.where(precision == Precision.YEAR, months // 12 * 12, months)
        start = (padded - 1970 * 12).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
        return start + np.where(precision == Precision.DAY, day, 0)

    def written(self, write: Callable[[int], str | None]) -> tuple[tuple[str, ...], Ints]:
        """Return one text per person."""
        return coded([write(person) for person in range(len(self.population))])


def _spread(vocabulary: Sequence[str | None], numbers: Ints) -> tuple[tuple[str, ...], Ints]:
    """Code entries that point into a table; -1 and None both mean no value."""
    values, codes = coded(vocabulary)
    return values, np.where(numbers >= 0, np.append(codes, -1)[numbers], -1)


def _city(read: Callable[[City], str | None], *, listed: bool = False) -> Callable[[Sources], Column]:
    def column(sources: Sources) -> Column:
        cities = sources.columns.places.cities
        placed = np.where(sources.columns.has(Oddity.NO_PLACE), -1, sources.columns.city)
        numbers = placed if listed else sources.columns.city
        values, codes = _spread([read(city) for city in cities], numbers)
        return WordColumn(sources.people, values, codes)

    return column


def _firm_table(sources: Sources, read: Callable[[Employer], str | None], alone: str | None) -> list[str | None]:
    # Self-employment is employer -1, so its value is the last one.
    return [*(read(firm) for firm in sources.columns.employers.firms), alone]


def _current_firm(read: Callable[[Employer], str | None], *, alone: str | None = None) -> Callable[[Sources], Column]:
    def column(sources: Sources) -> Column:
        table = _firm_table(sources, read, alone)
        employer = np.append(sources.columns.jobs.employer, 0)[sources.primary]
        numbers = np.where(employer == SELF_EMPLOYED, len(table) - 1, employer)
        values, codes = _spread(table, np.where(sources.primary >= 0, numbers, -1))
        return WordColumn(sources.people, values, codes)

    return column


def _firm_city(read: Callable[[City], str | None]) -> Callable[[Sources], Column]:
    def column(sources: Sources) -> Column:
        cities = sources.columns.places.cities
        return _current_firm(lambda firm: read(cities[firm.city]))(sources)

    return column


def _any_firm(read: Callable[[Employer], str | None], *, alone: str | None = None) -> Callable[[Sources], Column]:
    def column(sources: Sources) -> Column:
        table = _firm_table(sources, read, alone)
        employer = sources.columns.jobs.employer
        values, codes = _spread(table, np.where(employer == SELF_EMPLOYED, len(table) - 1, employer))
        return WordColumn(sources.jobs, values, codes)

    return column


def _firm_number(read: Callable[[Employer], int], *, current: bool) -> Callable[[Sources], Column]:
    def column(sources: Sources) -> Column:
        table = np.array([read(firm) for firm in sources.columns.employers.firms], dtype=np.int64)
        employer = sources.columns.jobs.employer
        if current:
            employer = np.where(sources.primary >= 0, employer[sources.primary], SELF_EMPLOYED)
        entries = sources.people if current else sources.jobs
        return NumberColumn(entries, table[np.maximum(employer, 0)], employer != SELF_EMPLOYED)

    return column


def _title(read: Callable[[Title], str | None], *, current: bool) -> Callable[[Sources], Column]:
    def column(sources: Sources) -> Column:
        table = [read(title) for title in sources.columns.occupations.titles]
        titles = sources.columns.jobs.title
        if not current:
            values, codes = _spread(table, titles)
            return WordColumn(sources.jobs, values, codes)
        values, codes = _spread(table, np.where(sources.primary >= 0, titles[sources.primary], -1))
        return WordColumn(sources.people, values, codes)

    return column


def _level(title: Title) -> str | None:
    return title.levels[0] if title.levels else None


def _person(write: Callable[[Sources], Callable[[int], str | None]]) -> Callable[[Sources], Column]:
    def column(sources: Sources) -> Column:
        values, codes = sources.written(write(sources))
        return WordColumn(sources.people, values, codes)

    return column


def _contact(write: Callable[[Sources], Callable[[int], str | None]]) -> Callable[[Sources], Column]:
    def column(sources: Sources) -> Column:
        values, codes = sources.written(write(sources))
        shown = np.where(sources.withheld, -1, codes)
        return WordColumn(sources.people, values, shown, withheld=sources.withheld & (codes >= 0))

    return column


def _words(read: Callable[[Sources], Words]) -> Callable[[Sources], Column]:
    def column(sources: Sources) -> Column:
        words = read(sources)
        return WordColumn(Entries(len(sources.population), words.runs.owners), words.vocabulary, words.code)

    return column


def _word_number(read: Callable[[Sources], Words]) -> Callable[[Sources], Column]:
    def column(sources: Sources) -> Column:
        words = read(sources)
        return NumberColumn(Entries(len(sources.population), words.runs.owners), words.extra, words.extra > 0)

    return column


def _has_words(read: Callable[[Sources], Words]) -> Callable[[Sources], Column]:
    return lambda sources: PresenceColumn(np.diff(read(sources).runs.starts) > 0)


def _numbers(write: Callable[[Sources], Callable[[int], int | None]]) -> Callable[[Sources], Column]:
    def column(sources: Sources) -> Column:
        read = write(sources)
        values = [read(person) for person in range(len(sources.population))]
        present = np.array([value is not None for value in values], dtype=np.bool_)
        return NumberColumn(sources.people, np.array([value or 0 for value in values], dtype=np.int64), present)

    return column


def _birth_year(sources: Sources) -> Column:
    column = _numbers(lambda here: here.population.writer.birth_year)(sources)
    if not isinstance(column, NumberColumn):
        raise TypeError
    shown = column.present & ~sources.withheld
    return NumberColumn(sources.people, column.numbers, shown, withheld=sources.withheld & column.present)


def _experience_years(sources: Sources) -> Column:
    return NumberColumn(sources.people, sources.columns.experience_months() // 12, sources.dated)


def _job_start(sources: Sources) -> Column:
    jobs = sources.columns.jobs
    all_people = np.arange(len(sources.population), dtype=np.int64)
    months = jobs.start[sources.primary]
    return NumberColumn(sources.people, sources.days(all_people, months), (sources.primary >= 0) & sources.dated)


def _verified(sources: Sources) -> Column:
    writer = sources.population.writer
    all_people = np.arange(len(sources.population), dtype=np.int64)
    months = np.array([writer.verified_month(person) for person in all_people.tolist()], dtype=np.int64)
    days = sources.days(all_people, months, exactly=True)
    return NumberColumn(sources.people, days, np.ones(len(all_people), dtype=np.bool_))


def _experience_date(end: bool) -> Callable[[Sources], Column]:  # noqa: FBT001 - the two ends of one span
    def column(sources: Sources) -> Column:
        jobs, owners = sources.columns.jobs, sources.columns.jobs.runs.owners
        months = jobs.end if end else jobs.start
        stated = (months != OPEN) & sources.dated[owners]
        return NumberColumn(sources.jobs, sources.days(owners, np.where(stated, months, NOW)), stated)

    return column


def _study_date(end: bool) -> Callable[[Sources], Column]:  # noqa: FBT001 - the two ends of one span
    def column(sources: Sources) -> Column:
        studies, owners = sources.columns.studies, sources.columns.studies.runs.owners
        days = sources.days(owners, studies.end if end else studies.start)
        return NumberColumn(sources.studies, days, sources.dated[owners])

    return column


def _study(read: Callable[[Sources], tuple[Sequence[str], Ints]]) -> Callable[[Sources], Column]:
    def column(sources: Sources) -> Column:
        vocabulary, numbers = read(sources)
        values, codes = _spread(list(vocabulary), numbers)
        return WordColumn(sources.studies, values, codes)

    return column


def _job_texts(sources: Sources, *, current: bool) -> Column:
    writer, jobs = sources.population.writer, sources.columns.jobs
    owners = jobs.runs.owners.tolist()
    values, codes = coded([writer.job_summary(person, job) for job, person in enumerate(owners)])
    if not current:
        return WordColumn(sources.jobs, values, codes)
    return WordColumn(sources.people, values, np.where(sources.primary >= 0, codes[sources.primary], -1))


def _primary_flag(sources: Sources) -> Column:
    primary = sources.columns.jobs.primary
    return WordColumn(sources.jobs, ("false", "true"), primary.astype(np.int64))


def _coordinates(sources: Sources) -> Column:
    return PresenceColumn(~sources.columns.has(Oddity.NO_COORDINATES) & ~sources.columns.has(Oddity.NO_PLACE))


def _employed(sources: Sources) -> Column:
    employer = sources.columns.jobs.employer[sources.primary]
    return PresenceColumn((sources.primary >= 0) & (employer != SELF_EMPLOYED))


def _all_people(sources: Sources) -> Column:
    return PresenceColumn(np.ones(len(sources.population), dtype=np.bool_))


def _region_of(city: City) -> str:
    return f"{city.region}, {city.country.name}"


_SEXES = ("male", "female")
_K, _T, _I, _D = Kind.KEYWORD, Kind.TEXT, Kind.INTEGER, Kind.DATE

FIELDS: Mapping[str, Field] = {
    "id": Field(_K, _person(lambda here: here.population.person_id)),
    "full_name": Field(_K, _person(lambda here: here.population.writer.full_name)),
    "first_name": Field(_K, _person(lambda here: here.population.writer.first_name)),
    "last_name": Field(_K, _person(lambda here: here.population.writer.last_name)),
    "sex": Field(
        _K,
        lambda here: WordColumn(here.people, _SEXES, np.where(here.columns.names.sex > 1, -1, here.columns.names.sex)),
    ),
    "birth_year": Field(_I, _birth_year),
    "industry": Field(_K, _person(lambda here: here.population.writer.industry)),
    "linkedin_url": Field(_K, _person(lambda here: _profile_url(here.population))),
    "linkedin_username": Field(_K, _person(lambda here: here.population.writer.profile_slug)),
    "linkedin_id": Field(_K, _person(lambda here: here.population.writer.network_id)),
    "linkedin_connections": Field(_I, _numbers(lambda here: here.population.writer.connections)),
    "headline": Field(_T, _person(lambda here: here.population.writer.headline)),
    "summary": Field(_T, _person(lambda here: here.population.writer.summary)),
    "job_title": Field(_K, _title(lambda title: title.name, current=True)),
    "job_title.text": Field(_T, _title(lambda title: title.name, current=True)),
    "job_title_role": Field(_K, _title(lambda title: title.role, current=True)),
    "job_title_sub_role": Field(_K, _title(lambda title: title.sub_role, current=True)),
    "job_title_class": Field(_K, _title(lambda title: title.job_class, current=True)),
    "job_title_levels": Field(_K, _title(_level, current=True)),
    "job_start_date": Field(_D, _job_start),
    "job_last_changed": Field(_D, _job_start),
    "job_last_verified": Field(_D, _verified),
    "job_summary": Field(_T, lambda here: _job_texts(here, current=True)),
    "job_company_id": Field(_K, _current_firm(lambda firm: firm.id)),
    "job_company_name": Field(_K, _current_firm(lambda firm: firm.name, alone="self-employed")),
    "job_company_website": Field(_K, _current_firm(lambda firm: firm.website)),
    "job_company_size": Field(_K, _current_firm(lambda firm: firm.size)),
    "job_company_industry": Field(_K, _current_firm(lambda firm: firm.industry)),
    "job_company_industry_v2": Field(_K, _current_firm(lambda firm: firm.industry)),
    "job_company_linkedin_url": Field(_K, _current_firm(lambda firm: firm.linkedin_url)),
    "job_company_linkedin_id": Field(_K, _current_firm(lambda firm: firm.linkedin_id)),
    "job_company_type": Field(_K, _current_firm(lambda firm: firm.type)),
    "job_company_founded": Field(_I, _firm_number(lambda firm: firm.founded, current=True)),
    "job_company_employee_count": Field(_I, _firm_number(lambda firm: firm.employee_count, current=True)),
    "job_company_location_name": Field(_K, _firm_city(lambda city: city.name)),
    "job_company_location_locality": Field(_K, _firm_city(lambda city: city.locality)),
    "job_company_location_region": Field(_K, _firm_city(lambda city: city.region)),
    "job_company_location_metro": Field(_K, _firm_city(lambda city: city.metro)),
    "job_company_location_country": Field(_K, _firm_city(lambda city: city.country.name)),
    "job_company_location_continent": Field(_K, _firm_city(lambda city: city.country.continent)),
    "job_company_location_geo": Field(Kind.OBJECT, _employed),
    "location_name": Field(_K, _city(lambda city: city.name, listed=True)),
    "location_locality": Field(_K, _city(lambda city: city.locality, listed=True)),
    "location_metro": Field(_K, _city(lambda city: city.metro, listed=True)),
    "location_region": Field(_K, _city(lambda city: city.region, listed=True)),
    "location_country": Field(_K, _city(lambda city: city.country.name)),
    "location_continent": Field(_K, _city(lambda city: city.country.continent)),
    "location_geo": Field(Kind.OBJECT, _coordinates),
    "location_last_updated": Field(_D, _verified),
    "location_names": Field(_K, _city(lambda city: city.name, listed=True)),
    "regions": Field(_K, _city(_region_of, listed=True)),
    "countries": Field(_K, _city(lambda city: city.country.name)),
    "inferred_years_experience": Field(_I, _experience_years),
    "skills": Field(_K, _words(lambda here: here.columns.skills)),
    "languages": Field(Kind.OBJECT, _has_words(lambda here: here.columns.languages)),
    "languages.name": Field(_K, _words(lambda here: here.columns.languages)),
    "languages.proficiency": Field(_I, _word_number(lambda here: here.columns.languages)),
    "certifications": Field(Kind.OBJECT, _has_words(lambda here: here.columns.certifications)),
    "certifications.name": Field(_K, _words(lambda here: here.columns.certifications)),
    "work_email": Field(_K, _contact(lambda here: here.population.writer.work_email)),
    "recommended_personal_email": Field(_K, _contact(lambda here: here.population.writer.personal_email)),
    "personal_emails": Field(_K, _contact(lambda here: here.population.writer.personal_email)),
    "mobile_phone": Field(_K, _contact(lambda here: here.population.writer.mobile_phone)),
    "phone_numbers": Field(_K, _contact(lambda here: here.population.writer.mobile_phone)),
    "experience": Field(Kind.OBJECT, _all_people),
    "experience.company.id": Field(_K, _any_firm(lambda firm: firm.id)),
    "experience.company.name": Field(_K, _any_firm(lambda firm: firm.name, alone="self-employed")),
    "experience.company.website": Field(_K, _any_firm(lambda firm: firm.website)),
    "experience.company.size": Field(_K, _any_firm(lambda firm: firm.size)),
    "experience.company.industry": Field(_K, _any_firm(lambda firm: firm.industry)),
    "experience.company.type": Field(_K, _any_firm(lambda firm: firm.type)),
    "experience.company.linkedin_url": Field(_K, _any_firm(lambda firm: firm.linkedin_url)),
    "experience.company.linkedin_id": Field(_K, _any_firm(lambda firm: firm.linkedin_id)),
    "experience.company.founded": Field(_I, _firm_number(lambda firm: firm.founded, current=False)),
    "experience.title.name": Field(_K, _title(lambda title: title.name, current=False)),
    "experience.title.name.text": Field(_T, _title(lambda title: title.name, current=False)),
    "experience.title.role": Field(_K, _title(lambda title: title.role, current=False)),
    "experience.title.sub_role": Field(_K, _title(lambda title: title.sub_role, current=False)),
    "experience.title.class": Field(_K, _title(lambda title: title.job_class, current=False)),
    "experience.title.levels": Field(_K, _title(_level, current=False)),
    "experience.start_date": Field(_D, _experience_date(end=False)),
    "experience.end_date": Field(_D, _experience_date(end=True)),
    "experience.is_primary": Field(Kind.BOOLEAN, _primary_flag),
    "experience.summary": Field(_T, lambda here: _job_texts(here, current=False)),
    "education": Field(Kind.OBJECT, lambda here: PresenceColumn(np.diff(here.columns.studies.runs.starts) > 0)),
    "education.school.name": Field(_K, _study(lambda here: (here.columns.schools, here.columns.studies.school))),
    "education.degrees": Field(_K, _study(lambda here: (ALL_DEGREES, here.columns.studies.degree))),
    "education.majors": Field(_K, _study(lambda here: (here.columns.majors, here.columns.studies.major))),
    "education.start_date": Field(_D, _study_date(end=False)),
    "education.end_date": Field(_D, _study_date(end=True)),
}


def _profile_url(population: Population) -> Callable[[int], str]:
    return lambda person: f"linkedin.com/in/{population.writer.profile_slug(person)}"


class Index:
    """The columns of one population, each made when it is first asked for."""

    def __init__(self, population: Population) -> None:
        self._sources = Sources(population)
        self._columns: dict[Callable[[Sources], Column], Column] = {}

    def column(self, field: str) -> Column:
        """Return the column of a field of `FIELDS`."""
        make = FIELDS[field].column
        if make not in self._columns:
            self._columns[make] = make(self._sources)
        return self._columns[make]


@lru_cache(maxsize=8)
def index_of(population: Population) -> Index:
    """Return the index of a population, made once."""
    return Index(population)
