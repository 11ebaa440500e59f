"""How many people, pages and credits a ladder may take: counted before, else roughly from statistics."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
LEAST_SHARE = 0.002
CAREER_YEARS = 40
NEW_SHARE = 0.1
"""In the worst case one person in ten is neither seen nor suppressed nor gone."""


@dataclass(frozen=True, slots=True)
class TierReach:
    """People of one tier; `counted` when the source said so, null where nobody knows."""

    people: int | None
    counted: bool

    @property
    def pages(self) -> int | None:
        """Search pages that hold them."""
        return None if self.people is None else math.ceil(self.people / PAGE_SIZE)


Count = Callable[[tuple[str, ...], tuple[str, ...], tuple[str, ...]], int | None]
"""People with one of these titles, at these location ids or in these countries."""


def counting(statistics: PeopleStatistics) -> Count:
    """The statistics, asked once for tiers of the same titles and places."""
    return cache(
        lambda titles, location_ids, countries: statistics.people(
            titles, location_ids=location_ids, countries=countries
        )
    )


def reach(filters: TierFilters, *, total: int | None, count: Count) -> TierReach:
    """The remembered total, else a rough count from statistics of occupations and places."""
    if total is not None:
        return TierReach(total, counted=True)
    if filters.titles is None or not filters.titles.include or filters.company_ids:
        return TierReach(None, counted=False)
    people = count(filters.titles.include, filters.location_ids, filters.countries)
    if people is None:
        return TierReach(None, counted=False)
    return TierReach(_two_digits(people * _share(filters)), counted=False)


def _share(filters: TierFilters) -> float:
    required = len(filters.skills.all) if filters.skills else 0
    required += len(filters.languages)
    share = TITLE_SHARE * REQUIRED_SHARE**required * _years_share(filters.experience_years)
    for wish in filters.all_of:
        share *= REQUIRED_SHARE if _is_language(wish) else WISHED_SHARE
    for _ in filters.none_of:
        share *= 1 - WISHED_SHARE
    return max(LEAST_SHARE, share)


def _is_language(wish: PeopleFilters) -> bool:
    return wish == PeopleFilters(languages=wish.languages)


def _years_share(span: Range | None) -> float:
    if span is None:
        return 1.0
    low, high = min(span.min or 0, CAREER_YEARS), min(CAREER_YEARS if span.max is None else span.max, CAREER_YEARS)
    return (high - low + 1) / (CAREER_YEARS + 1)


def _two_digits(people: float) -> int:
    """Rounded so that it does not look counted."""
    if people < 10:  # noqa: PLR2004 - small numbers keep their only digit
        return round(people)
    scale: int = 10 ** (math.floor(math.log10(people)) - 1)
    return round(people / scale) * scale


def price_tiers(reaches: Sequence[TierReach], *, target: int) -> Estimate:
    """Credits between a run whose people are all cached and one that fetches every profile live; pages likewise."""
    total = _total(reaches)
    expected = target if total is None else min(target, total)
    return Estimate(
        credits_min=expected * prices.LEAD,
        credits_max=target * prices.MOST_PER_PERSON,
        per_person=PerPerson(lead=prices.LEAD, live_profile=prices.LIVE_PROFILE),
        pages_min=sum(_pages(reaches, need=target, unknown=target)),
        pages_max=None if total is None else sum(_pages(reaches, need=math.ceil(target / NEW_SHARE), unknown=0)),
    )


def target_range(reaches: Sequence[TierReach]) -> TargetRange:
    """What the role can yield: 30 to 60 people, fewer where fewer exist."""
    total = _total(reaches)
    if total is None:
        return TargetRange(min=MIN_TARGET, max=MAX_TARGET)
    return TargetRange(min=min(MIN_TARGET, total), max=min(MAX_TARGET, total))


def _total(reaches: Sequence[TierReach]) -> int | None:
    known = [reach.people for reach in reaches if reach.people is not None]
    return sum(known) if len(known) == len(reaches) else None


def _pages(reaches: Sequence[TierReach], *, need: int, unknown: int) -> Iterator[int]:
    """Pages read tier by tier until `need` people were met; a tier of unknown size has `unknown` people."""
    for tier in reaches:
        if need <= 0:
            return
        people = unknown if tier.people is None else tier.people
        yield max(1, math.ceil(min(people, need) / PAGE_SIZE))
        need -= people
