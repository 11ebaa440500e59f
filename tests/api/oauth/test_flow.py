"""The whole way: ask, mail, consent, code, tokens, tools; what a token is good for, how a grant is seen and ended."""

from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from models.base.database import Database
from tests.api.conftest import client, error_of, run_sql
from tests.api.mcp.conftest import URL
from tests.api.oauth.conftest import LIST_TOOLS, Person, Program, consent, oauth_error, tokens_of, told, use


def called(name: str, **given: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": given}}


async def grants(app: FastAPI, person: Person) -> list[dict[str, Any]]:
    async with client(app, api_key=person.api_key) as owner:
        keys = (await owner.get("/v1/api-keys")).json()["data"]
    return [key for key in keys if key["type"] == "oauth"]


async def test_a_client_signs_in_uses_its_token_and_refreshes_it(
    person: Person, program: Program, database: Database, http: httpx.AsyncClient
) -> None:
    answer = await person.send(await consent(person, program, database), decision="allow")
    assert answer.headers["location"].startswith(f"{program.redirect_uri}?")
    back = told(answer)
    assert (back["state"], back["iss"]) == (program.state, URL)
    made = (await program.exchange(back["code"])).json()
    assert (made["token_type"], made["expires_in"], made["scope"]) == ("Bearer", 3600, "sourcing:read account:read")
    assert (await use(http, made["access_token"])).status_code == 200
    again = (await program.refresh(made["refresh_token"])).json()
    assert (await use(http, again["access_token"])).status_code == 200
    assert len({made["access_token"], made["refresh_token"], again["access_token"], again["refresh_token"]}) == 4


async def test_nothing_secret_is_kept_as_it_is(
    person: Person, program: Program, database: Database, http: httpx.AsyncClient
) -> None:
    answer = await person.send(await consent(person, program, database), decision="allow")
    code = told(answer)["code"]
    made = (await program.exchange(code)).json()
    cookie = next(iter(person.browser.cookies.values()))
    for table in ("oauth_clients", "oauth_sign_ins", "oauth_grants", "oauth_tokens", "api_keys", "audit_entries"):
        rows = await run_sql(database, f"select t::text from {table} t")
        for secret in (code, cookie, made["access_token"], made["refresh_token"], person.email):
            assert not [row for (row,) in rows if secret in row or secret.encode().hex() in row], table


async def test_a_grant_is_listed_with_what_it_is_and_ended_where_keys_are(
    app: FastAPI, person: Person, program: Program, database: Database, http: httpx.AsyncClient
) -> None:
    made = await tokens_of(person, program, database)
    await use(http, made["access_token"])
    (grant,) = await grants(app, person)
    assert grant["id"].startswith("oauth_")
    assert (grant["name"], grant["prefix"], grant["last4"]) == ("Agent", "svc_access_", made["access_token"][-4:])
    assert grant["scopes"] == ["sourcing:read", "account:read"]
    assert grant["client"] == {
        "client_id": program.client_id,
        "name": "Agent",
        "redirect_host": "127.0.0.1",
        "resource": f"{URL}/mcp",
    }
    assert grant["last_used_at"] is not None
    assert grant["created_at"] < grant["expires_at"]
    async with client(app, api_key=person.api_key) as owner:
        path = f"/v1/api-keys/{grant['id']}"
        assert (await owner.get(path)).json()["type"] == "oauth"
        error_of(await owner.post(f"{path}/rotate", json={}), 409, "conflict")
        error_of(await owner.patch(path, json={"scopes": ["outreach:send"]}), 400, "invalid_request", "scopes")
        error_of(await owner.patch(path, json={"expires_at": None}), 400, "invalid_request", "expires_at")
        changed = (await owner.patch(path, json={"name": "Mine", "scopes": ["account:read"]})).json()
        assert (changed["name"], changed["scopes"], changed["client"]["name"]) == ("Mine", ["account:read"], "Agent")
        assert (await owner.delete(path)).status_code == 204
    assert (await use(http, made["access_token"])).status_code == 401
    oauth_error(await program.refresh(made["refresh_token"]), "invalid_grant")


async def test_a_grant_cannot_keep_the_account_from_losing_its_last_key(
    app: FastAPI, person: Person, program: Program, database: Database
) -> None:
    await tokens_of(person, program, database, scope="account:read account:write")
    async with client(app, api_key=person.api_key) as owner:
        keys = (await owner.get("/v1/api-keys")).json()["data"]
        own = next(key for key in keys if key["type"] == "key")
        error_of(await owner.delete(f"/v1/api-keys/{own['id']}"), 409, "conflict")


@pytest.mark.parametrize("path", ["/v1/workspace", "/v1/api-keys", "/api/mcp", "/api/mcp/"])
async def test_a_token_is_for_one_audience(
    person: Person, program: Program, database: Database, http: httpx.AsyncClient, path: str
) -> None:
    token = (await tokens_of(person, program, database))["access_token"]
    for good in ("/mcp", "/mcp/", "/mcp?toolsets=all"):
        assert (await use(http, token, good)).status_code == 200
    method = "POST" if path.startswith("/api/mcp") else "GET"
    answer = await http.request(method, path, json=LIST_TOOLS, headers={"authorization": f"Bearer {token}"})
    error_of(answer, 401, "unauthorized")


async def test_a_token_of_the_other_path_is_good_there_alone(
    person: Person, program: Program, database: Database, http: httpx.AsyncClient
) -> None:
    token = (await tokens_of(person, program, database, resource=f"{URL}/api/mcp"))["access_token"]
    assert (await use(http, token, "/api/mcp")).status_code == 200
    answer = await use(http, token, "/mcp")
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


async def test_a_scope_that_was_not_granted_is_asked_for_by_a_challenge(
    person: Person, program: Program, database: Database, http: httpx.AsyncClient
) -> None:
    token = (await tokens_of(person, program, database))["access_token"]
    answer = await use(http, token, body=called("list_outreach_accounts"))
    assert answer.status_code == 403
    challenge = answer.headers["www-authenticate"]
    assert 'error="insufficient_scope"' in challenge
    assert 'scope="sourcing:read outreach:read account:read"' in challenge
    assert f'resource_metadata="{URL}/.well-known/oauth-protected-resource/mcp"' in challenge
    result = answer.json()["result"]
    assert result["isError"] is True
    assert "insufficient_scope" in result["content"][0]["text"]


async def test_a_key_without_a_scope_gets_a_plain_answer(app: FastAPI, person: Person, http: httpx.AsyncClient) -> None:
    async with client(app, api_key=person.api_key) as owner:
        made = await owner.post("/v1/api-keys", json={"name": "Narrow", "scopes": ["sourcing:read"]})
    answer = await use(http, made.json()["secret"], body=called("list_outreach_accounts"))
    assert (answer.status_code, answer.json()["result"]["isError"]) == (200, True)


async def test_a_token_selects_a_customer_as_a_key_does(
    app: FastAPI, person: Person, program: Program, database: Database, http: httpx.AsyncClient
) -> None:
    token = (await tokens_of(person, program, database))["access_token"]
    async with client(app, api_key=person.api_key) as owner:
        customer = (await owner.post("/v1/customers", json={"name": "One"})).json()["id"]
        inside = {"authorization": f"Bearer {token}", "service-customer": customer}
        assert (await http.post("/mcp", json=LIST_TOOLS, headers=inside)).status_code != 403
        await owner.patch(f"/v1/customers/{customer}", json={"status": "disabled"})
        error_of(await http.post("/mcp", json=LIST_TOOLS, headers=inside), 403, "forbidden")


async def test_a_suspended_workspace_ends_what_it_granted(
    person: Person, program: Program, database: Database, http: httpx.AsyncClient
) -> None:
    made = await tokens_of(person, program, database)
    await run_sql(database, "update workspaces set suspended_at = service_now() where id = :w", w=person.workspace_id)
    error_of(await use(http, made["access_token"]), 403, "forbidden")
    oauth_error(await program.refresh(made["refresh_token"]), "invalid_grant")
