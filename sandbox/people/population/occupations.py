"""Occupation families: their titles by seniority and language, skills, studies and employers' industries.

The files in `sandbox/data/occupations` give for each family: `weight` its share of people; `role`, `sub_role` and
`class` as the provider names them; `ladder` how seniority is written; `titles` in English, usual ones first;
`manager`, `director`, `vp`, `partner`, `cxo`, `owner` titles of the upper ranks; `de`, `fr`, `nl` titles in other
languages; `skills` of most and `more` skills of some; `majors`, `industries`, `certifications`; `near` families
people come from; `degree` the share with higher education.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Any

import numpy as np

from sandbox.people.population.draws import Floats, Ints
from sandbox.people.population.places import DATA


class Rank(IntEnum):
    """Seniority within a family, from internship to ownership."""

    TRAINING = 0
    ENTRY = 1
    MIDDLE = 2
    SENIOR = 3
    LEAD = 4
    MANAGER = 5
    DIRECTOR = 6
    VP = 7
    CXO = 8
    OWNER = 9


LANGUAGES = ("en", "de", "fr", "nl")

_Pattern = tuple[str, tuple[str, ...]]
_TRAINING, _ENTRY, _NONE, _SENIOR = ("training",), ("entry",), (), ("senior",)

_LADDERS: dict[str, dict[Rank, tuple[_Pattern, ...]]] = {
    "technical": {
        Rank.TRAINING: (("{} intern", _TRAINING),),
        Rank.ENTRY: (("junior {}", _ENTRY), ("graduate {}", _ENTRY)),
        Rank.SENIOR: (("senior {}", _SENIOR), ("sr. {}", _SENIOR), ("sr {}", _SENIOR)),
        Rank.LEAD: (("lead {}", _SENIOR), ("principal {}", _SENIOR), ("staff {}", _SENIOR)),
    },
    "business": {
        Rank.TRAINING: (("{} intern", _TRAINING),),
        Rank.ENTRY: (("junior {}", _ENTRY),),
        Rank.SENIOR: (("senior {}", _SENIOR), ("sr. {}", _SENIOR)),
        Rank.LEAD: (("lead {}", _SENIOR), ("{} team lead", ("manager",))),
    },
    "office": {
        Rank.TRAINING: (("{} trainee", _TRAINING),),
        Rank.ENTRY: (("junior {}", _ENTRY), ("{}", _NONE)),
        Rank.SENIOR: (("senior {}", _SENIOR),),
        Rank.LEAD: (("{} team leader", ("manager",)), ("lead {}", _SENIOR)),
    },
    "craft": {
        Rank.TRAINING: (("apprentice {}", _TRAINING),),
        Rank.ENTRY: (("{}", _NONE), ("trainee {}", _ENTRY)),
        Rank.SENIOR: (("senior {}", _SENIOR), ("experienced {}", _SENIOR)),
        Rank.LEAD: (("lead {}", _SENIOR), ("{} supervisor", ("manager",))),
    },
    "care": {
        Rank.TRAINING: (("student {}", _TRAINING),),
        Rank.ENTRY: (("junior {}", _ENTRY), ("{}", _NONE)),
        Rank.SENIOR: (("senior {}", _SENIOR),),
        Rank.LEAD: (("lead {}", _SENIOR),),
    },
    "kitchen": {
        Rank.TRAINING: (("apprentice {}", _TRAINING),),
        Rank.ENTRY: (("{}", _NONE), ("junior {}", _ENTRY)),
        Rank.SENIOR: (("senior {}", _SENIOR),),
        Rank.LEAD: (("head {}", _SENIOR),),
    },
    "retail": {
        Rank.TRAINING: (("trainee {}", _TRAINING),),
        Rank.ENTRY: (("{}", _NONE), ("junior {}", _ENTRY)),
        Rank.SENIOR: (("senior {}", _SENIOR),),
        Rank.LEAD: (("lead {}", _SENIOR),),
    },
}
_LOCAL: dict[str, dict[Rank, tuple[_Pattern, ...]]] = {
    "de": {
        Rank.TRAINING: (("werkstudent {}", _TRAINING),),
        Rank.ENTRY: (("junior {}", _ENTRY),),
        Rank.SENIOR: (("senior {}", _SENIOR),),
        Rank.LEAD: (("leitender {}", _SENIOR), ("teamleiter {}", ("manager",))),
    },
    "fr": {
        Rank.TRAINING: (("stagiaire {}", _TRAINING), ("alternant {}", _TRAINING)),
        Rank.ENTRY: (("{} junior", _ENTRY),),
        Rank.SENIOR: (("{} senior", _SENIOR), ("{} confirmé", _SENIOR)),
        Rank.LEAD: (("{} principal", _SENIOR),),
    },
    "nl": {
        Rank.TRAINING: (("stagiair {}", _TRAINING),),
        Rank.ENTRY: (("junior {}", _ENTRY),),
        Rank.SENIOR: (("senior {}", _SENIOR),),
        Rank.LEAD: (("lead {}", _SENIOR), ("teamleider {}", ("manager",))),
    },
}
_MIDDLE: tuple[_Pattern, ...] = (("{}", _NONE),)
_LEVEL_OF_UPPER_RANK = {Rank.MANAGER: "manager", Rank.DIRECTOR: "director", Rank.VP: "vp", Rank.CXO: "cxo"}


@dataclass(frozen=True, slots=True)
class Title:
    """One spelling of a job title and what the provider derives from it."""

    name: str
    family: int
    levels: tuple[str, ...]
    role: str
    sub_role: str
    job_class: str


@dataclass(frozen=True, slots=True)
class Family:
    """What people of one occupation have in common."""

    name: str
    weight: int
    skills: tuple[str, ...]
    more_skills: tuple[str, ...]
    majors: tuple[str, ...]
    industries: tuple[str, ...]
    certifications: tuple[str, ...]
    degree: float


@dataclass(frozen=True, slots=True)
class Occupations:
    """All families and titles; `title_run[family, rank, language]` is (start, length) within `titles`."""

    families: tuple[Family, ...]
    titles: tuple[Title, ...]
    title_run: Ints
    near: tuple[tuple[int, ...], ...]

    def draw_titles(self, families: Ints, ranks: Ints, languages: Ints, units: Floats) -> Ints:
        """Choose a spelling; the usual ones, which stand first, are the likelier."""
        runs = self.title_run[families, ranks, languages]
        return runs[:, 0] + np.floor(units * units * runs[:, 1]).astype(np.int64)


def _spelled(row: dict[str, Any], rank: Rank, language: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Return the titles of one rank, the main title in all its patterns first."""
    if rank is Rank.OWNER:
        yield from ((name, ("owner",)) for name in row.get("owner", ()))
        yield from ((f"freelance {name}", ()) for name in row["titles"][:3])
        return
    if rank in _LEVEL_OF_UPPER_RANK:
        level = _LEVEL_OF_UPPER_RANK[rank]
        yield from ((name, (level,)) for name in row.get(level, ()))
        if rank is Rank.VP:
            yield from ((name, ("partner",)) for name in row.get("partner", ()))
        return
    bases = row["titles"] if language == "en" else row.get(language, ())
    ladder = _LADDERS[row["ladder"]] if language == "en" else _LOCAL[language]
    patterns = _MIDDLE if rank is Rank.MIDDLE else ladder[rank]
    for base in bases:
        for pattern, levels in patterns:
            yield pattern.format(base), levels


@lru_cache(maxsize=1)
def load_occupations() -> Occupations:
    """Read the shipped occupation files once per process."""
    rows: dict[str, dict[str, Any]] = {}
    for name in ("software", "business", "technical", "care"):
        text = DATA.joinpath("occupations", f"{name}.toml").read_text(encoding="utf-8")
        rows |= {family: tables[0] for family, tables in tomllib.loads(text).items()}
    order = {name: number for number, name in enumerate(rows)}
    titles: list[Title] = []
    runs = np.zeros((len(rows), len(Rank), len(LANGUAGES), 2), dtype=np.int64)
    for name, row in rows.items():
        family = order[name]
        for rank in Rank:
            for column, language in enumerate(LANGUAGES):
                spelled = list(_spelled(row, rank, language)) if column == 0 or rank < Rank.MANAGER else []
                if not spelled:
                    # No own words for this: English, and without a vice president the director stands highest.
                    runs[family, rank, column] = runs[family, rank if column else rank - 1, 0]
                    continue
                runs[family, rank, column] = (len(titles), len(spelled))
                titles.extend(
                    Title(text, family, levels, row["role"], row["sub_role"], row["class"]) for text, levels in spelled
                )
    return Occupations(
        families=tuple(
            Family(
                name=name,
                weight=round(row["weight"] * 10),
                skills=tuple(row["skills"]),
                more_skills=tuple(row["more"]),
                majors=tuple(row["majors"]),
                industries=tuple(row["industries"]),
                certifications=tuple(row["certifications"]),
                degree=float(row["degree"]),
            )
            for name, row in rows.items()
        ),
        titles=tuple(titles),
        title_run=runs,
        near=tuple(tuple(order[other] for other in row["near"]) for row in rows.values()),
    )
