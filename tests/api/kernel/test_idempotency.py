"""A key sent once or fifty times, by one tenant or two, while processes die: each gets its own result, once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from models.base.database import Database
from tests.api import spending
from tests.api.conftest import Workspace, application, client, error_of, run_sql

PATH = "/v1/tests/spend"
SignUp = Callable[[], Awaitable[Workspace]]


@pytest.fixture(scope="module")
async def app(module_database_url: str) -> AsyncIterator[FastAPI]:
    async with application(module_database_url) as made:
        spending.add_to(made)
        yield made


@pytest.fixture(autouse=True)
def _reset() -> None:
    spending.reset()


async def leads(database: Database, tenant_id: str) -> int:
    found = await run_sql(database, "select count(*) from leads where workspace_id = :id", id=tenant_id)
    return int(found[0][0])


async def post(
    caller: Workspace, key: str | None, body: dict[str, Any] | None = None, query: str = ""
) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return await caller.http.post(PATH + query, json=body or {}, headers=headers)


async def test_a_repeat_gives_status_headers_and_body_again(workspace: Workspace, database: Database) -> None:
    first = await post(workspace, "once", {"amount": 7})
    again = await post(workspace, "once", {"amount": 7})
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.content == again.content
    assert first.headers["location"] == again.headers["location"] == f"/v1/tests/{first.json()['id']}"
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert await leads(database, workspace.id) == 1


async def test_fifty_equal_calls_at_once_execute_once(workspace: Workspace, database: Database) -> None:
    answers = await asyncio.gather(*(post(workspace, "burst", {"note": "linger"}) for _ in range(50)))
    assert await leads(database, workspace.id) == 1
    done = [answer for answer in answers if answer.status_code == 202]
    assert len({answer.content for answer in done}) == 1
    assert sum("idempotent-replayed" not in answer.headers for answer in done) == 1
    for answer in answers:
        if answer.status_code != 202:
            error_of(answer, 409, "idempotency_in_progress")
            assert int(answer.headers["retry-after"]) > 0
    assert (await post(workspace, "burst", {"note": "linger"})).content == done[0].content


async def test_two_tenants_with_the_same_key_get_their_own_results(sign_up: SignUp, database: Database) -> None:
    one, other = await sign_up(), await sign_up()
    first, second = await asyncio.gather(post(one, "shared"), post(other, "shared"))
    assert first.json()["id"] != second.json()["id"]
    assert (await post(one, "shared")).content == first.content
    assert (await post(other, "shared")).content == second.content
    assert await leads(database, one.id) == await leads(database, other.id) == 1


async def test_a_customer_and_its_account_are_two_tenants(workspace: Workspace) -> None:
    customer = (await workspace.http.post("/v1/customers", json={"name": "One"})).json()["id"]
    headers = {"Idempotency-Key": "k", "Service-Customer": customer}
    inside = await workspace.http.post(PATH, json={}, headers=headers)
    outside = await post(workspace, "k")
    assert inside.status_code == outside.status_code == 202
    assert inside.json()["id"] != outside.json()["id"]


async def test_another_key_of_the_workspace_replays_too(
    workspace: Workspace, key_of: Callable[..., Awaitable[httpx.AsyncClient]]
) -> None:
    first = await post(workspace, "k")
    async with await key_of(workspace, scopes=["sourcing:spend"]) as other:
        again = await other.post(PATH, json={}, headers={"Idempotency-Key": "k"})
    assert again.content == first.content


async def test_the_same_key_with_another_request_is_refused(workspace: Workspace, database: Database) -> None:
    await post(workspace, "k", {"amount": 1})
    error_of(await post(workspace, "k", {"amount": 2}), 409, "idempotency_key_reused")
    assert await leads(database, workspace.id) == 1


async def test_the_spelling_of_the_same_body_does_not_matter(workspace: Workspace) -> None:
    headers = {"Idempotency-Key": "k"}
    first = await workspace.http.post(PATH, content=b'{"amount":3,"note":""}', headers=headers)
    again = await workspace.http.post(PATH, content=b'{ "note": "", "amount": 3 }', headers=headers)
    assert again.content == first.content


async def test_a_key_is_the_same_quoted_and_bare(workspace: Workspace) -> None:
    first = await post(workspace, '"quoted-key"')
    assert (await post(workspace, "quoted-key")).content == first.content


@pytest.mark.parametrize(
    "key", [b"", b'""', b"a b", b"k" * 256, b'"' + b"k" * 256 + b'"', "ï".encode("latin-1"), b"\x7f"]
)
async def test_a_key_that_cannot_be_one_is_refused(workspace: Workspace, database: Database, key: bytes) -> None:
    answer = await workspace.http.post(PATH, json={}, headers={b"Idempotency-Key": key})
    error_of(answer, 400, "invalid_request", "Idempotency-Key")
    preview = await workspace.http.post(f"{PATH}?dry_run=true", json={}, headers={b"Idempotency-Key": key})
    error_of(preview, 400, "invalid_request", "Idempotency-Key")
    assert await leads(database, workspace.id) == 0


async def test_a_key_of_255_characters_is_taken(workspace: Workspace) -> None:
    assert (await post(workspace, "k" * 255)).status_code == 202


async def test_executing_without_a_key_is_refused(workspace: Workspace, database: Database) -> None:
    error_of(await post(workspace, None), 400, "idempotency_key_required")
    error_of(await post(workspace, None, query="?dry_run=false"), 400, "idempotency_key_required")
    assert await leads(database, workspace.id) == 0


async def test_a_dry_run_needs_no_key_writes_nothing_and_says_so(workspace: Workspace, database: Database) -> None:
    answer = await post(workspace, None, {"amount": 4}, "?dry_run=true")
    assert answer.status_code == 200
    assert answer.json()["dry_run"] is True
    assert answer.json()["amount"] == 4
    assert "location" not in answer.headers
    assert await leads(database, workspace.id) == 0
    assert (
        await run_sql(database, "select count(*) from idempotency_records where workspace_id = :id", id=workspace.id)
    )[0][0] == 0


@pytest.mark.parametrize("value", ["yes", "1", "TRUE", "", "true&dry_run=false"])
async def test_a_dry_run_that_is_neither_true_nor_false_is_refused(workspace: Workspace, value: str) -> None:
    error_of(await post(workspace, "k", query=f"?dry_run={value}"), 400, "invalid_request", "dry_run")


@pytest.mark.parametrize(("note", "status"), [("fail", 500), ("poor", 402)])
async def test_a_failure_is_not_stored(workspace: Workspace, database: Database, note: str, status: int) -> None:
    failed = await post(workspace, "k", {"note": note})
    assert failed.status_code == status
    assert await leads(database, workspace.id) == 0
    assert (await post(workspace, "k", {"note": ""})).status_code == 202


async def test_too_few_credits_are_reported_beside_the_error_too(workspace: Workspace) -> None:
    answer = await post(workspace, "k", {"note": "poor"})
    error = error_of(answer, 402, "insufficient_credits")
    assert error["details"] == {"required_credits": 3, "balance_credits": 1}
    assert answer.json()["required_credits"] == 3
    assert answer.json()["balance_credits"] == 1


async def test_a_deadlock_repeats_the_whole_operation(workspace: Workspace, database: Database) -> None:
    assert (await post(workspace, "k", {"note": "deadlock"})).status_code == 202
    assert spending.stage.attempts == 2
    assert await leads(database, workspace.id) == 1


async def test_a_running_call_is_in_progress(workspace: Workspace) -> None:
    first = asyncio.create_task(post(workspace, "k", {"note": "wait"}))
    await spending.stage.entered.wait()
    error_of(await post(workspace, "k", {"note": "wait"}), 409, "idempotency_in_progress")
    error_of(await post(workspace, "k", {"note": "other"}), 409, "idempotency_key_reused")
    spending.stage.release.set()
    assert (await first).status_code == 202


async def expire_lease(database: Database, workspace: Workspace) -> None:
    await run_sql(
        database,
        "update idempotency_records set locked_until = clock_timestamp() - interval '1 s' where workspace_id = :id",
        id=workspace.id,
    )


async def test_a_holder_that_died_is_taken_over_after_its_lease(workspace: Workspace, database: Database) -> None:
    """A cancelled request is what a killed process leaves behind: a claim, and no answer."""
    first = asyncio.create_task(post(workspace, "k", {"note": "wait"}))
    await spending.stage.entered.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    spending.stage.release.set()
    error_of(await post(workspace, "k", {"note": "wait"}), 409, "idempotency_in_progress")
    await expire_lease(database, workspace)
    assert (await post(workspace, "k", {"note": "wait"})).status_code == 202
    assert await leads(database, workspace.id) == 1


async def test_a_holder_that_comes_back_after_a_takeover_is_rolled_back(
    workspace: Workspace, database: Database
) -> None:
    slow = asyncio.create_task(post(workspace, "k", {"note": "wait"}))
    await spending.stage.entered.wait()
    await expire_lease(database, workspace)
    spending.stage.entered.clear()
    taker = asyncio.create_task(post(workspace, "k", {"note": "wait"}))
    await spending.stage.entered.wait()
    spending.stage.release.set()
    answers = sorted(await asyncio.gather(slow, taker), key=lambda answer: answer.status_code)
    assert [answer.status_code for answer in answers] == [202, 409]
    error_of(answers[1], 409, "idempotency_in_progress")
    assert await leads(database, workspace.id) == 1
    assert (await post(workspace, "k", {"note": "wait"})).content == answers[0].content


async def test_an_answer_is_forgotten_after_24_hours(workspace: Workspace, database: Database) -> None:
    first = await post(workspace, "k")
    await run_sql(
        database,
        "update idempotency_records set expires_at = expires_at - interval '24 hours' where workspace_id = :id",
        id=workspace.id,
    )
    again = await post(workspace, "k", {"amount": 2})
    assert again.status_code == 202
    assert again.content != first.content


async def test_stored_answers_cannot_be_read_in_the_database(workspace: Workspace, database: Database) -> None:
    answer = await post(workspace, "k")
    stored = (
        await run_sql(database, "select body from idempotency_records where workspace_id = :id", id=workspace.id)
    )[0][0]
    assert answer.json()["id"].encode() not in stored


async def test_keys_are_ignored_where_nothing_is_spent(workspace: Workspace) -> None:
    headers = {"Idempotency-Key": "k" * 300}
    assert (await workspace.http.get("/v1/workspace", headers=headers)).status_code == 200
    first = await workspace.http.patch("/v1/workspace", json={"name": "One"}, headers={"Idempotency-Key": "k"})
    second = await workspace.http.patch("/v1/workspace", json={"name": "Two"}, headers={"Idempotency-Key": "k"})
    assert (first.json()["name"], second.json()["name"]) == ("One", "Two")


async def test_two_processes_share_the_keys(module_database_url: str, workspace: Workspace, database: Database) -> None:
    async with application(module_database_url) as second:
        spending.add_to(second)
        async with client(second, api_key=workspace.api_key) as http:
            there = Workspace(workspace.id, workspace.api_key, http)
            answers = await asyncio.gather(
                *(post(caller, "both", {"note": "linger"}) for caller in (workspace, there) * 10)
            )
    assert await leads(database, workspace.id) == 1
    assert {answer.status_code for answer in answers} <= {202, 409}
