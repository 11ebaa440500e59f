"""On invented people a query finds whom its filters describe, and `none_of` cuts a search in two without a rest."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from activities.upstream.people_data_labs.query import query_of
from activities.upstream.ports.people import CompanyNames, PlaceNames
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
from sandbox.people.population.build import Population, build_population
from sandbox.people.query import matching

Record = dict[str, Any]
CODES = {name: code for code, names in PEOPLE_DATA_LABS.countries.items() for name in names}


@cache
def population() -> Population:
    return build_population(400, seed=11)


@cache
def records() -> dict[str, Record]:
    listed = zip(population(), population().listed.tolist(), strict=True)
    return {record["id"]: record for record, is_listed in listed if is_listed}


@cache
def places() -> dict[str, PlaceNames]:
    found = {
        (record["location_locality"], record["location_region"], record["location_country"])
        for record in records().values()
        if isinstance(record["location_locality"], str)
    }
    regions = {(None, region, country) for _, region, country in found}
    countries = {(None, None, country) for *_, country in found}
    return {
        f"loc_{number}": PlaceNames(city and city.title(), region, CODES[country], country)
        for number, (city, region, country) in enumerate(sorted(found | regions | countries, key=str))
    }


@cache
def companies() -> dict[str, CompanyNames]:
    found = {job["company"]["id"]: job["company"] for record in records().values() for job in jobs(record)}
    found.pop(None, None)
    return {
        f"co_{number}": CompanyNames(company["name"].upper(), provider_ids=(company_id,) if number % 2 else ())
        for number, (company_id, company) in enumerate(sorted(found.items()))
    }


class Everything:
    """A directory of all places and companies in the population."""

    def place(self, location_id: str) -> PlaceNames:
        return places()[location_id]

    def company(self, company_id: str) -> CompanyNames:
        return companies()[company_id]

    def source_ids(self, profile_id: str) -> tuple[str, ...]:
        return (sorted(records())[int(profile_id[5:])],)

    def location_id(self, *, city: str | None, region: str | None, country_code: str | None) -> str | None:
        raise NotImplementedError


def found(filters: PeopleFilters) -> set[str]:
    return matching(population(), {"query": query_of(filters, Everything())})


def jobs(record: Record) -> list[Record]:
    return [job for job in record["experience"] if job.get("company")]


def words(text: object) -> list[str]:
    return re.findall(r"\w+", text.lower()) if isinstance(text, str) else []


def says(text: object, phrase: str) -> bool:
    heard, said = words(text), words(phrase)
    return any(heard[at : at + len(said)] == said for at in range(len(heard)))


def has_title(record: Record, title: str, match: TitleMatch) -> bool:
    parts = [title] if match is TitleMatch.EXACT else title.split()
    return all(says(record["job_title"], part) for part in parts)


def lives_in(record: Record, location_id: str) -> bool:
    place = places()[location_id]
    lives = (record["location_locality"], record["location_region"], record["location_country"])
    asked = (place.city and place.city.lower(), place.region, place.country)
    return all(part is None or part == own for own, part in zip(lives, asked, strict=True))


def works_at(record: Record, company_id: str) -> bool:
    company = companies()[company_id]
    if company.provider_ids:
        return record["job_company_id"] in company.provider_ids
    return bool(record["job_company_name"] == company.name.lower())


def conditions(filters: PeopleFilters, record: Record) -> Iterator[bool]:
    titles, skills = filters.titles or TitleFilter(), filters.skills or SkillFilter()
    yield not titles.include or any(has_title(record, title, titles.match) for title in titles.include)
    yield not any(has_title(record, title, titles.match) for title in titles.exclude)
    yield not filters.location_ids or any(lives_in(record, each) for each in filters.location_ids)
    yield not any(lives_in(record, each) for each in filters.exclude_location_ids)
    yield not filters.countries or CODES.get(record["location_country"]) in filters.countries
    yield not filters.company_ids or any(works_at(record, each) for each in filters.company_ids)
    yield not any(works_at(record, each) for each in filters.exclude_company_ids)
    yield not filters.seniority or bool(set(filters.seniority) & set(record["job_title_levels"] or ()))
    yield not filters.functions or record["job_title_role"] in filters.functions
    yield not filters.industries or bool({record["industry"], record["job_company_industry"]} & set(filters.industries))
    yield not filters.company_sizes or record["job_company_size"] in filters.company_sizes
    yield not filters.company_types or record["job_company_type"] in filters.company_types
    studies = record["education"] or ()
    forms = {form for degree in filters.degrees for form in PEOPLE_DATA_LABS.degrees.get(degree, (degree,))}
    yield not forms or any(forms & set(study["degrees"]) for study in studies)
    yield not filters.majors or any(set(filters.majors) & set(study["majors"]) for study in studies)
    if isinstance(filters, Claim):
        yield all(not stated(record, sparse) for sparse in filters.unstated)
    own = {skill.lower() for skill in record["skills"] or ()}
    yield own.issuperset(skill.lower() for skill in skills.all)
    yield not skills.any or not own.isdisjoint(skill.lower() for skill in skills.any)
    yield own.isdisjoint(skill.lower() for skill in skills.exclude)
    spoken = {language["name"] for language in record["languages"] or ()}
    yield not filters.languages or not spoken.isdisjoint(filters.languages)
    years, asked = record["inferred_years_experience"], filters.experience_years or Range()
    yield asked.empty or (years is not None and (asked.min or 0) <= years <= (asked.max or 99))
    texts = [record[field] for field in ("job_title", "headline", "summary", "job_summary")]
    yield all(any(says(text, word) for text in texts) for word in (filters.keywords or "").split())
    yield record["id"] not in {Everything().source_ids(each)[0] for each in filters.exclude_profile_ids}


def stated(record: Record, sparse: SparseField) -> bool:
    """Whether a profile says anything in a field that many leave empty."""
    studies = record["education"] or ()
    said = {
        SparseField.SENIORITY: record["job_title_levels"],
        SparseField.LANGUAGES: record["languages"],
        SparseField.SKILLS: record["skills"],
        SparseField.DEGREES: [degree for study in studies for degree in study["degrees"]],
        SparseField.MAJORS: [major for study in studies for major in study["majors"]],
    }
    return bool(said[sparse])


def described(filters: PeopleFilters) -> set[str]:
    return {person for person, record in records().items() if all(conditions(filters, record))}


def some(values: Iterable[str], most: int = 3) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(sorted(values)), max_size=most, unique=True).map(tuple)


def all_of_field(field: str) -> set[str]:
    return {record[field] for record in records().values() if isinstance(record[field], str)}


@st.composite
def filters(draw: st.DrawFn) -> PeopleFilters:
    """Filters with a few fields, taken from what people in the population are."""
    title_words = {word for title in all_of_field("job_title") for word in words(title) if word.isalpha()}
    skills = {skill for record in records().values() for skill in record["skills"] or ()}
    ends = sorted(draw(st.lists(st.integers(0, 40), min_size=2, max_size=2)))
    everything = {
        "titles": TitleFilter(
            include=draw(some(all_of_field("job_title") | title_words)),
            exclude=draw(some(title_words)),
            match=draw(st.sampled_from(TitleMatch)),
        ),
        "location_ids": draw(some(places(), 60)),
        "exclude_location_ids": draw(some(places(), 60)),
        "countries": draw(some({place.country_code for place in places().values()})),
        "company_ids": draw(some(companies(), 60)),
        "exclude_company_ids": draw(some(companies(), 60)),
        "seniority": draw(some(PEOPLE_DATA_LABS.vocabulary["seniority"])),
        "functions": draw(some(PEOPLE_DATA_LABS.vocabulary["functions"])),
        "industries": draw(some(PEOPLE_DATA_LABS.vocabulary["industries"], 9)),
        "skills": SkillFilter(all=draw(some(skills, 1)), any=draw(some(skills)), exclude=draw(some(skills))),
        "experience_years": Range(min=ends[0], max=ends[1]),
        "languages": draw(some({"dutch", "english", "french", "german", "spanish"})),
        "company_sizes": draw(some(PEOPLE_DATA_LABS.vocabulary["company_sizes"])),
        "company_types": draw(some(PEOPLE_DATA_LABS.vocabulary["company_types"])),
        "degrees": draw(some({"bachelors", "masters", "doctorates", "high school", "master of science"})),
        "majors": draw(some({"computer science", "nursing", "economics", "law", "accounting"})),
        "keywords": draw(st.sampled_from(sorted(title_words))),
        "exclude_profile_ids": (f"prof_{draw(st.integers(0, len(records()) - 1)):026d}",),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(everything)), min_size=1, max_size=3, unique=True))
    return PeopleFilters(**{field: everything[field] for field in chosen})


SLOWLY = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])


@SLOWLY
@given(filters())
def test_a_query_finds_exactly_whom_its_filters_describe(asked: PeopleFilters) -> None:
    assert found(asked) == described(asked)


@SLOWLY
@given(filters(), filters())
def test_none_of_and_all_of_cut_a_search_in_two(asked: PeopleFilters, cut: PeopleFilters) -> None:
    assume("must" in str(query_of(cut, Everything())))  # an empty one would match no person, and is refused
    inside = TierFilters(**asked.model_dump(), all_of=(cut,))
    outside = TierFilters(**asked.model_dump(), none_of=(cut,))
    assert found(inside) | found(outside) == found(asked)
    assert found(inside) & found(outside) == set()


@SLOWLY
@given(filters(), st.sampled_from(SparseField))
def test_who_states_nothing_is_told_from_who_states_something(asked: PeopleFilters, sparse: SparseField) -> None:
    silent = TierFilters(**asked.model_dump(), unstated=(sparse,))
    assert found(silent) == described(silent)
    either = TierFilters(any_of=((Claim(**asked.model_dump()), Claim(unstated=(sparse,))),))
    assume("must" in str(query_of(asked, Everything())))  # an empty one means all people, and is refused
    assert found(either) == found(asked) | described(TierFilters(unstated=(sparse,)))


def test_the_filters_of_these_tests_match_people() -> None:
    assert len(described(PeopleFilters())) > 300
    assert described(PeopleFilters(countries=("DE",)))
    assert described(PeopleFilters(keywords="engineer"))
    assert described(PeopleFilters(degrees=("masters",)))
    assert described(PeopleFilters(company_sizes=("51-200",), company_types=("private",)))
    assert all(described(TierFilters(unstated=(sparse,))) for sparse in SparseField)


@pytest.mark.parametrize("country", sorted({record["location_country"] for record in records().values()} - {None}))
def test_every_country_of_the_invented_market_is_known(country: str) -> None:
    assert country in CODES
