"""The whole population as columns: one array entry per person, or runs of entries for lists."""

from dataclasses import dataclass
from enum import IntFlag

import numpy as np

from sandbox.people.population.draws import Bools, Draws, Ints
from sandbox.people.population.employers import Employers
from sandbox.people.population.names import NamedPeople, NameLists
from sandbox.people.population.occupations import Occupations
from sandbox.people.population.places import Places

DATASET_YEAR, DATASET_MONTH = 2026, 10
DATASET_VERSION, PREVIOUS_VERSION = "35.0", "34.2"
NOW = DATASET_YEAR * 12 + DATASET_MONTH - 1
"""The month at which the population was observed; months are counted as year * 12 + month - 1."""
OPEN = -1
"""End of a current job."""
SELF_EMPLOYED = -1
"""Employer of people who have none."""


class Oddity(IntFlag):
    """Ways in which a record is difficult for its readers."""

    NO_FAMILY_NAME = 1
    CONTACTS_WITHHELD = 2
    NO_DATES = 4
    NO_COORDINATES = 8
    NO_PLACE = 16
    NO_CURRENT_JOB = 32
    TWO_CURRENT_JOBS = 64
    HOSTILE_TEXT = 128
    LONG_TEXT = 256
    SHARED_ADDRESS = 512
    ODD_SLUG = 1024
    FORMER_ID = 2048
    OPTED_OUT = 4096
    OPTED_OUT_BUT_LISTED = 8192
    NO_SKILLS = 16384
    OLDEST_JOB_FIRST = 32768
    FREELANCE = 65536


class Precision:
    """How exactly a person states dates."""

    YEAR, MONTH, DAY = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Runs:
    """Lists of all people in one array: person `i` owns the entries from `starts[i]` to `starts[i + 1]`."""

    starts: Ints

    @classmethod
    def of_lengths(cls, lengths: Ints) -> "Runs":
        """Lay out lists of these lengths one after the other."""
        return cls(np.concatenate(([0], np.cumsum(lengths))))

    @property
    def owners(self) -> Ints:
        """The person that owns each entry."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int64), np.diff(self.starts))

    def of(self, person: int) -> range:
        """Return the entries of one person."""
        return range(int(self.starts[person]), int(self.starts[person + 1]))


@dataclass(frozen=True, slots=True)
class Jobs:
    """All jobs, each person's oldest first."""

    runs: Runs
    employer: Ints
    title: Ints
    start: Ints
    end: Ints
    primary: Bools


@dataclass(frozen=True, slots=True)
class Studies:
    """All education, each person's oldest first."""

    runs: Runs
    school: Ints
    degree: Ints
    major: Ints
    start: Ints
    end: Ints


@dataclass(frozen=True, slots=True)
class Words:
    """Lists of codes into a vocabulary, with a number beside each (proficiency, year) or zero."""

    runs: Runs
    vocabulary: tuple[str, ...]
    code: Ints
    extra: Ints


@dataclass(frozen=True, slots=True)
class Columns:
    """Everything that was drawn about the people; records are written from this."""

    draws: Draws
    places: Places
    occupations: Occupations
    employers: Employers
    name_lists: NameLists
    schools: tuple[str, ...]
    majors: tuple[str, ...]
    country: Ints
    city: Ints
    family: Ints
    names: NamedPeople
    oddity: Ints
    precision: Ints
    jobs: Jobs
    studies: Studies
    skills: Words
    languages: Words
    certifications: Words

    @property
    def size(self) -> int:
        """How many people there are."""
        return len(self.country)

    def has(self, oddity: Oddity) -> Bools:
        """Return for each person whether their record has an oddity."""
        odd: Bools = (self.oddity & int(oddity)) != 0
        return odd

    def is_odd(self, person: int, oddity: Oddity) -> bool:
        """Return whether one person's record has an oddity."""
        return bool(int(self.oddity[person]) & int(oddity))

    def primary_job(self) -> Ints:
        """For each person the index of the current main job, or -1."""
        chosen = np.full(self.size, -1, dtype=np.int64)
        primary = np.flatnonzero(self.jobs.primary)
        chosen[self.jobs.runs.owners[primary]] = primary
        return chosen

    def experience_months(self) -> Ints:
        """For each person the months covered by at least one job."""
        # Jobs are consecutive; only the earlier of two current ones overlaps the next one, the main job.
        beside = (self.jobs.end == OPEN) & ~self.jobs.primary
        end = np.select([beside, self.jobs.end == OPEN], [np.roll(self.jobs.start, -1), NOW], self.jobs.end)
        counted = end - self.jobs.start
        return np.bincount(self.jobs.runs.owners, counted, self.size).astype(np.int64)
