"""Estimates: counted before, else rough; credits and pages between the best and the worst case."""

from typing import Any

import pytest

from models.reading.intents import Intent
from models.sourcing.rules.estimates import TierReach, price_tiers, reach, target_range
from models.sourcing.rules.filters import PeopleFilters, TierFilters
from models.sourcing.rules.planning import plan_search, retargeted
from models.sourcing.rules.plans import SearchPlanValue, TargetRange
from tests.models.sourcing.rules.knowledge import FixedStatistics, knowledge

INTENT = Intent.model_validate({"must": {"titles": ["Data Engineer"], "location": {"countries": ["BE"]}}})


def counted(*people: int | None) -> list[TierReach]:
    return [TierReach(number, counted=number is not None) for number in people]


def rough(**filters: Any) -> int | None:
    asked = TierFilters.model_validate({"titles": {"include": ["nurse"]}, **filters})
    return reach(asked, total=None, count=lambda *_: 100_000).people


@pytest.mark.parametrize(
    ("people", "target", "credits", "pages"),
    [
        ((500,), 30, (30, 90), (1, 6)),
        ((500,), 60, (60, 180), (2, 10)),
        ((20, 500), 60, (60, 180), (2, 11)),
        ((0, 0, 12), 30, (12, 90), (3, 3)),
        ((0,), 30, (0, 90), (1, 1)),
        ((None,), 30, (30, 90), (1, None)),
        ((None, 400), 60, (60, 180), (2, None)),
        ((100_000, 100_000), 30, (30, 90), (1, 6)),
    ],
)
def test_credits_and_pages_lie_between_best_and_worst(
    people: tuple[int | None, ...], target: int, credits: tuple[int, int], pages: tuple[int, int | None]
) -> None:
    estimate = price_tiers(counted(*people), target=target)
    assert (estimate.credits_min, estimate.credits_max) == credits
    assert (estimate.pages_min, estimate.pages_max) == pages


@pytest.mark.parametrize(
    ("people", "lowest", "highest"),
    [((500,), 30, 60), ((45,), 30, 45), ((5, 7), 12, 12), ((0,), 0, 0), ((None, 5), 30, 60)],
)
def test_the_target_range_is_what_the_role_can_yield(people: tuple[int | None, ...], lowest: int, highest: int) -> None:
    assert target_range(counted(*people)) == TargetRange(min=lowest, max=highest)


def test_a_remembered_total_beats_the_statistics() -> None:
    first = plan_search(INTENT, knowledge(), totals={})
    totals = {first.tiers[0].query_key: 51}
    again = plan_search(INTENT, knowledge(), totals=totals)
    assert [(tier.estimated_people, tier.estimated_pages) for tier in again.tiers] == [(51, 2), (51, 2)]


def test_the_statistics_are_corrected_by_what_was_counted() -> None:
    first = plan_search(INTENT, knowledge(), totals={})
    assert [tier.estimated_people for tier in first.tiers] == [100, 100]
    keys = [tier.query_key for tier in first.tiers]
    twice = plan_search(INTENT, knowledge(), totals={keys[0]: 200})
    assert [tier.estimated_people for tier in twice.tiers] == [200, 200]
    empty = plan_search(INTENT, knowledge(), totals={keys[0]: 0})
    assert [tier.estimated_people for tier in empty.tiers] == [0, 5]


def test_fewer_people_than_the_target_bound_the_price_only_when_all_were_counted_within_a_day() -> None:
    keys = [tier.query_key for tier in plan_search(INTENT, knowledge(), totals={}).tiers]
    totals = {keys[0]: 12, keys[1]: 7}
    most = {
        fresh: plan_search(INTENT, knowledge(), totals=totals, fresh=fresh).estimate.credits_max
        for fresh in (frozenset(), frozenset(keys[:1]), frozenset(keys))
    }
    assert list(most.values()) == [90, 90, 57]
    counted = plan_search(INTENT, knowledge(), totals=totals, fresh=keys)
    assert [tier.counted for tier in counted.tiers] == [True, True]
    assert retargeted(counted, 60).estimate.credits_max == 57
    assert retargeted(counted, 30, stale=True).estimate.credits_max == 90


def test_each_demand_makes_the_rough_number_smaller_and_it_never_looks_counted() -> None:
    all_people = rough()
    assert all_people == 20_000
    assert rough(skills={"all": ["sql"]}) == 6_000
    assert rough(skills={"any": ["sql"]}, languages=["dutch"]) == 6_000
    assert rough(all_of=[PeopleFilters(languages=("dutch",))]) == 6_000
    assert rough(all_of=[PeopleFilters(titles={"include": ["lead"]})]) == 5_000
    assert rough(none_of=[PeopleFilters(titles={"include": ["lead"]})]) == 15_000
    assert rough(experience_years={"min": 3}) == 19_000
    assert rough(experience_years={"max": 7}) == 3_900
    assert rough(skills={"all": [f"skill {number}" for number in range(9)]}) == 200
    assert reach(
        TierFilters.model_validate({"titles": {"include": ["nurse"]}}), total=None, count=lambda *_: 17
    ) == TierReach(3, counted=False)


def doubts(planned: SearchPlanValue) -> str:
    return " ".join(planned.warnings)


def test_an_unknown_figure_is_null_with_a_warning() -> None:
    unknown = plan_search(INTENT, knowledge(people=None), totals={})
    assert [(tier.estimated_people, tier.estimated_pages) for tier in unknown.tiers] == [(None, None)] * 2
    assert unknown.estimate.pages_max is None
    assert "unknown until" in doubts(unknown)
    companies = plan_search(Intent(target_companies=("Acme",)), knowledge(), totals={})
    assert companies.tiers[0].estimated_people is None


def test_rough_numbers_and_small_ladders_are_warned_about() -> None:
    assert "rough" in doubts(plan_search(INTENT, knowledge(), totals={}))
    keys = [tier.query_key for tier in plan_search(INTENT, knowledge(), totals={}).tiers]
    small = plan_search(INTENT, knowledge(), totals=dict.fromkeys(keys, 4))
    assert "rough" not in doubts(small)
    assert "only 8 people" in doubts(small)


def test_the_statistics_are_asked_once_for_the_same_titles_and_places() -> None:
    known = knowledge()
    intent = Intent.model_validate(INTENT.model_dump() | {"nice": {"skills": ["kafka"]}})
    plan_search(intent, known, totals={})
    assert isinstance(known.statistics, FixedStatistics)
    assert len(known.statistics.asked) == 2
