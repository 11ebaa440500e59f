"""Draft the ladder of an intent, estimate how many people its tiers hold, and price it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from models.base.errors import InvalidRequest
from models.market.companies import Companies
from models.market.places import Places
from models.reading.intents import Intent, IntentLocation
from models.sourcing.rules.demands import (
    Demands,
    applicable,
    demands_of,
    single_wishes,
    with_levels_of_titles,
    with_narrowings_of_titles,
)
from models.sourcing.rules.estimates import (
    Count,
    TierReach,
    counting,
    doubts_about,
    learned,
    people_held,
    price_sentence,
    price_tiers,
    reach,
    target_range,
)
from models.sourcing.rules.filters import query_key
from models.sourcing.rules.ground import Ground, Spots, Surveyor
from models.sourcing.rules.ladder import DraftTier, PlanTitles, choose_titles, ladder, whole_search
from models.sourcing.rules.plans import (
    Knowledge,
    Notes,
    Relaxation,
    SearchPlanValue,
    Suggestion,
    Tier,
    excluded,
    join_words,
    required,
)
from models.sourcing.rules.runs import DEFAULT_TARGET, MAX_TARGET, MIN_TARGET
from models.sourcing.rules.suggestions import helpful, loosened


def summary(intent: Intent, *, titles: PlanTitles, ground: Ground, demands: Demands, places: Places, price: str) -> str:
    """Return the whole plan in a few sentences: first whether it goes beyond the area that was asked for."""
    sentences = []
    if ground.local_label:
        where = ground.local_label
        sentences.append(
            f"Later tiers go beyond the area asked for: {', then '.join(ground.beyond)}."
            if ground.beyond
            else "No tier goes beyond the area asked for."
        )
    else:
        where = ground.zones[0].whole.label
    unnamed = "People at the wanted companies" if demands.common.company_ids else "People"
    sentences.append(f"{join_words(titles.exact, most=5, last='or') if titles.exact else unnamed} {where}.")
    if titles.nearby:
        sentences.append(f"Nearby titles: {join_words(titles.nearby, most=12)}.")
    if asked := required(intent.must, len(demands.common.company_ids)):
        sentences.append(f"Everyone must have {asked}.")
    if silent := demands.silent_words:
        sentences.append(f"People who state no {silent} come later; those who state another are left out.")
    if demands.nice_words:
        sentences.append(f"People with {demands.nice_words} come first.")
    if gone := excluded(intent.exclude, places):
        sentences.append(f"Left out: {gone}.")
    return " ".join([*sentences, price])


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
class _Searched:
    """What an intent comes down to: titles, places and demands."""

    titles: PlanTitles
    ground: Ground
    demands: Demands


@dataclass(frozen=True, slots=True)
class DraftPlan:
    """A ladder without prices: look up the totals of its `query_keys`, then `priced`."""

    intent: Intent
    titles: PlanTitles
    ground: Ground
    demands: Demands
    tiers: tuple[DraftTier, ...]
    tier_keys: tuple[str, ...]
    relaxations: tuple[Relaxation, ...]
    notes: Notes
    knowledge: Knowledge

    @property
    def query_keys(self) -> tuple[str, ...]:
        """Of the tiers, and of the ladder without each of its demands."""
        return (*self.tier_keys, *(one.query_key for one in self.relaxations))

    def priced(
        self, totals: Mapping[str, int], *, target: int, fresh: Collection[str] = frozenset()
    ) -> SearchPlanValue:
        """Return the priced plan.

        `totals` are the people last counted for a query key, at most 30 days ago; `fresh` the keys of those counted
        within the last day.
        """
        if not MIN_TARGET <= target <= MAX_TARGET:
            raise ValueError(f"a target is {MIN_TARGET} to {MAX_TARGET} people")
        count = counting(self.knowledge.statistics)
        rough = [reach(tier.filters, total=None, count=count) for tier in self.tiers]
        counted = [
            TierReach(totals[key], counted=True, fresh=key in fresh) if key in totals else guess
            for key, guess in zip(self.tier_keys, rough, strict=True)
        ]
        reaches = learned(counted, rough)
        estimate = price_tiers(reaches, target=target)
        suggestions = self._suggestions(reaches, totals, target=target, count=count)
        return SearchPlanValue(
            summary=summary(
                self.intent,
                titles=self.titles,
                ground=self.ground,
                demands=self.demands,
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
                    counted=known.fresh,
                )
                for number, (tier, key, known) in enumerate(
                    zip(self.tiers, self.tier_keys, reaches, strict=True), start=1
                )
            ),
            estimate=estimate,
            anchor=self.ground.anchors[0] if self.ground.anchors else None,
            anchors=self.ground.anchors,
            wishes=tuple(single_wishes(self.demands.nice)),
            suggestions=suggestions,
            relaxations=self.relaxations,
            applied_filters=self.notes.sorted_filters(),
            ignored_fields=tuple(self.notes.ignored),
            warnings=(*self.notes.warnings, *doubts_about(reaches)),
        )

    def _suggestions(
        self, reaches: Sequence[TierReach], totals: Mapping[str, int], *, target: int, count: Count
    ) -> tuple[Suggestion, ...]:
        """Return what would help, where the ladder is known to hold fewer people than the target."""
        held = people_held(reaches)
        if held is None or held >= target:
            return ()
        people = {
            one.query_key: known.people
            for one in self.relaxations
            if (known := reach(one.filters, total=totals.get(one.query_key), count=count)).people is not None
        }
        return helpful(self.relaxations, people, found=held)


def draft(intent: Intent, knowledge: Knowledge, *, described: Collection[str] = ()) -> DraftPlan:
    """Draft the ladder of an intent. `described` are the dotted fields that were read from a description.

    Raises:
        InvalidRequest: nothing tells whom to search for, an unknown place, or a demand that excludes itself.
    """
    notes = Notes(described=described)
    asked = applicable(intent, knowledge.source, notes)
    levelled = with_levels_of_titles(asked, notes)
    usable = with_narrowings_of_titles(levelled, knowledge.titles, notes)
    searched = _searched(usable, knowledge, notes)
    tiers = ladder(searched.titles, searched.ground, searched.demands)
    return DraftPlan(
        intent=usable,
        titles=searched.titles,
        ground=searched.ground,
        demands=searched.demands,
        tiers=tiers,
        tier_keys=tuple(query_key(tier.filters, source=knowledge.source.name) for tier in tiers),
        relaxations=tuple(_relaxations(usable, searched, knowledge, levels_of_titles=levelled is not asked)),
        notes=notes,
        knowledge=knowledge,
    )


def _searched(intent: Intent, knowledge: Knowledge, notes: Notes, *, known: _Searched | None = None) -> _Searched:
    """Return what the intent comes down to; `known` spares looking up the same titles and places again."""
    company_ids = dict.fromkeys(intent.must.company_ids)
    company_ids |= dict.fromkeys(target_company_ids(intent.target_companies, knowledge.companies, notes))
    titles = known.titles if known else _titles(intent, knowledge, notes)
    if not (titles.exact or company_ids or _told_by_demands(intent)):
        raise _nobody_asked(intent)
    surveyor = Surveyor(knowledge.places, searchable=knowledge.source.countries, notes=notes)
    barred = surveyor.spots(intent.exclude.location, block="exclude")
    ground = known.ground if known else surveyor.wanted(intent.must.location, barred)
    demands = demands_of(
        intent,
        tuple(company_ids),
        barred=Spots(barred.location_ids) if ground.countries else barred,
        preferred=surveyor.spots(intent.nice.location, block="nice"),
        notes=notes,
        strict=not (titles.exact or company_ids),
    )
    return _Searched(titles, ground, demands)


def _relaxations(
    intent: Intent, searched: _Searched, knowledge: Knowledge, *, levels_of_titles: bool
) -> Iterator[Relaxation]:
    """Yield the whole ladder without each of the demands that keep most people out."""
    for one in loosened(intent, levels_of_titles=levels_of_titles):
        unmoved = not one.field.endswith((".titles", ".location.only"))
        try:
            wider = _searched(one.intent, knowledge, Notes(), known=searched if unmoved else None)
        except InvalidRequest:  # it is the last demand that tells whom to search for
            continue
        filters = whole_search(wider.titles, wider.ground, wider.demands)
        yield Relaxation(
            suggestion=Suggestion(field=one.field, value=one.value, people=None, patch=one.patch),
            filters=filters,
            query_key=query_key(filters, source=knowledge.source.name),
        )


def plan_search(
    intent: Intent,
    knowledge: Knowledge,
    *,
    totals: Mapping[str, int],
    target: int = DEFAULT_TARGET,
    described: Collection[str] = (),
    fresh: Collection[str] = frozenset(),
) -> SearchPlanValue:
    """Draft and price in one step; see `draft` for the errors."""
    return draft(intent, knowledge, described=described).priced(totals, target=target, fresh=fresh)


def retargeted(plan: SearchPlanValue, target: int, *, stale: bool = False) -> SearchPlanValue:
    """Return the same ladder, priced for another number of people; `stale`: its counts are older than a day by now."""
    reaches = [
        TierReach(tier.estimated_people, counted=tier.counted, fresh=tier.counted and not stale) for tier in plan.tiers
    ]
    estimate = price_tiers(reaches, target=target)
    before, after = price_sentence(plan.target, plan.estimate), price_sentence(target, estimate)
    told = plan.summary.removesuffix(before) + after
    return plan.model_copy(update={"target": target, "estimate": estimate, "summary": told})


def _titles(intent: Intent, knowledge: Knowledge, notes: Notes) -> PlanTitles:
    countries = _countries(intent.must.location, knowledge.places)
    titles = choose_titles(intent.must.titles, intent.exclude.titles, knowledge.titles, countries=countries)
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


def _countries(location: IntentLocation | None, places: Places) -> frozenset[str]:
    """Return the countries of a location, those of its places included; an unknown place has none."""
    if location is None:
        return frozenset()
    found = set(location.countries)
    for id_ in (location.anchor_location_id, *location.location_ids, *(area.location_id for area in location.areas)):
        with suppress(KeyError):
            found.add(places.get(id_ or "").country_code)
    return frozenset(found)


def tells_whom(intent: Intent) -> bool:
    """Return whether the intent says whom to search for: by title, employer, skill, function or level."""
    return bool(intent.must.titles or intent.must.company_ids or intent.target_companies or _told_by_demands(intent))


def _told_by_demands(intent: Intent) -> bool:
    must = intent.must
    return bool(must.skills or must.past_company_ids or must.functions or must.seniority)


def _nobody_asked(intent: Intent) -> InvalidRequest:
    if intent.target_companies:
        return InvalidRequest(
            "No target company could be identified, and no title is given.",
            field="target_companies",
            fix="Find company ids with GET /v1/lookups/companies and give them as must.company_ids, or add a title.",
        )
    return InvalidRequest(
        "The intent does not say whom to search for.",
        field="must.titles",
        fix="Give a title, or skills, a level, a function or companies.",
    )
