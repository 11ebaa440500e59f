"""Registering: what a client may say of itself, and how many there may be."""

from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from models.base.database import Database
from models.operate import housekeeping
from tests.api.conftest import client, run_sql
from tests.api.oauth.conftest import CALLBACK, Person, Programs, oauth_error, tokens_of


async def test_addresses_that_a_client_may_have(http: httpx.AsyncClient) -> None:
    uris = ["https://agent.example/callback", "http://127.0.0.1:33418/callback", "com.example.agent:/callback"]
    answer = await http.post("/register", json={"redirect_uris": uris})
    assert answer.status_code == 201, answer.text
    assert answer.json()["redirect_uris"] == uris
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("uri", ["javascript:alert(1)", "http://agent.example/callback", "https://*.example/", ""])
async def test_addresses_that_are_never_redirected_to(http: httpx.AsyncClient, database: Database, uri: str) -> None:
    before = await run_sql(database, "select count(*) from oauth_clients")
    oauth_error(await http.post("/register", json={"redirect_uris": [CALLBACK, uri]}), "invalid_redirect_uri")
    assert await run_sql(database, "select count(*) from oauth_clients") == before


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": None}, "invalid_redirect_uri"),
        ({"redirect_uris": [CALLBACK] * 11}, "invalid_redirect_uri"),
        ({"redirect_uris": CALLBACK}, "invalid_client_metadata"),
        ({"redirect_uris": [1]}, "invalid_client_metadata"),
        ({"grant_types": ["implicit"]}, "invalid_client_metadata"),
        ({"response_types": ["token"]}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
        ({"client_name": ["x"]}, "invalid_client_metadata"),
        ({"client_name": "x" * 1001}, "invalid_client_metadata"),
        ({"scope": 1}, "invalid_client_metadata"),
    ],
)
async def test_what_cannot_be_taken_is_named(http: httpx.AsyncClient, told: dict[str, Any], error: str) -> None:
    oauth_error(await http.post("/register", json={"redirect_uris": [CALLBACK]} | told), error)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"text", b"\xff", b"[" * 9000, b'{"a": "\\u0000"}', b'{"a": "\\ud800"}', b'{"a":1,"a":2}']
)
async def test_what_is_no_object_is_refused(http: httpx.AsyncClient, content: bytes) -> None:
    answer = await http.post("/register", content=content)
    assert answer.status_code == 400
    assert answer.json()["error"] in ("invalid_client_metadata", "invalid_request", "invalid_redirect_uri")


async def test_an_overlong_registration_is_refused(http: httpx.AsyncClient) -> None:
    body = {"redirect_uris": [CALLBACK], "software_statement": "x" * 9000}
    oauth_error(await http.post("/register", json=body), "invalid_request")


async def test_what_is_registered_is_answered(http: httpx.AsyncClient) -> None:
    body = {"redirect_uris": [CALLBACK], "client_name": "  Agent\u202e\u0007 One ", "scope": "account:read more"}
    made = (await http.post("/register", json=body | {"logo_uri": "https://evil.example/x.svg"})).json()
    assert made["client_name"] == "Agent One"
    assert (made["token_endpoint_auth_method"], made["client_secret_expires_at"]) == ("client_secret_basic", 0)
    assert made["grant_types"] == ["authorization_code", "refresh_token"]
    assert made["scope"] == "account:read"
    assert "logo_uri" not in made
    public = (await http.post("/register", json=body | {"token_endpoint_auth_method": "none"})).json()
    assert "client_secret" not in public


async def test_one_network_registers_so_many_clients_a_day(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch, database: Database
) -> None:
    monkeypatch.setattr("models.access.store.oauth.REGISTRATIONS_A_DAY", 2)
    async with client(app, address="192.0.2.50") as one, client(app, address="192.0.2.51") as other:
        statuses = [(await one.post("/register", json={"redirect_uris": [CALLBACK]})).status_code for _ in range(3)]
        assert statuses == [201, 201, 429]
        refused = await one.post("/register", json={"redirect_uris": [CALLBACK]})
        assert int(refused.headers["retry-after"]) > 0
        assert (await other.post("/register", json={"redirect_uris": [CALLBACK]})).status_code == 201
        await run_sql(database, "update oauth_clients set created_at = created_at - interval '1 day'")
        assert (await one.post("/register", json={"redirect_uris": [CALLBACK]})).status_code == 201


async def test_there_is_an_end_to_unused_registrations(
    app: FastAPI, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("models.access.store.oauth.UNUSED_REGISTRATIONS", 0)
    assert (await http.post("/register", json={"redirect_uris": [CALLBACK]})).status_code == 429


async def test_a_client_in_use_counts_against_no_limit(
    person: Person, program_of: Programs, database: Database, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = await program_of()
    ((unused,),) = await run_sql(database, "select count(*) from oauth_clients where used_at is null")
    monkeypatch.setattr("models.access.store.oauth.UNUSED_REGISTRATIONS", unused)
    async with client(app, address="192.0.2.52") as http:
        assert (await http.post("/register", json={"redirect_uris": [CALLBACK]})).status_code == 429
        await tokens_of(person, used, database)
        assert (await http.post("/register", json={"redirect_uris": [CALLBACK]})).status_code == 201


async def test_unused_clients_are_deleted(
    person: Person, program_of: Programs, database: Database, http: httpx.AsyncClient
) -> None:
    used, unused, young = await program_of(), await program_of(), await program_of()
    made = await tokens_of(person, used, database)
    await run_sql(
        database,
        "update oauth_clients set created_at = created_at - interval '8 days' where id = any(:ids)",
        ids=[used.client_id, unused.client_id],
    )
    await run_sql(database, "update oauth_sign_ins set expires_at = expires_at - interval '2 days'")
    async with database.transaction() as session:
        await housekeeping.ensure_duties(session)
        await housekeeping.do(session, housekeeping.RETAIN)
    left = {row[0] for row in await run_sql(database, "select id from oauth_clients")}
    assert {used.client_id, young.client_id} <= left
    assert unused.client_id not in left
    assert await run_sql(database, "select count(*) from oauth_sign_ins") == [(0,)]
    refreshed = await used.refresh(made["refresh_token"])
    assert refreshed.status_code == 200, "what is used stays"
    await used.post("/revoke", {"token": refreshed.json()["refresh_token"]})
    async with database.transaction() as session:
        await housekeeping.do(session, housekeeping.RETAIN)
    kept = "select count(*) from oauth_tokens t join oauth_grants g on g.id = t.grant_id where g.client_id = :id"
    assert await run_sql(database, kept, id=used.client_id) == [(0,)]
