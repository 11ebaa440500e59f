"""Builds the population: draws all columns and offers them as records in the provider's shape."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from sandbox.people.population.careers import Backdrop, draw_families, draw_jobs, draw_studies
from sandbox.people.population.columns import Columns, Oddity
from sandbox.people.population.draws import Bools, Draws, picks
from sandbox.people.population.employers import found_employers
from sandbox.people.population.identity import Identities
from sandbox.people.population.names import draw_names, load_names
from sandbox.people.population.occupations import load_occupations
from sandbox.people.population.places import load_places
from sandbox.people.population.records import Record, RecordWriter
from sandbox.people.population.schools import load_schools
from sandbox.people.population.traits import (
    draw_certifications,
    draw_languages,
    draw_oddities,
    draw_precision,
    draw_skills,
)


@dataclass(frozen=True, eq=False)
class Population:
    """Invented people, numbered from 0; iteration yields their records as the provider's JSON objects."""

    columns: Columns
    identities: Identities = field(repr=False)

    def __len__(self) -> int:
        return self.columns.size

    def __iter__(self) -> Iterator[Record]:
        return (self.writer.record(person) for person in range(len(self)))

    @cached_property
    def writer(self) -> RecordWriter:
        """Writes records from columns."""
        return RecordWriter(self.columns, self.identities)

    @cached_property
    def listed(self) -> Bools:
        """The people that a search may find: all except those removed after an opt-out."""
        return ~self.columns.has(Oddity.OPTED_OUT)

    def record(self, person: int, wanted: Collection[str] | None = None) -> Record:
        """Write one person's record: all fields, or at least the wanted ones, which is quicker."""
        return self.writer.record(person, wanted)

    def person_id(self, person: int) -> str:
        """Return the provider's id of a person."""
        return self.identities.id_of(person)

    def number_of(self, person_id: str) -> int | None:
        """Return the number of the person with this current id, or None."""
        return self.identities.number_of(person_id)


@lru_cache(maxsize=4)
def build_population(size: int = 20_000, seed: int = 7) -> Population:
    """Invent `size` people; same seed, same people; a smaller population is a prefix of a larger one."""
    draws, places, occupations = Draws(seed), load_places(), load_occupations()
    employers, schools = found_employers(seed), load_schools()
    people = np.arange(size, dtype=np.int64)
    weights = np.array([country.weight for country in places.countries], dtype=np.int64)
    country = picks(draws.unit("country", people), weights)
    backdrop = Backdrop(
        draws=draws,
        places=places,
        occupations=occupations,
        employers=employers,
        country=country,
        city=places.draw_cities(country, draws.unit("city", people)),
        family=draw_families(draws, occupations, people),
        oddity=draw_oddities(draws, people),
    )
    names = draw_names(draws, places, country, people)
    jobs, began = draw_jobs(backdrop)
    columns = Columns(
        draws=draws,
        places=places,
        occupations=occupations,
        employers=employers,
        name_lists=load_names(),
        schools=schools.names,
        majors=schools.majors,
        country=country,
        city=backdrop.city,
        family=backdrop.family,
        names=names,
        oddity=backdrop.oddity,
        precision=draw_precision(draws, people),
        jobs=jobs,
        studies=draw_studies(backdrop, schools, began),
        skills=draw_skills(backdrop),
        languages=draw_languages(backdrop, names.culture, load_names().cultures),
        certifications=draw_certifications(backdrop),
    )
    return Population(columns=columns, identities=Identities(draws, size))
