"""Which titles a plan searches for: exact wordings and nearby ones, none of them inside another."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from models.base.errors import InvalidRequest
from models.base.values import Range
from models.reading.intents import ExcludeBlock, Intent, IntentBlock
from models.sourcing.rules.ground import Ground, Spots
from models.sourcing.rules.plans import (
    Notes,
    PeopleFilters,
    PeopleSourceAbilities,
    SkillFilter,
    TierFilters,
    TitleFilter,
    TitleKnowledge,
    conditions,
    years,
)

MOST_TITLES = 100
"""As many as `TitleFilter` takes."""
NEARBY_PER_TITLE = 12
MOST_NEARBY = 60
_WORD = re.compile(r"[^\s,;:/|()&–—-]+")


@dataclass(frozen=True, slots=True)
class PlanTitles:
    """Titles to search for. `excluded` comes from the intent; no nearby title contains an exact one."""

    exact: tuple[str, ...]
    nearby: tuple[str, ...]
    excluded: tuple[str, ...]


def choose_titles(wanted: Sequence[str], excluded: Sequence[str], knowledge: TitleKnowledge) -> PlanTitles:
    """Return the wanted titles first, then their other wordings in turn, then at most twelve neighbours of each.

    A wanted title that is excluded too counts for nothing; `exact` is empty when none is left.
    """
    wanted = [title for title in wanted if not any(contains_words(title, bad) for bad in excluded)]
    room = MOST_TITLES - len(excluded)
    others = chain.from_iterable(_in_turn([knowledge.exact(title) for title in wanted]))
    exact = _without_contained(chain(wanted, others), room=room, taken=excluded)
    neighbours = chain.from_iterable(_in_turn([knowledge.nearby(title)[:NEARBY_PER_TITLE] for title in wanted]))
    nearby = _without_contained(neighbours, room=MOST_NEARBY, taken=(*exact, *excluded)) if exact else ()
    return PlanTitles(exact=exact, nearby=nearby, excluded=tuple(excluded))


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


# What an intent asks of people apart from their titles and place, in the terms of a search.


BLOCK_FIELDS = ("titles", "experience_years", "skills", "languages", "company_ids")
MANY_SKILLS = 3
SOURCE_FIELD = {("exclude", "company_ids"): "exclude_company_ids", ("exclude", "profile_ids"): "exclude_profile_ids"}


@dataclass(frozen=True, slots=True)
class Conditions:
    """`common` narrows every tier; `nice` is what the first tier of each pair asks for on top, with its words."""

    common: PeopleFilters
    all_of: tuple[PeopleFilters, ...]
    none_of: tuple[PeopleFilters, ...]
    nice: PeopleFilters | None
    nice_words: str


def applicable(intent: Intent, source: PeopleSourceAbilities, notes: Notes) -> Intent:
    """Return the intent without what the people source cannot apply; each such field is noted as ignored."""
    blocks = {
        "must": _block_for(source, "must", intent.must, notes),
        "nice": _block_for(source, "nice", intent.nice, notes),
        "exclude": _block_for(source, "exclude", intent.exclude, notes),
    }
    return intent.model_copy(update=blocks)


def _block_for(source: PeopleSourceAbilities, name: str, block: IntentBlock, notes: Notes) -> IntentBlock:
    dropped: dict[str, object] = {}
    for field in (*BLOCK_FIELDS, "profile_ids"):
        asked = getattr(block, field, None)
        if asked and SOURCE_FIELD.get((name, field), field) not in source.filters:
            notes.ignore(f"{name}.{field}", f"The people source cannot search by {field}: {name}.{field} was ignored.")
            dropped[field] = type(block).model_fields[field].get_default()
    return block.model_copy(update=dropped)


def conditions_of(
    intent: Intent, company_ids: Sequence[str], *, barred: Spots, preferred: Spots, notes: Notes
) -> Conditions:
    """Turn the three blocks into filters.

    `company_ids` are those wanted, target companies included; `barred` and `preferred` the places of the `exclude` and
    the `nice` block.

    Raises:
        InvalidRequest: a required value is excluded too.
    """
    must, exclude = intent.must, intent.exclude
    _refuse_contradictions(must, exclude)
    employers = tuple(id_ for id_ in company_ids if id_ not in exclude.company_ids)
    if company_ids and not employers:
        raise InvalidRequest("Every wanted company is excluded.", field="exclude.company_ids")
    _note(intent, notes)
    nice = _nice(intent.nice, must, preferred)
    return Conditions(
        common=PeopleFilters(
            exclude_location_ids=barred.location_ids,
            company_ids=employers,
            exclude_company_ids=exclude.company_ids,
            skills=SkillFilter(all=must.skills, exclude=exclude.skills) if must.skills or exclude.skills else None,
            experience_years=_span(must.experience_years),
            languages=must.languages[:1],
            exclude_profile_ids=exclude.profile_ids,
        ),
        all_of=tuple(PeopleFilters(languages=(language,)) for language in must.languages[1:]),
        none_of=_none_of(exclude, barred),
        nice=nice,
        nice_words=conditions(nice, place=preferred.label) if nice else "",
    )


def _none_of(exclude: ExcludeBlock, barred: Spots) -> tuple[PeopleFilters, ...]:
    out = []
    if barred.countries:
        out.append(PeopleFilters(countries=barred.countries))
    if exclude.languages:
        out.append(PeopleFilters(languages=exclude.languages))
    if span := _span(exclude.experience_years):
        out.append(PeopleFilters(experience_years=span))
    return tuple(out)


def _nice(nice: IntentBlock, must: IntentBlock, preferred: Spots) -> PeopleFilters | None:
    """Return one conjunction of any value of each field, without what is required anyway; null when nothing is left."""
    skills = _beyond(nice.skills, must.skills)
    titles = _beyond(nice.titles, must.titles)
    wish = PeopleFilters(
        titles=TitleFilter(include=titles) if titles else None,
        location_ids=preferred.location_ids,
        countries=() if preferred.location_ids else preferred.countries,
        company_ids=nice.company_ids,
        skills=SkillFilter(any=skills) if skills else None,
        experience_years=_span(nice.experience_years),
        languages=_beyond(nice.languages, must.languages),
    )
    return None if wish == PeopleFilters() else wish


def _span(span: Range | None) -> Range | None:
    return None if span is None or span.empty else span


def _beyond(values: Sequence[str], required: Sequence[str]) -> tuple[str, ...]:
    known = {value.casefold() for value in required}
    return tuple(value for value in values if value.casefold() not in known)


def _refuse_contradictions(must: IntentBlock, exclude: ExcludeBlock) -> None:
    for field in ("skills", "languages"):
        required = {value.casefold() for value in getattr(must, field)}
        if any(value.casefold() in required for value in getattr(exclude, field)):
            raise InvalidRequest(
                f"A value is both required and excluded in {field}.",
                field=f"exclude.{field}",
                fix="Remove the value from `must` or from `exclude`.",
            )


def _note(intent: Intent, notes: Notes) -> None:
    for name, block in (("must", intent.must), ("nice", intent.nice), ("exclude", intent.exclude)):
        if span := _span(block.experience_years):
            notes.apply(f"{name}.experience_years", years(span))
        for field in ("titles", "skills", "languages", "company_ids", "profile_ids"):
            if values := getattr(block, field, ()):
                notes.apply(f"{name}.{field}", tuple(values))
    if len(intent.must.skills) > MANY_SKILLS:
        notes.warn(
            f"{len(intent.must.skills)} skills are all required, and few profiles list so many. Move some to `nice`."
        )


# The ladder: disjoint searches, because each leaves out what the earlier ones take.


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
class _Where:
    """Where a tier searches."""

    label: str
    location_ids: tuple[str, ...]
    countries: tuple[str, ...]
    beyond: tuple[str, ...]
    """Location ids that an earlier tier covers."""


def ladder(titles: PlanTitles, ground: Ground, conditions: Conditions) -> Iterator[DraftTier]:
    """Yield the tiers: the local area before the rest, exact before nearby titles, the nice conditions first."""
    for where in _places(ground):
        for words in _titles(titles):
            yield from _tiers(words, where, conditions)


def _places(ground: Ground) -> Iterator[_Where]:
    if ground.local:
        yield _Where(ground.local_label, ground.local, (), beyond=())
    yield _Where(ground.rest_label, (), ground.countries, beyond=ground.local)


def _titles(titles: PlanTitles) -> Iterator[_Words]:
    if not titles.exact:
        only = TitleFilter(exclude=titles.excluded) if titles.excluded else None
        yield _Words("People at the wanted companies", only)
        return
    yield _Words("Exact titles", TitleFilter(include=titles.exact, exclude=titles.excluded))
    if titles.nearby:
        yield _Words("Nearby titles", TitleFilter(include=titles.nearby, exclude=(*titles.exact, *titles.excluded)))


def _tiers(words: _Words, where: _Where, conditions: Conditions) -> Iterator[DraftTier]:
    label = f"{words.label} {where.label}"
    if conditions.nice is None:
        yield DraftTier(label, _filters(words, where, conditions))
        return
    wish = conditions.nice
    yield DraftTier(f"{label}, with {conditions.nice_words}", _filters(words, where, conditions, all_of=(wish,)))
    yield DraftTier(f"{label}, without {conditions.nice_words}", _filters(words, where, conditions, none_of=(wish,)))


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
