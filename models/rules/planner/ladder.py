"""The ladder: searches that no person can satisfy two of, because each leaves out what all earlier ones take."""

from collections.abc import Iterator
from dataclasses import dataclass

from models.rules.filters import PeopleFilters, TierFilters, TitleFilter
from models.rules.planner.conditions import Conditions
from models.rules.planner.ground import Ground
from models.rules.planner.titles import Titles


@dataclass(frozen=True, slots=True)
class Rung:
    """A search and its label."""

    label: str
    filters: TierFilters


@dataclass(frozen=True, slots=True)
class _Words:
    """Whose titles a rung takes."""

    label: str
    titles: TitleFilter | None


@dataclass(frozen=True, slots=True)
class _Where:
    """Where a rung looks."""

    label: str
    location_ids: tuple[str, ...]
    countries: tuple[str, ...]
    beyond: tuple[str, ...]
    """Location ids that an earlier rung has taken."""


def ladder(titles: Titles, ground: Ground, conditions: Conditions) -> Iterator[Rung]:
    """Exact before nearby titles, the local area before the rest, people with the nice conditions before others."""
    for where in _places(ground):
        for words in _titles(titles):
            yield from _rungs(words, where, conditions)


def _places(ground: Ground) -> Iterator[_Where]:
    if ground.local:
        yield _Where(ground.local_label, ground.local, (), beyond=())
    yield _Where(ground.rest_label, (), ground.countries, beyond=ground.local)


def _titles(titles: Titles) -> Iterator[_Words]:
    if not titles.exact:
        only = TitleFilter(exclude=titles.excluded) if titles.excluded else None
        yield _Words("People at the wanted companies", only)
        return
    yield _Words("Exact titles", TitleFilter(include=titles.exact, exclude=titles.excluded))
    if titles.nearby:
        yield _Words("Nearby titles", TitleFilter(include=titles.nearby, exclude=(*titles.exact, *titles.excluded)))


def _rungs(words: _Words, where: _Where, conditions: Conditions) -> Iterator[Rung]:
    label = f"{words.label} {where.label}"
    if conditions.nice is None:
        yield Rung(label, _filters(words, where, conditions))
        return
    wish = conditions.nice
    yield Rung(f"{label}, with {conditions.nice_words}", _filters(words, where, conditions, all_of=(wish,)))
    yield Rung(f"{label}, without {conditions.nice_words}", _filters(words, where, conditions, none_of=(wish,)))


def _filters(
    words: _Words,
    where: _Where,
    conditions: Conditions,
    *,
    all_of: tuple[PeopleFilters, ...] = (),
    none_of: tuple[PeopleFilters, ...] = (),
) -> TierFilters:
    common = conditions.common
    fields = {name: getattr(common, name) for name in PeopleFilters.model_fields}
    fields |= {
        "titles": words.titles,
        "location_ids": where.location_ids,
        "countries": where.countries,
        "exclude_location_ids": tuple(dict.fromkeys((*where.beyond, *common.exclude_location_ids))),
        "all_of": (*conditions.all_of, *all_of),
        "none_of": (*conditions.none_of, *none_of),
    }
    return TierFilters.model_validate(fields)
