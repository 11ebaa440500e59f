"""Enrolling: sources, skip reasons, the preview that writes nothing, and what an executed call leaves behind."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from models.base.database import Database
from models.base.tenants import Tenant
from models.outreach.rules.states import ActionOutcome
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.outreach.accounts import connected
from tests.api.outreach.enrolling import INVITE, enroll, enrolled, preview, sequence
from tests.api.people.people import fetched, meet, slug, url
from tests.api.sourcing.sourcing import deliver, fund, profile, start

WRITTEN = """select (select count(*) from enrollments), (select count(*) from actions), (select count(*) from events),
                    (select count(*) from seen_entries), (select count(*) from people),
                    (select count(*) from cap_notices),
                    (select count(*) from outreach_accounts where warmup_started_at is not null)"""
UNKNOWN = "prof_01jd3v8k5xe9q8w2r7t6y5v4p3"


@pytest.fixture(autouse=True)
async def verified(database: Database, workspace: Workspace) -> None:
    await run_sql(database, "update workspaces set verified_at = now() where id = :id", id=workspace.id)


@pytest.fixture
async def account_id(database: Database, workspace: Workspace) -> str:
    return await connected(database, Tenant(workspace.id))


@pytest.fixture
async def invite(workspace: Workspace, account_id: str) -> str:
    return str((await sequence(workspace, account_id))["id"])


async def one(database: Database, workspace: Workspace) -> str:
    """A person whose profile the workspace has."""
    return await fetched(database, Tenant(workspace.id), slug())


def moment(shown: str) -> datetime:
    return datetime.fromisoformat(shown)


async def events_of(workspace: Workspace, kind: str) -> list[dict[str, Any]]:
    found = (await workspace.http.get("/v1/events", params={"types": kind, "limit": 100})).json()["data"]
    return [event["data"] for event in found]


async def test_a_preview_says_everything_and_writes_nothing(
    workspace: Workspace, database: Database, invite: str
) -> None:
    profile_id = await one(database, workspace)
    stranger = url(slug())
    before = await run_sql(database, WRITTEN)
    given = [{"profile_url": stranger, "first_name": "GRACE", "company": "Cobol Inc."}]
    shown = await preview(workspace, invite, profile_ids=[profile_id, UNKNOWN], candidates=given)
    assert await run_sql(database, WRITTEN) == before
    known, unknown, met_first = shown["data"]
    assert (known["profile_id"], known["decision"], known["reason"]) == (profile_id, "schedule", None)
    assert known["rendered"][0]["text"] == "Hi Full, shall we talk?"
    assert known["rendered"][0]["units"] == len("Hi Full, shall we talk?")
    assert known["warnings"] == []
    assert moment(known["scheduled_at"]) > moment("2026-01-01T00:00:00Z")
    assert (unknown["profile_id"], unknown["decision"], unknown["reason"]) == (UNKNOWN, "skip", "not_found")
    assert (unknown["scheduled_at"], unknown["rendered"]) == (None, [])
    assert (met_first["profile_id"], met_first["profile_url"]) == (None, stranger)
    assert met_first["rendered"][0]["text"] == "Hi Grace, shall we talk?"
    assert shown["counts"] == {"people": 3, "schedule": 2, "skip": 1, "reasons": {"not_found": 1}}
    assert (shown["dry_run"], shown["would_fail"]) == (True, None)


async def test_an_enrollment_plans_marks_emits_events_and_starts_the_warm_up(
    workspace: Workspace, database: Database, account_id: str, invite: str
) -> None:
    profile_id, stranger = await one(database, workspace), url(slug())
    asked = {"profile_ids": [profile_id], "candidates": [{"profile_url": stranger, "full_name": "Grace Hopper"}]}
    seen = await preview(workspace, invite, **asked)
    done = await enrolled(workspace, invite, **asked)
    assert (done["enrolled"], done["skipped"]) == (2, [])
    first, second = done["enrollments"]
    assert (first["status"], first["profile_id"], first["account_id"]) == ("scheduled", profile_id, account_id)
    read = (await workspace.http.get(f"/v1/outreach/enrollments/{second['id']}")).json()
    (action,) = read["actions"]
    assert (action["outcome"], action["type"], action["step_index"]) == ("scheduled", "invite", 0)
    assert action["rendered"]["text"] == "Hi Grace, shall we talk?"
    assert action["scheduled_at"] == second["next_action_at"]
    assert seen["data"][1]["rendered"][0]["text"] == action["rendered"]["text"]
    (entry,) = await run_sql(database, "select * from seen_entries where profile_id = :id", id=profile_id)
    assert entry.status == "contacted"
    assert entry.contacted_at is not None
    assert [told["status"] for told in await events_of(workspace, "enrollment.created")] == ["scheduled"] * 2
    (account,) = await run_sql(database, "select * from outreach_accounts where id = :id", id=account_id)
    assert account.warmup_started_at is not None
    rows = await run_sql(database, "select rings, answered from enrollments where account_id = :id", id=account_id)
    assert all(row.rings > row.answered for row in rows)


async def test_no_person_is_enrolled_twice(workspace: Workspace, database: Database, invite: str) -> None:
    profile_id = await one(database, workspace)
    first = await enroll(workspace, invite, key="the-same", profile_ids=[profile_id])
    again = await enroll(workspace, invite, key="the-same", profile_ids=[profile_id])
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["idempotent-replayed"] == "true"
    other = await enrolled(workspace, invite, profile_ids=[profile_id])
    assert (other["enrolled"], other["skipped"][0]["reason"]) == (0, "already_contacted")
    assert len(await run_sql(database, "select 1 from enrollments where profile_id = :id", id=profile_id)) == 1


async def test_the_sources_are_taken_together_and_each_person_once(
    workspace: Workspace, database: Database, invite: str
) -> None:
    names = [slug() for _ in range(4)]
    ids = [await fetched(database, Tenant(workspace.id), name) for name in names]
    made = (await workspace.http.post("/v1/lists", json={"name": "Mine"})).json()
    for profile_id in ids[:3]:
        await workspace.http.post(f"/v1/lists/{made['id']}/people", json={"profile_ids": [profile_id]})
    shown = await preview(
        workspace,
        invite,
        list_id=made["id"],
        limit=2,
        profile_ids=[ids[2], ids[3], ids[3]],
        candidates=[{"profile_url": url(names[3]) + "/?utm=1", "first_name": "Zed"}],
    )
    assert [row["profile_id"] for row in shown["data"]] == [ids[2], ids[1], ids[3]]
    assert shown["data"][2]["rendered"][0]["text"] == "Hi Zed, shall we talk?"


async def test_a_runs_candidates_come_in_delivery_order_with_the_names_of_their_snapshots(
    workspace: Workspace, database: Database, invite: str
) -> None:
    await fund(database, workspace)
    run = (await start(workspace.http)).json()["run"]
    names = ("Ada Lovelace", "Grace Hopper", "Joan Clarke")
    ids = await deliver(database, run, [profile(place, full_name=name) for place, name in enumerate(names)])
    shown = await preview(workspace, invite, run_id=run["id"], limit=2)
    texts = [(row["profile_id"], row["rendered"][0]["text"]) for row in shown["data"]]
    assert texts == [(ids[0], "Hi Ada, shall we talk?"), (ids[1], "Hi Grace, shall we talk?")]
    done = await enrolled(workspace, invite, run_id=run["id"])
    assert [row["profile_id"] for row in done["enrollments"]] == ids


@pytest.mark.parametrize("forbidden", ["suppressed", "do_not_contact", "already_contacted"])
async def test_who_must_not_be_contacted_is_skipped_with_the_reason(
    workspace: Workspace, database: Database, invite: str, forbidden: str
) -> None:
    profile_id = await one(database, workspace)
    if forbidden == "suppressed":
        await workspace.http.post("/v1/suppressions", json={"profile_id": profile_id})
    elif forbidden == "do_not_contact":
        await workspace.http.patch(f"/v1/seen/{profile_id}", json={"do_not_contact": True})
    else:
        body = {"people": [{"profile_id": profile_id, "contacted_at": "2026-01-01T00:00:00Z"}]}
        await workspace.http.post("/v1/seen:import", json=body)
    (row,) = (await preview(workspace, invite, profile_ids=[profile_id]))["data"]
    done = await enrolled(workspace, invite, profile_ids=[profile_id])
    assert (row["decision"], row["reason"]) == ("skip", forbidden)
    assert (row["profile_url"] is None) == (forbidden == "suppressed")
    assert (done["enrolled"], done["skipped"][0]["reason"], done["enrollments"]) == (0, forbidden, [])
    rows = await run_sql(database, "select 1 from actions where profile_id = :id", id=profile_id)
    assert rows == []


@pytest.mark.parametrize(
    ("step", "given", "reason"),
    [
        ({"type": "invite", "note": "Hi {{first_name}}"}, {}, "missing_first_name"),
        ({"type": "invite", "note": "At {{company}}?"}, {"first_name": "Ada"}, "missing_company"),
        ({"type": "invite", "note": "x" * 285 + "{{company}}"}, {"company": "A rather long name"}, "note_too_long"),
    ],
)
async def test_a_text_that_cannot_be_written_skips_the_person(
    workspace: Workspace, account_id: str, step: dict[str, Any], given: dict[str, str], reason: str
) -> None:
    made = await sequence(workspace, account_id, steps=[{"type": "profile_visit"}, step])
    candidates = [{"profile_url": url(slug()), **given}]
    (row,) = (await preview(workspace, made["id"], candidates=candidates))["data"]
    assert (row["decision"], row["reason"], row["rendered"][1]["problem"]) == ("skip", reason, reason)
    if reason == "note_too_long":
        assert row["rendered"][1]["units"] > 300
    done = await enrolled(workspace, made["id"], candidates=candidates)
    assert (done["enrolled"], done["skipped"][0]["reason"]) == (0, reason)


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 400, "profile_ids"),
        ({"candidates": [{}]}, 400, "candidates.0.profile_id"),
        ({"candidates": [{"profile_url": "https://example.com/in/ada"}]}, 400, "candidates.0.profile_url"),
        ({"candidates": [{"profile_id": UNKNOWN, "profile_url": url("ada")}]}, 400, "candidates.0.profile_url"),
        ({"candidates": [{"profile_url": url("ada"), "first_name": ""}]}, 400, "candidates.0.first_name"),
        ({"candidates": [{"profile_url": url("ada"), "last_name": "L"}]}, 400, "candidates.0.last_name"),
        ({"profile_ids": ["ada"]}, 400, "profile_ids.0"),
        ({"profile_ids": [UNKNOWN], "limit": 501}, 400, "limit"),
        ({"profile_ids": [UNKNOWN], "limit": 0}, 400, "limit"),
        ({"candidates": [{"profile_url": url(f"ada-{n}")} for n in range(501)]}, 400, "candidates"),
        ({"run_id": "run_01jd3v8k5xe9q8w2r7t6y5v4p3"}, 404, None),
        ({"list_id": "lst_01jd3v8k5xe9q8w2r7t6y5v4p3"}, 404, None),
        ({"sequence_id": "seq_01jd3v8k5xe9q8w2r7t6y5v4p3", "profile_ids": [UNKNOWN]}, 404, None),
    ],
)
async def test_a_bad_request_is_named_and_enrolls_no_person(
    workspace: Workspace, database: Database, invite: str, body: dict[str, Any], status: int, field: str | None
) -> None:
    before = await run_sql(database, WRITTEN)
    code = "not_found" if status == 404 else "invalid_request"
    error_of(await enroll(workspace, **({"sequence_id": invite} | body)), status, code, field)
    path = "/v1/outreach/enrollments?dry_run=true"
    error_of(await workspace.http.post(path, json={"sequence_id": invite} | body), status, code, field)
    assert await run_sql(database, WRITTEN) == before


async def test_it_needs_a_key_and_the_scope_to_send(workspace: Workspace, invite: str, key_of: Any) -> None:
    body = {"sequence_id": invite, "profile_ids": [UNKNOWN]}
    path = "/v1/outreach/enrollments"
    error_of(await workspace.http.post(path, json=body), 400, "idempotency_key_required")
    reader = await key_of(workspace, scopes=["outreach:read"])
    assert (await reader.post(f"{path}?dry_run=true", json=body)).status_code == 200
    error_of(await reader.post(path, json=body, headers={"Idempotency-Key": "x"}), 403, "insufficient_scope")
    await reader.aclose()


async def test_an_unverified_workspace_enrolls_no_person(workspace: Workspace, database: Database, invite: str) -> None:
    await run_sql(database, "update workspaces set verified_at = null where id = :id", id=workspace.id)
    profile_id = await one(database, workspace)
    error_of(await enroll(workspace, invite, profile_ids=[profile_id]), 403, "forbidden")
    shown = await preview(workspace, invite, profile_ids=[profile_id])
    assert (shown["counts"]["schedule"], shown["would_fail"]) == (1, {"code": "forbidden"})


async def test_a_held_first_step_waits_without_a_time_and_reserves_nothing(
    workspace: Workspace, database: Database, account_id: str
) -> None:
    made = await sequence(workspace, account_id, approve_every_message=True)
    profile_id = await one(database, workspace)
    (row,) = (await preview(workspace, made["id"], profile_ids=[profile_id]))["data"]
    assert (row["decision"], row["scheduled_at"], row["warnings"]) == ("schedule", None, ["needs_approval"])
    (shown,) = (await enrolled(workspace, made["id"], profile_ids=[profile_id]))["enrollments"]
    assert (shown["status"], shown["next_action_at"]) == ("awaiting_approval", None)
    held = (await workspace.http.get("/v1/outreach/actions?outcome=awaiting_approval")).json()["data"]
    assert [(one["enrollment_id"], one["scheduled_at"]) for one in held] == [(shown["id"], None)]
    told = await events_of(workspace, "action.awaiting_approval")
    assert [one["outcome"] for one in told] == [ActionOutcome.AWAITING_APPROVAL]
    limits = (await workspace.http.get(f"/v1/outreach/accounts/{account_id}/limits")).json()
    assert all(cap["reserved"] == 0 for cap in limits["caps"])


async def test_a_first_message_without_the_privacy_notice_is_warned_of(workspace: Workspace, account_id: str) -> None:
    bare = {"type": "message", "body": "Hello", "only_after_accept": True}
    noticed = {**bare, "body": "Hello {{privacy_notice}}"}
    given = [{"profile_url": url(slug()), "first_name": "Ada"}]
    for step, warnings in ((bare, ["no_privacy_notice"]), (noticed, [])):
        made = await sequence(workspace, account_id, steps=[INVITE, step])
        (row,) = (await preview(workspace, made["id"], candidates=given))["data"]
        assert row["warnings"] == warnings
    assert "/o/" in row["rendered"][1]["text"]


@pytest.mark.parametrize(
    ("account", "code"),
    [
        ({"status": "connecting"}, "account_not_ready"),
        ({"status": "disconnected"}, "account_not_ready"),
        ({"status": "needs_review"}, "account_paused"),
        ({"status": "paused", "pause_reason": "manual"}, "account_paused"),
    ],
)
async def test_an_account_paused_without_a_known_end_enrolls_no_person(
    workspace: Workspace, database: Database, account: dict[str, str], code: str
) -> None:
    account_id = await connected(database, Tenant(workspace.id), **account)
    made = await sequence(workspace, account_id)
    profile_id = await one(database, workspace)
    shown = await preview(workspace, made["id"], profile_ids=[profile_id])
    assert shown["would_fail"] == {"code": code}
    assert shown["data"][0]["decision"] == "skip"
    error_of(await enroll(workspace, made["id"], profile_ids=[profile_id]), 409, code)


async def test_a_pause_with_a_known_end_is_planned_behind(workspace: Workspace, database: Database) -> None:
    ((now,),) = await run_sql(database, "select service_now()")
    until = now + timedelta(days=2)
    account_id = await connected(
        database, Tenant(workspace.id), status="paused", pause_reason="daily_limit", paused_until=until
    )
    made = await sequence(workspace, account_id)
    profile_id = await one(database, workspace)
    (shown,) = (await enrolled(workspace, made["id"], profile_ids=[profile_id]))["enrollments"]
    assert moment(shown["next_action_at"]) >= until


@pytest.mark.parametrize("status", ["paused", "archived"])
async def test_a_paused_sequence_enrolls_no_person(
    workspace: Workspace, database: Database, invite: str, status: str
) -> None:
    await workspace.http.patch(f"/v1/outreach/sequences/{invite}", json={"status": status})
    profile_id = await one(database, workspace)
    assert (await preview(workspace, invite, profile_ids=[profile_id]))["would_fail"] == {"code": "conflict"}
    error_of(await enroll(workspace, invite, profile_ids=[profile_id]), 409, "conflict")


async def test_a_cap_of_zero_enrolls_no_person_and_is_reported_once(
    workspace: Workspace, database: Database, account_id: str, invite: str
) -> None:
    path = f"/v1/outreach/accounts/{account_id}/limits"
    assert (await workspace.http.patch(path, json={"invites_per_day": 0})).status_code == 200
    ids = [await one(database, workspace) for _ in range(2)]
    shown = await preview(workspace, invite, profile_ids=ids)
    assert {(row["reason"], row["next_available_at"]) for row in shown["data"]} == {("invites_per_day", None)}
    assert await events_of(workspace, "outreach.cap_reached") == []
    for profile_id in ids:
        done = await enrolled(workspace, invite, profile_ids=[profile_id])
        assert done["skipped"][0]["reason"] == "invites_per_day"
    (told,) = await events_of(workspace, "outreach.cap_reached")
    assert (told["account_id"], told["cap"], told["window"]) == (account_id, "invites_per_day", "day")


async def test_people_of_another_tenant_have_no_name_here(
    workspace: Workspace, database: Database, sign_up: Any, invite: str
) -> None:
    other = await sign_up()
    profile_id = await fetched(database, Tenant(other.id), slug())
    (row,) = (await preview(workspace, invite, profile_ids=[profile_id]))["data"]
    assert (row["decision"], row["reason"]) == ("skip", "missing_first_name")
    (unknown,) = await meet(database, slug())
    assert (await preview(workspace, invite, profile_ids=[unknown]))["data"][0]["reason"] == "missing_first_name"
