"""Outreach accounts over REST; what the provider does with them is shown by the journeys."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from api.outreach import accounts
from models.base.database import Database, service_time
from models.base.secrets import Vault
from models.base.tenants import Tenant
from models.outreach.engine import connect
from models.outreach.engine.connect import LINK_PURPOSE, ConnectFailure
from tests.api.conftest import SECRET_KEY, Workspace, application, client, error_of, run_sql
from tests.api.outreach.accounts import account_row, connected

PATH = "/v1/outreach/accounts"


@pytest.fixture(scope="module")
async def app(module_database_url: str) -> AsyncIterator[FastAPI]:
    """With a provider, which no worker of these tests asks, and without mails."""
    async with application(module_database_url, unipile_api_key="key", email_verification=False) as made:
        yield made


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "WAIT_SECONDS", 0.2)


async def made(database: Database, workspace: Workspace, **given: Any) -> str:
    return await connected(database, Tenant(workspace.id), **given)


async def asked(workspace: Workspace, database: Database, **body: Any) -> str:
    """Request a link that no worker creates, and return the record's id."""
    error_of(await workspace.http.post(PATH, json=body), 503, "upstream_busy")
    newest = "select id from outreach_accounts where workspace_id = :id order by created_at desc limit 1"
    return str((await run_sql(database, newest, id=workspace.id))[0][0])


async def linked(database: Database, account_id: str) -> None:
    """What the worker does."""
    sealed = Vault(SECRET_KEY).seal(LINK_PURPOSE, b"https://connect.example/x")
    await run_sql(database, "update outreach_accounts set connect_url = :url where id = :id", url=sealed, id=account_id)


async def test_a_link_that_is_not_made_in_time_is_asked_for_again_without_a_second_record(
    workspace: Workspace, database: Database
) -> None:
    first = await asked(workspace, database)
    assert await asked(workspace, database) == first
    await linked(database, first)
    answer = await workspace.http.post(PATH)
    assert answer.status_code == 201, answer.text
    body = answer.json()
    assert (body["account"]["id"], body["connect_url"]) == (first, "https://connect.example/x")
    assert answer.headers["Location"] == f"{PATH}/{first}"
    assert body["expires_at"]
    assert (await workspace.http.get(PATH)).json()["data"] == [body["account"]]


async def test_another_name_is_another_account_and_ten_are_enough(workspace: Workspace, database: Database) -> None:
    ids = {await asked(workspace, database, name=f"Recruiter {number}") for number in range(10)}
    assert len(ids) == 10
    assert await asked(workspace, database, name="Recruiter 3") in ids
    assert error_of(await workspace.http.post(PATH, json={"name": "One more"}), 409, "conflict")["details"] == {
        "limit": 10
    }


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (ConnectFailure.BUSY, 503, "upstream_busy"),
        (ConnectFailure.UNAVAILABLE, 503, "account_connect_unavailable"),
        (ConnectFailure.UPSTREAM, 502, "upstream_error"),
    ],
)
async def test_a_link_that_cannot_be_made_is_the_documented_error(
    workspace: Workspace,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    failure: ConnectFailure,
    status: int,
    code: str,
) -> None:
    account_id = await asked(workspace, database)
    given = "update outreach_accounts set connect_failure = :code, connect_expires_at = null where id = :id"
    monkeypatch.setattr(connect, "ask_link", lambda *_: None)  # the worker has failed already
    await run_sql(database, given, code=failure.value, id=account_id)
    error_of(await workspace.http.post(PATH), status, code)


async def test_without_a_provider_nothing_is_connected(module_database_url: str, workspace: Workspace) -> None:
    without = application(module_database_url, email_verification=False)
    async with without as other, client(other, api_key=workspace.api_key) as http:
        error_of(await http.post(PATH), 503, "account_connect_unavailable")
    assert (await workspace.http.get(PATH)).json()["data"] == []


async def test_an_address_has_to_be_confirmed_before_anything_is_connected_or_resumed(
    module_database_url: str, workspace: Workspace, database: Database
) -> None:
    account_id = await made(database, workspace, status="paused", pause_reason="manual")
    verifying = application(module_database_url, unipile_api_key="key")
    async with verifying as strict, client(strict, api_key=workspace.api_key) as http:
        error_of(await http.post(PATH), 403, "forbidden")
        error_of(await http.post(f"{PATH}/{account_id}/resume"), 403, "forbidden")
        await run_sql(database, "update workspaces set verified_at = now() where id = :id", id=workspace.id)
        assert (await http.post(f"{PATH}/{account_id}/resume")).status_code == 200


async def test_an_account_is_shown_with_everything_the_contract_names(workspace: Workspace, database: Database) -> None:
    await workspace.http.patch("/v1/outreach/settings", json={"time_zone": "Pacific/Auckland", "days": [1]})
    account_id = await made(database, workspace)
    shown = (await workspace.http.get(f"{PATH}/{account_id}")).json()
    expected = {
        "id": account_id,
        "object": "outreach_account",
        "name": "Sam Voorbeeld",
        "profile_url": None,
        "status": "active",
        "pause_reason": None,
        "paused_until": None,
        "resumable": False,
        "time_zone": "Pacific/Auckland",
        "working_hours": {"start_hour": 8, "end_hour": 19, "days": [1]},
        "monthly_price_cents": 4900,
        "currency": "EUR",
        "connect_failure": None,
        "restored_as": None,
    }
    assert {name: shown[name] for name in expected} == expected
    assert shown["warmup"]["pending"] is True
    assert shown["warmup"]["factor"] == 1
    assert set(shown) == {*expected, "warmup", "created_at", "connected_at"}


async def test_warm_up_is_counted_in_utc_days(workspace: Workspace, database: Database) -> None:
    async with database.transaction() as session:
        now = await service_time(session)
    account_id = await made(database, workspace, warmup_started_at=now - timedelta(days=7))
    warmup = (await workspace.http.get(f"{PATH}/{account_id}")).json()["warmup"]
    assert (warmup["pending"], warmup["day"], warmup["caps_after_warmup_start"]) == (False, 7, None)
    assert warmup["factor"] == pytest.approx(0.7)


async def test_pausing_and_resuming_by_hand(workspace: Workspace, database: Database) -> None:
    account_id = await made(database, workspace)
    paused = (await workspace.http.post(f"{PATH}/{account_id}/pause")).json()
    assert (paused["status"], paused["pause_reason"], paused["resumable"]) == ("paused", "manual", True)
    resumed = (await workspace.http.post(f"{PATH}/{account_id}/resume")).json()
    assert (resumed["status"], resumed["pause_reason"]) == ("active", None)


async def test_a_network_pause_is_not_resumed_early(workspace: Workspace, database: Database) -> None:
    async with database.transaction() as session:
        until = await service_time(session) + timedelta(hours=3)
    pause = {"status": "paused", "pause_reason": "daily_limit", "paused_until": until}
    account_id = await made(database, workspace, **pause, limit_reason="daily_limit", limited_until=until)
    shown = (await workspace.http.get(f"{PATH}/{account_id}")).json()
    assert shown["resumable"] is False
    error = error_of(await workspace.http.post(f"{PATH}/{account_id}/resume"), 409, "account_paused")
    assert error["details"]["next_available_at"] == shown["paused_until"]
    assert (await account_row(database, account_id)).status == "paused"


async def test_a_review_without_a_worker_is_busy_and_changes_nothing(workspace: Workspace, database: Database) -> None:
    account_id = await made(database, workspace, status="needs_review", pause_reason="restricted")
    error_of(await workspace.http.post(f"{PATH}/{account_id}/resume"), 503, "upstream_busy")
    assert (await account_row(database, account_id)).status == "needs_review"


async def test_what_was_never_connected_is_neither_paused_nor_resumed(workspace: Workspace, database: Database) -> None:
    account_id = await made(database, workspace, status="connecting", provider_id=None, network_user_id=None)
    for verb in ("pause", "resume"):
        error_of(await workspace.http.post(f"{PATH}/{account_id}/{verb}"), 409, "account_not_ready")


async def test_an_account_that_works_is_not_reconnected(workspace: Workspace, database: Database) -> None:
    account_id = await made(database, workspace)
    error_of(await workspace.http.post(f"{PATH}/{account_id}/reconnect"), 409, "conflict")


async def test_a_removed_account_is_still_read_but_does_nothing_any_more(
    workspace: Workspace, database: Database
) -> None:
    account_id = await made(database, workspace)
    for _ in range(2):
        assert (await workspace.http.delete(f"{PATH}/{account_id}")).status_code == 204
    assert (await workspace.http.get(f"{PATH}/{account_id}")).json()["status"] == "removed"
    assert (await workspace.http.get(PATH)).json()["data"] == []
    assert len((await workspace.http.get(PATH, params={"status": "removed"})).json()["data"]) == 1
    for verb in ("pause", "resume", "reconnect"):
        error_of(await workspace.http.post(f"{PATH}/{account_id}/{verb}"), 404, "not_found")
    error_of(await workspace.http.patch(f"{PATH}/{account_id}/limits", json={}), 404, "not_found")


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [
        ("outreach:read", {"GET ", "GET limits"}),
        ("outreach:write", {"PATCH limits", "POST pause", "DELETE "}),
        ("outreach:send", {"POST resume"}),
    ],
)
async def test_every_operation_has_its_scope(
    workspace: Workspace, database: Database, key_of: Any, scope: str, allowed: set[str]
) -> None:
    account_id = await made(database, workspace)
    key: httpx.AsyncClient = await key_of(workspace, scopes=[scope])
    calls = ["GET ", "GET limits", "PATCH limits", "POST pause", "POST resume", "DELETE "]
    done = set()
    for call in calls:
        method, _, verb = call.partition(" ")
        path = f"{PATH}/{account_id}/{verb}".rstrip("/")
        answer = await key.request(method, path, json={} if method == "PATCH" else None)
        if answer.is_success:
            done.add(call)
        else:
            error_of(answer, 403, "insufficient_scope")
    assert done == allowed
