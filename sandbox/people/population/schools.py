"""Schools and degrees: universities as facts, schools for trades invented after their town."""

import tomllib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sandbox.people.population.draws import Bools, Floats, Ints
from sandbox.people.population.occupations import load_occupations
from sandbox.people.population.places import DATA, load_places

DEGREES = ("bachelors", "masters", "bachelor of science", "bachelor of arts", "master of science", "doctorates")
VOCATIONAL_DEGREES = ("high school", "vocational certificate")
_TOWNS = 25


@dataclass(frozen=True, slots=True)
class SchoolLists:
    """All schools; those of one country and kind are a run of `names`."""

    names: tuple[str, ...]
    majors: tuple[str, ...]
    run: Ints
    """Start and length for each (country, academic), shape (countries, 2, 2)."""

    def draw(self, countries: Ints, academic: Bools, units: Floats) -> Ints:
        """Choose a school of the country."""
        runs = self.run[countries, academic.astype(np.int64)]
        return runs[:, 0] + np.floor(units * runs[:, 1]).astype(np.int64)


@lru_cache(maxsize=1)
def load_schools() -> SchoolLists:
    """Read the shipped school file once per process."""
    table = tomllib.loads(DATA.joinpath("schools.toml").read_text(encoding="utf-8"))
    places = load_places()
    names: list[str] = []
    runs = np.zeros((len(places.countries), 2, 2), dtype=np.int64)
    for number, country in enumerate(places.countries):
        lists = table.get(country.code, table["default"])
        towns = [places.cities[city].locality for city in places.largest(number, _TOWNS)]
        for academic, kind in enumerate(("vocational", "universities")):
            spelled = dict.fromkeys(name.format(city=town) for name in lists[kind] for town in towns)
            runs[number, academic] = (len(names), len(spelled))
            names.extend(spelled)
    majors = dict.fromkeys(major for family in load_occupations().families for major in family.majors)
    return SchoolLists(names=tuple(names), majors=tuple(majors), run=runs)
