"""Search plans: what is asked becomes a priced ladder; immutable, free, refused without a trace."""

from typing import Any

import pytest

from models.base.database import Database
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.sourcing.sourcing import ADVERTISEMENT, DATA_ENGINEER, written

GHENT = "loc_2797656"
NOBODY = "int_00000000000000000000000000"


async def plan(workspace: Workspace, **body: Any) -> dict[str, Any]:
    answer = await workspace.http.post("/v1/search-plans", json=body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    assert answer.headers["Location"] == f"/v1/search-plans/{made['id']}"
    return made


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "job_description"),
        ({"intent": DATA_ENGINEER, "target": 29}, "target"),
        ({"intent": DATA_ENGINEER, "target": 61}, "target"),
        ({"intent": DATA_ENGINEER, "target": "30"}, "target"),
        ({"intent": DATA_ENGINEER, "target": 30.5}, "target"),
        ({"intent": DATA_ENGINEER, "intent_id": NOBODY}, "intent_id"),
        ({"job_description": ADVERTISEMENT, "intent_id": NOBODY}, "intent_id"),
        ({"intent_id": 7}, "intent_id"),
        ({"job_description": ""}, "job_description"),
        ({"plan_id": "plan_1"}, "plan_id"),
    ],
)
async def test_bad_input_is_named_and_nothing_is_written(
    workspace: Workspace, database: Database, body: dict[str, Any], field: str
) -> None:
    before = await written(database)
    error_of(await workspace.http.post("/v1/search-plans", json=body), 400, "invalid_request", field)
    assert await written(database) == before


async def test_an_unknown_intent_is_not_found(workspace: Workspace) -> None:
    error_of(await workspace.http.post("/v1/search-plans", json={"intent_id": NOBODY}), 404, "not_found", "intent_id")


async def test_a_plan_is_a_labelled_priced_ladder(workspace: Workspace) -> None:
    made = await plan(
        workspace,
        intent={
            "titles": ["Data Engineer"],
            "location": {"anchor_location_id": GHENT},
            "nice": {"skills": ["Kafka"]},
        },
        target=45,
    )
    assert [(tier["tier"], tier["label"]) for tier in made["tiers"]] == [
        (1, "Exact titles within 25 km of Ghent, with Kafka"),
        (2, "Exact titles within 25 km of Ghent, without Kafka"),
        (3, "Exact titles 25 to 50 km from Ghent, with Kafka"),
        (4, "Exact titles 25 to 50 km from Ghent, without Kafka"),
        (5, "Nearby titles within 50 km of Ghent, with Kafka"),
        (6, "Nearby titles within 50 km of Ghent, without Kafka"),
        (7, "Exact titles 50 to 100 km from Ghent, with Kafka"),
        (8, "Exact titles 50 to 100 km from Ghent, without Kafka"),
        (9, "Nearby titles 50 to 100 km from Ghent, with Kafka"),
        (10, "Nearby titles 50 to 100 km from Ghent, without Kafka"),
        (11, "Exact titles in the rest of Belgium, with Kafka"),
        (12, "Exact titles in the rest of Belgium, without Kafka"),
        (13, "Nearby titles in the rest of Belgium, with Kafka"),
        (14, "Nearby titles in the rest of Belgium, without Kafka"),
    ]
    assert made["target"] == 45
    assert made["estimate"]["credits_min"] == 45
    assert made["estimate"]["credits_max"] == 135
    assert made["estimate"]["per_person"] == {"lead": 1, "live_profile": 2}
    assert made["anchor"]["location_id"] == GHENT
    assert {"field": "must.location.radius_km", "value": 50, "origin": "default"} in made["applied_filters"]
    assert made["anchors"] == [made["anchor"]]
    near, local, outer, rest = (made["tiers"][number]["filters"] for number in (0, 4, 6, 10))
    assert set(near["location_ids"]) < set(local["location_ids"])
    assert outer["exclude_location_ids"] == local["location_ids"]
    assert rest["countries"] == ["BE"]
    assert rest["exclude_location_ids"] == [*local["location_ids"], *outer["location_ids"]]
    assert made["summary"].endswith("Up to 45 people for 45 to 135 credits.")


async def test_a_plan_stays_when_its_intent_changes(workspace: Workspace) -> None:
    intent = (await workspace.http.post("/v1/intents", json={"intent": DATA_ENGINEER})).json()
    before = await plan(workspace, intent_id=intent["id"])
    assert before["intent_id"] == intent["id"]
    await workspace.http.patch(f"/v1/intents/{intent['id']}", json={"must": {"titles": ["Nurse"]}})
    after = await plan(workspace, intent_id=intent["id"])
    assert after["id"] != before["id"]
    assert "Nurse" in after["summary"]
    assert (await workspace.http.get(f"/v1/search-plans/{before['id']}")).json() == before


async def test_a_description_is_kept_as_an_intent(workspace: Workspace) -> None:
    made = await plan(workspace, job_description=ADVERTISEMENT)
    intent = (await workspace.http.get(f"/v1/intents/{made['intent_id']}")).json()
    assert intent["evidence"]
    assert set(intent["warnings"]) <= set(made["warnings"])


async def test_remembered_totals_become_the_estimate_for_thirty_days(workspace: Workspace, database: Database) -> None:
    first = await plan(workspace, intent={"titles": ["Data Engineer"], "location": {"countries": ["LU"]}})
    for number, tier in enumerate(first["tiers"], start=1):
        await run_sql(
            database,
            "insert into query_totals (query_key, total, created_at)"
            " values (:key, :total, service_now() - make_interval(days => :age))",
            key=tier["query_key"],
            total=number * 7,
            age=29 if number == 1 else 31,
        )
    again = await plan(workspace, intent={"titles": ["data engineer"], "location": {"countries": ["LU"]}})
    assert [tier["query_key"] for tier in again["tiers"]] == [tier["query_key"] for tier in first["tiers"]]
    assert again["tiers"][0]["estimated_people"] == 7
    assert again["tiers"][0]["estimated_pages"] == 1
    rough = first["tiers"][1]["estimated_people"]
    assert 0 < again["tiers"][1]["estimated_people"] < rough, "the statistics were too high where people were counted"


async def test_plans_are_listed_only_to_their_owner(sign_up: Any) -> None:
    one, other = await sign_up(), await sign_up()
    made = [await plan(one, intent=DATA_ENGINEER) for _ in range(2)]
    listed = (await one.http.get("/v1/search-plans")).json()
    assert listed["data"] == [made[1], made[0]]
    assert (await other.http.get("/v1/search-plans")).json()["data"] == []
    error_of(await other.http.get(f"/v1/search-plans/{made[0]['id']}"), 404, "not_found")
    error_of(
        await other.http.post("/v1/search-plans", json={"intent_id": made[0]["intent_id"]}),
        404,
        "not_found",
        "intent_id",
    )


async def test_a_cursor_of_another_list_is_refused(workspace: Workspace) -> None:
    for _ in range(2):
        await plan(workspace, intent=DATA_ENGINEER)
    cursor = (await workspace.http.get("/v1/intents?limit=1")).json()["next_cursor"]
    refused = await workspace.http.get("/v1/search-plans", params={"cursor": cursor})
    error_of(refused, 400, "invalid_request", "cursor")
