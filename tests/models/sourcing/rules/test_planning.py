"""What a plan says: tiers and their labels, what was applied, ignored and warned about."""

import dataclasses
from typing import Any

import pytest

from models.base.errors import InvalidRequest
from models.market.reference import reference
from models.reading.intents import Intent
from models.sourcing.rules.filters import (
    PEOPLE_DATA_LABS,
    PeopleFilters,
    PeopleSourceAbilities,
    SkillFilter,
    TitleFilter,
)
from models.sourcing.rules.planning import plan_search, retargeted
from models.sourcing.rules.plans import Origin, SearchPlanValue
from tests.models.sourcing.rules.knowledge import knowledge

GHENT, ANTWERP = "loc_2797656", "loc_2803138"
TITLES = {"titles": ["Data Engineer"]}
NEAR_GHENT = {"location": {"anchor_location_id": GHENT, "radius_km": 20}}


def made(**blocks: Any) -> SearchPlanValue:
    return plan_search(Intent.model_validate(blocks), knowledge(), totals={})


def place(name: str) -> str:
    return reference().places.find(name)[0].id


def labels(planned: SearchPlanValue) -> list[str]:
    return [tier.label for tier in planned.tiers]


def refused(**blocks: Any) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        made(**blocks)
    return caught.value


def test_years_without_bounds_are_no_demand() -> None:
    open_ended: dict[str, Any] = {"experience_years": {}}
    blocks = {"must": TITLES | open_ended, "nice": open_ended, "exclude": open_ended}
    assert made(**blocks) == made(must=TITLES)


def test_a_level_of_the_titles_is_searched_as_a_level() -> None:
    planned = made(must={"titles": ["Senior Data Engineer", "Lead Data Engineer"], "location": {"countries": ["BE"]}})
    assert labels(planned)[:2] == [
        "Exact titles in Belgium, senior level stated",
        "Exact titles in Belgium, level not stated",
    ]
    assert labels(planned)[-1] == "Exact titles in Belgium, one level away: manager level"
    assert planned.tiers[0].filters.seniority == ("senior",)
    assert planned.tiers[1].filters.unstated == ("seniority",)
    told = {one.field: one for one in planned.applied_filters}
    assert (told["must.seniority"].value, told["must.seniority"].origin) == (("senior",), Origin.DEFAULT)
    for titles in (["Senior Data Engineer", "Data Engineer"], ["Head of Data"], ["Data Engineer"]):
        assert "must.seniority" not in {one.field for one in made(must={"titles": titles}).applied_filters}
    given = made(must={"titles": ["Senior Data Engineer"], "seniority": ["manager"]})
    assert given.tiers[0].filters.seniority == ("manager",)


def test_everything_the_raw_layer_filters_can_be_asked_for_and_excluded() -> None:
    asked = {
        "past_company_ids": ["co_acme"],
        "industries": ["banking"],
        "functions": ["finance"],
        "company_sizes": ["51-200"],
        "company_types": ["private"],
    }
    filters = made(must=TITLES | asked).tiers[0].filters
    assert all(getattr(filters, name) == tuple(values) for name, values in asked.items())
    banned = made(must=TITLES, exclude=asked | {"seniority": ["owner"], "degrees": ["doctorates"]}).tiers[0].filters
    assert len(banned.none_of) == 7
    assert PeopleFilters(industries=("banking",)) in banned.none_of
    wished = made(must=TITLES, nice=asked | {"majors": ["physics"]})
    assert wished.tiers[0].filters.all_of[0].company_sizes == ("51-200",)
    assert wished.tiers[0].label.endswith(
        "with a job in finance, an employer in banking, an employer of 51-200 people, a private employer, studies in"
        " physics and a former job at one company"
    )
    source_cannot = made(must=TITLES | {"tenure_months": {"min": 24}, "school_ids": ["sch_1"]})
    assert source_cannot.ignored_fields == ("must.tenure_months", "must.school_ids")


def test_a_search_without_title_takes_only_who_states_what_is_asked_for() -> None:
    planned = made(must={"skills": ["sql"], "languages": ["dutch", "french"], "location": {"countries": ["BE"]}})
    assert labels(planned) == ["People in Belgium"]
    assert planned.tiers[0].filters.skills == SkillFilter(all=("sql",))
    assert planned.tiers[0].filters.all_of == (PeopleFilters(languages=("french",)),)


def test_a_ladder_has_at_most_sixteen_tiers_and_the_farthest_are_merged_first() -> None:
    must = TITLES | {"location": {"anchor_location_id": GHENT}, "skills": ["sql"], "seniority": ["senior"]}
    planned = made(must=must, nice={"skills": ["kafka"]})
    assert [tier.tier for tier in planned.tiers] == list(range(1, 17))
    assert labels(planned)[0] == "Exact titles within 25 km of Ghent, senior level and sql stated, with kafka"
    assert labels(planned)[-1] == (
        "Nearby titles in the rest of Belgium, senior level and sql stated or not, or one level away"
    )


def test_every_required_language_and_skill_is_asked_for() -> None:
    filters = made(must=TITLES | {"languages": ["dutch", "french"], "skills": ["sql", "python"]}).tiers[0].filters
    assert filters.languages == ("dutch",)
    assert filters.all_of == (PeopleFilters(languages=("french",)),)
    assert filters.skills == SkillFilter(all=("sql", "python"))


def test_what_is_nice_comes_first_and_what_is_required_anyway_adds_nothing() -> None:
    planned = made(
        must=TITLES | NEAR_GHENT | {"skills": ["sql"]},
        nice={
            "titles": ["Lead"],
            "skills": ["SQL", "Kafka", "Spark"],
            "languages": ["dutch"],
            "experience_years": {"min": 5},
            "company_ids": ["co_acme"],
            "location": {"countries": ["BE"]},
        },
    )
    assert planned.tiers[0].label == (
        "Exact titles within 20 km of Ghent, sql stated, with Kafka or Spark, Dutch, at least 5 years of experience,"
        " the title Lead, a preferred employer and a home in Belgium"
    )
    wish = PeopleFilters(
        titles=TitleFilter(include=("Lead",)),
        skills=SkillFilter(any=("Kafka", "Spark")),
        languages=("dutch",),
        experience_years={"min": 5},
        company_ids=("co_acme",),
        countries=("BE",),
    )
    assert planned.tiers[0].filters.all_of == (wish,)
    assert planned.tiers[1].filters.none_of == (wish,)
    assert labels(made(must=TITLES | {"skills": ["sql"]}, nice={"skills": ["SQL"]})) == [
        "Exact titles worldwide, sql stated",
        "Exact titles worldwide, skills not stated",
        "Nearby titles worldwide, sql stated",
        "Nearby titles worldwide, skills not stated",
    ]


def test_exclusions_hold_in_every_tier_each_value_on_its_own() -> None:
    somebody = f"prof_{'0' * 26}"
    planned = made(
        must=TITLES | NEAR_GHENT,
        exclude={
            "titles": ["intern"],
            "skills": ["cobol", "vba"],
            "languages": ["german", "english"],
            "company_ids": ["co_acme"],
            "profile_ids": [somebody],
            "experience_years": {"min": 20},
            "location": {"location_ids": [ANTWERP], "countries": ["FR"]},
        },
    )
    for tier in planned.tiers:
        filters = tier.filters
        assert filters.titles is not None
        assert "intern" in filters.titles.exclude
        assert filters.skills == SkillFilter(exclude=("cobol", "vba"))
        assert filters.exclude_company_ids == ("co_acme",)
        assert filters.exclude_profile_ids == (somebody,)
        assert ANTWERP in filters.exclude_location_ids
        assert filters.none_of == (
            PeopleFilters(languages=("german", "english")),
            PeopleFilters(experience_years={"min": 20}),
        )
    assert planned.summary.split("Left out: ")[1].startswith(
        "the title intern, the skill cobol, the skill vba, speakers of German, speakers of English, people in Antwerp,"
        " people in France, people with at least 20 years of experience and 2 more."
    )


def test_an_excluded_country_is_left_out_of_the_wanted_ones_or_of_the_world() -> None:
    of_two = made(must=TITLES | {"location": {"countries": ["BE", "NL"]}}, exclude={"location": {"countries": ["NL"]}})
    assert of_two.tiers[0].filters.countries == ("BE",)
    assert of_two.tiers[0].filters.none_of == ()
    border = {"location": {"anchor_location_id": place("Terneuzen")}}
    cut = made(must=TITLES | border, exclude={"location": {"countries": ["BE"]}})
    assert {reference().places.get(spot).country_code for spot in cut.tiers[0].filters.location_ids} == {"NL"}
    of_all = made(must=TITLES, exclude={"location": {"countries": ["NL"]}})
    assert of_all.tiers[0].filters.none_of == (PeopleFilters(countries=("NL",)),)


@pytest.mark.parametrize(
    ("blocks", "field"),
    [
        ({}, "must.titles"),
        ({"nice": TITLES}, "must.titles"),
        ({"target_companies": ["Nobody"]}, "target_companies"),
        ({"must": TITLES, "exclude": {"titles": ["data"]}}, "exclude.titles"),
        ({"must": TITLES | {"skills": ["sql"]}, "exclude": {"skills": ["SQL"]}}, "exclude.skills"),
        ({"must": TITLES | {"languages": ["dutch"]}, "exclude": {"languages": ["dutch"]}}, "exclude.languages"),
        ({"must": {"company_ids": ["co_acme"]}, "exclude": {"company_ids": ["co_acme"]}}, "exclude.company_ids"),
        (
            {"must": TITLES | {"location": {"countries": ["BE"]}}, "exclude": {"location": {"countries": ["BE"]}}},
            "must.location.countries",
        ),
        ({"must": TITLES | {"location": {"location_ids": ["loc_1"]}}}, "must.location.location_ids"),
        ({"must": TITLES | {"location": {"anchor_location_id": "loc_1"}}}, "must.location.anchor_location_id"),
        ({"must": TITLES, "nice": {"location": {"location_ids": ["loc_1"]}}}, "nice.location.location_ids"),
        ({"must": TITLES, "exclude": {"location": {"location_ids": ["loc_1"]}}}, "exclude.location.location_ids"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_its_field(blocks: dict[str, Any], field: str) -> None:
    assert refused(**blocks).details["field"] == field


def test_target_companies_alone_need_no_title() -> None:
    planned = made(target_companies=["acme"], must={"location": {"countries": ["BE"]}})
    assert labels(planned) == ["People at the wanted companies in Belgium"]
    assert planned.tiers[0].filters.company_ids == ("co_acme",)
    assert planned.tiers[0].filters.titles is None
    without_interns = made(target_companies=["acme"], exclude={"titles": ["intern"]})
    assert without_interns.tiers[0].filters.titles == TitleFilter(exclude=("intern",))


def test_an_ambiguous_or_unknown_company_is_left_out_with_its_alternatives() -> None:
    planned = made(must=TITLES, target_companies=["Acme", "Bolt", "Nobody"])
    assert planned.tiers[0].filters.company_ids == ("co_acme",)
    assert any("Bolt (EE) (co_bolta) or Bolt (US) (co_boltb)" in warning for warning in planned.warnings)
    assert any("Nobody" in warning for warning in planned.warnings)
    assert planned.ignored_fields == ()


def test_target_companies_of_which_none_is_certain_are_ignored_aloud() -> None:
    planned = made(must=TITLES, target_companies=["Bolt"])
    assert planned.ignored_fields == ("target_companies",)
    assert planned.tiers[0].filters.company_ids == ()
    assert any("all companies are searched" in warning for warning in planned.warnings)


def test_a_title_without_neighbours_is_searched_alone_and_says_so() -> None:
    planned = made(must={"titles": ["Chief of Nothing"], "location": {"countries": ["BE"]}})
    assert labels(planned) == ["Exact titles in Belgium"]
    assert any("No nearby titles" in warning for warning in planned.warnings)


def test_many_required_skills_are_warned_about() -> None:
    few = made(must=TITLES | {"skills": ["a", "b", "c"]})
    many = made(must=TITLES | {"skills": ["a", "b", "c", "d"]})
    assert not any("all required" in warning for warning in few.warnings)
    assert any("4 skills are all required" in warning for warning in many.warnings)


def test_what_the_source_cannot_apply_is_ignored_aloud() -> None:
    class Plain(PeopleSourceAbilities):
        """A source that knows titles and places alone."""

    source = Plain(
        "plain",
        frozenset({"titles", "location_ids", "exclude_location_ids", "countries", "all_of", "none_of"}),
        PEOPLE_DATA_LABS.vocabulary_file,
    )
    intent = Intent.model_validate(
        {
            "must": TITLES | {"languages": ["dutch"], "skills": ["sql"]},
            "nice": {"experience_years": {"min": 3}},
            "exclude": {"profile_ids": [f"prof_{'0' * 26}"], "company_ids": ["co_acme"], "titles": ["intern"]},
        }
    )
    planned = plan_search(intent, dataclasses.replace(knowledge(), source=source), totals={})
    assert planned.ignored_fields == (
        "must.skills",
        "must.languages",
        "nice.experience_years",
        "exclude.company_ids",
        "exclude.profile_ids",
    )
    assert (
        planned.tiers[0].filters
        == plan_search(
            Intent.model_validate({"must": TITLES, "exclude": {"titles": ["intern"]}}), knowledge(), totals={}
        )
        .tiers[0]
        .filters
    )
    assert sum("was ignored" in warning for warning in planned.warnings) == 5
    assert planned.tiers[0].query_key != made(must=TITLES, exclude={"titles": ["intern"]}).tiers[0].query_key


def test_a_country_the_source_does_not_know_is_warned_about_or_refused() -> None:
    planned = made(must=TITLES | {"location": {"countries": ["BE", "AN"]}})
    assert planned.tiers[0].filters.countries == ("BE",)
    assert any("does not know AN" in warning for warning in planned.warnings)
    alone = refused(must=TITLES | {"location": {"countries": ["AN"]}})
    assert alone.details["field"] == "must.location.countries"


def test_read_values_are_distinguished_from_given_values() -> None:
    intent = Intent.model_validate({"must": TITLES | NEAR_GHENT | {"skills": ["sql"]}})
    planned = plan_search(intent, knowledge(), totals={}, described={"must.titles", "must.location"})
    origins = {one.field: one.origin for one in planned.applied_filters}
    assert origins["must.titles"] is Origin.DESCRIPTION
    assert origins["must.location.anchor_location_id"] is Origin.DESCRIPTION
    assert origins["must.skills"] is Origin.INTENT
    fields = [one.field.split(".")[1] for one in planned.applied_filters]
    assert fields == sorted(fields, key=["titles", "location", "skills"].index)


def test_the_summary_tells_the_whole_plan() -> None:
    planned = made(
        must=TITLES
        | NEAR_GHENT
        | {"skills": ["sql"], "languages": ["dutch"], "experience_years": {"min": 2, "max": 6}},
        nice={"skills": ["Kafka"]},
        target_companies=["Acme"],
    )
    assert planned.summary == (
        "Later tiers go beyond the area asked for: 20 to 50 km from Ghent, then 50 to 100 km from Ghent, then in"
        " the rest of Belgium. Data Engineer, data platform engineer or dataingenieur within 20 km of Ghent."
        " Nearby titles: analytics engineer, etl developer and backend engineer."
        " Everyone must have sql, Dutch, 2 to 6 years of experience and a job at the wanted company."
        " People who state no languages or skills come later; those who state another are left out."
        " People with Kafka come first."
        " Up to 30 people for 30 to 90 credits."
    )


def test_another_target_has_its_own_price_and_nothing_else() -> None:
    planned = made(must=TITLES | NEAR_GHENT)
    other = retargeted(planned, 60)
    assert other == plan_search(Intent.model_validate({"must": TITLES | NEAR_GHENT}), knowledge(), totals={}, target=60)
    assert retargeted(other, 30) == planned


@pytest.mark.parametrize("target", [29, 61])
def test_a_target_outside_its_bounds_is_a_defect_of_the_caller(target: int) -> None:
    with pytest.raises(ValueError, match="30 to 60"):
        plan_search(Intent.model_validate({"must": TITLES}), knowledge(), totals={}, target=target)


def test_protected_characteristics_are_never_searched_and_named() -> None:
    asked = {"titles": ["Data Engineer", "woman"], "skills": ["christian", "sql"], "languages": ["under 35"]}
    planned = made(must=asked, nice={"skills": ["male"]}, exclude={"titles": ["men"], "degrees": ["married"]})
    assert planned.ignored_fields == (
        "must.titles",
        "must.skills",
        "must.languages",
        "nice.skills",
        "exclude.titles",
        "exclude.degrees",
    )
    assert "“woman” (gender) is a protected characteristic and is never searched." in planned.warnings
    assert [tier.filters for tier in planned.tiers] == [
        tier.filters for tier in made(must=TITLES | {"skills": ["sql"]}).tiers
    ]
