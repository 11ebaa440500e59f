"""Plans put to the people source as it will be asked: over 3,000 invented people no one is in two tiers."""

from collections.abc import Iterable
from functools import cache
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.sourcing.people import KnownNames
from activities.upstream.people_data_labs.query import query_of
from api.kernel import operation
from models.base.errors import InvalidRequest
from models.market.reference import reference
from models.reading.intents import Intent
from models.sourcing.rules.ladder import choose_titles
from models.sourcing.rules.planning import draft
from models.sourcing.rules.plans import Knowledge, PeopleFilters, SearchPlanValue, SkillFilter, TierFilters, TitleFilter
from sandbox.people.population.build import Population, build_population
from sandbox.people.query import matching

COUNTRIES = ("BE", "NL", "DE", "FR", "GB", "US")
TOWNS = ("Ghent", "Antwerp", "Brussels", "Amsterdam", "Berlin", "Munich", "Paris", "London", "New York")
TITLES = (
    "Data Engineer",
    "Software Engineer",
    "Nurse",
    "Accountant",
    "Sales Manager",
    "Project Manager",
    "Verkäufer",
    "Infirmier",
    "Projectleider",
    "Head of Nothing",
)


@cache
def population() -> Population:
    return build_population(3000, seed=7)


@cache
def known() -> Knowledge:
    return operation.load_reference().knowledge


@cache
def skills() -> tuple[str, ...]:
    counted: dict[str, int] = {}
    for record in population():
        for skill in record["skills"] or ():
            counted[skill] = counted.get(skill, 0) + 1
    return tuple(sorted(counted, key=lambda skill: (-counted[skill], skill))[:20])


@cache
def towns() -> tuple[str, ...]:
    return tuple(reference().places.find(name)[0].id for name in TOWNS)


def found(filters: PeopleFilters) -> set[str]:
    return matching(population(), {"query": query_of(filters, KnownNames(reference()))})


def some(values: Iterable[str], *, least: int = 0, most: int = 2) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(tuple(values)), min_size=least, max_size=most, unique=True)


@st.composite
def places(draw: st.DrawFn) -> dict[str, Any]:
    """Countries, and often a local area that may reach over their borders."""
    place: dict[str, Any] = {"countries": draw(some(COUNTRIES, least=1, most=3))}
    if draw(st.booleans()):
        place["anchor_location_id"] = draw(st.sampled_from(towns()))
        place["radius_km"] = draw(st.sampled_from((5, 20, 50)))
    if draw(st.integers(0, 3)) == 0:
        place["location_ids"] = draw(some(towns(), least=1))
    return place


def spans() -> st.SearchStrategy[dict[str, int] | None]:
    return st.none() | st.integers(0, 15).map(lambda low: {"min": low, "max": low + 15})


def wishes() -> st.SearchStrategy[dict[str, Any]]:
    return st.just({}) | st.fixed_dictionaries(
        {
            "skills": some(skills(), most=3),
            "languages": some(("english", "german", "french")),
            "experience_years": spans(),
            "location": st.none() | places(),
            "titles": some(("senior", "lead"), most=1),
        }
    )


def bans() -> st.SearchStrategy[dict[str, Any]]:
    return st.just({}) | st.fixed_dictionaries(
        {
            "titles": some(("intern", "assistant", "junior")),
            "skills": some(skills()),
            "languages": some(("spanish", "italian")),
            "experience_years": st.none() | st.just({"min": 25}),
            "location": st.none() | st.fixed_dictionaries({"location_ids": some(towns(), least=1)}),
        }
    )


@st.composite
def intents(draw: st.DrawFn) -> Intent:
    must: dict[str, Any] = {"titles": draw(some(TITLES, least=1)), "location": draw(places())}
    if draw(st.integers(0, 2)) == 0:
        must["experience_years"] = draw(spans())
    if draw(st.integers(0, 3)) == 0:
        must["languages"] = draw(some(("english", "german", "dutch"), least=1))
    if draw(st.integers(0, 4)) == 0:
        must["skills"] = draw(some(skills(), least=1, most=1))
    return Intent.model_validate({"must": must, "nice": draw(wishes()), "exclude": draw(bans())})


def planned(intent: Intent) -> SearchPlanValue | None:
    """The plan, or null for an intent that contradicts itself."""
    try:
        return draft(intent, known()).priced({}, target=30)
    except InvalidRequest:
        return None


def whole(intent: Intent) -> TierFilters:
    """Everybody the intent means, in one search without a ladder."""
    must, exclude = intent.must, intent.exclude
    titles = choose_titles(must.titles, exclude.titles, known().titles)
    none_of = [PeopleFilters(languages=exclude.languages)] if exclude.languages else []
    if exclude.experience_years:
        none_of.append(PeopleFilters(experience_years=exclude.experience_years))
    return TierFilters(
        titles=TitleFilter(include=(*titles.exact, *titles.nearby)[:100], exclude=exclude.titles),
        countries=must.location.countries if must.location else (),
        exclude_location_ids=exclude.location.location_ids if exclude.location else (),
        skills=SkillFilter(all=must.skills, exclude=exclude.skills),
        experience_years=must.experience_years,
        all_of=tuple(PeopleFilters(languages=(language,)) for language in must.languages),
        none_of=tuple(none_of),
    )


@pytest.mark.parametrize("share", range(3))  # hundreds of plans, in parts that run side by side
@settings(max_examples=70, deadline=None)
@given(intent=intents())
def test_each_person_of_the_intent_is_in_exactly_one_tier(share: int, intent: Intent) -> None:
    del share
    plan = planned(intent)
    if plan is None:
        return
    tiers = [found(tier.filters) for tier in plan.tiers]
    for one, other in combinations(tiers, 2):
        assert one.isdisjoint(other)
    assert set[str]().union(*tiers) == found(whole(intent))


def test_the_market_holds_people_on_most_rungs() -> None:
    place = {"countries": ["US"], "anchor_location_id": towns()[-1], "radius_km": 200}
    titles = ["Software Engineer", "Sales Manager", "Accountant", "Nurse", "Project Manager"]
    intent = Intent.model_validate(
        {"must": {"titles": titles, "location": place}, "nice": {"skills": list(skills()[:5])}}
    )
    plan = planned(intent)
    assert plan is not None
    assert len(plan.tiers) == 8
    people = [len(found(tier.filters)) for tier in plan.tiers]
    assert sum(number > 0 for number in people) >= 6
    assert sum(people) > 30
