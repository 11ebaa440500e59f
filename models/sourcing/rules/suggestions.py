"""Which demand of an intent keeps most people out: each one left out in turn, and the change that does so."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models.base.values import Range
from models.market.title_cleaning import core
from models.reading.intents import Intent, IntentBlock, IntentLocation, with_changes
from models.sourcing.rules.demands import ANY_OF
from models.sourcing.rules.plans import Relaxation, Suggestion

MOST_SUGGESTIONS = 6
"""Demands left out in turn; a run reads one small page for each that was not counted yet."""
KEEPS_OUT: Mapping[str, float] = {
    "must.location.only": 0.1,
    "must.company_ids": 0.02,
    "target_companies": 0.02,
    "must.past_company_ids": 0.05,
    "must.industries": 0.2,
    "must.majors": 0.2,
    "must.company_sizes": 0.25,
    "must.company_types": 0.4,
    "must.skills": 0.3,
    "must.languages": 0.3,
    "must.degrees": 0.3,
    "must.seniority": 0.35,
    "must.titles": 0.35,
    "must.experience_years": 0.5,
    "must.functions": 0.6,
}
"""Rough share of people who meet a demand; those that fewest meet are counted first, exclusions last."""


@dataclass(frozen=True, slots=True)
class Loosened:
    """An intent with one demand given up or only preferred; `value` is null when the whole field is meant."""

    field: str
    value: str | None
    patch: dict[str, Any]
    intent: Intent


def loosened(intent: Intent, *, levels_of_titles: bool) -> list[Loosened]:
    """Return the intent without each of its demands, those first that keep most people out, at most six.

    `levels_of_titles`: its level is read from its titles and goes with the words that state it.
    """
    found = [
        Loosened(field, value, patch, with_changes(intent, patch))
        for field, value, patch in _patches(intent, levels_of_titles=levels_of_titles)
    ]
    return sorted(found, key=lambda one: KEEPS_OUT.get(one.field, 1.0))[:MOST_SUGGESTIONS]


def _patches(intent: Intent, *, levels_of_titles: bool) -> Iterator[tuple[str, str | None, dict[str, Any]]]:
    must = intent.must
    yield from _preferring(intent, "skills")
    yield from _preferring(intent, "languages")
    if levels_of_titles:
        titles = list(dict.fromkeys(core(title) for title in must.titles))
        yield "must.titles", ", ".join(must.seniority), {"must": {"titles": titles}}
    for field in ("experience_years", "company_ids", *ANY_OF):
        if _asks(must, field) and not (field == "seniority" and levels_of_titles):
            yield f"must.{field}", None, {"must": {field: None}}
    if intent.target_companies and must.titles:
        yield "target_companies", None, {"target_companies": None}
    yield from _going_beyond(must.location)
    for field in ("titles", "skills", "languages", "experience_years", "company_ids", *ANY_OF):
        if _asks(intent.exclude, field):
            yield f"exclude.{field}", None, {"exclude": {field: None}}


def _asks(block: IntentBlock, field: str) -> bool:
    value = getattr(block, field)
    return bool(value) and value != Range()


def _preferring(intent: Intent, field: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield each required value of a field, preferred instead."""
    asked: Sequence[str] = getattr(intent.must, field)
    for value in asked:
        kept = [other for other in asked if other != value]
        preferred = list(dict.fromkeys((*getattr(intent.nice, field), value)))
        yield f"must.{field}", value, {"must": {field: kept}, "nice": {field: preferred}}


def _going_beyond(place: IntentLocation | None) -> Iterator[tuple[str, None, dict[str, Any]]]:
    """Yield the place without its bound, where it has one."""
    if place is None or not (place.only or any(area.only for area in place.areas)):
        return
    wider = place.model_dump(mode="json", exclude_defaults=True, exclude={"only": True})
    for area in wider.get("areas", ()):
        area.pop("only", None)
    yield "must.location.only", None, {"must": {"location": wider}}


def helpful(relaxations: Sequence[Relaxation], people: Mapping[str, int], *, found: int) -> tuple[Suggestion, ...]:
    """Return the changes that would find more than `found` people, those that help most first.

    `people` are counts by query key. Where none of them is known, the demands alone are named.
    """
    counted = [one.suggestion.model_copy(update={"people": people.get(one.query_key)}) for one in relaxations]
    better = [one for one in counted if one.people is not None and one.people > found]
    if not better and not people:
        return tuple(counted)
    return tuple(sorted(better, key=lambda one: -(one.people or 0)))
