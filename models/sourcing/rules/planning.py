"""Draft the ladder of an intent, estimate how many people its tiers hold, and price it."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from models.base.errors import InvalidRequest
from models.base.values import Range
from models.billing.rules import prices
from models.market.companies import Companies
from models.market.places import Places
from models.reading.intents import Intent
from models.sourcing.rules.ground import Ground, Spots, Surveyor
from models.sourcing.rules.ladder import (
    Conditions,
    DraftTier,
    PlanTitles,
    applicable,
    choose_titles,
    conditions_of,
    ladder,
)
from models.sourcing.rules.plans import (
    PAGE_SIZE,
    Estimate,
    Knowledge,
    Notes,
    PeopleFilters,
    PeopleStatistics,
    PerPerson,
    SearchPlanValue,
    TargetRange,
    Tier,
    TierFilters,
    excluded,
    join_words,
    query_key,
    required,
)
from models.sourcing.rules.runs import DEFAULT_TARGET, MAX_TARGET, MIN_TARGET

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
    """People of one tier, null when unknown; `counted` when the source counted them."""

    people: int | None
    counted: bool

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


def reach(filters: TierFilters, *, total: int | None, count: Count) -> TierReach:
    """Return the remembered total, else a rough count from statistics of occupations and places."""
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
    """Round to two digits, so that the number does not look counted."""
    if people < 10:  # noqa: PLR2004 - small numbers keep their only digit
        return round(people)
    scale: int = 10 ** (math.floor(math.log10(people)) - 1)
    return round(people / scale) * scale


def price_tiers(reaches: Sequence[TierReach], *, target: int) -> Estimate:
    """Return the credits and pages of a run: least when all people are cached, most when all are fetched live."""
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
    """Return how many people the role can yield: 30 to 60, fewer where fewer exist."""
    total = _total(reaches)
    if total is None:
        return TargetRange(min=MIN_TARGET, max=MAX_TARGET)
    return TargetRange(min=min(MIN_TARGET, total), max=min(MAX_TARGET, total))


def _total(reaches: Sequence[TierReach]) -> int | None:
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


def summary(
    intent: Intent, *, titles: PlanTitles, ground: Ground, conditions: Conditions, places: Places, price: str
) -> str:
    """Return the whole plan in a few sentences."""
    who = join_words(titles.exact, most=5, last="or") if titles.exact else "People at the wanted companies"
    steps = [ground.local_label, f"then {ground.rest_label}"] if ground.local else [ground.rest_label]
    sentences = [f"{who} {', '.join(steps)}."]
    if titles.nearby:
        sentences.append(f"Nearby titles: {join_words(titles.nearby, most=12)}.")
    if demands := required(conditions.common, conditions.all_of):
        sentences.append(f"Everyone must have {demands}.")
    if conditions.nice_words:
        sentences.append(f"People with {conditions.nice_words} come first.")
    if gone := excluded(intent.exclude, places):
        sentences.append(f"Left out: {gone}.")
    return " ".join([*sentences, price])


def price_sentence(target: int, estimate: Estimate) -> str:
    """Return what the plan costs, the last sentence of its summary."""
    return f"Up to {target} people for {estimate.credits_min} to {estimate.credits_max} credits."


# Target companies: names resolved to ids where the name leaves one choice, never guessed.


MOST_ALTERNATIVES = 5
FIX = "Find the id with GET /v1/lookups/companies and put it into must.company_ids."


def target_company_ids(names: Sequence[str], companies: Companies, notes: Notes) -> tuple[str, ...]:
    """Return the ids of the unambiguous companies, and warn about the others with their alternatives."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        choices = companies.named(name)
        if len(choices) == 1:
            found.setdefault(choices[0].id, choices[0].label)
        elif choices:
            labels = [f"{choice.label} ({choice.id})" for choice in choices]
            notes.warn(
                f"{name} can mean {join_words(labels, most=MOST_ALTERNATIVES, last='or')}; it is left out. {FIX}"
            )
        else:
            notes.warn(f"No company called {name} is known; it is left out.")
    if found:
        notes.apply("target_companies", tuple(found.values()))
    elif names:
        notes.ignore("target_companies", "No target company could be identified: people of all companies are searched.")
    return tuple(found)


# Planning itself: drafting the ladder of an intent, then pricing it with what is known of its searches.


@dataclass(frozen=True, slots=True)
class DraftPlan:
    """A ladder without prices: look up the totals of its `query_keys`, then `priced`."""

    intent: Intent
    titles: PlanTitles
    ground: Ground
    conditions: Conditions
    tiers: tuple[DraftTier, ...]
    query_keys: tuple[str, ...]
    notes: Notes
    knowledge: Knowledge

    def priced(self, totals: Mapping[str, int], *, target: int) -> SearchPlanValue:
        """Return the priced plan. `totals` are the people last counted for a query key, at most 30 days ago."""
        if not MIN_TARGET <= target <= MAX_TARGET:
            raise ValueError(f"a target is {MIN_TARGET} to {MAX_TARGET} people")
        count = counting(self.knowledge.statistics)
        reaches = [
            reach(tier.filters, total=totals.get(key), count=count)
            for tier, key in zip(self.tiers, self.query_keys, strict=True)
        ]
        estimate = price_tiers(reaches, target=target)
        return SearchPlanValue(
            summary=summary(
                self.intent,
                titles=self.titles,
                ground=self.ground,
                conditions=self.conditions,
                places=self.knowledge.places,
                price=price_sentence(target, estimate),
            ),
            target=target,
            target_range=target_range(reaches),
            tiers=tuple(
                Tier(
                    tier=number,
                    label=tier.label,
                    filters=tier.filters,
                    query_key=key,
                    estimated_people=known.people,
                    estimated_pages=known.pages,
                )
                for number, (tier, key, known) in enumerate(
                    zip(self.tiers, self.query_keys, reaches, strict=True), start=1
                )
            ),
            estimate=estimate,
            anchor=self.ground.anchor,
            applied_filters=self.notes.sorted_filters(),
            ignored_fields=tuple(self.notes.ignored),
            warnings=(*self.notes.warnings, *_doubts(reaches)),
        )


def draft(intent: Intent, knowledge: Knowledge, *, described: Collection[str] = ()) -> DraftPlan:
    """Draft the ladder of an intent. `described` are the dotted fields that were read from a description.

    Raises:
        InvalidRequest: neither a title nor a company, an unknown place, or a demand that excludes itself.
    """
    notes = Notes(described=described)
    usable = applicable(intent, knowledge.source, notes)
    company_ids = dict.fromkeys(usable.must.company_ids)
    company_ids |= dict.fromkeys(target_company_ids(usable.target_companies, knowledge.companies, notes))
    titles = _titles(usable, knowledge, notes)
    if not titles.exact and not company_ids:
        raise _nobody_asked(usable)
    surveyor = Surveyor(knowledge.places, searchable=knowledge.source.countries, notes=notes)
    barred = surveyor.spots(usable.exclude.location, block="exclude")
    ground = surveyor.wanted(usable.must.location, barred)
    conditions = conditions_of(
        usable,
        tuple(company_ids),
        barred=Spots(barred.location_ids) if ground.countries else barred,
        preferred=surveyor.spots(usable.nice.location, block="nice"),
        notes=notes,
    )
    tiers = tuple(ladder(titles, ground, conditions))
    return DraftPlan(
        intent=usable,
        titles=titles,
        ground=ground,
        conditions=conditions,
        tiers=tiers,
        query_keys=tuple(query_key(tier.filters, source=knowledge.source.name) for tier in tiers),
        notes=notes,
        knowledge=knowledge,
    )


def plan_search(
    intent: Intent,
    knowledge: Knowledge,
    *,
    totals: Mapping[str, int],
    target: int = DEFAULT_TARGET,
    described: Collection[str] = (),
) -> SearchPlanValue:
    """Draft and price in one step; see `draft` for the errors."""
    return draft(intent, knowledge, described=described).priced(totals, target=target)


def retargeted(plan: SearchPlanValue, target: int) -> SearchPlanValue:
    """Return the same ladder, priced for another number of people."""
    estimate = price_tiers([TierReach(tier.estimated_people, counted=False) for tier in plan.tiers], target=target)
    before, after = price_sentence(plan.target, plan.estimate), price_sentence(target, estimate)
    told = plan.summary.removesuffix(before) + after
    return plan.model_copy(update={"target": target, "estimate": estimate, "summary": told})


def _titles(intent: Intent, knowledge: Knowledge, notes: Notes) -> PlanTitles:
    titles = choose_titles(intent.must.titles, intent.exclude.titles, knowledge.titles)
    if intent.must.titles and not titles.exact:
        raise InvalidRequest(
            "Every wanted title is excluded.",
            field="exclude.titles",
            fix="Remove the title from `must` or from `exclude`.",
        )
    if titles.exact and not titles.nearby:
        notes.warn(
            f"No nearby titles are known for {join_words(intent.must.titles, most=3)}: only exact ones are searched."
        )
    return titles


def _nobody_asked(intent: Intent) -> InvalidRequest:
    if intent.target_companies:
        return InvalidRequest(
            "No target company could be identified, and no title is given.",
            field="target_companies",
            fix="Find company ids with GET /v1/lookups/companies and give them as must.company_ids, or add a title.",
        )
    return InvalidRequest("The intent names no title.", field="must.titles", fix="Give a title, or target_companies.")


def _doubts(reaches: list[TierReach]) -> list[str]:
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
