"""What an intent asks of people apart from their titles and place, in the terms of a search."""

from collections.abc import Sequence
from dataclasses import dataclass

from models.errors import InvalidRequest
from models.rules.filters import PeopleFilters, Range, SkillFilter, TitleFilter
from models.rules.intents import ExcludeBlock, Intent, IntentBlock
from models.rules.planner.ground import Spots
from models.rules.planner.notes import Notes
from models.rules.planner.wording import conditions, years
from models.rules.sources import PeopleSourceAbilities

BLOCK_FIELDS = ("titles", "experience_years", "skills", "languages", "company_ids")
MANY_SKILLS = 3
SOURCE_FIELD = {("exclude", "company_ids"): "exclude_company_ids", ("exclude", "profile_ids"): "exclude_profile_ids"}


@dataclass(frozen=True, slots=True)
class Conditions:
    """`common` narrows every tier; `nice` is what the first half of each rung asks for on top, with its words."""

    common: PeopleFilters
    all_of: tuple[PeopleFilters, ...]
    none_of: tuple[PeopleFilters, ...]
    nice: PeopleFilters | None
    nice_words: str


def applicable(intent: Intent, source: PeopleSourceAbilities, notes: Notes) -> Intent:
    """The intent without what the people source cannot apply; each such field is noted as ignored."""
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
            notes.ignore(
                f"{name}.{field}", f"The people source cannot search by {field}: {name}.{field} has no effect."
            )
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
    """One conjunction: any of the values of each field; what is required anyway adds nothing."""
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
            f"{len(intent.must.skills)} skills are all required: few profiles list so many. Move some to `nice`."
        )
