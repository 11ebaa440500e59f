"""Invented people and a plain reading of what filters mean, against which plans are checked."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from models.sourcing.rules.filters import Claim, PeopleFilters, SparseField, TierFilters
from models.sourcing.rules.ladder import contains_words

TITLES = (
    "Data Engineer", "Senior Data Engineer", "Dataingenieur", "ETL Developer", "Backend Engineer", "Nurse",
    "Intern Data Engineer", "Analytics Engineer (Data Engineer)", "Midwife", "Chief of Nothing", "Head Nurse / Midwife",
)  # fmt: skip
SKILLS = ("sql", "kafka", "spark", "python")
LANGUAGES = ("dutch", "french", "german", "english")
LEVELS = ("entry", "senior", "manager", "director", None)
COMPANIES = ("co_acme", "co_bolta", "co_other", None)


@dataclass(frozen=True)
class Invented:
    """A person as far as filters look."""

    title: str
    location_id: str | None
    country: str | None
    company: str | None
    skills: frozenset[str]
    languages: frozenset[str]
    years: int | None
    level: str | None

    def states(self, field: SparseField) -> bool:
        """Whether the profile says anything in a field."""
        return bool({SparseField.SENIORITY: self.level}.get(field) or getattr(self, field, None))


def crowd(places: dict[str, str], *, seed: int, size: int) -> list[Invented]:
    """People at these places (location id → country), some with unknown place, employer or years."""
    dice = random.Random(seed)
    people = []
    for _ in range(size):
        location_id = dice.choice([*places, None])
        people.append(
            Invented(
                title=dice.choice(TITLES),
                location_id=location_id,
                country=places[location_id] if location_id else dice.choice([*places.values(), None]),
                company=dice.choice(COMPANIES),
                skills=frozenset(dice.sample(SKILLS, dice.randint(0, 4))),
                languages=frozenset(dice.sample(LANGUAGES, dice.randint(0, 3))),
                years=dice.choice([None, *range(20)]),
                level=dice.choice(LEVELS),
            )
        )
    return people


Check = Callable[[Invented], bool]


def check_of(filters: PeopleFilters) -> Check:
    """Each given field narrows, the values within a list widen; an unknown fact satisfies no filter."""
    parts = [_titles(filters), *_places(filters), *_employer(filters), _skills(filters), _years(filters)]
    if languages := frozenset(filters.languages):
        parts.append(lambda person: not person.languages.isdisjoint(languages))
    if filters.seniority:
        parts.append(lambda person: person.level in filters.seniority)
    if isinstance(filters, Claim):
        parts += [_silent(field) for field in filters.unstated]
    if isinstance(filters, TierFilters):
        parts += [_any([check_of(claim) for claim in group]) for group in filters.any_of]
        parts += [check_of(also) for also in filters.all_of]
        parts += [_not(check_of(taken)) for taken in filters.none_of]
    return lambda person: all(part(person) for part in parts)


def _any(checks: list[Check]) -> Check:
    return lambda person: any(check(person) for check in checks)


def _silent(field: SparseField) -> Check:
    return lambda person: not person.states(field)


def _not(check: Check) -> Check:
    return lambda person: not check(person)


def _titles(filters: PeopleFilters) -> Check:
    if filters.titles is None:
        return lambda _: True
    include, exclude = filters.titles.include, filters.titles.exclude
    fitting = frozenset(
        title
        for title in TITLES
        if (not include or any(contains_words(title, wanted) for wanted in include))
        and not any(contains_words(title, bad) for bad in exclude)
    )
    return lambda person: person.title in fitting


def _places(filters: PeopleFilters) -> Iterator[Check]:
    inside, outside, countries = map(frozenset, (filters.location_ids, filters.exclude_location_ids, filters.countries))
    if inside:
        yield lambda person: person.location_id in inside
    if countries:
        yield lambda person: person.country in countries
    yield lambda person: person.location_id not in outside


def _employer(filters: PeopleFilters) -> Iterator[Check]:
    if filters.company_ids:
        yield lambda person: person.company in filters.company_ids
    yield lambda person: person.company not in filters.exclude_company_ids


def _skills(filters: PeopleFilters) -> Check:
    asked = filters.skills
    if asked is None:
        return lambda _: True
    return lambda person: (
        person.skills.issuperset(asked.all)
        and (not asked.any or not person.skills.isdisjoint(asked.any))
        and person.skills.isdisjoint(asked.exclude)
    )


def _years(filters: PeopleFilters) -> Check:
    span = filters.experience_years
    if span is None or span.empty:
        return lambda _: True
    low, high = span.min or 0, 99 if span.max is None else span.max
    return lambda person: person.years is not None and low <= person.years <= high
