"""Facts of a person, each drawn or looked up from the columns of the population."""

from math import sqrt

from sandbox.people.population import contacts, texts
from sandbox.people.population.columns import NOW, SELF_EMPLOYED, Columns, Oddity, Precision
from sandbox.people.population.employers import Employer
from sandbox.people.population.occupations import Title
from sandbox.people.population.places import City


def date_text(month: int, precision: int, day: int) -> str:
    """Write a month as exactly as its owner states dates."""
    year, number = divmod(month, 12)
    if precision == Precision.YEAR:
        return f"{year:04d}"
    if precision == Precision.MONTH:
        return f"{year:04d}-{number + 1:02d}"
    return f"{year:04d}-{number + 1:02d}-{day:02d}"


class PersonFacts:
    """Facts of people by number; the same person always has the same facts."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._draws = columns.draws
        self._primary = columns.primary_job()
        self._months = columns.experience_months()

    def first_name(self, person: int) -> str:
        """Return the first name as it is spelt, in lower case."""
        return self._columns.name_lists.first[int(self._columns.names.first[person])].lower()

    def last_name(self, person: int) -> str | None:
        """Return the family name, or None for people who hide it."""
        if self._columns.is_odd(person, Oddity.NO_FAMILY_NAME):
            return None
        return self._columns.name_lists.family[int(self._columns.names.family[person])].lower()

    def full_name(self, person: int) -> str:
        """Join first and family name."""
        return " ".join(part for part in (self.first_name(person), self.last_name(person)) if part)

    def profile_slug(self, person: int) -> str:
        """Return the last part of the profile address; a few people share that of the person before."""
        if person and self._columns.is_odd(person, Oddity.SHARED_ADDRESS):
            return self.profile_slug(person - 1)
        odd = self._columns.is_odd(person, Oddity.ODD_SLUG)
        return contacts.profile_slug(self._draws, person, self.full_name(person), odd=odd)

    def network_id(self, person: int) -> str:
        """Return the numeric id on the network as text."""
        return str(10_000_000 + self._draws.word_at("network id", person) % 980_000_000)

    def headline(self, person: int) -> str:
        """Return the line below the name."""
        if self._columns.is_odd(person, Oddity.HOSTILE_TEXT):
            return texts.hostile(self._draws, person)
        return texts.headline(self._draws, person, self._phrases(person))

    def summary(self, person: int) -> str | None:
        """Return what the person says about themselves; four in ten say nothing."""
        if self._columns.is_odd(person, Oddity.LONG_TEXT):
            return texts.endless(self._draws, person)
        if self._columns.is_odd(person, Oddity.HOSTILE_TEXT):
            return texts.hostile(self._draws, person + 1)
        if self._draws.unit_at("has summary", person) < 0.4:
            return None
        return texts.summary(self._draws, person, self._phrases(person))

    def job_summary(self, person: int, job: int) -> str | None:
        """Return what the person says about one job; most say nothing."""
        place = self._job_key(person, job)
        if self._draws.unit_at("has job summary", place) < 0.7:
            return None
        return texts.job_summary(self._draws, place, self._some_skills(person))

    def work_email(self, person: int) -> str | None:
        """Return the address at the current employer, which seven in ten have."""
        employer = self._current_employer(person)
        if employer is None or self._draws.unit_at("has work email", person) < 0.3:
            return None
        return contacts.work_email(self.full_name(person), employer.website)

    def personal_email(self, person: int) -> str | None:
        """Return a private address, which half of the people have."""
        if self._draws.unit_at("has personal email", person) < 0.5:
            return None
        return contacts.personal_email(self._draws, person, self.full_name(person))

    def mobile_phone(self, person: int) -> str | None:
        """Return a mobile number, which four in ten have."""
        if self._draws.unit_at("has phone", person) < 0.6:
            return None
        return contacts.phone(self._draws, person, self._city(person).country.phone)

    def birth_year(self, person: int) -> int | None:
        """Return the year of birth of six people in ten, eighteen years or more before the first job."""
        if self._draws.unit_at("has birth year", person) < 0.4:
            return None
        first = int(self._columns.jobs.start[self._columns.jobs.runs.starts[person]])
        return first // 12 - 18 - self._draws.below("age", person, 6)

    def experience_years(self, person: int) -> int | None:
        """Return the full years covered by jobs, None for people without dates."""
        if self._columns.is_odd(person, Oddity.NO_DATES):
            return None
        return int(self._months[person]) // 12

    def connections(self, person: int) -> int:
        """Return how many contacts the person has on the network."""
        return int(500 * sqrt(self._draws.unit_at("connections", person))) + 1

    def month_text(self, person: int, month: int) -> str | None:
        """Write a month the way this person states dates."""
        if self._columns.is_odd(person, Oddity.NO_DATES):
            return None
        return date_text(month, int(self._columns.precision[person]), self.day(person, month))

    def day(self, person: int, month: int) -> int:
        """Return the day of a month on which something began or ended for this person."""
        return 1 + self._draws.below("day", person * 8192 + month % 8192, 28)

    def verified_month(self, person: int) -> int:
        """Return the month in which the provider last saw the record confirmed."""
        return NOW - self._draws.below("verified", person, 12)

    def industry(self, person: int) -> str | None:
        """Return the person's industry: that of the latest employer, when there is one."""
        last = int(self._columns.jobs.runs.starts[person + 1]) - 1
        employer = int(self._columns.jobs.employer[last])
        return None if employer == SELF_EMPLOYED else self._columns.employers.firms[employer].industry

    def _city(self, person: int) -> City:
        return self._columns.places.cities[int(self._columns.city[person])]

    def _title(self, job: int) -> Title:
        return self._columns.occupations.titles[int(self._columns.jobs.title[job])]

    def _employer(self, job: int) -> Employer | None:
        number = int(self._columns.jobs.employer[job])
        return None if number == SELF_EMPLOYED else self._columns.employers.firms[number]

    def _current_employer(self, person: int) -> Employer | None:
        job = int(self._primary[person])
        return None if job < 0 else self._employer(job)

    def _job_key(self, person: int, job: int) -> int:
        return person * 16 + job - int(self._columns.jobs.runs.starts[person])

    def _skills(self, person: int) -> list[str]:
        skills = self._columns.skills
        return [skills.vocabulary[int(skills.code[entry])] for entry in skills.runs.of(person)]

    def _some_skills(self, person: int) -> str:
        return ", ".join(self._skills(person)[:3]) or "many things"

    def _phrases(self, person: int) -> dict[str, str]:
        last = int(self._columns.jobs.runs.starts[person + 1]) - 1
        job = int(self._primary[person]) if self._primary[person] >= 0 else last
        employer = self._employer(job)
        return {
            "title": self._title(job).name,
            "employer": employer.name if employer else "my own business",
            "skills": self._some_skills(person),
            "city": self._city(person).locality,
            "industry": self.industry(person) or "several industries",
            "years": str(self.experience_years(person) or "several"),
        }
