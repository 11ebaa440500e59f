"""Our filters as an Elasticsearch query of People Data Labs, using only the clauses that its search accepts.

Values are compared with lower-case ones, so they are lower-cased and trimmed. An OR group is a `bool.should` of its
own inside `must`, since a `should` beside a `must` does not filter.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from activities.upstream.ports.people import CompanyNames, Directory, SourceRefusedQuery
from models.base.values import Range
from models.sourcing.rules.filters import (
    PEOPLE_DATA_LABS,
    Claim,
    PeopleFilters,
    SkillFilter,
    SparseField,
    TierFilters,
    TitleFilter,
    TitleMatch,
)

Clause = dict[str, Any]

MAX_TERMS = 100
KEYWORD_FIELDS = ("job_title.text", "headline", "summary", "job_summary")
PRESENCE = {
    SparseField.SENIORITY: "job_title_levels",
    SparseField.LANGUAGES: "languages.name",
    SparseField.SKILLS: "skills",
    SparseField.DEGREES: "education.degrees",
    SparseField.MAJORS: "education.majors",
}
"""The field of which a profile that states nothing has no value."""


class InexpressibleFilters(SourceRefusedQuery):
    """These filters cannot be put to this source; the message names the filter, never its values."""


def query_of(filters: PeopleFilters, directory: Directory) -> Clause:
    """Return the query body `{"bool": …}`; `match_all` without any filter.

    Raises:
        InexpressibleFilters: a filter this source cannot apply, an id the directory does not know, or an empty member
            of `any_of` or `none_of`, which would mean everybody.
    """
    try:
        return Translation(directory).whole(filters)
    except KeyError:
        raise InexpressibleFilters("the filters name an id that is unknown here") from None


def shape(clause: Clause) -> str:
    """Return the query without a single value: clauses, fields and numbers of values, for logs."""
    ((kind, inner),) = clause.items()
    if kind == "bool":
        return "bool(" + ", ".join(f"{occur}[{', '.join(map(shape, part))}]" for occur, part in inner.items()) + ")"
    if kind in {"match_all", "exists"}:
        return kind
    ((field, value),) = inner.items()
    return f"{kind}:{field}({len(value)})" if isinstance(value, list) else f"{kind}:{field}"


def plain(value: str) -> str:
    """Return a value as the source compares it."""
    return " ".join(unicodedata.normalize("NFC", value).lower().split())


class Translation:
    """One query being built: each method gives the clauses of one filter."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def whole(self, filters: PeopleFilters) -> Clause:
        """Return the filters with everything in `all_of` and nothing in `none_of`."""
        must, must_not = self._sides(filters)
        if isinstance(filters, TierFilters):
            for also in filters.all_of:
                more, more_not = self._sides(also)
                must, must_not = must + more, must_not + more_not
            must = must + [any_of([self._conjunction(claim) for claim in group]) for group in filters.any_of]
            must_not = must_not + [self._conjunction(taken) for taken in filters.none_of]
        return _bool(must, must_not) if must or must_not else {"match_all": {}}

    def _conjunction(self, taken: PeopleFilters) -> Clause:
        must, must_not = self._sides(taken)
        if not must and not must_not:
            raise InexpressibleFilters("a member of any_of or none_of is empty: it would mean all people")
        return must[0] if len(must) == 1 and not must_not else _bool(must, must_not)

    def _sides(self, filters: PeopleFilters) -> tuple[list[Clause], list[Clause]]:
        if refused := PEOPLE_DATA_LABS.inapplicable(filters):
            raise InexpressibleFilters(f"this source cannot apply {refused.field}")
        return list(self._must(filters)), list(self._must_not(filters))

    def _must(self, filters: PeopleFilters) -> Iterator[Clause]:
        yield from self._job(filters)
        yield from self._place(filters)
        yield from _traits(filters)
        for word in _words(filters.keywords or ""):
            yield any_of([{"match_phrase": {field: word}} for field in KEYWORD_FIELDS])

    def _job(self, filters: PeopleFilters) -> Iterator[Clause]:
        if filters.titles and filters.titles.include:
            yield any_of(list(_titles(filters.titles, filters.titles.include)))
        if filters.company_ids:
            yield any_of(self._companies("job_company_", filters.company_ids))
        if filters.past_company_ids:
            yield any_of(self._companies("experience.company.", filters.past_company_ids))
        if filters.industries:
            yield any_of([*terms("job_company_industry", filters.industries), *terms("industry", filters.industries)])
        for field, values in (("job_company_size", filters.company_sizes), ("job_company_type", filters.company_types)):
            if values:
                yield any_of(list(terms(field, values)))

    def _place(self, filters: PeopleFilters) -> Iterator[Clause]:
        if filters.location_ids:
            yield any_of(self._places(filters.location_ids))
        if filters.countries:
            yield any_of(list(terms("location_country", _country_names(filters.countries))))

    def _must_not(self, filters: PeopleFilters) -> Iterator[Clause]:
        if filters.titles:
            yield from _titles(filters.titles, filters.titles.exclude)
        yield from self._places(filters.exclude_location_ids)
        yield from self._companies("job_company_", filters.exclude_company_ids)
        yield from self._companies("job_company_", filters.past_company_ids)
        if filters.skills:
            yield from terms("skills", filters.skills.exclude)
        known = [
            source_id for person in filters.exclude_profile_ids for source_id in self._directory.source_ids(person)
        ]
        yield from _ids("id", known)
        if isinstance(filters, Claim):
            yield from ({"exists": {"field": PRESENCE[field]}} for field in filters.unstated)

    def _places(self, location_ids: Sequence[str]) -> list[Clause]:
        cities: dict[tuple[str, str | None], list[str]] = {}
        whole: dict[tuple[str, str | None], None] = {}
        for place in map(self._directory.place, location_ids):
            area = (place.country_code, place.region)
            if place.city is None:
                whole[area] = None
            else:
                cities.setdefault(area, []).append(place.city)
        return [_area(area, []) for area in whole] + [
            _area(area, names) for area, names in cities.items() if area not in whole
        ]

    def _companies(self, prefix: str, company_ids: Sequence[str]) -> list[Clause]:
        known = [self._directory.company(company_id) for company_id in company_ids]
        return [
            *_ids(f"{prefix}id", [provider_id for company in known for provider_id in company.provider_ids]),
            *terms(f"{prefix}website", [domain for c in known if not c.provider_ids for domain in c.domains]),
            *terms(f"{prefix}name", [c.name for c in known if _only_named(c)]),
        ]


def _traits(filters: PeopleFilters) -> Iterator[Clause]:
    skills = filters.skills or SkillFilter()
    for field, values in (
        ("job_title_levels", filters.seniority),
        ("job_title_role", filters.functions),
        ("languages.name", filters.languages),
        ("education.degrees", [form for degree in filters.degrees for form in _degree_forms(degree)]),
        ("education.majors", filters.majors),
        *(("skills", (skill,)) for skill in skills.all),
        ("skills", skills.any),
    ):
        if values:
            yield any_of(list(terms(field, values)))
    if filters.experience_years and not filters.experience_years.empty:
        yield _range("inferred_years_experience", filters.experience_years)


def _degree_forms(degree: str) -> tuple[str, ...]:
    return PEOPLE_DATA_LABS.degrees.get(plain(degree), (degree,))


def terms(field: str, values: Iterable[str]) -> Iterator[Clause]:
    """Return clauses for any of these values, as few as the source's limit on values allows; none for no values."""
    return _ids(field, [spelling for value in values for spelling in _spellings(value)])


def any_of(clauses: list[Clause]) -> Clause:
    """Return a clause that matches when at least one of these does."""
    if not clauses:
        raise InexpressibleFilters("a filter has no value that this source understands")
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": clauses}}


def _ids(field: str, values: Iterable[str]) -> Iterator[Clause]:
    distinct = list(dict.fromkeys(values))
    for start in range(0, len(distinct), MAX_TERMS):
        part = distinct[start : start + MAX_TERMS]
        yield {"terms": {field: part}} if len(part) > 1 else {"term": {field: part[0]}}


def _spellings(value: str) -> Iterator[str]:
    """Return a value as written and without diacritics: sources keep some names one way, some the other."""
    yield plain(value)
    yield "".join(c for c in unicodedata.normalize("NFD", plain(value)) if not unicodedata.combining(c))


def _titles(titles: TitleFilter, values: Iterable[str]) -> Iterator[Clause]:
    for title in values:
        words = _words(title)
        if not words:
            raise InexpressibleFilters("a title has neither letter nor digit")
        if titles.match is TitleMatch.EXACT or len(words) == 1:
            yield {"match_phrase": {"job_title.text": plain(title)}}
        else:  # a phrase for each word: `match` would accept one half of a hyphenated word
            yield {"bool": {"must": [{"match_phrase": {"job_title.text": word}} for word in words]}}


def _words(text: str) -> list[str]:
    """Return the words of a text that contain a letter or digit; others would match no person."""
    return [word for word in dict.fromkeys(plain(text).split()) if any(map(str.isalnum, word))]


def _country_names(codes: Iterable[str]) -> list[str]:
    return [name for code in codes for name in PEOPLE_DATA_LABS.countries[code]]


def _area(area: tuple[str, str | None], cities: list[str]) -> Clause:
    country_code, region = area
    parts = [any_of(list(terms("location_country", _country_names([country_code]))))]
    if region is not None:
        parts.append(any_of(list(terms("location_region", [region]))))
    if cities:
        parts.append(any_of(list(terms("location_locality", cities))))
    return parts[0] if len(parts) == 1 else {"bool": {"must": parts}}


def _only_named(company: CompanyNames) -> bool:
    return not company.provider_ids and not company.domains


def _range(field: str, wanted: Range) -> Clause:
    ends = {"gte": wanted.min, "lte": wanted.max}
    return {"range": {field: {end: value for end, value in ends.items() if value is not None}}}


def _bool(must: list[Clause], must_not: list[Clause]) -> Clause:
    sides = {"must": must, "must_not": must_not}
    return {"bool": {occur: clauses for occur, clauses in sides.items() if clauses}}
