"""Runs at the API: started once from exactly one source, previewed for nothing, extended and cancelled."""

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx
import pytest

from models.base.database import Database
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.sourcing.sourcing import ADVERTISEMENT, DATA_ENGINEER, fund, start, written

PLAN = "plan_00000000000000000000000000"
INTENT = "int_00000000000000000000000000"
RUN = "run_00000000000000000000000000"


@pytest.fixture
async def rich(workspace: Workspace, database: Database) -> Workspace:
    """A workspace with credits."""
    await fund(database, workspace)
    return workspace


async def preview(http: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    answer = await http.post("/v1/runs?dry_run=true", json=body)
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    assert shown["dry_run"] is True
    return shown


FINISH = """update runs set status = :status, stop_reason = :reason, started_at = service_now(),
                              finished_at = service_now(), answered = rings where id = :id"""


async def finish(
    database: Database, run_id: str, *, status: str = "completed", stop_reason: str | None = "finish"
) -> None:
    """End a run as its workflow would."""
    await run_sql(database, FINISH, id=run_id, status=status, reason=stop_reason)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "job_description"),
        ({"plan_id": PLAN, "intent_id": INTENT}, "intent_id"),
        ({"plan_id": PLAN, "job_description": ADVERTISEMENT}, "job_description"),
        ({"plan_id": PLAN, "intent": DATA_ENGINEER}, "intent"),
        ({"intent_id": INTENT, "job_description": ADVERTISEMENT, "intent": DATA_ENGINEER}, "job_description"),
        ({"job_description": ""}, "job_description"),
        ({"job_description": "x" * 60_000}, "job_description"),
        ({"intent": DATA_ENGINEER, "target": 29}, "target"),
        ({"intent": DATA_ENGINEER, "target": 61}, "target"),
        ({"intent": DATA_ENGINEER, "target": True}, "target"),
        ({"intent": DATA_ENGINEER, "budget": {"max_credit": 1}}, "budget.max_credit"),
        ({"intent": DATA_ENGINEER, "budget": {"max_credits": -1}}, "budget.max_credits"),
        ({"intent": DATA_ENGINEER, "budget": {"max_pages": "2"}}, "budget.max_pages"),
        ({"intent": DATA_ENGINEER, "budget": {"max_profile_fetches": 2**31}}, "budget.max_profile_fetches"),
        ({"intent": DATA_ENGINEER, "budget": 90}, "budget"),
        ({"intent": DATA_ENGINEER, "mark_seen": "true"}, "mark_seen"),
        ({"intent": DATA_ENGINEER, "targets": 30}, "targets"),
        ({"intent": {"titles": ["Nurse"], "location": {"countries": ["ZZ"]}}}, "intent.location.countries.0"),
    ],
)
@pytest.mark.parametrize("query", ["", "?dry_run=true"])
async def test_bad_input_is_named_and_nothing_is_written(
    rich: Workspace, database: Database, body: dict[str, Any], field: str, query: str
) -> None:
    before = await written(database)
    refused = await rich.http.post(f"/v1/runs{query}", json=body, headers={"Idempotency-Key": uuid4().hex})
    error_of(refused, 400, "invalid_request", field)
    assert await written(database) == before


@pytest.mark.parametrize(("body", "field"), [({"plan_id": PLAN}, "plan_id"), ({"intent_id": INTENT}, "intent_id")])
async def test_an_unknown_source_is_not_found(rich: Workspace, body: dict[str, Any], field: str) -> None:
    error_of(await start(rich.http, intent=None, **body), 404, "not_found", field)


async def test_a_preview_shows_plan_and_price_and_leaves_nothing(workspace: Workspace, database: Database) -> None:
    before = await written(database)
    shown = await preview(workspace.http, job_description=ADVERTISEMENT, target=40)
    assert shown["plan"]["id"] is None
    assert shown["plan"]["tiers"]
    assert shown["estimate"] == shown["plan"]["estimate"]
    assert shown["estimate"]["credits_max"] == 120
    assert shown["budget"]["max_credits"] == 120
    assert shown["would_fail"] == {"code": "insufficient_credits"}
    assert (shown["required_credits"], shown["balance_credits"]) == (40, 0)
    assert await written(database) == before


async def test_a_start_gives_run_and_plan_and_keeps_both_with_the_intent(rich: Workspace, database: Database) -> None:
    answer = await start(rich.http, target=50, budget={"max_credits": 70, "max_pages": 3}, mark_seen=False)
    assert answer.status_code == 202, answer.text
    made = answer.json()
    assert set(made) == {"run", "plan"}
    run = made["run"]
    assert answer.headers["Location"] == f"/v1/runs/{run['id']}"
    assert run == {
        "id": run["id"],
        "object": "run",
        "status": "queued",
        "stop_reason": None,
        "finish_detail": None,
        "failure": None,
        "retry_at": None,
        "plan_id": made["plan"]["id"],
        "intent_id": made["plan"]["intent_id"],
        "customer_id": None,
        "target": 50,
        "budget": {"max_credits": 70, "max_pages": 3, "max_profile_fetches": None},
        "mark_seen": False,
        "progress": {
            "tier": None,
            "people_looked_at": 0,
            "duplicates_skipped": 0,
            "candidates_delivered": 0,
            "target": 50,
        },
        "spent": {"credits": 0, "pages": 0, "profile_fetches": 0},
        "omitted": {"suppressed": 0},
        "query_key": None,
        "suggestions": [],
        "cancel_requested_at": None,
        "created_at": run["created_at"],
        "started_at": None,
        "finished_at": None,
    }
    assert (await rich.http.get(f"/v1/runs/{run['id']}")).json() == run
    assert (await rich.http.get(f"/v1/search-plans/{run['plan_id']}")).json() == made["plan"]
    assert (await rich.http.get(f"/v1/intents/{run['intent_id']}")).status_code == 200
    rung = await run_sql(database, "select rings, answered from runs where id = :id", id=run["id"])
    assert tuple(rung[0]) == (1, 0)


async def test_the_default_budget_is_the_estimate_and_the_default_target_the_plans(rich: Workspace) -> None:
    plan = (await rich.http.post("/v1/search-plans", json={"intent": DATA_ENGINEER, "target": 55})).json()
    run = (await start(rich.http, intent=None, plan_id=plan["id"])).json()["run"]
    assert (run["target"], run["budget"]["max_credits"], run["plan_id"]) == (55, 165, plan["id"])


async def test_a_plan_run_for_another_target_is_priced_for_it_and_stays_as_it_was(rich: Workspace) -> None:
    plan = (await rich.http.post("/v1/search-plans", json={"intent": DATA_ENGINEER})).json()
    shown = await preview(rich.http, plan_id=plan["id"], target=60)
    assert shown["plan"]["id"] == plan["id"]
    assert shown["plan"]["target"] == 60
    assert shown["estimate"]["credits_max"] == 180
    assert shown["plan"]["summary"].endswith("Up to 60 people for 60 to 180 credits.")
    run = (await start(rich.http, intent=None, plan_id=plan["id"], target=60)).json()["run"]
    assert (run["target"], run["budget"]["max_credits"]) == (60, 180)
    assert (await rich.http.get(f"/v1/search-plans/{plan['id']}")).json() == plan


async def test_a_stored_intent_is_run_and_not_stored_again(rich: Workspace) -> None:
    intent = (await rich.http.post("/v1/intents", json={"intent": DATA_ENGINEER})).json()
    run = (await start(rich.http, intent=None, intent_id=intent["id"])).json()["run"]
    assert run["intent_id"] == intent["id"]
    assert len((await rich.http.get("/v1/intents")).json()["data"]) == 1


@pytest.mark.parametrize(
    ("budget", "required", "answered"),
    [({}, 30, 402), ({"max_credits": 12}, 12, 202), ({"max_credits": 13}, 13, 402), ({"max_credits": 0}, 0, 202)],
)
async def test_a_start_needs_the_smaller_of_estimate_and_budget(
    workspace: Workspace, database: Database, budget: dict[str, int], required: int, answered: int
) -> None:
    await fund(database, workspace, 12)
    before = await written(database)
    answer = await start(workspace.http, budget=budget)
    assert answer.status_code == answered, answer.text
    if answered == 402:
        error = error_of(answer, 402, "insufficient_credits")
        assert error["details"]["required_credits"] == required
        assert answer.json()["required_credits"] == required
        assert answer.json()["balance_credits"] == 12
        assert await written(database) == before


async def test_a_spent_daily_cap_refuses_the_start_and_is_reported_by_the_preview(
    rich: Workspace, database: Database, key_of: Callable[..., Any]
) -> None:
    capped = await key_of(rich, scopes=["sourcing:spend", "sourcing:read"], daily_cap_credits=5)
    keys = (await rich.http.get("/v1/api-keys")).json()["data"]
    key_id = next(key["id"] for key in keys if key["daily_cap_credits"] == 5)
    await run_sql(
        database,
        "insert into daily_spends (subject_id, day, workspace_id, credits)"
        " values (:key, (service_now() at time zone 'UTC')::date, :workspace, 5)",
        key=key_id,
        workspace=rich.id,
    )
    error = error_of(await start(capped), 402, "daily_credit_cap_reached")
    assert error["details"]["cap"] == "key"
    assert error["details"]["resets_at"].endswith("T00:00:00.000Z")
    shown = await preview(capped, intent=DATA_ENGINEER)
    assert shown["would_fail"] == {"code": "daily_credit_cap_reached"}
    assert shown["next_available_at"] == error["details"]["resets_at"]
    await capped.aclose()


async def test_starting_needs_a_key_of_ones_own_and_the_scope(rich: Workspace, key_of: Callable[..., Any]) -> None:
    error_of(await rich.http.post("/v1/runs", json={"intent": DATA_ENGINEER}), 400, "idempotency_key_required")
    reader = await key_of(rich, scopes=["sourcing:read"])
    refused = error_of(await start(reader), 403, "insufficient_scope")
    assert refused["details"]["required_scope"] == "sourcing:spend"
    await preview(reader, intent=DATA_ENGINEER)
    await reader.aclose()


async def test_fifty_starts_under_one_key_are_one_run(rich: Workspace) -> None:
    async def once() -> httpx.Response:
        return await rich.http.post("/v1/runs", json={"intent": DATA_ENGINEER}, headers={"Idempotency-Key": "one"})

    answers = await asyncio.gather(*(once() for _ in range(50)))
    runs = {answer.json()["run"]["id"] for answer in answers if answer.status_code == 202}
    assert len(runs) == 1
    assert {answer.status_code for answer in answers} <= {202, 409}
    assert len((await rich.http.get("/v1/runs")).json()["data"]) == 1


async def test_two_tenants_with_one_key_each_get_their_own_run(sign_up: Any, database: Database) -> None:
    one, other = await sign_up(), await sign_up()
    ids = []
    for workspace in (one, other):
        await fund(database, workspace)
        headers = {"Idempotency-Key": "the-same"}
        ids.append(
            (await workspace.http.post("/v1/runs", json={"intent": DATA_ENGINEER}, headers=headers)).json()["run"]["id"]
        )
    assert ids[0] != ids[1]
    error_of(await other.http.get(f"/v1/runs/{ids[0]}"), 404, "not_found")
    error_of(await other.http.post(f"/v1/runs/{ids[0]}/cancel"), 404, "not_found")
    extended = await other.http.post(f"/v1/runs/{ids[0]}/extend", headers={"Idempotency-Key": "e"})
    error_of(extended, 404, "not_found")


async def test_runs_are_listed_by_status(rich: Workspace, database: Database) -> None:
    runs = [(await start(rich.http)).json()["run"] for _ in range(3)]
    await finish(database, runs[0]["id"])
    queued = (await rich.http.get("/v1/runs?status=queued")).json()["data"]
    assert [run["id"] for run in queued] == [runs[2]["id"], runs[1]["id"]]
    done = (await rich.http.get("/v1/runs?status=completed")).json()["data"]
    assert [(run["id"], run["stop_reason"]) for run in done] == [(runs[0]["id"], "finish")]
    error_of(await rich.http.get("/v1/runs?status=done"), 400, "invalid_request", "status")
    error_of(await rich.http.get("/v1/runs?limit=0"), 400, "invalid_request", "limit")
    error_of(await rich.http.get("/v1/runs?limit=101"), 400, "invalid_request", "limit")


async def test_cancelling_twice_gives_the_same_answer(rich: Workspace) -> None:
    run = (await start(rich.http)).json()["run"]
    first = await rich.http.post(f"/v1/runs/{run['id']}/cancel")
    assert first.status_code == 200
    assert first.json()["cancel_requested_at"]
    assert (await rich.http.post(f"/v1/runs/{run['id']}/cancel")).json() == first.json()


@pytest.mark.parametrize("status", ["completed", "failed"])
async def test_an_ended_run_cannot_be_cancelled(rich: Workspace, database: Database, status: str) -> None:
    run = (await start(rich.http)).json()["run"]
    await finish(database, run["id"], status=status, stop_reason=None)
    refused = await rich.http.post(f"/v1/runs/{run['id']}/cancel")
    assert error_of(refused, 409, "conflict")["details"]["status"] == status


@pytest.mark.parametrize(
    ("body", "target", "credits"),
    [({}, 50, 150), ({"add_target": 5}, 35, 105), ({"add_target": 60, "add_budget": {"max_credits": 7}}, 90, 97)],
)
async def test_an_extension_adds_to_target_and_budget(
    rich: Workspace, database: Database, body: dict[str, Any], target: int, credits: int
) -> None:
    run = (await start(rich.http)).json()["run"]
    await finish(database, run["id"])
    shown = await rich.http.post(f"/v1/runs/{run['id']}/extend?dry_run=true", json=body)
    assert shown.status_code == 200, shown.text
    assert shown.json()["run"]["target"] == target
    assert (await rich.http.get(f"/v1/runs/{run['id']}")).json()["status"] == "completed"
    answer = await rich.http.post(f"/v1/runs/{run['id']}/extend", json=body, headers={"Idempotency-Key": "e"})
    assert answer.status_code == 202, answer.text
    extended = answer.json()
    assert answer.headers["Location"] == f"/v1/runs/{run['id']}"
    assert (extended["status"], extended["stop_reason"], extended["finished_at"]) == ("queued", None, None)
    assert (extended["target"], extended["budget"]["max_credits"]) == (target, credits)
    again = await rich.http.post(f"/v1/runs/{run['id']}/extend", json=body, headers={"Idempotency-Key": "e"})
    assert again.json() == extended


@pytest.mark.parametrize("bound", ["max_credits", "max_pages", "max_profile_fetches"])
async def test_an_extension_beyond_what_a_budget_can_say_is_refused(
    rich: Workspace, database: Database, bound: str
) -> None:
    bounds = {"max_credits": 90, "max_pages": 3, "max_profile_fetches": 60}
    run = (await start(rich.http, budget=bounds)).json()["run"]
    await finish(database, run["id"])
    for query in ("?dry_run=true", ""):
        body = {"add_budget": {bound: 2**31 - 1}}
        answer = await rich.http.post(
            f"/v1/runs/{run['id']}/extend{query}", json=body, headers={"Idempotency-Key": "e"}
        )
        error_of(answer, 400, "invalid_request", f"add_budget.{bound}")
    assert (await rich.http.get(f"/v1/runs/{run['id']}")).json()["budget"] == bounds


@pytest.mark.parametrize("status", ["queued", "failed"])
async def test_an_open_or_failed_run_cannot_be_extended(rich: Workspace, database: Database, status: str) -> None:
    run = (await start(rich.http)).json()["run"]
    if status == "failed":
        await finish(database, run["id"], status="failed", stop_reason=None)
    refused = await rich.http.post(f"/v1/runs/{run['id']}/extend", headers={"Idempotency-Key": "e"})
    assert error_of(refused, 409, "conflict")["details"]["status"] == status


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"add_target": 0}, "add_target"),
        ({"add_target": 61}, "add_target"),
        ({"add_target": "20"}, "add_target"),
        ({"add_budget": {"credits": 3}}, "add_budget.credits"),
        ({"target": 20}, "target"),
    ],
)
async def test_a_bad_extension_is_named(rich: Workspace, database: Database, body: dict[str, Any], field: str) -> None:
    run = (await start(rich.http)).json()["run"]
    await finish(database, run["id"])
    refused = await rich.http.post(f"/v1/runs/{run['id']}/extend", json=body, headers={"Idempotency-Key": "e"})
    error_of(refused, 400, "invalid_request", field)


async def test_an_extension_without_the_credits_changes_nothing(workspace: Workspace, database: Database) -> None:
    run = (await start(workspace.http, budget={"max_credits": 0})).json()["run"]
    await finish(database, run["id"])
    before = (await workspace.http.get(f"/v1/runs/{run['id']}")).json()
    refused = await workspace.http.post(f"/v1/runs/{run['id']}/extend", headers={"Idempotency-Key": "e"})
    assert error_of(refused, 402, "insufficient_credits")["details"]["required_credits"] == 20
    assert (await workspace.http.get(f"/v1/runs/{run['id']}")).json() == before


async def test_a_failed_run_says_why(rich: Workspace, database: Database) -> None:
    run = (await start(rich.http)).json()["run"]
    await run_sql(database, "update runs set failure_code = 'key_revoked' where id = :id", id=run["id"])
    await finish(database, run["id"], status="failed", stop_reason=None)
    failure = (await rich.http.get(f"/v1/runs/{run['id']}")).json()["failure"]
    assert failure["code"] == "key_revoked"
    assert failure["message"]


async def test_an_unknown_run_is_not_found(workspace: Workspace) -> None:
    error_of(await workspace.http.get(f"/v1/runs/{RUN}"), 404, "not_found")
    error_of(await workspace.http.get(f"/v1/runs/{RUN}/candidates"), 404, "not_found")
