"""What an intent asks of people apart from titles and place, as filters: stated, not stated, one level away.

Profiles are sparse. Who states nothing in a sparse field may still have what is asked for and is searched later; who
states something else is out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from models.base.errors import InvalidRequest
from models.base.values import Range
from models.market.title_cleaning import Seniority, seniority
from models.reading.intents import ExcludeBlock, Intent, IntentBlock
from models.reading.protected import never_searched, protected_kind
from models.sourcing.rules.filters import (
    Claim,
    PeopleFilters,
    PeopleSourceAbilities,
    SkillFilter,
    SparseField,
    TitleFilter,
)
from models.sourcing.rules.ground import Spots
from models.sourcing.rules.plans import Notes, TitleKnowledge, conditions, join_words, level_words, years

MOST_WISHES = 30
"""As many titles as a block of an intent takes."""
ANY_OF = (
    *("seniority", "past_company_ids", "industries", "functions", "degrees", "majors", "company_sizes"),
    "company_types",
)
"""List fields of a block of which one value is enough, under the same name in a search."""
BLOCK_FIELDS = (
    *("titles", "experience_years", "skills", "languages", "company_ids", *ANY_OF, "tenure_months", "school_ids"),
    "profile_ids",
)
IN_WORDS = ("titles", "skills", "languages", "degrees", "majors")
"""Fields of a block whose values are words of the caller."""
MANY_SKILLS = 3
SOURCE_FIELD = {("exclude", "company_ids"): "exclude_company_ids", ("exclude", "profile_ids"): "exclude_profile_ids"}

SAID_IN_TITLES = frozenset({Seniority.TRAINING, Seniority.ENTRY, Seniority.SENIOR})
"""Levels that stand beside an occupation; others, such as a manager's, are part of the title itself."""
ONE_AWAY: Mapping[str, tuple[str, ...]] = {
    "unpaid": ("training",),
    "training": ("entry",),
    "entry": ("training",),
    "senior": ("manager",),
    "manager": ("senior", "director"),
    "director": ("manager", "vp"),
    "vp": ("director", "cxo"),
    "cxo": ("vp", "owner"),
    "owner": ("partner", "cxo"),
    "partner": ("director", "owner"),
}
"""Levels beside one another in a career. Between `entry` and `senior` lies the middle, which titles do not state."""


class Stating(StrEnum):
    """Which people a tier takes by what they state in sparse fields; `all` are the three others together."""

    STATED = "stated"
    UNSTATED = "unstated"
    NEAR = "near"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Demands:
    """`common` narrows every tier; `sparse` are the demands on sparse fields, each of which a person meets or not.

    `strict`: only who states all of them is searched. `near` are the levels one away from those asked for. `nice` is
    what the first tier of each pair asks for on top, with its words.
    """

    common: PeopleFilters
    sparse: tuple[tuple[SparseField, PeopleFilters], ...]
    strict: bool
    near: tuple[str, ...]
    none_of: tuple[PeopleFilters, ...]
    nice: PeopleFilters | None
    nice_words: str

    @property
    def stages(self) -> tuple[Stating, ...]:
        """Whom the tiers of one place and title take, one after the other."""
        if self.strict or not self.sparse:
            return (Stating.STATED,)
        return (Stating.STATED, Stating.UNSTATED)

    def claims(self, stating: Stating) -> dict[str, object]:
        """Return the filters of a tier that takes these people."""
        fields: dict[str, object] = {name: getattr(self.common, name) for name in PeopleFilters.model_fields}
        fields["none_of"] = self.none_of
        if self.strict or stating is Stating.STATED:
            return fields | _together(self.sparse, self.common)
        levels = (*self.near, *self._levels) if stating is Stating.ALL else self._levels
        firm = [pair for pair in self.sparse if not (stating is Stating.NEAR and pair[0] is SparseField.SENIORITY)]
        groups: list[tuple[Claim, ...]] = [
            (_claim(PeopleFilters(seniority=levels) if field is SparseField.SENIORITY else asked), _silent(field))
            for field, asked in firm
        ]
        if stating is Stating.NEAR:
            wanted = PeopleFilters(seniority=self._levels)
            fields |= {"seniority": self.near, "none_of": (*self.none_of, wanted)}
        elif stating is Stating.UNSTATED:
            silent = tuple(map(_silent, dict.fromkeys(field for field, _ in self.sparse)))
            if len(self.sparse) == 1:  # no need to say that who states nothing may also have stated it
                return fields | {"unstated": silent[0].unstated}
            groups = [*groups, silent]
        return fields | {"any_of": tuple(groups)}

    @property
    def _levels(self) -> tuple[str, ...]:
        return next((asked.seniority for field, asked in self.sparse if field is SparseField.SENIORITY), ())

    @property
    def silent_words(self) -> str:
        """The sparse fields of which a person may state nothing, as `level or languages`; empty when there is none."""
        if self.strict or not self.sparse:
            return ""
        fields = dict.fromkeys(field for field, _ in self.sparse)
        return join_words(["level" if field is SparseField.SENIORITY else field for field in fields], last="or")

    def label(self, stating: Stating) -> str:
        """Return what a tier's label says of these people; empty without sparse demands."""
        silent = self.silent_words
        if not silent:
            return ""
        stated = join_words([word for field, asked in self.sparse for word in _in_words(field, asked)], most=4)
        if stating is Stating.STATED:
            return f", {stated} stated"
        if stating is Stating.UNSTATED:
            return f", {silent} not stated"
        if stating is Stating.NEAR:
            return f", one level away: {level_words(self.near)}"
        return f", {stated} stated or not{', or one level away' if self.near else ''}"


def _together(sparse: Iterable[tuple[SparseField, PeopleFilters]], common: PeopleFilters) -> dict[str, object]:
    """Return every sparse demand at once; a second demand on the same field goes to `all_of`."""
    fields: dict[str, object] = {}
    further: list[PeopleFilters] = []
    for field, asked in sparse:
        if field in fields:
            further.append(asked)
        elif field is SparseField.SKILLS and asked.skills and common.skills:
            fields[field] = SkillFilter(all=asked.skills.all, exclude=common.skills.exclude)
        else:
            fields[field] = getattr(asked, field)
    return fields | {"all_of": tuple(further)}


def _claim(asked: PeopleFilters) -> Claim:
    return Claim.model_validate(asked.model_dump(exclude_defaults=True))


def _silent(field: SparseField) -> Claim:
    return Claim(unstated=(field,))


def _in_words(field: SparseField, asked: PeopleFilters) -> Sequence[str]:
    if field is SparseField.SENIORITY:
        return [level_words(asked.seniority)]
    if field is SparseField.SKILLS and asked.skills:
        return asked.skills.all
    words = join_words(getattr(asked, field), most=3, last="or")
    return [words.capitalize() if field is SparseField.LANGUAGES else words]


def applicable(intent: Intent, source: PeopleSourceAbilities, notes: Notes) -> Intent:
    """Return the intent without what is never searched or the people source cannot apply, each noted as ignored."""
    given = {"must": intent.must, "nice": intent.nice, "exclude": intent.exclude}
    blocks = {name: _block_for(source, name, _unprotected(name, block, notes), notes) for name, block in given.items()}
    return intent.model_copy(update=blocks)


def _unprotected(name: str, block: IntentBlock, notes: Notes) -> IntentBlock:
    """Return a block without values that ask for a protected characteristic: those are never searched."""
    kept: dict[str, object] = {}
    for field in IN_WORDS:
        values: Sequence[str] = getattr(block, field)
        kinds = {value: kind for value in values if (kind := protected_kind(value))}
        for value, kind in kinds.items():
            notes.ignore(f"{name}.{field}", never_searched(value, kind))
        if kinds:
            kept[field] = tuple(value for value in values if value not in kinds)
    return block.model_copy(update=kept)


def _block_for(source: PeopleSourceAbilities, name: str, block: IntentBlock, notes: Notes) -> IntentBlock:
    dropped: dict[str, object] = {}
    for field in BLOCK_FIELDS:
        asked = getattr(block, field, None)
        if asked and SOURCE_FIELD.get((name, field), field) not in source.filters:
            notes.ignore(f"{name}.{field}", f"The people source cannot search by {field}: {name}.{field} was ignored.")
            dropped[field] = type(block).model_fields[field].get_default()
    return block.model_copy(update=dropped)


def with_levels_of_titles(intent: Intent, notes: Notes) -> Intent:
    """Return the intent with the level that all its titles state as a demand, unless it names levels itself.

    A senior accountant is searched as an accountant of the level `senior`: sources say the level beside the title.
    """
    stated = {seniority(title) for title in intent.must.titles}
    levels = tuple(level.value for level in Seniority if level in stated)
    if not levels or intent.must.seniority or not SAID_IN_TITLES.issuperset(stated):
        return intent
    notes.default("must.seniority", levels)
    return intent.model_copy(update={"must": intent.must.model_copy(update={"seniority": levels})})


def with_narrowings_of_titles(intent: Intent, titles: TitleKnowledge, notes: Notes) -> Intent:
    """Return the intent with what narrows its titles as a wish, unless it wishes for something else.

    A `Truck driver CE` is searched as a truck driver, and who holds the licence comes first.
    """
    asked = [titles.narrowing(title) for title in intent.must.titles]
    wishes = {
        "skills": tuple(dict.fromkeys(name for one in asked for name in one.skills)),
        "titles": tuple(dict.fromkeys(name for one in asked for name in one.titles)),
    }
    field = next((field for field, values in wishes.items() if values), None)
    if field is None or intent.nice != IntentBlock(**{field: getattr(intent.nice, field)}):
        return intent
    values = tuple(dict.fromkeys((*getattr(intent.nice, field), *wishes[field])))[:MOST_WISHES]
    notes.default(f"nice.{field}", values)
    return intent.model_copy(update={"nice": intent.nice.model_copy(update={field: values})})


def demands_of(
    intent: Intent, company_ids: Sequence[str], *, barred: Spots, preferred: Spots, notes: Notes, strict: bool
) -> Demands:
    """Turn the three blocks into filters.

    `company_ids` are those wanted, target companies included; `barred` and `preferred` the places of the `exclude` and
    the `nice` block. `strict`: who states nothing is not searched, because nothing else tells whom to search for.

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
    common = PeopleFilters(
        exclude_location_ids=barred.location_ids,
        company_ids=employers,
        exclude_company_ids=exclude.company_ids,
        skills=SkillFilter(exclude=exclude.skills) if exclude.skills else None,
        experience_years=_span(must.experience_years),
        past_company_ids=must.past_company_ids,
        industries=must.industries,
        functions=must.functions,
        company_sizes=must.company_sizes,
        company_types=must.company_types,
        exclude_profile_ids=exclude.profile_ids,
    )
    near = dict.fromkeys(level for asked in must.seniority for level in ONE_AWAY.get(asked.lower(), ()))
    return Demands(
        common=common,
        sparse=tuple(_sparse(must)),
        strict=strict,
        near=() if strict else tuple(level for level in near if level not in {*must.seniority, *exclude.seniority}),
        none_of=tuple(_none_of(exclude, barred)),
        nice=nice,
        nice_words=conditions(nice, place=preferred.label) if nice else "",
    )


def _sparse(must: IntentBlock) -> Iterator[tuple[SparseField, PeopleFilters]]:
    if must.seniority:
        yield SparseField.SENIORITY, PeopleFilters(seniority=must.seniority)
    for language in must.languages:
        yield SparseField.LANGUAGES, PeopleFilters(languages=(language,))
    if must.skills:
        yield SparseField.SKILLS, PeopleFilters(skills=SkillFilter(all=must.skills))
    if must.degrees:
        yield SparseField.DEGREES, PeopleFilters(degrees=must.degrees)
    if must.majors:
        yield SparseField.MAJORS, PeopleFilters(majors=must.majors)


def _none_of(exclude: ExcludeBlock, barred: Spots) -> Iterator[PeopleFilters]:
    if barred.countries:
        yield PeopleFilters(countries=barred.countries)
    if exclude.languages:
        yield PeopleFilters(languages=exclude.languages)
    if span := _span(exclude.experience_years):
        yield PeopleFilters(experience_years=span)
    for field in ANY_OF:
        if values := getattr(exclude, field):
            yield PeopleFilters.model_validate({field: values})


def _nice(nice: IntentBlock, must: IntentBlock, preferred: Spots) -> PeopleFilters | None:
    """Return one conjunction of any value of each field, without what is required anyway; null when nothing is left."""
    skills = _beyond(nice.skills, must.skills)
    titles = _beyond(nice.titles, must.titles)
    fields = {field: _beyond(getattr(nice, field), getattr(must, field)) for field in ("languages", *ANY_OF)}
    wish = PeopleFilters.model_validate(
        fields
        | {
            "titles": TitleFilter(include=titles) if titles else None,
            "location_ids": preferred.location_ids,
            "countries": () if preferred.location_ids else preferred.countries,
            "company_ids": nice.company_ids,
            "skills": SkillFilter(any=skills) if skills else None,
            "experience_years": _span(nice.experience_years),
        }
    )
    return None if wish == PeopleFilters() else wish


def single_wishes(nice: PeopleFilters | None) -> Iterator[PeopleFilters]:
    """Yield each value of the wish on its own that a profile tells by the same words: no place, employer or school."""
    if nice is None:
        return
    for title in nice.titles.include if nice.titles else ():
        yield PeopleFilters(titles=TitleFilter(include=(title,)))
    for skill in nice.skills.any if nice.skills else ():
        yield PeopleFilters(skills=SkillFilter(any=(skill,)))
    for language in nice.languages:
        yield PeopleFilters(languages=(language,))
    for field in ("experience_years", "seniority"):
        if asked := getattr(nice, field):
            yield PeopleFilters.model_validate({field: asked})


def _span(span: Range | None) -> Range | None:
    return None if span is None or span.empty else span


def _beyond(values: Sequence[str], required: Sequence[str]) -> tuple[str, ...]:
    known = {value.casefold() for value in required}
    return tuple(value for value in values if value.casefold() not in known)


def _refuse_contradictions(must: IntentBlock, exclude: ExcludeBlock) -> None:
    for field in ("skills", "languages", *ANY_OF):
        required = {value.casefold() for value in getattr(must, field)}
        if any(value.casefold() in required for value in getattr(exclude, field)):
            raise InvalidRequest(
                f"A value is both required and excluded in {field}.",
                field=f"exclude.{field}",
                fix="Remove the value from `must` or from `exclude`.",
            )


def _note(intent: Intent, notes: Notes) -> None:
    told = {one.field for one in notes.applied}
    for name, block in (("must", intent.must), ("nice", intent.nice), ("exclude", intent.exclude)):
        if span := _span(block.experience_years):
            notes.apply(f"{name}.experience_years", years(span))
        for field in ("titles", "skills", "languages", "company_ids", *ANY_OF, "profile_ids"):
            if (values := getattr(block, field, ())) and f"{name}.{field}" not in told:
                notes.apply(f"{name}.{field}", tuple(values))
    if len(intent.must.skills) > MANY_SKILLS:
        notes.warn(
            f"{len(intent.must.skills)} skills are all required, and few profiles list so many. Move some to `nice`."
        )
