"""In which order the people of one page are delivered: by how many wishes they meet, then by distance. No score."""

from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import TypeVar

from models.people.rules.profiles import Profile, distance_km
from models.sourcing.rules.filters import PeopleFilters
from models.sourcing.rules.ladder import contains_words
from models.sourcing.rules.plans import Anchor, conditions

OnPage = TypeVar("OnPage")


def wishes_met(wishes: Sequence[PeopleFilters], profile: Profile) -> tuple[str, ...]:
    """Return in words the single wishes of a plan that a profile meets, as far as it says."""
    return tuple(conditions(wish) for wish in wishes if _meets(profile, wish))


def nearest_km(anchors: Sequence[Anchor], profile: Profile) -> float | None:
    """Return the kilometres to the nearest anchor; null without an anchor or coordinates."""
    known = [km for anchor in anchors if (km := distance_km(anchor, profile.location)) is not None]
    return min(known, default=None)


def best_first(
    people: Sequence[OnPage],
    profile_of: Callable[[OnPage], Profile | None],
    *,
    wishes: Sequence[PeopleFilters],
    anchors: Sequence[Anchor],
) -> list[OnPage]:
    """Return the people of a page, those who meet most wishes first, then the nearest; ties stay."""

    def place(one: OnPage) -> tuple[int, float]:
        profile = profile_of(one)
        if profile is None:
            return 0, inf
        km = nearest_km(anchors, profile)
        return -len(wishes_met(wishes, profile)), inf if km is None else km

    return sorted(people, key=place)


def _meets(profile: Profile, wish: PeopleFilters) -> bool:
    """Return whether a profile states the one thing that a wish asks for."""
    current = profile.current
    if wish.titles:
        return current is not None and any(contains_words(current.title or "", title) for title in wish.titles.include)
    if wish.skills:
        return not _plain(profile.skills).isdisjoint(_plain(wish.skills.any))
    if wish.languages:
        return not _plain(one.language for one in profile.languages).isdisjoint(_plain(wish.languages))
    if wish.seniority:
        return current is not None and (current.seniority or "") in wish.seniority
    if span := wish.experience_years:
        years = profile.experience_years
        return years is not None and (span.min or 0) <= years <= (inf if span.max is None else span.max)
    return False


def _plain(values: Iterable[str]) -> set[str]:
    return {value.casefold() for value in values}
