"""Which titles a plan searches for: exact wordings and nearby ones, none of them inside another."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from models.rules.planner.asked import TitleKnowledge

MOST_TITLES = 100
"""As many as `TitleFilter` takes."""
NEARBY_PER_TITLE = 12
MOST_NEARBY = 60
_WORD = re.compile(r"[^\s,;:/|()&–—-]+")


@dataclass(frozen=True, slots=True)
class Titles:
    """Titles to search for. `excluded` comes from the intent; no nearby title contains an exact one."""

    exact: tuple[str, ...]
    nearby: tuple[str, ...]
    excluded: tuple[str, ...]


def choose_titles(wanted: Sequence[str], excluded: Sequence[str], knowledge: TitleKnowledge) -> Titles:
    """The wanted titles first, then their other wordings in turn, then at most twelve neighbours of each.

    A wanted title that is excluded too counts for nothing; `exact` is empty when none is left.
    """
    wanted = [title for title in wanted if not any(contains(title, bad) for bad in excluded)]
    room = MOST_TITLES - len(excluded)
    others = chain.from_iterable(_in_turn([knowledge.exact(title) for title in wanted]))
    exact = _without_contained(chain(wanted, others), room=room, taken=excluded)
    neighbours = chain.from_iterable(_in_turn([knowledge.nearby(title)[:NEARBY_PER_TITLE] for title in wanted]))
    nearby = _without_contained(neighbours, room=MOST_NEARBY, taken=(*exact, *excluded)) if exact else ()
    return Titles(exact=exact, nearby=nearby, excluded=tuple(excluded))


def contains(title: str, phrase: str) -> bool:
    """Whether the words of `phrase` stand together, in order, in `title`."""
    return _spaced(phrase) in _spaced(title)


def _spaced(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _in_turn(lists: Iterable[Sequence[str]]) -> Iterable[tuple[str, ...]]:
    for turn in zip_longest(*lists):
        yield tuple(title for title in turn if title is not None)


def _without_contained(titles: Iterable[str], *, room: int, taken: Sequence[str]) -> tuple[str, ...]:
    """Titles in order, leaving out those that a kept or taken one already covers."""
    kept: list[str] = []
    for title in titles:
        if any(contains(title, phrase) for phrase in (*taken, *kept)) or not any(map(str.isalnum, title)):
            continue
        kept = [*(other for other in kept if not contains(other, title)), title]
    return tuple(kept[:room])
