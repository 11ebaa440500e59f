"""First and family names by culture, flattened so that a person's name is two numbers."""

import tomllib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sandbox.people.population.draws import Draws, Floats, Ints
from sandbox.people.population.places import DATA, Places

_NULL_SEX_SHARE = 0.06


@dataclass(frozen=True, slots=True)
class NameLists:
    """All names; one culture's male, female and family names are runs within the flat tuples."""

    cultures: tuple[str, ...]
    first: tuple[str, ...]
    family: tuple[str, ...]
    first_run: Ints
    """Start and length for each (culture, sex), shape (cultures, 2, 2)."""
    family_run: Ints
    """Start and length for each culture, shape (cultures, 2)."""


@dataclass(frozen=True, slots=True)
class NamedPeople:
    """Cultures, sexes (0 male, 1 female, 2 not stated), first and family names as indexes."""

    culture: Ints
    sex: Ints
    first: Ints
    family: Ints


@lru_cache(maxsize=1)
def load_names() -> NameLists:
    """Read the shipped name lists once per process."""
    table = tomllib.loads(DATA.joinpath("names.toml").read_text(encoding="utf-8"))
    first: list[str] = []
    family: list[str] = []
    first_run, family_run = [], []
    for lists in table.values():
        runs = []
        for sex in ("male", "female"):
            runs.append((len(first), len(lists[sex])))
            first.extend(lists[sex])
        first_run.append(runs)
        family_run.append((len(family), len(lists["family"])))
        family.extend(lists["family"])
    return NameLists(
        cultures=tuple(table),
        first=tuple(first),
        family=tuple(family),
        first_run=np.array(first_run, dtype=np.int64),
        family_run=np.array(family_run, dtype=np.int64),
    )


def _within(runs: Ints, units: Floats) -> Ints:
    return runs[:, 0] + np.floor(units * runs[:, 1]).astype(np.int64)


def _draw_cultures(places: Places, lists: NameLists, countries: Ints, units: Floats) -> Ints:
    shares = np.zeros((len(places.countries), len(lists.cultures)))
    for row, country in enumerate(places.countries):
        for culture, share in country.cultures.items():
            shares[row, lists.cultures.index(culture)] = share
    ends = np.cumsum(shares, axis=1)
    wanted = np.floor(units * ends[countries, -1])
    cultures: Ints = (ends[countries] <= wanted[:, None]).sum(axis=1)
    return cultures


def draw_names(draws: Draws, places: Places, countries: Ints, people: Ints) -> NamedPeople:
    """Draw each person's first name and family name from the same culture."""
    lists = load_names()
    culture = _draw_cultures(places, lists, countries, draws.unit("culture", people))
    gender = (draws.unit("gender", people) < 0.5).astype(np.int64)
    stated = draws.unit("sex stated", people) >= _NULL_SEX_SHARE
    return NamedPeople(
        culture=culture,
        sex=np.where(stated, gender, 2),
        first=_within(lists.first_run[culture, gender], draws.unit("first name", people)),
        family=_within(lists.family_run[culture], draws.unit("family name", people)),
    )
