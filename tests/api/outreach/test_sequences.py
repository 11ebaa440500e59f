"""Sequences: templates, what may be saved, edits that keep steps what they are, and that nothing is deleted in use."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from models.base.database import Database
from models.base.tenants import Tenant
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.outreach.accounts import connected
from tests.api.outreach.enrolling import enrollment_row
from tests.api.people.people import meet, slug

PATH = "/v1/outreach/sequences"
INVITE = {"type": "invite", "note": "Hi {{first_name}}"}
MESSAGE = {"type": "message", "body": "Hello {{ first_name }} of {{company}}", "only_after_accept": True}


@pytest.fixture
async def account_id(database: Database, workspace: Workspace) -> str:
    return await connected(database, Tenant(workspace.id))


async def save(workspace: Workspace, account_id: str, **given: Any) -> httpx.Response:
    body = {"account_id": account_id, "name": "Mine", "steps": [INVITE, MESSAGE]} | given
    return await workspace.http.post(PATH, json={name: value for name, value in body.items() if value is not None})


async def saved(workspace: Workspace, account_id: str, **given: Any) -> dict[str, Any]:
    answer = await save(workspace, account_id, **given)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_templates_are_shown_and_each_can_be_saved(workspace: Workspace, account_id: str) -> None:
    shown = (await workspace.http.get("/v1/outreach/templates")).json()["data"]
    assert [one["name"] for one in shown] == ["network_first", "network_invite_note_message"]
    for one in shown:
        made = await saved(workspace, account_id, template=one["name"], name=None, steps=None)
        assert made["name"] == one["title"]
        assert [step["type"] for step in made["steps"]] == [step["type"] for step in one["steps"]]
        assert all(step["id"].startswith("step_") for step in made["steps"])


async def test_a_sequence_is_shown_as_saved_with_its_defaults(workspace: Workspace, account_id: str) -> None:
    answer = await save(workspace, account_id)
    made = answer.json()
    assert answer.headers["location"] == f"{PATH}/{made['id']}"
    assert (made["object"], made["status"], made["version"]) == ("sequence", "active", 1)
    assert (made["approve_every_message"], made["daily_pace_limit"]) == (False, None)
    assert made["counts"] == {"open": 0, "completed": 0, "replied": 0, "failed": 0}
    first = made["steps"][0]
    assert (first["channel"], first["wait_days"], first["only_after_accept"]) == ("network", 0, False)
    assert (first["accept_timeout_days"], first["is_follow_up"], first["body"]) == (21, False, None)
    assert (await workspace.http.get(f"{PATH}/{made['id']}")).json() == made


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"steps": []}, "steps"),
        ({"steps": [INVITE] * 21}, "steps"),
        ({"steps": [INVITE, {**MESSAGE, "body": ""}]}, "steps.1.body"),
        ({"steps": [INVITE, {**MESSAGE, "body": "x" * 8001}]}, "steps.1.body"),
        ({"steps": [{**INVITE, "note": "x" * 301}]}, "steps.0.note"),
        ({"steps": [{**INVITE, "note": "Hi {{last_name}}"}]}, "steps.0.note"),
        ({"steps": [{**INVITE, "is_follow_up": True}]}, "steps.0.is_follow_up"),
        ({"steps": [{**INVITE, "wait_days": 61}]}, "steps.0.wait_days"),
        ({"steps": [{**INVITE, "wait_days": "1"}]}, "steps.0.wait_days"),
        ({"steps": [MESSAGE]}, "steps.0.only_after_accept"),
        ({"steps": [{"type": "withdraw_invite"}]}, "steps.0.type"),
        ({"steps": [INVITE, INVITE, {"type": "call"}]}, "steps.2.type"),
        ({"steps": [{**INVITE, "channel": "mail"}]}, "steps.0.channel"),
        ({"steps": [{**INVITE, "id": "step_01jd3v8k5xe9q8w2r7t6y5u4p3"}]}, "steps.0.id"),
        ({"daily_pace_limit": 101}, "daily_pace_limit"),
        ({"daily_pace_limit": -1}, "daily_pace_limit"),
        ({"template": "network_first"}, "steps"),
        ({"template": "other", "steps": None}, "template"),
        ({"steps": None}, "steps"),
        ({"name": None}, "name"),
        ({"status": "paused"}, "status"),
    ],
)
async def test_what_may_not_be_saved_is_named_and_writes_nothing(
    workspace: Workspace, database: Database, account_id: str, given: dict[str, Any], field: str
) -> None:
    body = {"account_id": account_id, "name": "Mine", "steps": [INVITE, MESSAGE]} | given
    body = {name: value for name, value in body.items() if value is not None}
    error_of(await workspace.http.post(PATH, json=body), 400, "invalid_request", field)
    assert await run_sql(database, "select 1 from sequences where workspace_id = :id", id=workspace.id) == []


async def test_the_account_has_to_be_there(workspace: Workspace, database: Database) -> None:
    removed = await connected(database, Tenant(workspace.id), status="removed")
    error_of(await save(workspace, removed), 404, "not_found", "account_id")
    error_of(await save(workspace, "acc_01jd3v8k5xe9q8w2r7t6y5u4p3"), 404, "not_found")
    still = await connected(database, Tenant(workspace.id), status="connecting")
    assert (await save(workspace, still)).status_code == 201


async def test_an_edit_keeps_steps_by_their_id_and_raises_the_version(workspace: Workspace, account_id: str) -> None:
    made = await saved(workspace, account_id)
    first, second = made["steps"]
    asked = [{"type": "profile_visit"}, {"id": second["id"], **MESSAGE, "body": "Else"}, {"id": first["id"], **INVITE}]
    error_of(
        await workspace.http.patch(f"{PATH}/{made['id']}", json={"steps": asked}),
        400,
        "invalid_request",
        "steps.1.only_after_accept",
    )
    asked[1], asked[2] = asked[2], asked[1]
    changed = (await workspace.http.patch(f"{PATH}/{made['id']}", json={"steps": asked, "name": "Other"})).json()
    assert (changed["version"], changed["name"]) == (2, "Other")
    assert [step["id"] for step in changed["steps"][1:]] == [first["id"], second["id"]]
    assert changed["steps"][2]["body"] == "Else"
    again = (await workspace.http.patch(f"{PATH}/{made['id']}", json={"steps": changed_steps(changed)})).json()
    assert again == changed


def changed_steps(shown: dict[str, Any]) -> list[dict[str, Any]]:
    return [{name: value for name, value in step.items() if name != "object"} for step in shown["steps"]]


@pytest.mark.parametrize("field", ["name", "steps", "status", "approve_every_message"])
async def test_only_the_pace_may_become_null(workspace: Workspace, account_id: str, field: str) -> None:
    made = await saved(workspace, account_id, daily_pace_limit=5)
    path = f"{PATH}/{made['id']}"
    error_of(await workspace.http.patch(path, json={field: None}), 400, "invalid_request", field)
    assert (await workspace.http.patch(path, json={"daily_pace_limit": None})).json()["daily_pace_limit"] is None


async def test_archived_ones_are_listed_only_when_asked_for(workspace: Workspace, account_id: str) -> None:
    ids = [(await saved(workspace, account_id))["id"] for _ in range(3)]
    await workspace.http.patch(f"{PATH}/{ids[0]}", json={"status": "archived"})
    await workspace.http.patch(f"{PATH}/{ids[1]}", json={"status": "paused"})

    async def listed(query: str) -> list[str]:
        return [one["id"] for one in (await workspace.http.get(f"{PATH}{query}")).json()["data"]]

    assert await listed("") == [ids[2], ids[1]]
    assert await listed("?status=archived") == [ids[0]]
    assert await listed("?status=active") == [ids[2]]


async def test_every_open_enrollment_is_woken_by_a_change_that_concerns_it(
    workspace: Workspace, database: Database, account_id: str
) -> None:
    made = await saved(workspace, account_id)
    people = await meet(database, slug(), slug())
    open_one = await enrollment_row(database, made, people[0], status="waiting_for_accept")
    done = await enrollment_row(database, made, people[1], status="completed")
    path = f"{PATH}/{made['id']}"

    async def wakes() -> tuple[int, int]:
        found = dict(
            await run_sql(database, "select id, rings from enrollments where sequence_id = :id", id=made["id"])
        )
        return found[open_one], found[done]

    await workspace.http.patch(path, json={"name": "Other"})
    assert await wakes() == (0, 0)
    await workspace.http.patch(path, json={"daily_pace_limit": 3})
    await workspace.http.patch(path, json={"status": "paused"})
    assert await wakes() == (2, 0)
    assert (await workspace.http.get(path)).json()["counts"] == {"open": 1, "completed": 1, "replied": 0, "failed": 0}


async def test_a_sequence_in_use_is_not_deleted(workspace: Workspace, database: Database, account_id: str) -> None:
    made = await saved(workspace, account_id)
    (profile_id,) = await meet(database, slug())
    enrollment_id = await enrollment_row(database, made, profile_id, status="active")
    error_of(await workspace.http.delete(f"{PATH}/{made['id']}"), 409, "conflict")
    await run_sql(database, "update enrollments set status = 'stopped' where id = :id", id=enrollment_id)
    assert (await workspace.http.delete(f"{PATH}/{made['id']}")).status_code == 204
    error_of(await workspace.http.get(f"{PATH}/{made['id']}"), 404, "not_found")
    error_of(await workspace.http.delete(f"{PATH}/{uuid4()}"), 404, "not_found")
