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
from models.sourcing.rules.filters import Claim, PeopleFilters, SkillFilter, SparseField, TierFilters, TitleFilter
from models.sourcing.rules.planning import draft
from models.sourcing.rules.plans import Knowledge, SearchPlanValue
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
BESIDE = {"entry": ("training",), "senior": ("manager",), "manager": ("senior", "director")}
"""Levels one away, spelled out."""


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
    if draw(st.integers(0, 3)) == 0:
        must["seniority"] = draw(some(tuple(BESIDE), least=1, most=1))
    if draw(st.integers(0, 4)) == 0:
        must["company_sizes"] = ["1-10", "11-50", "51-200", "201-500"]
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
    titles = draft(intent, known()).titles
    none_of = [PeopleFilters(languages=exclude.languages)] if exclude.languages else []
    if exclude.experience_years:
        none_of.append(PeopleFilters(experience_years=exclude.experience_years))
    silent = {field: Claim(unstated=(field,)) for field in SparseField}
    claims = [(Claim(languages=(language,)), silent[SparseField.LANGUAGES]) for language in must.languages]
    if must.skills:
        claims.append((Claim(skills=SkillFilter(all=must.skills)), silent[SparseField.SKILLS]))
    if must.seniority:
        levels = (*must.seniority, *BESIDE[must.seniority[0]])
        claims.append((Claim(seniority=levels), silent[SparseField.SENIORITY]))
    return TierFilters(
        titles=TitleFilter(include=(*titles.exact, *titles.nearby)[:100], exclude=titles.left_out),
        countries=must.location.countries if must.location else (),
        exclude_location_ids=exclude.location.location_ids if exclude.location else (),
        skills=SkillFilter(exclude=exclude.skills),
        experience_years=must.experience_years,
        company_sizes=must.company_sizes,
        any_of=tuple(claims),
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


def test_the_market_holds_people_on_most_tiers() -> None:
    place = {"countries": ["US"], "anchor_location_id": towns()[-1], "radius_km": 200}
    titles = ["Software Engineer", "Sales Manager", "Accountant", "Nurse", "Project Manager"]
    intent = Intent.model_validate(
        {"must": {"titles": titles, "location": place}, "nice": {"skills": list(skills()[:5])}}
    )
    plan = planned(intent)
    assert plan is not None
    assert len(plan.tiers) == 10
    people = [len(found(tier.filters)) for tier in plan.tiers]
    assert sum(number > 0 for number in people) >= 8
    assert sum(people) > 30


def test_who_states_nothing_comes_after_who_states_it_and_who_states_another_is_out() -> None:
    asked = {"titles": ["Nurse", "Accountant"], "languages": ["german"], "location": {"countries": ["DE", "FR", "GB"]}}
    plan = planned(Intent.model_validate({"must": asked}))
    assert plan is not None
    stated, unstated = (found(tier.filters) for tier in plan.tiers[:2])
    everybody = {record["id"]: record for record in population()}
    assert stated
    assert unstated
    assert all("german" in {one["name"] for one in everybody[id_]["languages"]} for id_ in stated)
    assert not any(everybody[id_]["languages"] for id_ in unstated)


def test_a_junior_and_a_senior_are_searched_apart() -> None:
    place = {"countries": ["DE", "FR", "GB", "US"]}
    junior, senior, plain = (
        planned(Intent.model_validate({"must": {"titles": [title], "location": place}}))
        for title in ("Junior Accountant", "Senior Accountant", "Accountant")
    )
    assert junior
    assert senior
    assert plain
    same = {tier.label for tier in junior.tiers if tier.query_key in {other.query_key for other in senior.tiers}}
    assert all("level not stated" in label for label in same)
    assert plain.tiers[0].query_key not in {tier.query_key for tier in (*junior.tiers, *senior.tiers)}
    levels = {record["id"]: record["job_title_levels"] for record in population()}
    assert {level for id_ in found(senior.tiers[0].filters) for level in levels[id_]} == {"senior"}
    assert {level for id_ in found(junior.tiers[0].filters) for level in levels[id_]} == {"entry"}
    assert not any(levels[id_] for id_ in found(senior.tiers[1].filters))


@pytest.mark.parametrize("demand", [{"skills": ["sql"]}, {"languages": ["dutch", "french"]}, {"degrees": ["masters"]}])
def test_demands_on_sparse_fields_keep_those_who_state_nothing(demand: dict[str, Any]) -> None:
    place = {"anchor_location_id": towns()[0], "radius_km": 30}
    intent = Intent.model_validate(
        {
            "must": {"titles": list(TITLES), "location": place, "seniority": ["senior"]} | demand,
            "nice": {"skills": list(skills()[:5])},
        }
    )
    plan = planned(intent)
    assert plan is not None
    assert len(plan.tiers) == 16
    tiers = [found(tier.filters) for tier in plan.tiers]
    assert sum(map(len, tiers)) == len(set[str]().union(*tiers))
    assert any(tier.filters.unstated or tier.filters.any_of for tier in plan.tiers)
