"""Filters become exactly the clauses that the source accepts."""

from typing import Any

import pytest

from activities.upstream.people_data_labs.query import InexpressibleFilters, any_of, plain, query_of, shape, terms
from activities.upstream.ports.people import Directory
from models.base.values import Range
from models.sourcing.rules.filters import (
    PEOPLE_DATA_LABS,
    Claim,
    Inapplicable,
    PeopleFilters,
    SkillFilter,
    SparseField,
    TierFilters,
    TitleFilter,
    TitleMatch,
)

NETHERLANDS = {"term": {"location_country": "netherlands"}}
IN_UTRECHT = {
    "bool": {
        "must": [
            NETHERLANDS,
            {"term": {"location_region": "utrecht"}},
            {"terms": {"location_locality": ["utrecht", "amersfoort"]}},
        ]
    }
}
ACCEPTED = {"bool", "term", "terms", "match", "match_phrase", "range", "exists", "match_all"}


def phrase(title: str) -> dict[str, Any]:
    return {"match_phrase": {"job_title.text": title}}


@pytest.mark.parametrize(
    ("filters", "query"),
    [
        (PeopleFilters(), {"match_all": {}}),
        (
            PeopleFilters(company_sizes=("1-10", "11-50"), company_types=("Private",), majors=(" Physics ",)),
            {
                "bool": {
                    "must": [
                        {"terms": {"job_company_size": ["1-10", "11-50"]}},
                        {"term": {"job_company_type": "private"}},
                        {"term": {"education.majors": "physics"}},
                    ]
                }
            },
        ),
        (
            TierFilters(unstated=(SparseField.SKILLS, SparseField.SENIORITY)),
            {"bool": {"must_not": [{"exists": {"field": "skills"}}, {"exists": {"field": "job_title_levels"}}]}},
        ),
        (
            TierFilters(any_of=((Claim(languages=("dutch",)), Claim(unstated=(SparseField.LANGUAGES,))),)),
            {
                "bool": {
                    "must": [
                        {
                            "bool": {
                                "should": [
                                    {"term": {"languages.name": "dutch"}},
                                    {"bool": {"must_not": [{"exists": {"field": "languages.name"}}]}},
                                ]
                            }
                        }
                    ]
                }
            },
        ),
        (
            PeopleFilters(titles=TitleFilter(include=(" Data  Engineer ",), exclude=("Intern",))),
            {"bool": {"must": [phrase("data engineer")], "must_not": [phrase("intern")]}},
        ),
        (
            PeopleFilters(titles=TitleFilter(include=("data engineer", "ML"), match=TitleMatch.SIMILAR)),
            {
                "bool": {
                    "must": [
                        {"bool": {"should": [{"bool": {"must": [phrase("data"), phrase("engineer")]}}, phrase("ml")]}}
                    ]
                }
            },
        ),
        (
            PeopleFilters(titles=TitleFilter(include=("front-end & back",), match=TitleMatch.SIMILAR)),
            {"bool": {"must": [{"bool": {"must": [phrase("front-end"), phrase("back")]}}]}},
        ),
        (PeopleFilters(countries=("NL",)), {"bool": {"must": [NETHERLANDS]}}),
        (
            PeopleFilters(countries=("TR", "NL")),
            {"bool": {"must": [{"terms": {"location_country": ["turkey", "türkiye", "turkiye", "netherlands"]}}]}},
        ),
        (PeopleFilters(location_ids=("loc_1", "loc_2")), {"bool": {"must": [IN_UTRECHT]}}),
        (PeopleFilters(exclude_location_ids=("loc_1", "loc_2")), {"bool": {"must_not": [IN_UTRECHT]}}),
        (
            PeopleFilters(location_ids=("loc_6", "loc_4", "loc_3")),
            {
                "bool": {
                    "must": [
                        {
                            "bool": {
                                "should": [
                                    {
                                        "bool": {
                                            "must": [
                                                {"term": {"location_country": "germany"}},
                                                {"term": {"location_region": "bavaria"}},
                                            ]
                                        }
                                    },
                                    {
                                        "bool": {
                                            "must": [
                                                {"term": {"location_country": "spain"}},
                                                {"term": {"location_region": "andalusia"}},
                                                {"terms": {"location_locality": ["málaga", "malaga"]}},
                                            ]
                                        }
                                    },
                                ]
                            }
                        }
                    ]
                }
            },
        ),
        (
            PeopleFilters(company_ids=("co_1", "co_2", "co_3")),
            {
                "bool": {
                    "must": [
                        {
                            "bool": {
                                "should": [
                                    {"term": {"job_company_id": "acmeexample-7q2"}},
                                    {"term": {"job_company_website": "beta.example"}},
                                    {"term": {"job_company_name": "gamma example"}},
                                ]
                            }
                        }
                    ]
                }
            },
        ),
        (
            PeopleFilters(past_company_ids=("co_1",), exclude_company_ids=("co_2",)),
            {
                "bool": {
                    "must": [{"term": {"experience.company.id": "acmeexample-7q2"}}],
                    "must_not": [
                        {"term": {"job_company_website": "beta.example"}},
                        {"term": {"job_company_id": "acmeexample-7q2"}},
                    ],
                }
            },
        ),
        (
            PeopleFilters(skills=SkillFilter(all=("Python", "SQL"), any=("dbt", "Airflow"), exclude=("COBOL",))),
            {
                "bool": {
                    "must": [
                        {"term": {"skills": "python"}},
                        {"term": {"skills": "sql"}},
                        {"terms": {"skills": ["dbt", "airflow"]}},
                    ],
                    "must_not": [{"term": {"skills": "cobol"}}],
                }
            },
        ),
        (
            PeopleFilters(
                seniority=("Senior", "manager"),
                functions=("engineering",),
                languages=("dutch",),
                industries=("Internet",),
            ),
            {
                "bool": {
                    "must": [
                        {
                            "bool": {
                                "should": [
                                    {"term": {"job_company_industry": "internet"}},
                                    {"term": {"industry": "internet"}},
                                ]
                            }
                        },
                        {"terms": {"job_title_levels": ["senior", "manager"]}},
                        {"term": {"job_title_role": "engineering"}},
                        {"term": {"languages.name": "dutch"}},
                    ]
                }
            },
        ),
        (
            PeopleFilters(experience_years=Range(min=5, max=15)),
            {"bool": {"must": [{"range": {"inferred_years_experience": {"gte": 5, "lte": 15}}}]}},
        ),
        (
            PeopleFilters(experience_years=Range(min=0)),
            {"bool": {"must": [{"range": {"inferred_years_experience": {"gte": 0}}}]}},
        ),
        (PeopleFilters(experience_years=Range()), {"match_all": {}}),
        (
            PeopleFilters(exclude_profile_ids=tuple(f"prof_{c * 26}" for c in "012")),
            {"bool": {"must_not": [{"terms": {"id": ["ex0001_0000", "ex2_0", "ex2_1"]}}]}},
        ),
        (PeopleFilters(exclude_profile_ids=(f"prof_{'1' * 26}",)), {"match_all": {}}),
        (
            TierFilters(
                titles=TitleFilter(include=("data engineer",)),
                all_of=(PeopleFilters(languages=("dutch",)), PeopleFilters(languages=("french",))),
                none_of=(
                    PeopleFilters(titles=TitleFilter(include=("data engineer",)), location_ids=("loc_1", "loc_2")),
                    PeopleFilters(skills=SkillFilter(exclude=("sql",))),
                    PeopleFilters(languages=("german",)),
                ),
            ),
            {
                "bool": {
                    "must": [
                        phrase("data engineer"),
                        {"term": {"languages.name": "dutch"}},
                        {"term": {"languages.name": "french"}},
                    ],
                    "must_not": [
                        {"bool": {"must": [phrase("data engineer"), IN_UTRECHT]}},
                        {"bool": {"must_not": [{"term": {"skills": "sql"}}]}},
                        {"term": {"languages.name": "german"}},
                    ],
                }
            },
        ),
    ],
)
def test_filters_become_clauses(filters: PeopleFilters, query: dict[str, Any], atlas: Directory) -> None:
    assert query_of(filters, atlas) == query


def test_keywords_may_stand_in_any_text(atlas: Directory) -> None:
    must = query_of(PeopleFilters(keywords="Kafka & streams"), atlas)["bool"]["must"]
    assert [{next(iter(c["match_phrase"].values())) for c in word["bool"]["should"]} for word in must] == [
        {"kafka"},
        {"streams"},
    ]


@pytest.mark.parametrize(
    "filters",
    [
        PeopleFilters(tenure_months=Range(min=3)),
        PeopleFilters(school_ids=("sch_1",)),
        PeopleFilters(open_to_work=False),
        PeopleFilters(seniority=("wizard",)),
        PeopleFilters(functions=("wizardry",)),
        PeopleFilters(industries=("wizardry",)),
        PeopleFilters(company_sizes=("12",)),
        PeopleFilters(company_types=("guild",)),
        PeopleFilters(countries=("ZZ",)),
        PeopleFilters(location_ids=("loc_99",)),
        PeopleFilters(company_ids=("co_99",)),
        TierFilters(none_of=(PeopleFilters(),)),
        TierFilters(any_of=((Claim(languages=("dutch",)), Claim()),)),
        TierFilters(none_of=(PeopleFilters(experience_years=Range()),)),
        TierFilters(none_of=(PeopleFilters(open_to_work=True),)),
        TierFilters(all_of=(PeopleFilters(open_to_work=True),)),
    ],
)
def test_what_cannot_be_asked_is_refused_before_any_call(filters: PeopleFilters, atlas: Directory) -> None:
    with pytest.raises(InexpressibleFilters) as refusal:
        query_of(filters, atlas)
    assert "wizard" not in str(refusal.value)


def test_the_api_can_tell_what_is_inapplicable_without_the_adapter() -> None:
    assert PEOPLE_DATA_LABS.inapplicable(PeopleFilters(open_to_work=True)) == Inapplicable("open_to_work")
    assert PEOPLE_DATA_LABS.inapplicable(PeopleFilters(seniority=("Senior", "wizard"))) == Inapplicable(
        "seniority", "wizard"
    )
    assert PEOPLE_DATA_LABS.inapplicable(PeopleFilters(countries=("NL",), keywords="x", open_to_work=None)) is None


def test_many_values_are_split_into_clauses_of_a_hundred() -> None:
    clause = any_of(list(terms("skills", [f"skill {n}" for n in range(250)])))
    assert [len(part["terms"]["skills"]) for part in clause["bool"]["should"]] == [100, 100, 50]


def test_values_are_trimmed_lower_case_and_composed() -> None:
    assert plain("  Data\u00a0 ENGINEER \n") == "data engineer"
    assert plain("Mu\u0308nchen") == "münchen"


def test_the_same_filters_always_give_the_same_query(atlas: Directory) -> None:
    filters = TierFilters(location_ids=("loc_3", "loc_1", "loc_2"), none_of=(PeopleFilters(countries=("TR", "NL")),))
    assert repr(query_of(filters, atlas)) == repr(query_of(filters.model_copy(), atlas))


def test_a_shape_shows_clauses_and_no_values(atlas: Directory) -> None:
    filters = TierFilters(
        titles=TitleFilter(include=("secret title",)),
        location_ids=("loc_1", "loc_2"),
        experience_years=Range(min=5),
        none_of=(PeopleFilters(languages=("dutch",)),),
    )
    assert shape(query_of(filters, atlas)) == (
        "bool(must[match_phrase:job_title.text, bool(must[term:location_country, term:location_region,"
        " terms:location_locality(2)]), range:inferred_years_experience], must_not[term:languages.name])"
    )
    assert shape({"match_all": {}}) == "match_all"


def test_only_accepted_clauses_are_used(atlas: Directory) -> None:
    def kinds(clause: dict[str, Any]) -> set[str]:
        ((kind, inner),) = clause.items()
        return {kind}.union(*(kinds(part) for side in inner.values() for part in side)) if kind == "bool" else {kind}

    everything = TierFilters(
        titles=TitleFilter(include=("data engineer", "b c"), exclude=("a b",), match=TitleMatch.SIMILAR),
        location_ids=("loc_1", "loc_2", "loc_3", "loc_4", "loc_5", "loc_6"),
        company_ids=("co_1", "co_2", "co_3"),
        experience_years=Range(min=5),
        keywords="kafka streams",
        none_of=(PeopleFilters(countries=("TR", "NL"), past_company_ids=("co_1", "co_3")),),
    )
    assert kinds(query_of(everything, atlas)) <= ACCEPTED


def test_a_general_degree_is_asked_for_in_all_its_forms(atlas: Directory) -> None:
    query = query_of(PeopleFilters(degrees=("Masters",)), atlas)
    (clause,) = query["bool"]["must"]
    forms = {"masters", "master of science", "master of business administration"}
    assert forms <= set(clause["terms"]["education.degrees"])
    exact = query_of(PeopleFilters(degrees=("master of science",)), atlas)
    assert exact == {"bool": {"must": [{"term": {"education.degrees": "master of science"}}]}}
