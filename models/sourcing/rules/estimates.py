"""How many people the tiers of a plan hold, from counts and from statistics, and what a run of them costs."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from models.base.values import Range
from models.billing.rules import prices
from models.sourcing.rules.filters import PeopleFilters, TierFilters
from models.sourcing.rules.plans import PAGE_SIZE, Estimate, PeopleStatistics, PerPerson, TargetRange
from models.sourcing.rules.runs import MAX_TARGET, MIN_TARGET

TITLE_SHARE = 0.2
"""Rough share of an occupation group's people who hold a title like the wanted one."""
REQUIRED_SHARE = 0.3
"""Rough share of an occupation's people who list a given skill or language."""
WISHED_SHARE = 0.25
"""Rough share of those who also have what is nice."""
SILENT_SHARE = 0.25
"""Rough share of people who state nothing in a sparse field."""
LEAST_SHARE = 0.002
CAREER_YEARS = 40
NEW_SHARE = 0.1
"""In the worst case one person in ten is neither seen nor suppressed nor gone."""


@dataclass(frozen=True, slots=True)
class TierReach:
    """People of one tier, null when unknown; `counted` when the source counted them, `fresh` within the last day."""

    people: int | None
    counted: bool
    fresh: bool = False

    @property
    def pages(self) -> int | None:
        """Search pages that hold them."""
        return None if self.people is None else math.ceil(self.people / PAGE_SIZE)


Count = Callable[[tuple[str, ...], tuple[str, ...], tuple[str, ...]], int | None]
"""People with one of these titles, at these location ids or in these countries."""


def counting(statistics: PeopleStatistics) -> Count:
    """Return a count of people by the statistics, cached for tiers of the same titles and places."""
    return cache(
        lambda titles, location_ids, countries: statistics.people(
            titles, location_ids=location_ids, countries=countries
        )
    )


def reach(filters: TierFilters, *, total: int | None, count: Count, fresh: bool = False) -> TierReach:
    """Return the remembered total, else a rough count from statistics of occupations and places."""
    if total is not None:
        return TierReach(total, counted=True, fresh=fresh)
    if filters.titles is None or not filters.titles.include or filters.company_ids:
        return TierReach(None, counted=False)
    people = count(filters.titles.include, filters.location_ids, filters.countries)
    if people is None:
        return TierReach(None, counted=False)
    return TierReach(_two_digits(people * _share(filters)), counted=False)


MOST_CORRECTION = 20.0


def learned(reaches: Sequence[TierReach], rough: Sequence[TierReach]) -> list[TierReach]:
    """Return the reaches, the rough ones scaled by how far statistics were off where people were counted.

    `rough` are the reaches of the same tiers as statistics alone give them.
    """
    pairs = [
        (one.people, guess.people)
        for one, guess in zip(reaches, rough, strict=True)
        if one.counted and one.people is not None and guess.people
    ]
    guessed = sum(guess for _, guess in pairs)
    if not guessed:
        return list(reaches)
    factor = sum(known for known, _ in pairs) / guessed
    factor = min(max(factor, 1 / MOST_CORRECTION), MOST_CORRECTION)
    return [
        one if one.counted or one.people is None else replace(one, people=_two_digits(one.people * factor))
        for one in reaches
    ]


def _share(filters: TierFilters) -> float:
    share = TITLE_SHARE * _demands_share(filters) * SILENT_SHARE ** len(filters.unstated)
    for wish in filters.all_of:
        share *= REQUIRED_SHARE if _is_language(wish) else WISHED_SHARE
    for group in filters.any_of:
        share *= min(1.0, sum(_demands_share(claim) * SILENT_SHARE ** len(claim.unstated) for claim in group))
    for _ in filters.none_of:
        share *= 1 - WISHED_SHARE
    return max(LEAST_SHARE, share)


def _demands_share(filters: PeopleFilters) -> float:
    required = len(filters.skills.all) if filters.skills else 0
    fields = (filters.languages, filters.seniority, filters.degrees, filters.majors, filters.industries)
    required += sum(map(bool, (*fields, filters.company_sizes, filters.company_types, filters.past_company_ids)))
    share: float = REQUIRED_SHARE**required * _years_share(filters.experience_years)
    return share


def _is_language(wish: PeopleFilters) -> bool:
    return wish == PeopleFilters(languages=wish.languages)


def _years_share(span: Range | None) -> float:
    if span is None:
        return 1.0
    low, high = min(span.min or 0, CAREER_YEARS), min(CAREER_YEARS if span.max is None else span.max, CAREER_YEARS)
    return (high - low + 1) / (CAREER_YEARS + 1)


def _two_digits(people: float) -> int:
    """Round to two digits, so that the number does not look counted."""
    if people < 10:  # noqa: PLR2004 - small numbers keep their only digit
        return round(people)
    scale: int = 10 ** (math.floor(math.log10(people)) - 1)
    return round(people / scale) * scale


def price_tiers(reaches: Sequence[TierReach], *, target: int) -> Estimate:
    """Return the credits and pages of a run: least when all people are cached, most when all are fetched live.

    Fewer people than the target bound the credits only when every tier was counted within the last day.
    """
    total = people_held(reaches)
    expected = target if total is None else min(target, total)
    most = expected if all(reach.fresh for reach in reaches) else target
    return Estimate(
        credits_min=expected * prices.LEAD,
        credits_max=most * prices.MOST_PER_PERSON,
        per_person=PerPerson(lead=prices.LEAD, live_profile=prices.LIVE_PROFILE),
        pages_min=sum(_pages(reaches, need=target, unknown=target)),
        pages_max=None if total is None else sum(_pages(reaches, need=math.ceil(target / NEW_SHARE), unknown=0)),
    )


def target_range(reaches: Sequence[TierReach]) -> TargetRange:
    """Return how many people the role can yield: 30 to 60, fewer where fewer exist."""
    total = people_held(reaches)
    if total is None:
        return TargetRange(min=MIN_TARGET, max=MAX_TARGET)
    return TargetRange(min=min(MIN_TARGET, total), max=min(MAX_TARGET, total))


def people_held(reaches: Sequence[TierReach]) -> int | None:
    """Return the people of all tiers together; null when one of them is unknown."""
    known = [reach.people for reach in reaches if reach.people is not None]
    return sum(known) if len(known) == len(reaches) else None


def _pages(reaches: Sequence[TierReach], *, need: int, unknown: int) -> Iterator[int]:
    """Yield the pages of each tier until `need` people were found; a tier of unknown size has `unknown` people."""
    for tier in reaches:
        if need <= 0:
            return
        people = unknown if tier.people is None else tier.people
        yield max(1, math.ceil(min(people, need) / PAGE_SIZE))
        need -= people


def price_sentence(target: int, estimate: Estimate) -> str:
    """Return what the plan costs, the last sentence of its summary."""
    return f"Up to {target} people for {estimate.credits_min} to {estimate.credits_max} credits."


def doubts_about(reaches: Sequence[TierReach]) -> list[str]:
    """Return what to know about the figures before paying."""
    doubts = []
    if any(known.people is None for known in reaches):
        doubts.append("The number of people in some tiers is unknown until the first run counts them.")
    if any(known.people is not None and not known.counted for known in reaches):
        doubts.append("Numbers of people are rough estimates from statistics of occupations and places.")
    if all(known.people is not None for known in reaches):
        total = sum(known.people or 0 for known in reaches)
        if total < MIN_TARGET:
            doubts.append(
                f"The whole plan may find only {total} people, at no more than {prices.MOST_PER_PERSON} credits each."
            )
    return doubts
