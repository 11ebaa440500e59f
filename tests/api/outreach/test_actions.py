"""Pending approvals are approved as previewed, rejected, and requested again when the person's data changes."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from models.base.database import Database
from models.base.secrets import Vault
from models.base.tenants import Tenant
from models.outreach.engine import decide
from models.outreach.engine.plan import Writer
from tests.api.conftest import SECRET_KEY, Workspace, error_of, run_sql
from tests.api.outreach.accounts import action as action_row
from tests.api.outreach.accounts import connected
from tests.api.outreach.enrolling import INVITE, enrolled, sequence
from tests.api.people.people import fetched, meet, slug

ACTIONS = "/v1/outreach/actions"
MESSAGE = {"type": "message", "body": "Hi {{first_name}} of {{company}}. {{privacy_notice}}"}
WRITER = Writer(Vault(SECRET_KEY), "http://127.0.0.1:8080")


@pytest.fixture
async def account_id(database: Database, workspace: Workspace) -> str:
    await run_sql(database, "update workspaces set verified_at = now() where id = :id", id=workspace.id)
    return await connected(database, Tenant(workspace.id))


@pytest.fixture
async def held(database: Database, workspace: Workspace, account_id: str) -> dict[str, Any]:
    """A held message: the action as shown."""
    made = await sequence(workspace, account_id, steps=[MESSAGE, INVITE], approve_every_message=True)
    profile_id = await fetched(database, Tenant(workspace.id), slug())
    given = {"profile_id": profile_id, "first_name": "Ada", "company": "Acme"}
    (enrollment,) = (await enrolled(workspace, made["id"], candidates=[given]))["enrollments"]
    shown = (await workspace.http.get(ACTIONS, params={"enrollment_id": enrollment["id"]})).json()["data"]
    found: dict[str, Any] = shown[0]
    assert found["outcome"] == "awaiting_approval"
    return found


async def preview(workspace: Workspace, action_id: str) -> dict[str, Any]:
    answer = await workspace.http.post(f"{ACTIONS}/{action_id}/approve?dry_run=true")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def approve(workspace: Workspace, action_id: str, **body: Any) -> httpx.Response:
    headers = {"Idempotency-Key": uuid4().hex}
    return await workspace.http.post(f"{ACTIONS}/{action_id}/approve", json=body or None, headers=headers)


async def look(database: Database, enrollment_id: str) -> None:
    """Process the enrollment as its workflow does when it is woken."""
    await database.run(lambda session: decide.decide_send(session, WRITER, enrollment_id))


async def test_a_preview_shows_text_and_time_and_changes_nothing(workspace: Workspace, held: dict[str, Any]) -> None:
    seen = await preview(workspace, held["id"])
    assert seen["dry_run"] is True
    assert seen["rendered"]["text"] == held["rendered"]["text"]
    assert seen["rendered"]["text"].startswith("Hi Ada of Acme. ")
    assert seen["scheduled_at"] is not None
    assert (seen["would_fail"], seen["next_available_at"]) == (None, None)
    assert (await workspace.http.get(f"{ACTIONS}/{held['id']}")).json() == held


async def test_an_approval_gives_the_slot_of_the_preview_and_keeps_the_text(
    workspace: Workspace, database: Database, held: dict[str, Any]
) -> None:
    seen = await preview(workspace, held["id"])
    done = await approve(workspace, held["id"], preview_hash=seen["preview_hash"])
    assert done.status_code == 200, done.text
    shown = done.json()
    assert (shown["outcome"], shown["rendered"]) == ("scheduled", held["rendered"])
    assert shown["scheduled_at"] == seen["scheduled_at"]
    await look(database, held["enrollment_id"])
    after = (await workspace.http.get(f"{ACTIONS}/{held['id']}")).json()
    assert after["outcome"] == "scheduled"
    error_of(await approve(workspace, held["id"]), 409, "conflict")


async def test_approving_needs_a_key_and_the_scope_to_send(
    workspace: Workspace, held: dict[str, Any], key_of: Any
) -> None:
    error_of(await workspace.http.post(f"{ACTIONS}/{held['id']}/approve"), 400, "idempotency_key_required")
    reader = await key_of(workspace, scopes=["outreach:read"])
    refused = await reader.post(f"{ACTIONS}/{held['id']}/approve", headers={"Idempotency-Key": "k"})
    error_of(refused, 403, "insufficient_scope")
    assert (await reader.post(f"{ACTIONS}/{held['id']}/approve?dry_run=true")).status_code == 200


async def test_an_unverified_workspace_approves_nothing(
    workspace: Workspace, database: Database, held: dict[str, Any]
) -> None:
    await run_sql(database, "update workspaces set verified_at = null where id = :id", id=workspace.id)
    error_of(await approve(workspace, held["id"]), 403, "forbidden")
    shown = await workspace.http.post(f"{ACTIONS}/{held['id']}/approve?dry_run=true")
    assert shown.json()["would_fail"] == {"code": "forbidden"}


@pytest.mark.parametrize(
    ("statement", "changed"),
    [
        ('update enrollments set given = given || \'{"company": "Other"}\' where id = :enrollment', ["text", "person"]),
        ("update outreach_accounts set paused_until = now() - interval '1 day' where id = :account", ["account"]),
    ],
)
async def test_what_changed_since_the_preview_is_refused_by_name(
    workspace: Workspace, database: Database, held: dict[str, Any], statement: str, changed: list[str]
) -> None:
    seen = await preview(workspace, held["id"])
    named = {"enrollment": held["enrollment_id"], "account": held["account_id"]}
    await run_sql(database, statement, **{key: value for key, value in named.items() if f":{key}" in statement})
    refused = await approve(workspace, held["id"], preview_hash=seen["preview_hash"])
    assert error_of(refused, 409, "conflict")["details"]["changed"] == changed
    seen = await preview(workspace, held["id"])
    assert (await approve(workspace, held["id"], preview_hash=seen["preview_hash"])).status_code == 200


async def test_an_unseen_text_is_not_approved_without_its_preview(
    workspace: Workspace, database: Database, held: dict[str, Any]
) -> None:
    changing = 'update enrollments set given = given || \'{"company": "Other"}\' where id = :id'
    await run_sql(database, changing, id=held["enrollment_id"])
    refused = await approve(workspace, held["id"])
    assert error_of(refused, 409, "conflict")["details"]["changed"] == ["text", "person"]
    (row,) = await run_sql(
        database, "select rings > answered as rung from enrollments where id = :id", id=held["enrollment_id"]
    )
    assert row.rung  # the enrollment requests a new approval
    await look(database, held["enrollment_id"])
    assert (await approve(workspace, held["id"])).status_code == 200


async def test_a_hash_that_is_none_is_refused(workspace: Workspace, held: dict[str, Any]) -> None:
    refused = await approve(workspace, held["id"], preview_hash="nonsense")
    assert error_of(refused, 409, "conflict")["details"]["changed"] == ["text", "person", "account"]


async def test_an_approved_text_needs_approval_again_when_the_persons_data_changes(
    workspace: Workspace, database: Database, held: dict[str, Any]
) -> None:
    assert (await approve(workspace, held["id"])).status_code == 200
    await run_sql(
        database,
        'update enrollments set given = given || \'{"first_name": "Grace"}\' where id = :id',
        id=held["enrollment_id"],
    )
    await look(database, held["enrollment_id"])
    after = (await workspace.http.get(f"{ACTIONS}/{held['id']}")).json()
    assert (after["outcome"], after["scheduled_at"]) == ("awaiting_approval", None)
    assert after["rendered"]["text"].startswith("Hi Grace of Acme")


async def test_an_edit_of_the_sequence_leaves_a_pending_approval_unchanged(
    workspace: Workspace, database: Database, held: dict[str, Any]
) -> None:
    await run_sql(
        database,
        "update sequences set steps = jsonb_set(steps, '{0,body}', '\"Something else entirely\"') where id = :id",
        id=held["sequence_id"],
    )
    await look(database, held["enrollment_id"])
    assert (await preview(workspace, held["id"]))["rendered"] == held["rendered"]


async def test_a_full_cap_refuses_an_approval_and_is_reported_once(
    workspace: Workspace, database: Database, held: dict[str, Any]
) -> None:
    await run_sql(
        database,
        "update outreach_accounts set caps = '{\"new_outreach_per_day\": 0}' where id = :id",
        id=held["account_id"],
    )
    assert (await preview(workspace, held["id"]))["would_fail"] == {"code": "outreach_cap_reached"}
    for _ in range(2):
        refused = error_of(await approve(workspace, held["id"]), 409, "outreach_cap_reached")
        assert refused["details"] == {"cap": "new_outreach_per_day", "next_available_at": None}
    told = (await workspace.http.get("/v1/events", params={"types": "outreach.cap_reached"})).json()["data"]
    assert [one["data"]["cap"] for one in told] == ["new_outreach_per_day"]


async def test_a_paused_account_refuses_an_approval(
    workspace: Workspace, database: Database, held: dict[str, Any]
) -> None:
    await run_sql(
        database,
        "update outreach_accounts set status = 'paused', pause_reason = 'manual' where id = :id",
        id=held["account_id"],
    )
    assert (await preview(workspace, held["id"]))["would_fail"] == {"code": "account_paused"}
    error_of(await approve(workspace, held["id"]), 409, "account_paused")


async def test_rejecting_skips_the_step_and_the_next_one_is_held(
    workspace: Workspace, database: Database, held: dict[str, Any]
) -> None:
    done = await workspace.http.post(f"{ACTIONS}/{held['id']}/reject")
    assert (done.json()["outcome"], done.json()["reason"]) == ("skipped", "rejected")
    await look(database, held["enrollment_id"])
    shown = (await workspace.http.get(ACTIONS, params={"enrollment_id": held["enrollment_id"]})).json()["data"]
    assert [(one["type"], one["outcome"]) for one in shown] == [("invite", "awaiting_approval"), ("message", "skipped")]
    error_of(await workspace.http.post(f"{ACTIONS}/{held['id']}/reject"), 409, "conflict")


async def test_an_unknown_outcome_is_settled_once_and_audited(
    workspace: Workspace, database: Database, account_id: str
) -> None:
    (person,) = await meet(database, slug(), workspace_id=workspace.id)
    unknown = await action_row(
        database, Tenant(workspace.id), account_id, person, type="invite", outcome="unknown", reason="outcome_unknown"
    )
    error_of(
        await workspace.http.post(f"{ACTIONS}/{unknown}/settle", json={"outcome": "maybe"}),
        400,
        "invalid_request",
        "outcome",
    )
    done = await workspace.http.post(f"{ACTIONS}/{unknown}/settle", json={"outcome": "sent"})
    assert (done.status_code, done.json()["outcome"], done.json()["reason"]) == (200, "sent", None)
    again = await workspace.http.post(f"{ACTIONS}/{unknown}/settle", json={"outcome": "not_sent"})
    error_of(again, 409, "conflict")
    entries = (await workspace.http.get("/v1/audit-entries")).json()["data"]
    assert [one["action"] for one in entries if one["subject_id"] == unknown] == ["outreach.action.settle"]
