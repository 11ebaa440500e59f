"""Planning itself: drafting the ladder of an intent, then pricing it with what is known of its searches."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from models.errors import InvalidRequest
from models.rules import pricing
from models.rules.intents import Intent
from models.rules.planner.asked import Knowledge
from models.rules.planner.companies import target_company_ids
from models.rules.planner.conditions import Conditions, applicable, conditions_of
from models.rules.planner.estimate import Reach, counting, price, reach, target_range
from models.rules.planner.ground import Ground, Spots, Surveyor
from models.rules.planner.ladder import Rung, ladder
from models.rules.planner.notes import Notes
from models.rules.planner.query_key import query_key
from models.rules.planner.summary import price_sentence, summary
from models.rules.planner.titles import Titles, choose_titles
from models.rules.planner.values import Plan, Tier
from models.rules.planner.wording import listed
from models.rules.run_states import DEFAULT_TARGET, MAX_TARGET, MIN_TARGET


@dataclass(frozen=True, slots=True)
class Draft:
    """A ladder without prices: look up the totals of its `query_keys`, then `priced`."""

    intent: Intent
    titles: Titles
    ground: Ground
    conditions: Conditions
    rungs: tuple[Rung, ...]
    query_keys: tuple[str, ...]
    notes: Notes
    knowledge: Knowledge

    def priced(self, totals: Mapping[str, int], *, target: int) -> Plan:
        """The plan. `totals` are the people last counted for a query key, at most 30 days ago."""
        if not MIN_TARGET <= target <= MAX_TARGET:
            raise ValueError(f"a target is {MIN_TARGET} to {MAX_TARGET} people")
        count = counting(self.knowledge.statistics)
        reaches = [
            reach(rung.filters, total=totals.get(key), count=count)
            for rung, key in zip(self.rungs, self.query_keys, strict=True)
        ]
        estimate = price(reaches, target=target)
        return Plan(
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
                    label=rung.label,
                    filters=rung.filters,
                    query_key=key,
                    estimated_people=known.people,
                    estimated_pages=known.pages,
                )
                for number, (rung, key, known) in enumerate(
                    zip(self.rungs, self.query_keys, reaches, strict=True), start=1
                )
            ),
            estimate=estimate,
            anchor=self.ground.anchor,
            applied_filters=self.notes.sorted_filters(),
            ignored_fields=tuple(self.notes.ignored),
            warnings=(*self.notes.warnings, *_doubts(reaches)),
        )


def draft(intent: Intent, knowledge: Knowledge, *, described: Collection[str] = ()) -> Draft:
    """The ladder of an intent. `described` are the dotted fields that were read from a description.

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
    rungs = tuple(ladder(titles, ground, conditions))
    return Draft(
        intent=usable,
        titles=titles,
        ground=ground,
        conditions=conditions,
        rungs=rungs,
        query_keys=tuple(query_key(rung.filters, source=knowledge.source.name) for rung in rungs),
        notes=notes,
        knowledge=knowledge,
    )


def plan(
    intent: Intent,
    knowledge: Knowledge,
    *,
    totals: Mapping[str, int],
    target: int = DEFAULT_TARGET,
    described: Collection[str] = (),
) -> Plan:
    """Draft and price in one step; see `draft` for the errors."""
    return draft(intent, knowledge, described=described).priced(totals, target=target)


def retargeted(plan: Plan, target: int) -> Plan:
    """The same ladder, priced for another number of people."""
    estimate = price([Reach(tier.estimated_people, counted=False) for tier in plan.tiers], target=target)
    before, after = price_sentence(plan.target, plan.estimate), price_sentence(target, estimate)
    told = plan.summary.removesuffix(before) + after
    return plan.model_copy(update={"target": target, "estimate": estimate, "summary": told})


def _titles(intent: Intent, knowledge: Knowledge, notes: Notes) -> Titles:
    titles = choose_titles(intent.must.titles, intent.exclude.titles, knowledge.titles)
    if intent.must.titles and not titles.exact:
        raise InvalidRequest(
            "Every wanted title is excluded.",
            field="exclude.titles",
            fix="Remove the title from `must` or from `exclude`.",
        )
    if titles.exact and not titles.nearby:
        notes.warn(
            f"No nearby titles are known for {listed(intent.must.titles, most=3)}: only exact ones are searched."
        )
    return titles


def _nobody_asked(intent: Intent) -> InvalidRequest:
    if intent.target_companies:
        return InvalidRequest(
            "None of the target companies is certain, and no title is given.",
            field="target_companies",
            fix="Find company ids with GET /v1/lookups/companies and give them as must.company_ids, or add a title.",
        )
    return InvalidRequest("The intent names no title.", field="must.titles", fix="Give a title, or target_companies.")


def _doubts(reaches: list[Reach]) -> list[str]:
    doubts = []
    if any(known.people is None for known in reaches):
        doubts.append("How many people some tiers hold is not known; the first run counts them.")
    if any(known.people is not None and not known.counted for known in reaches):
        doubts.append("Numbers of people are rough, from statistics of occupations and places.")
    if all(known.people is not None for known in reaches):
        total = sum(known.people or 0 for known in reaches)
        if total < MIN_TARGET:
            doubts.append(
                f"The whole ladder may hold only {total} people; {pricing.MOST_PER_PERSON} credits each at most."
            )
    return doubts
