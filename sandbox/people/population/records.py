"""A person's record in the provider's shape, written from the columns of the population."""

from collections.abc import Callable, Collection
from functools import cached_property, lru_cache
from typing import Any

from sandbox.people.population.columns import (
    DATASET_VERSION,
    OPEN,
    PREVIOUS_VERSION,
    SELF_EMPLOYED,
    Columns,
    Oddity,
    Precision,
)
from sandbox.people.population.facts import PersonFacts, date_text
from sandbox.people.population.identity import Identities
from sandbox.people.population.schools import DEGREES, VOCATIONAL_DEGREES

Record = dict[str, Any]

ALL_DEGREES = DEGREES + VOCATIONAL_DEGREES
_SEXES = ("male", "female", None)
_INTERESTS = ("cycling", "running", "photography", "travel", "cooking", "music", "reading", "football", "hiking")


class RecordWriter(PersonFacts):
    """Writes records; a person's record is always the same."""

    def __init__(self, columns: Columns, identities: Identities) -> None:
        super().__init__(columns)
        self._identities = identities
        self._employer_facts = lru_cache(maxsize=None)(self._write_employer)

    def record(self, person: int, wanted: Collection[str] | None = None) -> Record:
        """Write one person's fields: all, or at least the wanted ones, which is quicker."""
        record: Record = {}
        for fields, write in self._sections:
            if wanted is None or not fields.isdisjoint(wanted):
                record |= write(person)
        return record

    @cached_property
    def _sections(self) -> list[tuple[frozenset[str], Callable[[int], Record]]]:
        """The parts of a record, each with the fields it writes."""
        writers: tuple[Callable[[int], Record], ...] = (
            lambda person: {"id": self._identities.id_of(person)},
            self._names,
            self._network,
            self._current_job,
            self._location,
            self._contacts,
            self._words,
            self._texts,
            self._history,
            self._version,
        )
        return [(frozenset(write(0)), write) for write in writers]

    def _history(self, person: int) -> Record:
        experience = [self._job(person, job) for job in self._columns.jobs.runs.of(person)]
        if not self._columns.is_odd(person, Oddity.OLDEST_JOB_FIRST):
            experience.reverse()
        education = [self._study(person, entry) for entry in self._columns.studies.runs.of(person)]
        return {"experience": experience, "education": education}

    def _version(self, _: int) -> Record:
        return {
            "dataset_version": DATASET_VERSION,
            "version_status": {
                "status": "",
                "contains": [],
                "previous_version": PREVIOUS_VERSION,
                "current_version": DATASET_VERSION,
            },
        }

    def _names(self, person: int) -> Record:
        withheld = self._columns.is_odd(person, Oddity.CONTACTS_WITHHELD)
        year = self.birth_year(person)
        return {
            "full_name": self.full_name(person),
            "first_name": self.first_name(person),
            "middle_name": None,
            "last_name": self.last_name(person),
            "name_aliases": [],
            "sex": _SEXES[int(self._columns.names.sex[person])],
            "birth_year": (year is not None) if withheld else year,
            "birth_date": False if withheld else None,
        }

    def _network(self, person: int) -> Record:
        slug = self.profile_slug(person)
        url = f"linkedin.com/in/{slug}"
        network_id = self.network_id(person)
        return {
            "linkedin_url": url,
            "linkedin_username": slug,
            "linkedin_id": network_id,
            "linkedin_connections": self.connections(person),
            "profiles": [{"network": "linkedin", "id": network_id, "url": url, "username": slug}],
        }

    def _write_employer(self, number: int) -> Record:
        """Write the company fields shared by all who work there."""
        firm = self._columns.employers.firms[number]
        city = self._columns.places.cities[firm.city]
        return {
            "id": firm.id,
            "name": firm.name,
            "website": firm.website,
            "size": firm.size,
            "founded": firm.founded,
            "industry": firm.industry,
            "linkedin_url": firm.linkedin_url,
            "linkedin_id": firm.linkedin_id,
            "facebook_url": None,
            "twitter_url": None,
            "type": firm.type,
            "ticker": None,
            "location": {
                "name": city.name,
                "locality": city.locality,
                "region": city.region,
                "metro": city.metro,
                "country": city.country.name,
                "continent": city.country.continent,
                "street_address": None,
                "address_line_2": None,
                "postal_code": None,
                "geo": city.geo,
            },
        }

    def _company(self, job: int) -> Record:
        number = int(self._columns.jobs.employer[job])
        if number == SELF_EMPLOYED:
            return {"id": None, "name": "self-employed", "website": None, "size": None, "industry": None}
        return dict(self._employer_facts(number))

    def _job(self, person: int, job: int) -> Record:
        jobs = self._columns.jobs
        title = self._title(job)
        end = int(jobs.end[job])
        return {
            "company": self._company(job),
            "title": {
                "name": title.name,
                "raw": [title.name],
                "role": title.role,
                "sub_role": title.sub_role,
                "class": title.job_class,
                "levels": list(title.levels),
            },
            "start_date": self.month_text(person, int(jobs.start[job])),
            "end_date": None if end == OPEN else self.month_text(person, end),
            "location_names": [] if self._has_no_place(person) else [self._city(person).name],
            "is_primary": bool(jobs.primary[job]),
            "summary": self.job_summary(person, job),
        }

    def _current_job(self, person: int) -> Record:
        job = int(self._primary[person])
        title = self._title(job) if job >= 0 else None
        verified = self.verified_month(person)
        start = self.month_text(person, int(self._columns.jobs.start[job])) if job >= 0 else None
        return {
            "industry": self.industry(person),
            "job_title": title.name if title else None,
            "job_title_role": title.role if title else None,
            "job_title_sub_role": title.sub_role if title else None,
            "job_title_class": title.job_class if title else None,
            "job_title_levels": list(title.levels) if title else [],
            "job_start_date": start,
            "job_last_changed": start if job >= 0 else None,
            "job_last_verified": date_text(verified, Precision.DAY, self.day(person, verified)),
            "job_summary": self.job_summary(person, job) if job >= 0 else None,
            "inferred_years_experience": self.experience_years(person),
        } | self._current_company(job)

    def _current_company(self, job: int) -> Record:
        employer = self._employer(job) if job >= 0 else None
        alone = job >= 0 and employer is None
        city = self._columns.places.cities[employer.city] if employer else None
        return {
            "job_company_id": employer.id if employer else None,
            "job_company_name": "self-employed" if alone else employer.name if employer else None,
            "job_company_website": employer.website if employer else None,
            "job_company_size": employer.size if employer else None,
            "job_company_founded": employer.founded if employer else None,
            "job_company_industry": employer.industry if employer else None,
            "job_company_industry_v2": employer.industry if employer else None,
            "job_company_linkedin_url": employer.linkedin_url if employer else None,
            "job_company_linkedin_id": employer.linkedin_id if employer else None,
            "job_company_employee_count": employer.employee_count if employer else None,
            "job_company_type": employer.type if employer else None,
            "job_company_location_name": city.name if city else None,
            "job_company_location_locality": city.locality if city else None,
            "job_company_location_region": city.region if city else None,
            "job_company_location_metro": city.metro if city else None,
            "job_company_location_country": city.country.name if city else None,
            "job_company_location_continent": city.country.continent if city else None,
            "job_company_location_geo": city.geo if city else None,
        }

    def _has_no_place(self, person: int) -> bool:
        return self._columns.is_odd(person, Oddity.NO_PLACE)

    def _location(self, person: int) -> Record:
        city = self._city(person)
        withheld = self._columns.is_odd(person, Oddity.CONTACTS_WITHHELD)
        known = None if self._has_no_place(person) else city
        located = known if known and not self._columns.is_odd(person, Oddity.NO_COORDINATES) else None
        updated = self.verified_month(person)
        return {
            "location_name": known.name if known else None,
            "location_locality": known.locality if known else None,
            "location_metro": known.metro if known else None,
            "location_region": known.region if known else None,
            "location_country": city.country.name,
            "location_continent": city.country.continent,
            "location_street_address": False if withheld else None,
            "location_postal_code": withheld or None,
            "location_geo": located.geo if located else None,
            "location_last_updated": date_text(updated, Precision.DAY, self.day(person, updated)),
            "location_names": [known.name] if known else [],
            "regions": [f"{known.region}, {city.country.name}"] if known else [],
            "countries": [city.country.name],
            "street_addresses": withheld or [],
        }

    def _contacts(self, person: int) -> Record:
        work, personal = self.work_email(person), self.personal_email(person)
        mobile = self.mobile_phone(person)
        if self._columns.is_odd(person, Oddity.CONTACTS_WITHHELD):
            return {
                "work_email": work is not None,
                "recommended_personal_email": personal is not None,
                "mobile_phone": mobile is not None,
                "personal_emails": personal is not None,
                "phone_numbers": mobile is not None,
                "emails": work is not None or personal is not None,
                "phones": mobile is not None,
            }
        addresses = [(work, "current_professional"), (personal, "personal")]
        seen = date_text(self.verified_month(person), Precision.DAY, 1)
        return {
            "work_email": work,
            "recommended_personal_email": personal,
            "mobile_phone": mobile,
            "personal_emails": [personal] if personal else [],
            "phone_numbers": [mobile] if mobile else [],
            "emails": [{"address": address, "type": kind} for address, kind in addresses if address],
            "phones": [{"number": mobile, "first_seen": seen, "last_seen": seen, "num_sources": 1}] if mobile else [],
        }

    def _words(self, person: int) -> Record:
        languages, certifications = self._columns.languages, self._columns.certifications
        start = self._draws.below("interest", person, len(_INTERESTS))
        return {
            "skills": self._skills(person),
            "interests": list(_INTERESTS[start : start + self._draws.below("interests", person, 4)]),
            "languages": [
                {
                    "name": languages.vocabulary[int(languages.code[entry])],
                    "proficiency": int(languages.extra[entry]) or None,
                }
                for entry in languages.runs.of(person)
            ],
            "certifications": [
                {
                    "name": certifications.vocabulary[int(certifications.code[entry])],
                    "organization": None,
                    "start_date": str(int(certifications.extra[entry])),
                    "end_date": None,
                }
                for entry in certifications.runs.of(person)
            ],
        }

    def _texts(self, person: int) -> Record:
        return {"headline": self.headline(person), "summary": self.summary(person)}

    def _study(self, person: int, entry: int) -> Record:
        studies = self._columns.studies
        return {
            "school": {
                "id": None,
                "name": self._columns.schools[int(studies.school[entry])],
                "type": "post-secondary institution" if studies.degree[entry] < len(DEGREES) else "secondary school",
                "domain": None,
                "website": None,
                "linkedin_url": None,
                "location": None,
            },
            "degrees": [ALL_DEGREES[int(studies.degree[entry])]],
            "majors": [self._columns.majors[int(studies.major[entry])]],
            "minors": [],
            "start_date": self.month_text(person, int(studies.start[entry])),
            "end_date": self.month_text(person, int(studies.end[entry])),
            "gpa": None,
            "summary": None,
        }
