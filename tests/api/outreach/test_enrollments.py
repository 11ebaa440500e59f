"""Enrollments after they were made: listed, read, paused, resumed and stopped, each final state final."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from models.base.database import Database
from models.base.tenants import Tenant
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.outreach.accounts import action, connected
from tests.api.outreach.enrolling import ENROLLMENTS, enrolled, enrollment_row, sequence
from tests.api.people.people import fetched, meet, slug


@pytest.fixture(autouse=True)
async def verified(database: Database, workspace: Workspace) -> None:
    await run_sql(database, "update workspaces set verified_at = now() where id = :id", id=workspace.id)


@pytest.fixture
async def account_id(database: Database, workspace: Workspace) -> str:
    return await connected(database, Tenant(workspace.id))


@pytest.fixture
async def enrollment_id(database: Database, workspace: Workspace, account_id: str) -> str:
    """A person who is scheduled for an invite."""
    made = await sequence(workspace, account_id)
    profile_id = await fetched(database, Tenant(workspace.id), slug())
    (row,) = (await enrolled(workspace, made["id"], profile_ids=[profile_id]))["enrollments"]
    return str(row["id"])


async def call(workspace: Workspace, enrollment_id: str, what: str, *, dry_run: bool = False) -> httpx.Response:
    query = "?dry_run=true" if dry_run else ""
    path = f"{ENROLLMENTS}/{enrollment_id}/{what}{query}"
    return await workspace.http.post(path, headers={"Idempotency-Key": uuid4().hex})


async def read(workspace: Workspace, enrollment_id: str) -> dict[str, Any]:
    found: dict[str, Any] = (await workspace.http.get(f"{ENROLLMENTS}/{enrollment_id}")).json()
    return found


async def wakes(database: Database, enrollment_id: str) -> int:
    ((found,),) = await run_sql(database, "select rings from enrollments where id = :id", id=enrollment_id)
    return int(found)


async def test_pausing_holds_the_step_and_gives_its_place_back(
    workspace: Workspace, database: Database, account_id: str, enrollment_id: str
) -> None:
    before = await wakes(database, enrollment_id)
    paused = (await call(workspace, enrollment_id, "pause")).json()
    assert (paused["status"], paused["reason"], paused["next_action_at"]) == ("paused", "manual", None)
    assert (await call(workspace, enrollment_id, "pause")).json() == paused
    (held,) = (await read(workspace, enrollment_id))["actions"]
    assert (held["outcome"], held["scheduled_at"]) == ("scheduled", None)
    assert await wakes(database, enrollment_id) == before + 2
    limits = (await workspace.http.get(f"/v1/outreach/accounts/{account_id}/limits")).json()
    assert {cap["reserved"] for cap in limits["caps"]} == {0}


async def test_resuming_plans_from_now_as_its_preview_says(
    workspace: Workspace, database: Database, enrollment_id: str
) -> None:
    first = (await read(workspace, enrollment_id))["next_action_at"]
    await call(workspace, enrollment_id, "pause")
    shown = (await call(workspace, enrollment_id, "resume", dry_run=True)).json()
    assert (shown["dry_run"], shown["would_fail"], shown["enrollment"]["status"]) == (True, None, "paused")
    assert datetime.fromisoformat(shown["scheduled_at"]) >= datetime.fromisoformat(first)
    before = await wakes(database, enrollment_id)
    resumed = (await call(workspace, enrollment_id, "resume")).json()
    assert (resumed["status"], resumed["reason"]) == ("scheduled", None)
    near = datetime.fromisoformat(resumed["next_action_at"]) - datetime.fromisoformat(shown["scheduled_at"])
    assert abs(near) <= timedelta(minutes=2)
    assert await wakes(database, enrollment_id) == before + 1
    assert (await call(workspace, enrollment_id, "resume")).json() == resumed


async def test_resuming_needs_a_key(workspace: Workspace, enrollment_id: str) -> None:
    answer = await workspace.http.post(f"{ENROLLMENTS}/{enrollment_id}/resume")
    error_of(answer, 400, "idempotency_key_required")


async def test_a_held_step_is_held_again_when_it_is_resumed(
    workspace: Workspace, database: Database, account_id: str
) -> None:
    made = await sequence(workspace, account_id, approve_every_message=True)
    profile_id = await fetched(database, Tenant(workspace.id), slug())
    (row,) = (await enrolled(workspace, made["id"], profile_ids=[profile_id]))["enrollments"]
    assert (await call(workspace, row["id"], "pause")).json()["status"] == "paused"
    shown = (await call(workspace, row["id"], "resume", dry_run=True)).json()
    assert (shown["scheduled_at"], shown["would_fail"]) == (None, None)
    assert (await call(workspace, row["id"], "resume")).json()["status"] == "awaiting_approval"


async def test_an_unverified_workspace_resumes_nothing(
    workspace: Workspace, database: Database, enrollment_id: str
) -> None:
    await call(workspace, enrollment_id, "pause")
    await run_sql(database, "update workspaces set verified_at = null where id = :id", id=workspace.id)
    error_of(await call(workspace, enrollment_id, "resume"), 403, "forbidden")
    shown = await workspace.http.post(f"/v1/outreach/enrollments/{enrollment_id}/resume?dry_run=true")
    assert shown.json()["would_fail"] == {"code": "forbidden"}


async def test_resuming_into_a_pause_is_refused_with_its_end(
    workspace: Workspace, database: Database, account_id: str, enrollment_id: str
) -> None:
    await call(workspace, enrollment_id, "pause")
    ((until,),) = await run_sql(
        database,
        "update outreach_accounts set status = 'paused', pause_reason = 'daily_limit',"
        " paused_until = service_now() + interval '1 day' where id = :id returning paused_until",
        id=account_id,
    )
    error = error_of(await call(workspace, enrollment_id, "resume"), 409, "account_paused")
    assert datetime.fromisoformat(error["details"]["next_available_at"]) == until
    shown = (await call(workspace, enrollment_id, "resume", dry_run=True)).json()
    assert shown["would_fail"] == {"code": "account_paused"}
    assert datetime.fromisoformat(shown["next_available_at"]) == until
    assert (await read(workspace, enrollment_id))["status"] == "paused"


async def test_resuming_into_a_full_cap_is_refused_and_told_once(
    workspace: Workspace, database: Database, account_id: str, enrollment_id: str
) -> None:
    await call(workspace, enrollment_id, "pause")
    path = f"/v1/outreach/accounts/{account_id}/limits"
    await workspace.http.patch(path, json={"invites_per_week": 0})
    for _ in range(2):
        error = error_of(await call(workspace, enrollment_id, "resume"), 409, "outreach_cap_reached")
        assert (error["details"]["cap"], error["details"]["next_available_at"]) == ("invites_per_week", None)
    told = (await workspace.http.get("/v1/events?types=outreach.cap_reached")).json()["data"]
    assert [event["data"]["cap"] for event in told] == ["invites_per_week"]
    shown = (await call(workspace, enrollment_id, "resume", dry_run=True)).json()
    assert shown["would_fail"] == {"code": "outreach_cap_reached"}


async def test_stopping_is_final_and_cancels_what_is_planned(
    workspace: Workspace, database: Database, enrollment_id: str
) -> None:
    stopped = (await call(workspace, enrollment_id, "stop")).json()
    assert (stopped["status"], stopped["reason"]) == ("stopped", "manual")
    assert stopped["finished_at"] is not None
    assert (await call(workspace, enrollment_id, "stop")).json() == stopped
    (cancelled,) = (await read(workspace, enrollment_id))["actions"]
    assert (cancelled["outcome"], cancelled["reason"], cancelled["scheduled_at"]) == ("cancelled", "stopped", None)
    for what in ("pause", "resume"):
        error_of(await call(workspace, enrollment_id, what), 409, "conflict")
    told = (await workspace.http.get("/v1/events?types=enrollment.failed,action.failed")).json()["data"]
    assert [(event["type"], event["data"]["status"]) for event in told] == [("enrollment.failed", "stopped")]
    marked = await run_sql(
        database, "select contacted_at from seen_entries where profile_id = :id", id=stopped["profile_id"]
    )
    assert marked[0].contacted_at is not None


@pytest.mark.parametrize("status", ["completed", "replied", "failed"])
async def test_what_ended_otherwise_is_not_stopped(
    workspace: Workspace, database: Database, account_id: str, status: str
) -> None:
    made = await sequence(workspace, account_id)
    (profile_id,) = await meet(database, slug())
    ended = await enrollment_row(database, made, profile_id, status=status)
    for what in ("pause", "resume", "stop"):
        error_of(await call(workspace, ended, what), 409, "conflict")


async def test_what_is_unknown_is_settled_before_it_is_resumed(
    workspace: Workspace, database: Database, account_id: str, enrollment_id: str
) -> None:
    await run_sql(database, "update actions set outcome = 'unknown' where enrollment_id = :id", id=enrollment_id)
    await run_sql(
        database,
        "update enrollments set status = 'paused', reason = 'outcome_unknown' where id = :id",
        id=enrollment_id,
    )
    assert (await call(workspace, enrollment_id, "pause")).json()["reason"] == "manual"
    error = error_of(await call(workspace, enrollment_id, "resume"), 409, "conflict")
    assert error["details"]["reason"] == "outcome_unknown"


async def test_a_paused_sequence_is_activated_before_it_is_resumed(workspace: Workspace, enrollment_id: str) -> None:
    shown = await read(workspace, enrollment_id)
    await call(workspace, enrollment_id, "pause")
    await workspace.http.patch(f"/v1/outreach/sequences/{shown['sequence_id']}", json={"status": "paused"})
    error = error_of(await call(workspace, enrollment_id, "resume"), 409, "conflict")
    assert error["details"]["reason"] == "sequence_paused"


async def test_they_are_listed_by_what_is_asked_for(
    workspace: Workspace, database: Database, account_id: str, enrollment_id: str
) -> None:
    shown = await read(workspace, enrollment_id)
    other = await sequence(workspace, account_id)
    (profile_id,) = await meet(database, slug())
    second = await enrollment_row(database, other, profile_id, status="completed")

    async def listed(query: str) -> list[str]:
        return [one["id"] for one in (await workspace.http.get(f"{ENROLLMENTS}?{query}")).json()["data"]]

    assert await listed("") == [second, enrollment_id]
    assert await listed("status=completed") == [second]
    assert await listed(f"sequence_id={shown['sequence_id']}") == [enrollment_id]
    assert await listed(f"account_id={account_id}") == [second, enrollment_id]
    assert await listed(f"profile_id={profile_id}") == [second]
    assert await listed("profile_id=prof_01jd3v8k5xe9q8w2r7t6y5v4p3") == []
    error_of(await workspace.http.get(f"{ENROLLMENTS}?status=open"), 400, "invalid_request", "status")


async def test_texts_of_suppressed_people_are_not_shown(
    workspace: Workspace, database: Database, enrollment_id: str
) -> None:
    shown = await read(workspace, enrollment_id)
    assert shown["actions"][0]["rendered"]["text"]
    await workspace.http.post("/v1/suppressions", json={"profile_id": shown["profile_id"]})
    after = await read(workspace, enrollment_id)
    (cancelled,) = after["actions"]
    assert (after["status"], after["reason"], cancelled["rendered"]["text"]) == ("stopped", "suppressed", None)
    (listed,) = (await workspace.http.get("/v1/outreach/actions")).json()["data"]
    alone = (await workspace.http.get(f"/v1/outreach/actions/{listed['id']}")).json()
    assert (listed["rendered"], alone["rendered"]) == ({"text": None}, {"text": None})


async def test_what_is_being_sent_is_left_to_its_workflow(
    workspace: Workspace, database: Database, account_id: str, enrollment_id: str
) -> None:
    await run_sql(database, "update actions set outcome = 'sending' where enrollment_id = :id", id=enrollment_id)
    profile_id = (await read(workspace, enrollment_id))["profile_id"]
    await action(database, Tenant(workspace.id), account_id, profile_id, type="profile_visit", outcome="scheduled")
    await call(workspace, enrollment_id, "stop")
    outcomes = await run_sql(database, "select outcome from actions where profile_id = :id", id=profile_id)
    assert sorted(row.outcome for row in outcomes) == ["scheduled", "sending"]
