"""Signing up and confirming the address: once for each address, credits once, links that opening does not use."""

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI

from models.access.rules.keys import checksum_holds
from models.access.store.mails import SECRET_PURPOSE
from models.base.database import Database
from models.base.secrets import Vault
from models.base.tenants import all_tenants
from tests.api.conftest import SECRET_KEY, Workspace, application, client, error_of, run_sql


def address() -> str:
    return f"{secrets.token_hex(6)}@example.com"


async def signed_up(http: httpx.AsyncClient, email: str, **more: Any) -> dict[str, Any]:
    answer = await http.post("/v1/workspaces", json={"name": "Acme", "email": email, **more})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def tokens(database: Database, workspace_id: str) -> list[str]:
    """What the mails of a workspace carry, oldest first."""
    sealed = await run_sql(database, "select secret from mails where workspace_id = :id order by id", id=workspace_id)
    return [Vault(SECRET_KEY).open(SECRET_PURPOSE, row[0]).decode() for row in sealed]


async def age(database: Database, workspace_id: str, hours: int) -> None:
    for change in (
        "update workspaces set created_at = created_at - make_interval(hours => :hours) where id = :id",
        "update verifications set created_at = created_at - make_interval(hours => :hours),"
        " expires_at = expires_at - make_interval(hours => :hours) where workspace_id = :id",
    ):
        await run_sql(database, change, id=workspace_id, hours=hours)


async def test_the_answer_holds_what_the_contract_says_and_a_key_that_works(
    app: FastAPI, http: httpx.AsyncClient
) -> None:
    email = address()
    made = await signed_up(http, email, first_name="Ada", marketing_opt_in=True)
    key = made.pop("api_key")
    assert made.pop("id").startswith("ws_")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", made.pop("created_at"))
    assert made == {
        "object": "workspace",
        "name": "Acme",
        "email": email,
        "first_name": "Ada",
        "marketing_opt_in": True,
        "email_verified": False,
        "balance_credits": 0,
    }
    assert re.fullmatch(r"svc_live_[0-9A-Za-z]{49}", key)
    assert checksum_holds(key)
    async with client(app, api_key=key) as own:
        shown = (await own.get("/v1/workspace")).json()
        assert (shown["low_balance_credits"], shown["api_version"], shown["suspended"]) == (250, "2026-11-01", False)


async def test_signup_is_the_same(http: httpx.AsyncClient) -> None:
    answer = await http.post("/v1/signup", json={"name": "Acme", "email": address()})
    assert answer.status_code == 201
    assert answer.json()["api_key"].startswith("svc_live_")


async def test_secrets_are_kept_as_hashes_alone(http: httpx.AsyncClient, database: Database) -> None:
    made = await signed_up(http, address())
    token = (await tokens(database, made["id"]))[0]
    for table in ("api_keys", "verifications", "mails", "workspaces", "audit_entries"):
        whole = str(await run_sql(database, f"select t::text from {table} t"))
        assert made["api_key"] not in whole
        assert token not in whole
        assert token.encode().hex() not in whole


async def test_confirming_adds_the_credits_once(app: FastAPI, http: httpx.AsyncClient, database: Database) -> None:
    made = await signed_up(http, address())
    token = (await tokens(database, made["id"]))[0]
    answer = await http.post("/v1/workspaces/verify", json={"token": token})
    assert answer.status_code == 200
    told = answer.json()
    assert (told["object"], told["workspace_id"]) == ("verification", made["id"])
    assert (told["granted_credits"], told["balance_credits"]) == (1250, 1250)
    error_of(await http.post("/v1/workspaces/verify", json={"token": token}), 404, "invalid_verification_link")
    async with client(app, api_key=made["api_key"]) as own:
        shown = (await own.get("/v1/workspace")).json()
        assert (shown["email_verified"], shown["balance_credits"]) == (True, 1250)
        balance = (await own.get("/v1/billing/balance")).json()
        ledger = (await own.get("/v1/billing/ledger")).json()["data"]
    assert balance["by_source"] == [{"source": "signup", "remaining_credits": 1250}]
    assert balance["next_expiries"] == [{"expires_at": balance["grants"][0]["expires_at"], "credits": 1250}]
    assert [(entry["kind"], entry["credits"]) for entry in ledger] == [("grant", 1250)]


async def test_twenty_confirmations_at_once_grant_once(http: httpx.AsyncClient, database: Database) -> None:
    made = await signed_up(http, address())
    token = (await tokens(database, made["id"]))[0]
    answers = await asyncio.gather(*(http.post("/v1/workspaces/verify", json={"token": token}) for _ in range(20)))
    assert sorted(answer.status_code for answer in answers) == [200] + [404] * 19
    total = await run_sql(database, "select sum(granted_credits) from grants where workspace_id = :id", id=made["id"])
    assert total[0][0] == 1250


@pytest.mark.parametrize("token", ["nonsense", "x" * 200, "a" * 43])
async def test_an_invented_token_is_no_link(http: httpx.AsyncClient, token: str) -> None:
    error_of(await http.post("/v1/workspaces/verify", json={"token": token}), 404, "invalid_verification_link")


async def test_a_link_expires_after_48_hours(http: httpx.AsyncClient, database: Database) -> None:
    made = await signed_up(http, address())
    await age(database, made["id"], 48)
    token = (await tokens(database, made["id"]))[0]
    error_of(await http.post("/v1/workspaces/verify", json={"token": token}), 404, "invalid_verification_link")


async def test_an_address_is_one_in_every_letter_case(http: httpx.AsyncClient, database: Database) -> None:
    email = address()
    made = await signed_up(http, email)
    again = {"name": "Other", "email": email.upper()}
    error_of(await http.post("/v1/workspaces", json=again), 409, "conflict", "email")
    await http.post("/v1/workspaces/verify", json={"token": (await tokens(database, made["id"]))[0]})
    await age(database, made["id"], 1000)
    error_of(await http.post("/v1/workspaces", json=again), 409, "conflict", "email")


async def test_an_unconfirmed_workspace_gives_its_address_back_after_48_hours(
    http: httpx.AsyncClient, database: Database
) -> None:
    email = address()
    first = await signed_up(http, email)
    await age(database, first["id"], 47)
    error_of(await http.post("/v1/workspaces", json={"name": "B", "email": email}), 409, "conflict", "email")
    await age(database, first["id"], 1)
    second = await signed_up(http, email)
    await http.post("/v1/workspaces/verify", json={"token": (await tokens(database, second["id"]))[0]})
    await run_sql(
        database,
        "update verifications set expires_at = expires_at + interval '90 days' where workspace_id = :id",
        id=first["id"],
    )
    late = await http.post("/v1/workspaces/verify", json={"token": (await tokens(database, first["id"]))[0]})
    error_of(late, 409, "conflict")


async def test_ten_signups_at_once_with_one_address_make_one_workspace(http: httpx.AsyncClient) -> None:
    email = address()
    body = {"name": "Acme", "email": email}
    answers = await asyncio.gather(*(http.post("/v1/workspaces", json=body) for _ in range(10)))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 9


async def test_the_mail_is_queued_and_woken_in_the_same_transaction(
    http: httpx.AsyncClient, database: Database
) -> None:
    made = await signed_up(http, address())
    rows = await run_sql(database, "select kind, rings, answered from mails where workspace_id = :id", id=made["id"])
    assert [tuple(row) for row in rows] == [("verification", 1, 0)]


async def test_the_link_is_sent_again_three_times_a_day(workspace: Workspace, database: Database) -> None:
    for _ in range(3):
        sent = await workspace.http.post("/v1/workspace/verification")
        assert sent.status_code == 200, sent.text
    refused = await workspace.http.post("/v1/workspace/verification")
    error_of(refused, 429, "rate_limited")
    assert 0 < int(refused.headers["retry-after"]) <= 24 * 3600
    made = await tokens(database, workspace.id)
    assert len(set(made)) == 4
    await age(database, workspace.id, 24)
    assert (await workspace.http.post("/v1/workspace/verification")).status_code == 200
    await workspace.http.post("/v1/workspaces/verify", json={"token": made[2]})
    error_of(await workspace.http.post("/v1/workspace/verification"), 409, "conflict")
    error_of(
        await workspace.http.post("/v1/workspaces/verify", json={"token": made[3]}), 404, "invalid_verification_link"
    )


async def stored_attribution(database: Database, workspace_id: str) -> Any:
    return (await run_sql(database, "select attribution from workspaces where id = :id", id=workspace_id))[0][0]


async def test_attribution_comes_from_the_body_or_else_from_the_cookie(
    http: httpx.AsyncClient, database: Database
) -> None:
    first = {"utm_source": "cookie", "referrer": "https://example.com/a", "landing_path": "/start"}
    cookie = {"Cookie": f"svc_attr={quote(json.dumps(first))}"}
    body = {"name": "Acme", "email": address()}
    from_cookie = await http.post("/v1/workspaces", json=body, headers=cookie)
    stored = await stored_attribution(database, from_cookie.json()["id"])
    assert {name: value for name, value in stored.items() if value is not None} == first
    both = body | {"email": address(), "attribution": {"utm_source": "body"}}
    from_body = await http.post("/v1/workspaces", json=both, headers=cookie)
    stored = await stored_attribution(database, from_body.json()["id"])
    assert {name: value for name, value in stored.items() if value is not None} == {"utm_source": "body"}


@pytest.mark.parametrize(
    "cookie",
    [
        "nonsense",
        "%7B",
        "%ff",
        quote('{"utm_source": 5}'),
        quote('{"other": "x"}'),
        quote('{"utm_term": "\\u0000"}'),
        quote('{"utm_term": "\\ud800"}'),
        quote("[" * 3000),
    ],
)
async def test_a_malformed_cookie_is_ignored(http: httpx.AsyncClient, database: Database, cookie: str) -> None:
    body = {"name": "Acme", "email": address()}
    made = await http.post("/v1/workspaces", json=body, headers={"Cookie": f"svc_attr={cookie}"})
    assert made.status_code == 201, made.text
    assert await stored_attribution(database, made.json()["id"]) is None


async def test_changing_the_workspace_keeps_what_is_left_out(workspace: Workspace) -> None:
    changed = await workspace.http.patch("/v1/workspace", json={"low_balance_credits": 0, "first_name": "Ada"})
    assert (changed.json()["low_balance_credits"], changed.json()["first_name"]) == (0, "Ada")
    cleared = await workspace.http.patch("/v1/workspace", json={"first_name": None})
    assert (cleared.json()["first_name"], cleared.json()["low_balance_credits"]) == (None, 0)
    error_of(await workspace.http.patch("/v1/workspace", json={"name": None}), 400, "invalid_request", "name")
    error_of(
        await workspace.http.patch("/v1/workspace", json={"balance_credits": 5}),
        400,
        "invalid_request",
        "balance_credits",
    )
    audited = (await workspace.http.get("/v1/audit-entries")).json()["data"]
    assert [entry["action"] for entry in audited] == ["workspace.changed", "workspace.changed"]
    assert audited[1]["data"] == {"fields": ["first_name", "low_balance_credits"]}


@pytest.fixture
async def without_verification(module_database_url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with application(module_database_url, email_verification=False) as app, client(app) as made:
        yield made


async def test_without_verification_the_credits_come_with_the_workspace(
    without_verification: httpx.AsyncClient, database: Database
) -> None:
    made = await signed_up(without_verification, address())
    assert made["balance_credits"] == 1250
    assert await tokens(database, made["id"]) == []


async def test_opening_the_mailed_link_confirms_nothing_and_its_button_does(
    http: httpx.AsyncClient, database: Database
) -> None:
    made = await signed_up(http, address())
    token = (await tokens(database, made["id"]))[0]
    for _ in range(3):
        opened = await http.get(f"/verify?token={token}")
        assert opened.status_code == 200
        assert f'name="token" value="{token}"' in opened.text
    verified = "select verified_at from workspaces where id = :id"
    assert (await run_sql(database, verified, id=made["id"]))[0][0] is None
    pressed = await http.post("/verify", data={"token": token})
    assert (pressed.status_code, "is confirmed" in pressed.text) == (200, True)
    assert (await run_sql(database, verified, id=made["id"]))[0][0] is not None
    again = await http.post("/verify", data={"token": token})
    assert (again.status_code, "not confirmed" in again.text) == (404, True)


@pytest.mark.parametrize("path", ["/verify?token=x", "/verify", "/docs"])
async def test_pages_work_without_scripts_and_let_nothing_in(http: httpx.AsyncClient, path: str) -> None:
    answer = await http.get(path)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "<script" not in answer.text
    assert "http-equiv" not in answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert 'name="viewport"' in answer.text


async def test_a_token_is_escaped_on_the_page(http: httpx.AsyncClient) -> None:
    answer = await http.get("/verify", params={"token": '"><script>alert(1)</script>'})
    assert "<script>" not in answer.text


@pytest.mark.parametrize("address", ["someone@mailinator.com", "someone@inbox.mailinator.com"])
async def test_lent_mailboxes_are_refused_whether_they_are_known_or_not(
    http: httpx.AsyncClient, database: Database, address: str
) -> None:
    for _ in range(2):
        answer = await http.post("/v1/workspaces", json={"name": "Acme", "email": address})
        assert "fix" in error_of(answer, 400, "invalid_request", "email")
    assert not await run_sql(database, "select 1 from workspaces where email = :email", email=address)


async def test_a_mailbox_gets_one_grant_however_its_address_is_spelled(
    app: FastAPI, http: httpx.AsyncClient, database: Database
) -> None:
    first = await http.post("/v1/workspaces", json={"name": "Acme", "email": "grace.hopper@gmail.com"})
    assert first.status_code == 201
    again = await http.post("/v1/workspaces", json={"name": "Acme", "email": "GraceHopper+more@googlemail.com"})
    error_of(again, 409, "conflict", "email")
    stored = await run_sql(database, "select email from workspaces where id = :id", id=first.json()["id"])
    assert stored[0].email == "grace.hopper@gmail.com"


async def test_a_network_makes_so_many_workspaces_a_day_and_others_are_not_concerned(database_url: str) -> None:
    async with application(database_url, signups_a_day=2) as app:
        database: Database = app.state.kernel.database.within(all_tenants("tests"))

        async def sign_up(network: str, name: str) -> httpx.Response:
            async with client(app, address=network) as visitor:
                return await visitor.post("/v1/workspaces", json={"name": "Acme", "email": f"{name}@example.com"})

        assert (await sign_up("192.0.2.7", "one")).status_code == 201
        error_of(await sign_up("192.0.2.7", "one"), 409, "conflict", "email")  # refused, so not counted
        assert (await sign_up("192.0.2.7", "two")).status_code == 201
        refused = await sign_up("192.0.2.7", "three")
        error_of(refused, 429, "rate_limited")
        assert 0 < int(refused.headers["Retry-After"]) <= 86_400
        error_of(await sign_up("192.0.2.7", "one"), 429, "rate_limited")  # a known address is told from no other
        assert (await sign_up("192.0.2.8", "three")).status_code == 201
        kept = await run_sql(database, "select network, signups from signup_counts")
        assert sorted(row.signups for row in kept) == [1, 2]
        assert all(b"192" not in row.network for row in kept)
        await run_sql(database, "update service_clock set shift = interval '1 day'")
        assert (await sign_up("192.0.2.7", "four")).status_code == 201
