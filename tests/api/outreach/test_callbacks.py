"""The provider's callbacks at the door: known by path and signature, stored once, never counted, never logged."""

import json
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import structlog
from fastapi import FastAPI
from sqlalchemy import text

from models.base.database import Database
from models.base.secrets import Vault
from models.base.tenants import Tenant, all_tenants
from models.outreach.rules.callbacks import (
    MAX_BYTES,
    SIGNATURE_HEADER,
    CallbackKind,
    callback_token,
    callback_url,
    read_callback,
    sign,
)
from models.outreach.store import accounts
from models.outreach.store.accounts import BODY_PURPOSE, RETURN_WAITS, hash_state
from tests.api.conftest import SECRET_KEY, Workspace, application, client, error_of, run_sql, settings
from tests.api.outreach.accounts import account_row, connected

SECRET = "wes_present"
LOCK = text("select from outreach_accounts where id = :id for update")
VAULT = Vault(SECRET_KEY)
TOKEN = callback_token(VAULT)
PATH = f"/callbacks/outreach/{TOKEN}"


@pytest.fixture(scope="module")
async def app(module_database_url: str) -> AsyncIterator[FastAPI]:
    """With the endpoint registered: two secrets, for the provider has just changed over."""
    async with application(module_database_url, unipile_api_key="key", rate_limit_per_minute=1_000) as made:
        url = callback_url(settings(module_database_url).public_url, TOKEN)
        for secret in ("wes_oldest", "wes_before", SECRET):
            async with made.state.kernel.database.within(all_tenants("tests")).transaction() as session:
                await accounts.keep_endpoint(
                    session, VAULT, url=url, provider_id="we_1", secret=secret, relations_told=True
                )
        yield made


@pytest.fixture
async def account_id(workspace: Workspace, database: Database) -> str:
    return await connected(database, Tenant(workspace.id))


async def event(database: Database, ours: str, id: str, **given: Any) -> bytes:
    provider_id = (await account_row(database, ours)).provider_id
    body = {"id": id, "type": "message.new", "account_id": provider_id, "payload": {"text": "A private word"}}
    return json.dumps(body | given).encode()


async def send(
    http: httpx.AsyncClient, raw: bytes, *, secret: str = SECRET, at: float | None = None, path: str = PATH
) -> httpx.Response:
    moment = str(int(at or time.time()))
    header = f"t={moment},v0={sign(raw, secret=secret, at=moment)}"
    return await http.post(path, content=raw, headers={SIGNATURE_HEADER: header})


async def kept(database: Database, account_id: str) -> list[Any]:
    return await run_sql(
        database, "select event_id, type, body from network_callbacks where account_id = :id order by id", id=account_id
    )


async def test_a_callback_is_stored_raw_and_sealed_and_its_account_woken(
    http: httpx.AsyncClient, database: Database, account_id: str
) -> None:
    raw = await event(database, account_id, "evt_stored")
    answer = await send(http, raw)
    assert (answer.status_code, answer.json()) == (200, {"received": True})
    ((event_id, type, body),) = await kept(database, account_id)
    assert (event_id, type) == ("evt_stored", "message.new")
    assert b"private" not in body
    assert VAULT.open(BODY_PURPOSE, body) == raw
    assert (await account_row(database, account_id)).rings == 1


async def test_the_same_event_is_stored_once(http: httpx.AsyncClient, database: Database, account_id: str) -> None:
    raw = await event(database, account_id, "evt_twice")
    for _ in range(3):
        assert (await send(http, raw)).status_code == 200
    assert len(await kept(database, account_id)) == 1
    assert (await account_row(database, account_id)).rings == 1


async def test_another_path_is_not_there(http: httpx.AsyncClient, database: Database, account_id: str) -> None:
    raw = await event(database, account_id, "evt_path")
    for token in ("x", TOKEN[:-1], TOKEN.upper(), f"{TOKEN}0"):
        error_of(await send(http, raw, path=f"/callbacks/outreach/{token}"), 404, "not_found")
    assert await kept(database, account_id) == []


@pytest.mark.parametrize("case", ["missing", "other secret", "forgotten secret", "stale", "early", "changed body"])
async def test_what_the_provider_did_not_sign_is_refused(
    http: httpx.AsyncClient, database: Database, account_id: str, case: str
) -> None:
    raw = await event(database, account_id, f"evt_{case}")
    match case:
        case "missing":
            answer = await http.post(PATH, content=raw)
        case "other secret":
            answer = await send(http, raw, secret="wes_guessed")
        case "forgotten secret":
            answer = await send(http, raw, secret="wes_oldest")
        case "stale" | "early":
            answer = await send(http, raw, at=time.time() + (310 if case == "early" else -310))
        case _:
            moment = str(int(time.time()))
            header = f"t={moment},v0={sign(raw, secret=SECRET, at=moment)}"
            answer = await http.post(PATH, content=raw + b" ", headers={SIGNATURE_HEADER: header})
    error_of(answer, 401, "unauthorized")
    assert await kept(database, account_id) == []


async def test_the_secret_of_before_is_taken_while_the_provider_changes_over(
    http: httpx.AsyncClient, database: Database, account_id: str
) -> None:
    assert (await send(http, await event(database, account_id, "evt_old"), secret="wes_before")).status_code == 200
    assert len(await kept(database, account_id)) == 1


async def test_the_signature_can_be_waived_by_the_operator(module_database_url: str, database: Database) -> None:
    lenient = application(module_database_url, unipile_api_key="key", unipile_require_signature=False)
    async with lenient as other, client(other) as http:
        raw = json.dumps({"id": "evt_lenient", "type": "message.new", "account_id": "nobody"}).encode()
        assert (await http.post(PATH, content=raw)).status_code == 200


async def test_events_of_unknown_accounts_and_kinds_are_answered_and_forgotten(
    http: httpx.AsyncClient, database: Database, account_id: str
) -> None:
    before = await run_sql(database, "select count(*) from network_callbacks")
    for changed in ({"account_id": "somebody"}, {"type": "mail.new"}, {"account_id": None}):
        assert (await send(http, await event(database, account_id, "evt_other", **changed))).status_code == 200
    assert await run_sql(database, "select count(*) from network_callbacks") == before


async def test_a_sign_in_is_known_by_its_state(http: httpx.AsyncClient, database: Database, account_id: str) -> None:
    await run_sql(
        database,
        "update outreach_accounts set provider_id = null, state_hash = :hash where id = :id",
        id=account_id,
        hash=hash_state("the state"),
    )
    body = {"id": "evt_add", "type": "account.add", "account_id": "new", "payload": {"state": "the state"}}
    assert (await send(http, json.dumps(body).encode())).status_code == 200
    assert [row[0] for row in await kept(database, account_id)] == ["evt_add"]


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"id": 1, "type": "x"}', b"\xff\x00", b"[" * 100_000])
async def test_what_is_no_event_is_refused(http: httpx.AsyncClient, raw: bytes) -> None:
    error_of(await send(http, raw), 400, "invalid_request")


async def test_a_body_over_a_mebibyte_is_refused(http: httpx.AsyncClient) -> None:
    error_of(await send(http, b"x" * (MAX_BYTES + 1)), 400, "invalid_request")


async def test_a_flood_of_one_account_is_asked_to_come_again(
    http: httpx.AsyncClient, database: Database, account_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("models.outreach.store.accounts.PER_SECOND", 2)
    answers = [await send(http, await event(database, account_id, f"evt_flood_{number}")) for number in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[-1].headers["Retry-After"] == "1"


async def test_an_account_that_is_held_for_long_delays_no_answer(
    http: httpx.AsyncClient, database: Database, account_id: str
) -> None:
    raw = await event(database, account_id, "evt_held")
    async with database.transaction() as session:
        await session.execute(LOCK, {"id": account_id})
        assert (await send(http, raw)).status_code == 200  # while the account is held
    assert len(await kept(database, account_id)) == 1


async def test_callbacks_are_not_rate_counted(module_database_url: str, database: Database, account_id: str) -> None:
    strict = application(module_database_url, unipile_api_key="key", rate_limit_per_minute=1)
    async with strict as other, client(other, address="198.51.100.7") as http:
        for number in range(5):
            answer = await send(http, await event(database, account_id, f"evt_rate_{number}"))
            assert answer.status_code == 200
            assert "RateLimit-Limit" not in answer.headers


async def test_neither_the_token_nor_the_body_is_logged(
    http: httpx.AsyncClient, database: Database, account_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = structlog.testing.CapturingLogger()
    monkeypatch.setattr("api.kernel.middleware.log", said)
    monkeypatch.setattr("api.outreach.callbacks.log", said)
    raw = await event(database, account_id, "evt_logged")
    await send(http, raw)
    await http.post(PATH, content=raw)
    await http.get("/outreach/connected", params={"state": "the-state", "account_id": "acc_1"})
    assert {call.args for call in said.calls} == {("request",), ("callback.refused",)}
    assert not [word for word in (TOKEN, "private", "the-state") if word in repr(said.calls)]


async def test_what_an_open_sign_in_came_back_with_is_kept_once_for_a_lost_callback(
    http: httpx.AsyncClient, database: Database, account_id: str
) -> None:
    await run_sql(
        database,
        "update outreach_accounts set state_hash = :hash where id = :id",
        id=account_id,
        hash=hash_state("open"),
    )
    for provider_id in ("acc_new", "acc_another"):
        back = {"state": "open", "account_id": provider_id}
        assert (await http.get("/outreach/connected", params=back)).status_code == 200
    ((_, type, body),) = await kept(database, account_id)
    callback = read_callback(VAULT.open(BODY_PURPOSE, body))
    assert (type, callback.kind) == ("link.returned", CallbackKind.RETURNED)
    assert (callback.account_id, callback.state) == ("acc_new", "open")
    waiting = "select due_at - received_at from network_callbacks where account_id = :id"
    ((waits,),) = await run_sql(database, waiting, id=account_id)
    assert waits == RETURN_WAITS
    for refused in ({"state": "unknown", "account_id": "acc_new"}, {"state": "open"}, {"account_id": "acc_new"}):
        await http.get("/outreach/connected", params=refused)
    assert len(await kept(database, account_id)) == 1


async def test_the_page_after_the_sign_in_shows_and_changes_nothing(
    http: httpx.AsyncClient, database: Database, account_id: str
) -> None:
    before = await account_row(database, account_id)
    good = await http.get("/outreach/connected", params={"account_id": before.provider_id, "state": "x"})
    bad = await http.get("/outreach/connected", params={"error_title": "<script>Call 0800</script>"})
    assert (good.status_code, bad.status_code) == (200, 200)
    assert "Thank you" in good.text
    assert "not connected" in bad.text
    assert "0800" not in bad.text
    for page in (good, bad):
        assert page.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert "<script" not in page.text
    assert await account_row(database, account_id) == before
    assert (await http.post("/outreach/connected")).status_code == 405
