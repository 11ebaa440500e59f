"""How well people are found: `python -m benchmarks.finding [--people N] [--each]`.

Thirty intents of `benchmarks/data/finding.jsonl` are planned and their ladders put to the invented people of the
sandbox, page by page in the order of a run, until thirty people are delivered. Whether a person is suitable is judged
by the person's own facts: the occupation they were invented with, level, skills, languages, years, studies, employer
and the distance of their home. What a profile does not state counts as fitting, what it states otherwise does not.

A person suits who works in the occupation named with the intent, lives in its country (or within 100 km of one of its
towns), meets every demand, and has a level that was asked for; without one a trainee or a superior does not suit.
`near first` counts pairs of a suitable person within 50 km and a delivered one who is unsuitable or lives farther away:
how often the former is delivered before.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from activities.sourcing.people import KnownNames
from activities.upstream.people_data_labs import records
from activities.upstream.people_data_labs.query import query_of
from api.kernel import operation
from models.market.place_names import PlaceKind
from models.market.places import great_circle_km
from models.market.reference import reference
from models.market.title_cleaning import seniority
from models.people.rules.profiles import Profile
from models.reading.intents import Intent
from models.sourcing.rules.filters import PeopleFilters
from models.sourcing.rules.order import best_first
from models.sourcing.rules.planning import draft
from models.sourcing.rules.plans import PAGE_SIZE, Knowledge, SearchPlanValue
from models.sourcing.rules.suggestions import helpful
from sandbox.people.population.build import Population, build_population
from sandbox.people.query import compile_query

ASKED = Path(__file__).parent / "data" / "finding.jsonl"
TARGET = 30
NEAR_KM, FAR_KM = 50, 100
SEED = 7
TODAY = date(2026, 11, 1)


@dataclass(frozen=True, slots=True)
class Wanted:
    """An intent, and the occupations of the people who are meant."""

    intent: Intent
    families: frozenset[str]
    towns: tuple[tuple[float, float], ...]
    countries: frozenset[str]

    @property
    def name(self) -> str:
        """The titles, in short."""
        return ", ".join(self.intent.must.titles)


@dataclass(slots=True)
class Found:
    """What came of one intent: the people delivered, those who would have suited, and the time to plan."""

    wanted: Wanted
    plan: SearchPlanValue
    delivered: list[int]
    suitable: set[int]
    near: set[int]
    ladder: int
    named: bool
    seconds: float

    @property
    def hits(self) -> int:
        """Suitable people delivered."""
        return sum(person in self.suitable for person in self.delivered)

    @property
    def passed_over(self) -> int:
        """Suitable people who could have been delivered and were not."""
        return min(TARGET, len(self.suitable)) - self.hits

    def pairs(self) -> tuple[int, int]:
        """Pairs in the right order, and all pairs, of a near suitable person and a delivered worse one."""
        right = every = 0
        worse = [place for place, person in enumerate(self.delivered) if person not in self.near]
        places = {person: place for place, person in enumerate(self.delivered)}
        for person in self.near:
            every += len(worse)
            right += sum(places.get(person, TARGET) < place for place in worse)
        return right, every


@dataclass(slots=True)
class Market:
    """The invented people, with the facts that judge them."""

    population: Population
    profiles: dict[int, Profile] = field(default_factory=dict)

    def people_of(self, filters: PeopleFilters) -> list[int]:
        """Return whom a search finds, in the order of its pages."""
        query = compile_query({"query": query_of(filters, KnownNames(reference()))})
        return np.flatnonzero(query.mask(self.population)).tolist()

    def profile(self, person: int) -> Profile:
        """Return what a search page says of a person."""
        if person not in self.profiles:
            record = self.population.record(person)
            self.profiles[person] = records.profile(record, KnownNames(reference()), as_of=TODAY)
        return self.profiles[person]

    def km(self, person: int, wanted: Wanted) -> float | None:
        """Return how far the person's town is from the nearest one asked for; null without one."""
        columns = self.population.columns
        city = columns.places.cities[int(columns.city[person])]
        return min(
            (great_circle_km(city.latitude, city.longitude, lat, lon) for lat, lon in wanted.towns), default=None
        )

    def country(self, person: int) -> str:
        """Return where the person lives."""
        return self.population.columns.places.countries[int(self.population.columns.country[person])].code

    def suits(self, person: int, wanted: Wanted, record: dict[str, Any]) -> bool:
        """Return whether the person is what the intent asks for, by their own facts."""
        columns = self.population.columns
        family = columns.occupations.families[int(columns.family[person])].name
        km = self.km(person, wanted)
        placed = self.country(person) in wanted.countries or (km is not None and km <= FAR_KM)
        place = wanted.intent.must.location
        if place and (place.only or any(area.only for area in place.areas)):
            placed = km is not None and km <= (place.radius_km or NEAR_KM)
        return family in wanted.families and placed and bool(record["job_title"]) and _meets(wanted.intent, record)


def _meets(intent: Intent, record: dict[str, Any]) -> bool:
    must = intent.must
    skills = set(record["skills"] or ())
    languages = {one["name"] for one in record["languages"] or ()}
    studies = record["education"] or ()
    years = record["inferred_years_experience"]
    span = must.experience_years
    return all(
        (
            not skills or skills.issuperset(must.skills),
            not languages or languages.issuperset(must.languages),
            _levelled(intent, record),
            span is None or (years is not None and (span.min or 0) <= years <= (span.max or 99)),
            not must.industries or record["job_company_industry"] in must.industries,
            not must.company_sizes or record["job_company_size"] in must.company_sizes,
            not must.majors or not studies or any(set(one["majors"]) & set(must.majors) for one in studies),
            not must.degrees or not studies or any(_holds(one["degrees"], must.degrees) for one in studies),
            not any(title in record["job_title"] for title in intent.exclude.titles),
        )
    )


def _holds(degrees: list[str], wanted: tuple[str, ...]) -> bool:
    return any(degree.startswith(general.rstrip("s")) for degree in degrees for general in wanted)


def _levelled(intent: Intent, record: dict[str, Any]) -> bool:
    """Return whether the level fits: one below a manager's may also be unsaid."""
    levels = set(record["job_title_levels"] or ())
    asked = set(intent.must.seniority) or {level for title in intent.must.titles if (level := seniority(title))}
    if asked:
        return bool(levels & asked) or (not levels and asked <= {"entry", "senior"})
    return levels <= {"entry", "senior"}


def asked_of(lines: str) -> Iterator[Wanted]:
    """Yield the intents of the benchmark, their towns looked up."""
    places = reference().places
    for line in lines.splitlines():
        one = json.loads(line)
        towns = [next(p for p in places.find(name) if p.kind is PlaceKind.CITY) for name in one["towns"]]
        place: dict[str, Any] = {"countries": one["countries"]} if one["countries"] else {}
        if len(towns) == 1:
            place |= {"anchor_location_id": towns[0].id, "radius_km": one["radius_km"], "only": one["only"]}
        elif towns:
            place["areas"] = [{"location_id": town.id, "radius_km": one["radius_km"]} for town in towns]
        intent = Intent.model_validate(
            {
                "must": {"titles": one["titles"], "location": place} | one["must"],
                "nice": one["nice"],
                "exclude": one["exclude"],
            }
        )
        countries = frozenset(one["countries"] or [town.country_code for town in towns])
        yield Wanted(intent, frozenset(one["families"]), tuple((town.lat, town.lon) for town in towns), countries)


def find(wanted: Wanted, market: Market, knowledge: Knowledge) -> Found:
    """Plan an intent and read its ladder as a run does."""
    began = time.perf_counter()
    plan = draft(wanted.intent, knowledge).priced({}, target=TARGET)
    seconds = time.perf_counter() - began
    tiers = [market.people_of(tier.filters) for tier in plan.tiers]
    ladder = sum(map(len, tiers))
    counts = {one.query_key: len(market.people_of(one.filters)) for one in plan.relaxations} if not ladder else {}
    pages = (
        best_first(tier[start : start + PAGE_SIZE], market.profile, wishes=plan.wishes, anchors=plan.anchors)
        for tier in tiers
        for start in range(0, len(tier), PAGE_SIZE)
    )
    delivered = list(islice((person for page in pages for person in page), TARGET))
    listed = np.flatnonzero(market.population.listed).tolist()
    columns = market.population.columns
    names_of = [family.name for family in columns.occupations.families]
    rough = [person for person in listed if names_of[int(columns.family[person])] in wanted.families]
    suitable = {one for one in rough if market.suits(one, wanted, market.population.record(one))}
    near = {one for one in suitable if (km := market.km(one, wanted)) is not None and km <= NEAR_KM}
    named = bool(helpful(plan.relaxations, counts, found=0))
    return Found(wanted, plan, delivered, suitable, near, ladder, named, seconds)


def main() -> None:
    """Print the measures, and with `--each` one line for every intent."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--people", type=int, default=20_000)
    arguments.add_argument("--each", action="store_true")
    given = arguments.parse_args()
    market, knowledge = Market(build_population(given.people, seed=SEED)), operation.load_reference().knowledge
    results = [find(wanted, market, knowledge) for wanted in asked_of(ASKED.read_text(encoding="utf-8"))]
    if given.each:
        for one in results:
            right, every = one.pairs()
            print(
                f"{one.wanted.name:28} suitable {one.hits:2}/{len(one.delivered):2} of {len(one.suitable):4}"
                f"  near {len(one.near):3}  first {right / every if every else 1:.2f}  ladder {one.ladder:5}"
                f"  tiers {len(one.plan.tiers):2}"
            )
    delivered = sum(len(one.delivered) for one in results)
    pairs = [one.pairs() for one in results]
    empty = [one for one in results if not one.delivered]
    unnamed = sum(not one.named for one in empty)
    measures = {
        "intents": len(results),
        "people delivered": delivered,
        "suitable among them": f"{sum(one.hits for one in results) / max(1, delivered):.3f}",
        "suitable people passed over": sum(one.passed_over for one in results),
        "near suitable people before others": f"{sum(r for r, _ in pairs) / max(1, sum(e for _, e in pairs)):.3f}",
        "empty ladders": f"{len(empty)}, of which without the demand named: {unnamed}",
        "milliseconds to plan": round(1000 * sum(one.seconds for one in results) / len(results)),
    }
    for name, figure in measures.items():
        print(f"{name:36} {figure}")


if __name__ == "__main__":
    main()
