"""Intents: drafted from texts and fields, merged field by field, refused without a trace."""

from typing import Any

import pytest

from models.base.database import Database
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.sourcing.sourcing import ADVERTISEMENT, DATA_ENGINEER, written

GHENT = "loc_2797656"
LONG = "Data Engineer " * 4286  # 60,004 characters


async def create(workspace: Workspace, **body: Any) -> dict[str, Any]:
    answer = await workspace.http.post("/v1/intents", json=body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    assert answer.headers["Location"] == f"/v1/intents/{made['id']}"
    return made


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "job_description"),
        ({"job_description": None, "intent": None}, "job_description"),
        ({"job_description": ""}, "job_description"),
        ({"job_description": " \n\t "}, "job_description"),
        ({"job_description": LONG}, "job_description"),
        ({"job_description": "\x7fELF\x02\x01\x01"}, "job_description"),
        ({"job_description": "Data Engineer\x00"}, "job_description"),
        ({"job_description": 5}, "job_description"),
        ({"job_description": ["Data Engineer"]}, "job_description"),
        ({"job_description": "....."}, "job_description"),
        ({"intent": "Data Engineer"}, "intent"),
        ({"intent": {}}, "intent.must.titles"),
        ({"intent": {"titles": "Data Engineer"}}, "intent.titles"),
        ({"intent": {"titles": []}}, "intent.must.titles"),
        ({"intent": {"titles": [""]}}, "intent.titles.0"),
        ({"intent": {"titles": ["t"] * 31}}, "intent.titles"),
        ({"intent": {"title": ["Nurse"]}}, "intent.title"),
        ({"intent": {"must": {"profile_ids": []}}}, "intent.must.profile_ids"),
        ({"intent": {"titles": ["Nurse"], "must": {"titles": ["Nurse"]}}}, "intent.titles"),
        ({"intent": {"location": None, "must": {"titles": ["Nurse"], "location": None}}}, "intent.location"),
        ({"intent": {"titles": ["Nurse"], "location": {"countries": ["XX"]}}}, "intent.location.countries.0"),
        ({"intent": {"must": {"location": {"countries": ["Belgium"]}}}}, "intent.must.location.countries.0"),
        ({"intent": {"titles": ["Nurse"], "location": {"location_ids": ["loc_1"]}}}, "intent.location.location_ids.0"),
        ({"intent": {"titles": ["Nurse"], "location": {"location_ids": ["Ghent"]}}}, "intent.location.location_ids.0"),
        ({"intent": {"location": {"anchor_location_id": "loc_2802361"}}}, "intent.location.anchor_location_id"),
        ({"intent": {"location": {"radius_km": 50}}}, "intent.location"),
        (
            {"intent": {"location": {"anchor_location_id": "loc_2797656", "radius_km": 0}}},
            "intent.location.radius_km",
        ),
        (
            {"intent": {"location": {"anchor_location_id": "loc_2797656", "radius_km": 201}}},
            "intent.location.radius_km",
        ),
        ({"intent": {"experience_years": {"min": 5, "max": 3}}}, "intent.experience_years"),
        ({"intent": {"experience_years": {"min": -1}}}, "intent.experience_years.min"),
        ({"intent": {"experience_years": {"min": "3"}}}, "intent.experience_years.min"),
        ({"intent": {"languages": ["Klingonish"]}}, "intent.languages.0"),
        ({"intent": {"seniority": ["emperor"]}}, "intent.seniority.0"),
        ({"intent": {"nice": {"industries": ["wizardry"]}}}, "intent.nice.industries.0"),
        ({"intent": {"exclude": {"company_sizes": ["12"]}}}, "intent.exclude.company_sizes.0"),
        ({"intent": {"past_company_ids": ["co_nobody"]}}, "intent.past_company_ids.0"),
        ({"intent": {"tenure_months": {"min": 5, "max": 2}}}, "intent.tenure_months"),
        ({"intent": {"location": {"only": True}}}, "intent.location"),
        ({"intent": {"location": {"areas": [{"location_id": "loc_1"}]}}}, "intent.location.areas.0.location_id"),
        ({"intent": {"location": {"areas": [{"location_id": GHENT}] * 11}}}, "intent.location.areas"),
        ({"intent": {"company_ids": ["Acme"]}}, "intent.company_ids.0"),
        ({"intent": {"company_ids": ["co_nobody"]}}, "intent.company_ids.0"),
        ({"intent": {"exclude": {"profile_ids": ["somebody"]}}}, "intent.exclude.profile_ids.0"),
        ({"intent": {"target_companies": ["c"] * 201}}, "intent.target_companies"),
        ({"intent": {"target_companies": ["Nobody Knows This Firm"]}}, "intent.target_companies"),
        ({"intent": {"titles": ["Nurse"], "exclude": {"titles": ["nurse"]}}}, "intent.exclude.titles"),
        (
            {"intent": {**DATA_ENGINEER, "exclude": {"location": {"countries": ["BE"]}}}},
            "intent.must.location.countries",
        ),
        ({"intent": {**DATA_ENGINEER, "skills": ["SQL"], "exclude": {"skills": ["sql"]}}}, "intent.exclude.skills"),
    ],
)
async def test_bad_input_is_named_and_nothing_is_written(
    workspace: Workspace, database: Database, body: dict[str, Any], field: str
) -> None:
    before = await written(database)
    error_of(await workspace.http.post("/v1/intents", json=body), 400, "invalid_request", field)
    assert await written(database) == before


async def test_a_text_without_a_title_says_how_to_go_on(workspace: Workspace) -> None:
    error = error_of(
        await workspace.http.post("/v1/intents", json={"job_description": "....."}),
        400,
        "invalid_request",
        "job_description",
    )
    assert "title" in error["fix"]


async def test_a_description_becomes_an_intent_with_evidence_and_its_text_is_not_kept(
    workspace: Workspace, database: Database
) -> None:
    made = await create(workspace, job_description=ADVERTISEMENT)
    assert made["object"] == "intent"
    assert made["must"]["titles"][0] == "Data Engineer"
    assert made["must"]["experience_years"] == {"min": 3, "max": None}
    assert made["evidence"]
    for one in made["evidence"]:
        assert ADVERTISEMENT[one["start"] : one["end"]] == one["quote"]
    assert {"field": "must.titles", "value": made["must"]["titles"], "origin": "description"} in made["applied_filters"]
    rows = await run_sql(database, "select content::text || reading::text from intents where id = :id", id=made["id"])
    assert "builds data pipelines" not in rows[0][0]
    assert (await workspace.http.get(f"/v1/intents/{made['id']}")).json() == made


async def test_a_given_field_replaces_what_was_read_with_its_evidence(workspace: Workspace) -> None:
    made = await create(
        workspace,
        job_description=ADVERTISEMENT,
        intent={"experience_years": {"min": 8}, "must": {"location": {"countries": ["UK"]}}},
    )
    assert made["must"]["experience_years"] == {"min": 8, "max": None}
    assert made["must"]["location"]["countries"] == ["GB"]
    assert made["must"]["location"]["anchor_location_id"] is None
    assert not [one for one in made["evidence"] if one["field"].startswith(("must.experience", "must.location"))]
    origins = {one["field"]: one["origin"] for one in made["applied_filters"]}
    assert origins["must.titles"] == "description"
    assert origins["must.experience_years"] == "intent"


async def test_languages_and_countries_are_kept_in_one_spelling(workspace: Workspace) -> None:
    intent = {"titles": ["Nurse"], "languages": ["Néerlandais", "Deutsch"], "location": {"countries": ["uk", "be"]}}
    made = await create(workspace, intent=intent)
    assert made["must"]["languages"] == ["dutch", "german"]
    assert made["must"]["location"]["countries"] == ["GB", "BE"]


async def test_a_change_replaces_given_fields_and_null_clears(workspace: Workspace) -> None:
    made = await create(
        workspace,
        intent={
            **DATA_ENGINEER,
            "skills": ["SQL"],
            "nice": {"skills": ["Kafka"]},
            "exclude": {"titles": ["intern"], "skills": ["cobol"]},
            "target_companies": ["Siemens"],
        },
    )
    answer = await workspace.http.patch(
        f"/v1/intents/{made['id']}",
        json={
            "must": {"skills": None, "experience_years": {"min": 2}},
            "nice": None,
            "exclude": {"titles": ["student"]},
            "target_companies": None,
        },
    )
    assert answer.status_code == 200, answer.text
    changed = answer.json()
    assert changed["must"]["titles"] == ["Data Engineer"]
    assert changed["must"]["location"]["countries"] == ["BE"]
    assert changed["must"]["skills"] == []
    assert changed["must"]["experience_years"] == {"min": 2, "max": None}
    assert changed["nice"]["skills"] == []
    assert changed["exclude"]["titles"] == ["student"]
    assert changed["exclude"]["skills"] == ["cobol"]
    assert changed["target_companies"] == []
    assert changed["created_at"] == made["created_at"]
    assert changed["updated_at"] > made["updated_at"]
    assert (await workspace.http.get(f"/v1/intents/{made['id']}")).json() == changed


async def test_null_within_a_place_is_what_is_not_given(workspace: Workspace) -> None:
    place = {"anchor_location_id": "loc_2797656", "radius_km": None, "countries": None, "location_ids": None}
    made = await create(workspace, intent={"titles": ["Nurse"], "location": place})
    assert made["must"]["location"]["anchor_location_id"] == "loc_2797656"
    assert made["must"]["location"]["countries"] == made["must"]["location"]["location_ids"] == []


async def test_a_refused_change_leaves_the_intent_as_it_was(workspace: Workspace) -> None:
    made = await create(workspace, intent=DATA_ENGINEER)
    address = f"/v1/intents/{made['id']}"
    error_of(
        await workspace.http.patch(address, json={"must": {"titles": None}}), 400, "invalid_request", "must.titles"
    )
    error_of(await workspace.http.patch(address, json={"must": {"title": []}}), 400, "invalid_request", "must.title")
    assert (await workspace.http.get(address)).json() == made


async def test_an_intent_of_target_companies_alone_needs_no_title(workspace: Workspace) -> None:
    made = await create(workspace, intent={"target_companies": ["Siemens", "Nobody Knows This Firm"]})
    assert made["must"]["titles"] == []
    assert any("Nobody Knows This Firm" in warning for warning in made["warnings"])


async def test_intents_are_listed_newest_first_and_only_to_their_owner(
    sign_up: Any,
) -> None:
    one, other = await sign_up(), await sign_up()
    made = [await create(one, intent={"titles": [f"Role {number}"]}) for number in range(3)]
    page = (await one.http.get("/v1/intents?limit=2")).json()
    assert [intent["id"] for intent in page["data"]] == [made[2]["id"], made[1]["id"]]
    rest = (await one.http.get("/v1/intents", params={"limit": 2, "cursor": page["next_cursor"]})).json()
    assert [intent["id"] for intent in rest["data"]] == [made[0]["id"]]
    assert rest["has_more"] is False
    assert (await other.http.get("/v1/intents")).json()["data"] == []
    error_of(await other.http.get(f"/v1/intents/{made[0]['id']}"), 404, "not_found")
    error_of(await other.http.patch(f"/v1/intents/{made[0]['id']}", json={}), 404, "not_found")


async def test_reading_makes_intents_and_only_writing_changes_them(workspace: Workspace, key_of: Any) -> None:
    reader = await key_of(workspace, scopes=["sourcing:read"])
    answer = await reader.post("/v1/intents", json={"intent": DATA_ENGINEER})
    assert answer.status_code == 201
    refused = await reader.patch(f"/v1/intents/{answer.json()['id']}", json={})
    assert error_of(refused, 403, "insufficient_scope")["details"]["required_scope"] == "sourcing:write"
    await reader.aclose()


async def test_everything_a_search_can_filter_by_is_given_changed_and_cleared(workspace: Workspace) -> None:
    block = {
        "titles": ["Controller"],
        "location": {"areas": [{"location_id": GHENT, "radius_km": 20, "only": True}]},
        "seniority": ["Senior"],
        "industries": ["banking"],
        "functions": ["finance"],
        "tenure_months": {"min": 24},
        "degrees": ["masters"],
        "majors": ["economics"],
        "company_sizes": ["51-200"],
        "company_types": ["private"],
    }
    made = await create(workspace, intent={"must": block, "exclude": {"seniority": ["owner"]}})
    assert made["must"]["seniority"] == ["senior"]
    assert made["must"]["tenure_months"] == {"min": 24, "max": None}
    assert made["must"]["location"]["areas"] == [{"location_id": GHENT, "radius_km": 20, "only": True}]
    assert made["exclude"]["seniority"] == ["owner"]
    assert made["ignored_fields"] == ["must.tenure_months"]
    cleared: dict[str, Any] = {"seniority": None, "tenure_months": None, "degrees": []}
    after = (await workspace.http.patch(f"/v1/intents/{made['id']}", json={"must": cleared})).json()
    assert (after["must"]["seniority"], after["must"]["tenure_months"], after["must"]["degrees"]) == ([], None, [])
    assert after["must"]["majors"] == ["economics"]
    assert after["ignored_fields"] == []
