"""API keys: no key creates or changes a key with more rights, and at least one key can always change keys."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from models.access.rules.keys import Scope
from models.base.database import Database
from tests.api.conftest import Workspace, client, error_of, run_sql

KeyOf = Callable[..., Awaitable[httpx.AsyncClient]]

ADMINISTRATION = ["account:read", "account:write"]


async def first_key(workspace: Workspace) -> dict[str, Any]:
    keys = (await workspace.http.get("/v1/api-keys")).json()["data"]
    found: dict[str, Any] = keys[-1]
    return found


async def made(caller: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    answer = await caller.post("/v1/api-keys", json={"name": "Another", "scopes": ["sourcing:read"], **body})
    assert answer.status_code == 201, answer.text
    key: dict[str, Any] = answer.json()
    return key


async def works(app: FastAPI, secret: str) -> bool:
    async with client(app, api_key=secret) as http:
        return (await http.get("/v1/workspace")).status_code == 200


async def test_a_key_is_shown_without_its_secret_but_once(workspace: Workspace) -> None:
    body = {"name": "Reader", "scopes": ["account:read", "account:read"], "daily_cap_credits": 40}
    answer = await workspace.http.post("/v1/api-keys", json=body | {"expires_at": "2999-01-01T00:00:00+01:00"})
    key = answer.json()
    assert answer.headers["location"] == f"/v1/api-keys/{key['id']}"
    secret = key.pop("secret")
    assert (secret[:9], secret[-4:]) == (key["prefix"], key["last4"])
    assert (key["scopes"], key["daily_cap_credits"], key["spent_today_credits"]) == (["account:read"], 40, 0)
    assert key["expires_at"] == "2998-12-31T23:00:00.000Z"
    assert (await workspace.http.get(f"/v1/api-keys/{key['id']}")).json() == key
    assert secret not in (await workspace.http.get("/v1/api-keys")).text


async def test_spending_of_today_is_shown(workspace: Workspace, database: Database) -> None:
    key = await first_key(workspace)
    await run_sql(
        database,
        "insert into daily_spends (subject_id, day, workspace_id, credits)"
        " values (:key, (service_now() at time zone 'utc')::date, :id, 17)",
        key=key["id"],
        id=workspace.id,
    )
    assert (await first_key(workspace))["spent_today_credits"] == 17


async def test_no_key_makes_a_wider_one(workspace: Workspace, key_of: KeyOf) -> None:
    async with await key_of(workspace, scopes=[*ADMINISTRATION, "sourcing:read"], daily_cap_credits=10) as narrow:
        for wider in (
            {"scopes": ["sourcing:spend"], "daily_cap_credits": 1},
            {"scopes": ["sourcing:read"]},
            {"scopes": ["sourcing:read"], "daily_cap_credits": 11},
        ):
            answer = await narrow.post("/v1/api-keys", json={"name": "Wide", **wider})
            error_of(answer, 403, "forbidden")
        assert (await made(narrow, daily_cap_credits=10))["daily_cap_credits"] == 10


async def test_no_key_touches_a_wider_one_or_widens_itself(workspace: Workspace, key_of: KeyOf) -> None:
    wide = await first_key(workspace)
    async with await key_of(workspace, scopes=ADMINISTRATION, daily_cap_credits=10) as narrow:
        own = (await workspace.http.get("/v1/api-keys?limit=1")).json()["data"][0]
        path = f"/v1/api-keys/{wide['id']}"
        error_of(await narrow.patch(path, json={"name": "Mine"}), 403, "forbidden")
        error_of(await narrow.post(f"{path}/rotate", json={}), 403, "forbidden")
        error_of(await narrow.delete(path), 403, "forbidden")
        itself = f"/v1/api-keys/{own['id']}"
        error_of(await narrow.patch(itself, json={"scopes": [*ADMINISTRATION, "sourcing:read"]}), 403, "forbidden")
        error_of(await narrow.patch(itself, json={"daily_cap_credits": None}), 403, "forbidden")
        error_of(await narrow.patch(itself, json={"daily_cap_credits": 11}), 403, "forbidden")
        assert (await narrow.patch(itself, json={"daily_cap_credits": 9})).json()["daily_cap_credits"] == 9
        assert (await narrow.patch(itself, json={"name": "Mine"})).json()["name"] == "Mine"


async def test_the_last_key_that_can_change_keys_stays(workspace: Workspace, database: Database) -> None:
    first = await first_key(workspace)
    path = f"/v1/api-keys/{first['id']}"
    error_of(await workspace.http.delete(path), 409, "conflict")
    error_of(await workspace.http.patch(path, json={"scopes": ["account:read"]}), 409, "conflict")
    second = await made(workspace.http, scopes=sorted(Scope))
    await run_sql(
        database, "update api_keys set expires_at = clock_timestamp() - interval '1 s' where id = :id", id=second["id"]
    )
    error_of(await workspace.http.delete(path), 409, "conflict")
    await run_sql(database, "update api_keys set expires_at = null where id = :id", id=second["id"])
    assert (await workspace.http.delete(path)).status_code == 204
    error_of(await workspace.http.get("/v1/workspace"), 401, "unauthorized")


async def test_two_administrators_that_revoke_each_other_leave_one(app: FastAPI, workspace: Workspace) -> None:
    first, second = await first_key(workspace), await made(workspace.http, scopes=sorted(Scope))
    async with client(app, api_key=second["secret"]) as other:
        answers = await asyncio.gather(
            workspace.http.delete(f"/v1/api-keys/{second['id']}"), other.delete(f"/v1/api-keys/{first['id']}")
        )
        assert sorted(answer.status_code for answer in answers) in ([204, 401], [204, 409])
        assert [await works(app, workspace.api_key), await works(app, second["secret"])].count(True) == 1


async def test_a_rotation_with_overlap_keeps_both_secrets_for_a_while(
    app: FastAPI, workspace: Workspace, database: Database
) -> None:
    key = await made(workspace.http, scopes=ADMINISTRATION)
    path = f"/v1/api-keys/{key['id']}"
    rotated = (await workspace.http.post(f"{path}/rotate", json={"overlap_seconds": 60})).json()
    assert (rotated["id"], rotated["secret"] != key["secret"]) == (key["id"], True)
    assert await works(app, key["secret"])
    assert await works(app, rotated["secret"])
    await run_sql(
        database,
        "update api_keys set previous_expires_at = previous_expires_at - interval '60 s' where id = :id",
        id=key["id"],
    )
    assert not await works(app, key["secret"])
    assert await works(app, rotated["secret"])


async def test_a_rotation_without_overlap_ends_the_old_secret_at_once(app: FastAPI, workspace: Workspace) -> None:
    key = await made(workspace.http, scopes=ADMINISTRATION)
    rotated = (await workspace.http.post(f"/v1/api-keys/{key['id']}/rotate")).json()
    assert not await works(app, key["secret"])
    assert await works(app, rotated["secret"])


async def test_a_second_rotation_ends_the_secret_before_the_previous_one(app: FastAPI, workspace: Workspace) -> None:
    key = await made(workspace.http, scopes=ADMINISTRATION)
    path, overlap = f"/v1/api-keys/{key['id']}/rotate", {"overlap_seconds": 86400}
    second = (await workspace.http.post(path, json=overlap)).json()["secret"]
    third = (await workspace.http.post(path, json=overlap)).json()["secret"]
    assert [await works(app, secret) for secret in (key["secret"], second, third)] == [False, True, True]


@pytest.mark.parametrize("seconds", [-1, 86_401, "60", 1.5, None])
async def test_an_overlap_is_at_most_a_day(workspace: Workspace, seconds: Any) -> None:
    key = await first_key(workspace)
    answer = await workspace.http.post(f"/v1/api-keys/{key['id']}/rotate", json={"overlap_seconds": seconds})
    error_of(answer, 400, "invalid_request", "overlap_seconds")


async def test_revoking_ends_both_secrets_and_can_be_repeated(app: FastAPI, workspace: Workspace) -> None:
    key = await made(workspace.http, scopes=ADMINISTRATION)
    path = f"/v1/api-keys/{key['id']}"
    rotated = (await workspace.http.post(f"{path}/rotate", json={"overlap_seconds": 600})).json()
    assert (await workspace.http.delete(path)).status_code == 204
    assert (await workspace.http.delete(path)).status_code == 204
    assert not await works(app, key["secret"])
    assert not await works(app, rotated["secret"])
    assert (await workspace.http.get(path)).json()["revoked_at"] is not None
    error_of(await workspace.http.post(f"{path}/rotate", json={}), 409, "conflict")
    error_of(await workspace.http.patch(path, json={"name": "x"}), 409, "conflict")


async def test_an_expiry_is_set_and_taken_away(workspace: Workspace) -> None:
    key = await made(workspace.http)
    path = f"/v1/api-keys/{key['id']}"
    late = {"expires_at": "2999-01-01T00:00:00Z"}
    assert (await workspace.http.patch(path, json=late)).json()["expires_at"] == "2999-01-01T00:00:00.000Z"
    assert (await workspace.http.patch(path, json={"name": "x"})).json()["expires_at"] is not None
    assert (await workspace.http.patch(path, json={"expires_at": None})).json()["expires_at"] is None
    past = {"expires_at": "2001-01-01T00:00:00Z"}
    error_of(await workspace.http.patch(path, json=past), 400, "invalid_request", "expires_at")


async def test_changes_of_keys_are_audited_without_secrets(workspace: Workspace) -> None:
    key = await made(workspace.http, scopes=ADMINISTRATION)
    path = f"/v1/api-keys/{key['id']}"
    await workspace.http.patch(path, json={"name": "New"})
    rotated = (await workspace.http.post(f"{path}/rotate", json={})).json()
    await workspace.http.delete(path)
    answer = await workspace.http.get("/v1/audit-entries")
    entries = answer.json()["data"]
    assert [entry["action"] for entry in entries] == [
        "api_key.revoked",
        "api_key.rotated",
        "api_key.changed",
        "api_key.created",
    ]
    assert {entry["subject_id"] for entry in entries} == {key["id"]}
    assert {entry["api_key_id"] for entry in entries} == {(await first_key(workspace))["id"]}
    assert key["secret"] not in answer.text
    assert rotated["secret"] not in answer.text
