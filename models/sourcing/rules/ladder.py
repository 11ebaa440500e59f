"""The ladder: disjoint searches, the best people first, because each leaves out what the earlier ones take.

Zones come first (near before far), then titles (exact before nearby), then what is stated (before what is not), then
what is nice. Where that makes too many tiers, the farthest zones are divided less.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from models.sourcing.rules.demands import Demands, Stating
from models.sourcing.rules.filters import Claim, PeopleFilters, TierFilters, TitleFilter
from models.sourcing.rules.ground import Ground, Where, Zone
from models.sourcing.rules.plans import TitleKnowledge

MOST_TITLES = 100
"""As many as `TitleFilter` takes."""
NEARBY_PER_TITLE = 12
MOST_NEARBY = 60
MOST_APART = 50
MOST_TIERS = 16
_WORD = re.compile(r"[^\s,;:/|()&–—-]+")


@dataclass(frozen=True, slots=True)
class PlanTitles:
    """Titles to search for; no nearby title contains an exact one.

    `excluded` comes from the intent; `apart` are titles of other occupations that hold an exact one (`Nursery Nurse`).
    """

    exact: tuple[str, ...]
    nearby: tuple[str, ...]
    excluded: tuple[str, ...]
    apart: tuple[str, ...] = ()

    @property
    def left_out(self) -> tuple[str, ...]:
        """Every title that is searched for in no tier."""
        return (*self.excluded, *self.apart)


def choose_titles(
    wanted: Sequence[str], excluded: Sequence[str], knowledge: TitleKnowledge, *, countries: Collection[str] = ()
) -> PlanTitles:
    """Return the wanted titles first, then their other wordings in turn, then at most twelve neighbours of each.

    A wanted title that is excluded too counts for nothing; `exact` is empty when none is left.
    """
    wanted = [title for title in wanted if not any(contains_words(title, bad) for bad in excluded)]
    room = MOST_TITLES - len(excluded)
    others = chain.from_iterable(_in_turn([knowledge.exact(title, countries=countries) for title in wanted]))
    exact = _without_contained(chain(wanted, others), room=room, taken=excluded)
    neighbours = chain.from_iterable(_in_turn([knowledge.nearby(title)[:NEARBY_PER_TITLE] for title in wanted]))
    nearby = _without_contained(neighbours, room=MOST_NEARBY, taken=(*exact, *excluded)) if exact else ()
    longer = chain.from_iterable(_in_turn([knowledge.apart(title) for title in wanted]))
    apart = [title for title in longer if not any(contains_words(asked, title) for asked in (*wanted, *exact, *nearby))]
    room = max(0, min(MOST_APART, MOST_TITLES - len(exact) - len(excluded)))
    return PlanTitles(exact, nearby, tuple(excluded), tuple(dict.fromkeys(apart))[:room])


def contains_words(title: str, phrase: str) -> bool:
    """Return whether the words of `phrase` stand together, in order, in `title`."""
    return _spaced(phrase) in _spaced(title)


def _spaced(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _in_turn(lists: Iterable[Sequence[str]]) -> Iterable[tuple[str, ...]]:
    for turn in zip_longest(*lists):
        yield tuple(title for title in turn if title is not None)


def _without_contained(titles: Iterable[str], *, room: int, taken: Sequence[str]) -> tuple[str, ...]:
    """Return titles in order, leaving out those that a kept or taken one already covers."""
    kept: list[str] = []
    for title in titles:
        if any(contains_words(title, phrase) for phrase in (*taken, *kept)) or not any(map(str.isalnum, title)):
            continue
        kept = [*(other for other in kept if not contains_words(other, title)), title]
    return tuple(kept[:room])


@dataclass(frozen=True, slots=True)
class DraftTier:
    """A search and its label, before it is priced."""

    label: str
    filters: TierFilters


@dataclass(frozen=True, slots=True)
class _Words:
    """The titles of a tier."""

    label: str
    titles: TitleFilter | None


@dataclass(frozen=True, slots=True)
class _Detail:
    """By what the tiers of a zone are told apart."""

    bands: bool = True
    titles: bool = True
    stating: bool = True
    nice: bool = True


def ladder(titles: PlanTitles, ground: Ground, demands: Demands) -> tuple[DraftTier, ...]:
    """Return at most sixteen tiers, which together take everybody whom the intent means, and each person once."""
    details = [_Detail()] * len(ground.zones)
    tiers = _all_tiers(titles, ground, demands, details)
    for zone, what in _merges(len(ground.zones)):
        if len(tiers) <= MOST_TIERS:
            break
        details[zone] = replace(details[zone], **{what: False})
        tiers = _all_tiers(titles, ground, demands, details)
    return tiers


def whole_search(titles: PlanTitles, ground: Ground, demands: Demands) -> TierFilters:
    """Return everybody of the ladder in one search."""
    claims = TierFilters.model_validate(demands.claims(Stating.ALL))
    last = ground.zones[-1].whole
    abroad = (Claim(countries=last.countries), Claim(location_ids=ground.abroad)) if ground.abroad else None
    return claims.model_copy(
        update={
            "titles": _both(titles, demands).titles,
            "location_ids": tuple(id_ for zone in ground.zones for id_ in zone.whole.location_ids)
            if last.location_ids
            else (),
            "countries": () if abroad else last.countries,
            "any_of": (*claims.any_of, *([abroad] if abroad else [])),
        }
    )


def _merges(zones: int) -> Iterator[tuple[int, str]]:
    """Yield what is told apart no more, in turn, until the tiers are few enough."""
    outer = range(zones - 1, 0, -1)
    for zone in outer:
        yield zone, "nice"
        yield zone, "stating"
    yield 0, "bands"
    for zone in outer:
        yield zone, "titles"
    for what in ("nice", "stating", "titles"):
        yield 0, what


def _all_tiers(
    titles: PlanTitles, ground: Ground, demands: Demands, details: Sequence[_Detail]
) -> tuple[DraftTier, ...]:
    pairs = zip(ground.zones, details, strict=True)
    return tuple(tier for zone, detail in pairs for tier in _zone_tiers(titles, zone, demands, detail))


def _zone_tiers(titles: PlanTitles, zone: Zone, demands: Demands, detail: _Detail) -> Iterator[DraftTier]:
    """Yield the tiers of one zone: only the best are divided by bands, only the last are one level away."""
    kinds = _title_kinds(titles, demands) if detail.titles else [_both(titles, demands)]
    stages = demands.stages if detail.stating or len(demands.stages) == 1 else (Stating.ALL,)
    for words in kinds:
        for stating in stages:
            divided = detail.bands and words is kinds[0] and stating is stages[0]
            for where in zone.bands if divided else (zone.whole,):
                yield from _tiers(words, where, demands, stating, nice=detail.nice)
    if demands.near and Stating.ALL not in stages:
        yield from _tiers(_both(titles, demands), zone.whole, demands, Stating.NEAR, nice=detail.nice)


def _title_kinds(titles: PlanTitles, demands: Demands) -> list[_Words]:
    if not titles.exact or not titles.nearby:
        return [_both(titles, demands)]
    return [
        _Words("Exact titles", TitleFilter(include=titles.exact, exclude=titles.left_out)),
        _Words("Nearby titles", TitleFilter(include=titles.nearby, exclude=(*titles.exact, *titles.left_out))),
    ]


def _both(titles: PlanTitles, demands: Demands) -> _Words:
    if not titles.exact:
        label = "People at the wanted companies" if demands.common.company_ids else "People"
        return _Words(label, TitleFilter(exclude=titles.excluded) if titles.excluded else None)
    label = "Exact and nearby titles" if titles.nearby else "Exact titles"
    return _Words(label, TitleFilter(include=(*titles.exact, *titles.nearby)[:MOST_TITLES], exclude=titles.left_out))


def _tiers(words: _Words, where: Where, demands: Demands, stating: Stating, *, nice: bool) -> Iterator[DraftTier]:
    label = f"{words.label} {where.label}{demands.label(stating)}"
    wish = demands.nice if nice else None
    if wish is None:
        yield DraftTier(label, _filters(words, where, demands, stating))
        return
    yield DraftTier(f"{label}, with {demands.nice_words}", _filters(words, where, demands, stating, wish=wish))
    yield DraftTier(f"{label}, without {demands.nice_words}", _filters(words, where, demands, stating, lack=wish))


def _filters(
    words: _Words,
    where: Where,
    demands: Demands,
    stating: Stating,
    *,
    wish: PeopleFilters | None = None,
    lack: PeopleFilters | None = None,
) -> TierFilters:
    claims = TierFilters.model_validate(demands.claims(stating))
    return claims.model_copy(
        update={
            "titles": words.titles,
            "location_ids": where.location_ids,
            "countries": where.countries,
            "exclude_location_ids": tuple(dict.fromkeys((*where.beyond, *claims.exclude_location_ids))),
            "all_of": (*claims.all_of, *([wish] if wish else [])),
            "none_of": (*claims.none_of, *([lack] if lack else [])),
        }
    )
