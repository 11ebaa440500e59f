"""Direct sends: refused by name, previewed without a trace, queued once, cancelled while they wait."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from models.base.database import Database
from models.base.tenants import Tenant
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.outreach.accounts import connected
from tests.api.outreach.enrolling import enrolled, sequence
from tests.api.people.people import fetched, slug, url

SENDS = "/v1/outreach/sends"
WRITTEN = """select (select count(*) from actions), (select count(*) from events), (select count(*) from people),
                    (select count(*) from seen_entries where contacted_at is not null),
                    (select count(*) from outreach_accounts where warmup_started_at is not null)"""


@pytest.fixture
async def account_id(database: Database, workspace: Workspace) -> str:
    await run_sql(database, "update workspaces set verified_at = now() where id = :id", id=workspace.id)
    return await connected(database, Tenant(workspace.id))


@pytest.fixture
async def person(database: Database, workspace: Workspace) -> str:
    return await fetched(database, Tenant(workspace.id), slug())


async def send(workspace: Workspace, *, dry_run: bool = False, key: str | None = None, **body: Any) -> httpx.Response:
    headers = {} if dry_run else {"Idempotency-Key": key or uuid4().hex}
    return await workspace.http.post(f"{SENDS}{'?dry_run=true' if dry_run else ''}", json=body, headers=headers)


async def test_an_invite_is_queued_marks_the_person_and_starts_the_warm_up(
    workspace: Workspace, database: Database, account_id: str, person: str
) -> None:
    body: dict[str, Any] = {
        "account_id": account_id,
        "type": "invite",
        "profile_id": person,
        "note": "Hi {{first_name}}",
        "first_name": "ada",
    }
    seen = (await send(workspace, dry_run=True, **body)).json()
    key = uuid4().hex
    done = await send(workspace, key=key, **body)
    assert done.status_code == 202, done.text
    shown = done.json()
    assert done.headers["Location"] == f"/v1/outreach/actions/{shown['id']}"
    assert (shown["outcome"], shown["rendered"]["text"]) == ("scheduled", "Hi Ada")
    assert (shown["scheduled_at"], shown["enrollment_id"]) == (seen["scheduled_at"], None)
    replayed = await send(workspace, key=key, **body)
    assert replayed.json() == shown
    (row,) = await run_sql(database, "select rings, answered from actions where id = :id", id=shown["id"])
    assert row.rings > row.answered  # its workflow is started
    (entry,) = (await workspace.http.get("/v1/seen", params={"contacted": "true"})).json()["data"]
    assert entry["profile_id"] == person
    warmup = (await workspace.http.get(f"/v1/outreach/accounts/{account_id}")).json()["warmup"]
    assert warmup["pending"] is False


async def test_a_preview_writes_nothing_and_says_what_is_missing(
    workspace: Workspace, database: Database, account_id: str
) -> None:
    before = await run_sql(database, WRITTEN)
    body: dict[str, Any] = {"account_id": account_id, "type": "message", "profile_url": url(slug()), "body": "Hello"}
    seen = await send(workspace, dry_run=True, **body)
    assert seen.status_code == 200, seen.text
    assert seen.json()["warnings"] == ["no_privacy_notice"]
    assert seen.json()["rendered"] == {"text": "Hello"}
    assert await run_sql(database, WRITTEN) == before


@pytest.mark.parametrize("type", ["profile_visit", "withdraw_invite"])
async def test_visits_and_withdrawals_mark_no_person_and_start_no_warm_up(
    workspace: Workspace, account_id: str, person: str, type: str
) -> None:
    done = await send(workspace, account_id=account_id, type=type, profile_id=person)
    assert done.status_code == 202, done.text
    assert (await workspace.http.get("/v1/seen", params={"contacted": "true"})).json()["data"] == []
    warmup = (await workspace.http.get(f"/v1/outreach/accounts/{account_id}")).json()["warmup"]
    assert warmup["pending"] is True


async def refused(workspace: Workspace, reason: str, **body: Any) -> None:
    error = error_of(await send(workspace, **body), 409, "conflict")
    assert error["details"]["reason"] == reason


async def test_no_person_is_invited_twice_or_gets_a_message_before_being_connected(
    workspace: Workspace, database: Database, account_id: str, person: str
) -> None:
    await run_sql(
        database,
        "insert into seen_entries (workspace_id, tenant_id, profile_id, status, do_not_contact, tags, contacted_at,"
        " run_ids, created_at) values (:ws, :ws, :id, 'contacted', false, '{}', now(), '{}', now())",
        ws=workspace.id,
        id=person,
    )
    named: dict[str, Any] = {"account_id": account_id, "profile_id": person}
    await refused(workspace, "already_contacted", type="invite", **named)
    await refused(workspace, "not_connected", type="message", body="Hello", **named)
    assert (await send(workspace, type="profile_visit", **named)).status_code == 202
    await run_sql(
        database,
        "insert into network_people (workspace_id, tenant_id, account_id, profile_id, relation)"
        " values (:ws, :ws, :account, :id, 'connected')",
        ws=workspace.id,
        account=account_id,
        id=person,
    )
    done = await send(workspace, type="message", body="Hello", **named)
    assert done.status_code == 202, done.text
    (row,) = await run_sql(database, "select first_touch from actions where id = :id", id=done.json()["id"])
    assert row.first_touch is False  # it counts as a follow-up


async def test_who_is_marked_or_suppressed_is_not_written_to_but_an_invite_may_be_withdrawn(
    workspace: Workspace, account_id: str, person: str
) -> None:
    named: dict[str, Any] = {"account_id": account_id, "profile_id": person}
    await workspace.http.patch(f"/v1/seen/{person}", json={"do_not_contact": True})
    await refused(workspace, "do_not_contact", type="invite", **named)
    await refused(workspace, "do_not_contact", type="profile_visit", **named)
    assert (await send(workspace, type="withdraw_invite", **named)).status_code == 202
    await workspace.http.post("/v1/suppressions", json={"profile_id": person})
    error_of(await send(workspace, type="withdraw_invite", **named), 409, "suppressed")


async def test_a_person_in_a_sequence_gets_no_direct_send(workspace: Workspace, account_id: str, person: str) -> None:
    made = await sequence(workspace, account_id, steps=[{"type": "invite"}])
    await enrolled(workspace, made["id"], profile_ids=[person])
    await refused(workspace, "open_enrollment", account_id=account_id, type="profile_visit", profile_id=person)


async def test_the_same_is_not_queued_twice_for_a_person(workspace: Workspace, account_id: str, person: str) -> None:
    body: dict[str, Any] = {"account_id": account_id, "type": "profile_visit", "profile_id": person}
    assert (await send(workspace, **body)).status_code == 202
    await refused(workspace, "already_queued", **body)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"type": "message"}, "body"),
    ({"type": "message", "body": ""}, "body"),
    ({"type": "message", "body": "x" * 8001}, "body"),
    ({"type": "message", "body": "Hi {{name}}"}, "body"),
    ({"type": "message", "body": "Hi", "note": "Hi"}, "note"),
    ({"type": "invite", "note": "x" * 301}, "note"),
    ({"type": "invite", "body": "Hi"}, "body"),
    ({"type": "invite", "note": "Hi {{company}}", "company": ""}, "company"),
    ({"type": "poke"}, "type"),
    ({"type": "invite", "profile_url": "https://example.com/in/x"}, "profile_url"),
    ({"type": "invite", "profile_url": "https://www.linkedin.com/in/" + "x" * 2000}, "profile_url"),
    ({"type": "invite", "profile_id": "0"}, "profile_id"),
]


@pytest.mark.parametrize("number", range(len(BAD)))
async def test_bad_input_is_named_and_queues_nothing(
    workspace: Workspace, database: Database, account_id: str, person: str, number: int
) -> None:
    body, field = BAD[number]
    before = await run_sql(database, WRITTEN)
    whom: dict[str, Any] = {} if {"profile_url", "profile_id"} & body.keys() else {"profile_id": person}
    error_of(await send(workspace, account_id=account_id, **whom, **body), 400, "invalid_request", field)
    assert await run_sql(database, WRITTEN) == before


async def test_a_note_that_gets_too_long_is_refused_with_its_length(
    workspace: Workspace, account_id: str, person: str
) -> None:
    body: dict[str, Any] = {"note": "{{first_name}} " + "x" * 280, "first_name": "Bartholomew-Maximilian"}
    answer = await send(workspace, account_id=account_id, type="invite", profile_id=person, dry_run=False, **body)
    details = error_of(answer, 400, "invalid_request", "note")["details"]
    assert (details["reason"], details["length"]) == ("note_too_long", 303)


async def test_a_full_cap_and_a_paused_account_refuse_and_are_reported_in_the_preview(
    workspace: Workspace, database: Database, account_id: str, person: str
) -> None:
    body: dict[str, Any] = {"account_id": account_id, "type": "invite", "profile_id": person}
    await run_sql(
        database, "update outreach_accounts set caps = '{\"invites_per_day\": 0}' where id = :id", id=account_id
    )
    assert (await send(workspace, dry_run=True, **body)).json()["would_fail"] == {"code": "outreach_cap_reached"}
    error_of(await send(workspace, **body), 409, "outreach_cap_reached")
    told = (await workspace.http.get("/v1/events", params={"types": "outreach.cap_reached"})).json()["data"]
    assert len(told) == 1
    await run_sql(database, "update outreach_accounts set status = 'paused', caps = '{}' where id = :id", id=account_id)
    assert (await send(workspace, dry_run=True, **body)).json()["would_fail"] == {"code": "account_paused"}
    error_of(await send(workspace, **body), 409, "account_paused")
    await run_sql(database, "update outreach_accounts set status = 'connecting' where id = :id", id=account_id)
    error_of(await send(workspace, **body), 409, "account_not_ready")


async def test_a_queued_send_can_be_cancelled_once(workspace: Workspace, account_id: str, person: str) -> None:
    made = (await send(workspace, account_id=account_id, type="profile_visit", profile_id=person)).json()
    done = await workspace.http.post(f"/v1/outreach/actions/{made['id']}/cancel")
    assert (done.status_code, done.json()["outcome"]) == (200, "cancelled")
    error_of(await workspace.http.post(f"/v1/outreach/actions/{made['id']}/cancel"), 409, "conflict")
    error_of(await workspace.http.post(f"/v1/outreach/actions/{made['id']}/reject"), 409, "conflict")


async def test_an_unverified_workspace_sends_nothing(
    workspace: Workspace, database: Database, account_id: str, person: str
) -> None:
    await run_sql(database, "update workspaces set verified_at = null where id = :id", id=workspace.id)
    body: dict[str, Any] = {"account_id": account_id, "type": "profile_visit", "profile_id": person}
    error_of(await send(workspace, **body), 403, "forbidden")
    assert (await send(workspace, dry_run=True, **body)).json()["would_fail"] == {"code": "forbidden"}
