"""A call with a waiting caller: attached by its key, paid once, refused when too many wait, and its failures."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from activities.sourcing.calls import RawCalls
from activities.sourcing.people import PeopleCalls
from activities.upstream.people_data_labs.source import PeopleDataLabs
from api.kernel import kernel as kernel_kernel
from api.kernel.kernel import Kernel, UpstreamCaller
from models.base.database import Database
from models.sourcing.engine import calls as engine_calls
from models.sourcing.rules.raw_calls import MOST_WAITING, MOST_WAITING_OF_WORKSPACE
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.sourcing.raw.conftest import SLOTS, Calls, Provider, charged, spend
from tests.api.sourcing.sourcing import fund

SEARCH = "/v1/people/search"
ENGINEERS = {"filters": {"titles": {"include": ["engineer"]}}, "limit": 5}
SignUp = Callable[[], Awaitable[Workspace]]


async def search(workspace: Workspace, key: str | None = None) -> httpx.Response:
    return await spend(workspace, SEARCH, ENGINEERS, key=key)


async def states(database: Database, workspace: Workspace) -> list[str]:
    found = await run_sql(
        database, "select status from upstream_calls where workspace_id = :w order by id", w=workspace.id
    )
    return [status for (status,) in found]


async def until(database: Database, workspace: Workspace, count: int, status: str) -> None:
    async with asyncio.timeout(20):
        while (await states(database, workspace)).count(status) != count:  # noqa: ASYNC110 - the condition is an answer - the row says it
            await asyncio.sleep(0.02)


@pytest.fixture
async def impatient(app: FastAPI, database: Database, calls: Calls) -> Calls:
    """Callers wait for a moment only."""
    kernel: Kernel = app.state.kernel
    kernel.upstream = UpstreamCaller(database, calls, seconds=0.3)
    return calls


EQUAL = [
    pytest.param(SEARCH, ENGINEERS, {"lead": 5}, id="search"),
    pytest.param("/v1/people:fetch", {"profile_urls": ["{linkedin_url}"]}, {"live_profile": 2}, id="fetch"),
]


@pytest.mark.parametrize(("path", "body", "paid"), EQUAL)
async def test_twenty_equal_calls_make_one_upstream_call_and_one_charge(
    workspace: Workspace,
    database: Database,
    calls: Calls,
    provider: Provider,
    path: str,
    body: dict[str, Any],
    paid: dict[str, int],
) -> None:
    await fund(database, workspace)
    body = about(body, (await provider.some(1))[0])
    before = await provider.calls()
    answers = await asyncio.gather(*(spend(workspace, path, body, key="same") for _ in range(20)))
    done = [answer for answer in answers if answer.status_code == 200]
    assert len({answer.content for answer in done}) == 1
    for answer in answers:
        if answer.status_code != 200:
            error_of(answer, 409, "idempotency_in_progress")
    assert await provider.calls() - before == 1
    assert len(calls.started) == 1
    assert await charged(database, workspace) == paid
    assert (await spend(workspace, path, body, key="same")).content == done[0].content


@pytest.mark.parametrize(("path", "body", "paid"), EQUAL)
async def test_equal_calls_whose_callers_die_one_after_the_other_are_made_and_paid_once(
    workspace: Workspace,
    database: Database,
    calls: Calls,
    provider: Provider,
    path: str,
    body: dict[str, Any],
    paid: dict[str, int],
) -> None:
    await fund(database, workspace)
    body = about(body, (await provider.some(1))[0])
    await provider.fault("latency", latency_ms=1500, count=1)
    before = await provider.calls()
    for _ in range(3):
        dying = [asyncio.create_task(spend(workspace, path, body, key="same")) for _ in range(5)]
        await asyncio.sleep(0.2)
        for task in dying:
            task.cancel()
        await asyncio.gather(*dying, return_exceptions=True)
        await run_sql(
            database,
            "update idempotency_records set locked_until = clock_timestamp() where workspace_id = :w",
            w=workspace.id,
        )
    async with asyncio.timeout(20):
        while (answer := await spend(workspace, path, body, key="same")).status_code != 200:  # noqa: ASYNC110 - the condition is an answer
            await asyncio.sleep(0.2)
    assert await provider.calls() - before == 1
    assert await charged(database, workspace) == paid
    assert answer.json()["charged_credits"] == sum(paid.values())


@pytest.mark.usefixtures("provider")
async def test_a_repeat_attaches_to_the_call_that_is_still_running(
    workspace: Workspace, database: Database, impatient: Calls, provider: Provider
) -> None:
    await fund(database, workspace)
    await provider.fault("latency", "person/search", latency_ms=1000, count=1)
    error_of(await search(workspace, "slow"), 409, "idempotency_in_progress")
    other = await spend(workspace, SEARCH, ENGINEERS | {"limit": 6}, key="slow")
    error_of(other, 409, "idempotency_key_reused")
    await until(database, workspace, 1, "done")
    answer = await search(workspace, "slow")
    assert answer.status_code == 200
    assert answer.json()["charged_credits"] == 5
    assert await states(database, workspace) == ["collected"]
    assert await charged(database, workspace) == {"lead": 5}
    assert len(set(impatient.started)) == 1


async def test_an_api_process_that_died_while_waiting_is_replaced_by_the_repeat(
    app: FastAPI, workspace: Workspace, database: Database, calls: Calls, provider: Provider
) -> None:
    await fund(database, workspace)
    calls.held = True
    first = asyncio.create_task(search(workspace, "dies"))
    await until(database, workspace, 1, "waiting")
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await run_sql(
        database,
        "update idempotency_records set locked_until = clock_timestamp() - interval '1 s' where workspace_id = :w",
        w=workspace.id,
    )
    calls.held = False
    before = await provider.calls()
    answer = await search(workspace, "dies")
    assert answer.json()["charged_credits"] == 5
    assert len(set(calls.started)) == 1
    assert await provider.calls() - before == 1


@pytest.mark.usefixtures("provider")
async def test_a_call_made_twice_at_once_is_charged_and_answered_once(
    workspace: Workspace, database: Database, calls: Calls
) -> None:
    await fund(database, workspace)
    calls.held = True
    waiting = asyncio.create_task(search(workspace))
    await until(database, workspace, 1, "waiting")
    await asyncio.gather(*(calls.make(calls.started[0]) for _ in range(3)))
    assert (await waiting).json()["charged_credits"] == 5
    assert await charged(database, workspace) == {"lead": 5}
    await calls.make(calls.started[0])
    assert await states(database, workspace) == ["collected"]


async def test_a_caller_who_gave_up_before_the_call_began_pays_nothing(
    app: FastAPI, workspace: Workspace, database: Database, impatient: Calls, provider: Provider
) -> None:
    await fund(database, workspace)
    impatient.held = True
    before = await provider.calls()
    answer = await search(workspace, "given-up")
    error_of(answer, 429, "upstream_busy")
    assert int(answer.headers["retry-after"]) > 0
    await impatient.make(impatient.started[0])
    assert await provider.calls() == before
    impatient.held = False
    app.state.kernel.upstream = UpstreamCaller(database, impatient)
    assert (await search(workspace, "given-up")).status_code == 200


async def test_more_than_five_waiting_calls_of_a_workspace_are_refused(
    workspace: Workspace, sign_up: SignUp, database: Database, calls: Calls, provider: Provider
) -> None:
    await fund(database, workspace)
    calls.held = True
    await run_sql(database, "update upstream_slots set working = true")
    waiting = [asyncio.create_task(search(workspace)) for _ in range(MOST_WAITING_OF_WORKSPACE)]
    await until(database, workspace, MOST_WAITING_OF_WORKSPACE, "waiting")
    refused = await search(workspace, "later")
    error_of(refused, 429, "upstream_busy")
    assert refused.headers["retry-after"] == "5"
    others = [await sign_up(), await sign_up()]
    for other in others:
        await fund(database, other)
    waiting += [asyncio.create_task(search(others[0])) for _ in range(MOST_WAITING - MOST_WAITING_OF_WORKSPACE)]
    await until(database, others[0], MOST_WAITING - MOST_WAITING_OF_WORKSPACE, "waiting")
    error_of(await search(others[1]), 429, "upstream_busy")
    await run_sql(database, "update upstream_slots set working = false")
    waiting.append(asyncio.create_task(search(others[1])))  # a slot is idle: it does not have to wait
    await until(database, others[1], 1, "waiting")
    for call_id in calls.started:
        calls.make(call_id)
    assert {answer.status_code for answer in await asyncio.gather(*waiting)} == {200}
    calls.held = False
    assert (await search(workspace, "later")).status_code == 200
    log = (await provider.http.get("/people/log")).json()
    assert log["max_in_flight"] <= SLOTS


FAULTS: list[tuple[str, dict[str, Any], int, str]] = [
    ("connection_lost", {}, 503, "upstream_busy"),
    ("connection_lost", {"after_execution": True}, 503, "upstream_busy"),
    ("timeout", {"latency_ms": 50}, 503, "upstream_busy"),
    ("timeout", {"latency_ms": 50, "after_execution": True}, 503, "upstream_busy"),
    ("rate_limited", {}, 503, "upstream_busy"),
    ("rate_limited", {"reset": "none"}, 503, "upstream_busy"),
    ("rate_limited", {"reset": "garbled", "retry_after": True}, 503, "upstream_busy"),
    ("server_error", {}, 503, "upstream_busy"),
    ("server_error", {"status": 504}, 503, "upstream_busy"),
    ("server_error", {"status": 400}, 502, "upstream_error"),
    ("server_error", {"status": 401}, 503, "upstream_busy"),
    ("server_error", {"status": 402}, 503, "upstream_busy"),
    ("html_body", {}, 503, "upstream_busy"),
    ("truncated_json", {}, 502, "upstream_error"),
    ("oversize", {}, 502, "upstream_error"),
]
"""Everything the provider can do wrong to any call, and what callers are told."""

CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("search", SEARCH, ENGINEERS),
    ("fetch", "/v1/people:fetch", {"profile_urls": ["{linkedin_url}"], "max_age_days": 0}),
    ("match", "/v1/people:match", {"full_name": "{full_name}", "company": "{job_company_name}"}),
    ("companies", "/v1/companies:fetch", {"names": ["{job_company_name}"]}),
]
NOBODY: list[tuple[str, str, dict[str, Any]]] = [
    ("search", SEARCH, {"filters": {"titles": {"include": ["nobody does this work at all"]}}}),
    ("fetch", "/v1/people:fetch", {"profile_urls": ["https://www.linkedin.com/in/nobody-example"]}),
    ("match", "/v1/people:match", {"full_name": "Nobody Atall", "company": "Nowhere Known"}),
    ("companies", "/v1/companies:fetch", {"names": ["Nowhere Known"]}),
]
"""Questions that the provider answers with 404 or nothing."""


def about(body: dict[str, Any], person: dict[str, Any]) -> dict[str, Any]:
    """The body with an invented person's facts in it."""
    filled: dict[str, Any] = json.loads(
        json.dumps(body),
        object_hook=lambda each: {
            name: value.format(**person)
            if isinstance(value, str)
            else [one.format(**person) if isinstance(one, str) else one for one in value]
            if isinstance(value, list)
            else value
            for name, value in each.items()
        },
    )
    return filled


@pytest.mark.parametrize(("path", "body"), [pytest.param(path, body, id=name) for name, path, body in CALLS])
@pytest.mark.parametrize(("fault", "more", "status", "code"), FAULTS)
async def test_whatever_the_source_does_wrong_costs_nothing_and_a_repeat_succeeds(
    workspace: Workspace,
    database: Database,
    calls: Calls,
    provider: Provider,
    fault: str,
    more: dict[str, Any],
    status: int,
    code: str,
    path: str,
    body: dict[str, Any],
) -> None:
    await fund(database, workspace)
    body = about(body, (await provider.some(1))[0])
    await provider.fault(fault, **more)
    answer = await spend(workspace, path, body, key="faulty")
    error_of(answer, status, code)
    assert ("retry-after" in answer.headers) is (code == "upstream_busy")
    assert await charged(database, workspace) == {}
    await provider.healthy()
    repeated = await spend(workspace, path, body, key="faulty")
    assert repeated.status_code == 200, repeated.text
    assert sum((await charged(database, workspace)).values()) > 0
    kept = "select ask, result from upstream_calls where workspace_id = :w"
    assert {tuple(row) for row in await run_sql(database, kept, w=workspace.id)} == {(None, None)}


@pytest.mark.parametrize(("path", "body"), [pytest.param(path, body, id=name) for name, path, body in NOBODY])
@pytest.mark.parametrize("fault", ["not_found_without_error", "type_as_string", None])
async def test_no_match_is_a_free_answer_in_every_form_of_the_source(
    workspace: Workspace,
    database: Database,
    calls: Calls,
    provider: Provider,
    path: str,
    body: dict[str, Any],
    fault: str | None,
) -> None:
    await fund(database, workspace)
    if fault is not None:
        await provider.fault(fault)
    answer = await spend(workspace, path, body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["charged_credits"] == 0
    assert await charged(database, workspace) == {}


async def test_a_slow_answer_is_an_answer(
    workspace: Workspace, database: Database, calls: Calls, provider: Provider
) -> None:
    await fund(database, workspace)
    await provider.fault("latency", latency_ms=400)
    assert (await search(workspace)).status_code == 200


@pytest.mark.usefixtures("provider")
async def test_credits_spent_elsewhere_meanwhile_are_not_spent_twice(
    workspace: Workspace, database: Database, calls: Calls
) -> None:
    await fund(database, workspace, 5)
    calls.held = True
    waiting = asyncio.create_task(search(workspace))
    await until(database, workspace, 1, "waiting")
    await run_sql(
        database,
        "update grants set remaining_credits = 2 where workspace_id = :w and remaining_credits > 0",
        w=workspace.id,
    )
    await calls.make(calls.started[0])
    error_of(await waiting, 402, "insufficient_credits")
    assert await charged(database, workspace) == {}
    assert await run_sql(database, "select 1 from leads where workspace_id = :w", w=workspace.id) == []


async def test_without_a_source_key_callers_are_reported_that_the_source_is_busy(
    app: FastAPI, workspace: Workspace, database: Database, source: PeopleCalls, calls: Calls
) -> None:
    await fund(database, workspace)
    kernel: Kernel = app.state.kernel
    unconfigured = PeopleDataLabs(base_url="http://127.0.0.1:9", api_key=None)
    calls.activity = RawCalls(database, kernel.vault, PeopleCalls(unconfigured, source._slots, source._reference))
    answer = await search(workspace)
    error_of(answer, 503, "upstream_busy")
    assert answer.headers["retry-after"] == "900"
    await unconfigured.close()


async def test_without_temporal_a_caller_is_reported_that_the_source_is_busy(
    app: FastAPI, workspace: Workspace, database: Database
) -> None:
    class Unreachable:
        async def start(self, call_id: str, *, workspace_id: str) -> None:
            raise RuntimeError(call_id, workspace_id)

    await fund(database, workspace)
    kernel: Kernel = app.state.kernel
    kernel.upstream = UpstreamCaller(database, Unreachable(), seconds=5)
    error_of(await search(workspace), 503, "upstream_busy")
    assert await states(database, workspace) == ["failed"]
    kernel.upstream = None


@pytest.mark.usefixtures("provider")
async def test_a_lost_call_is_repeated(
    app: FastAPI, workspace: Workspace, database: Database, impatient: Calls
) -> None:
    await fund(database, workspace)
    impatient.held = True
    slow = asyncio.create_task(search(workspace, "lost"))
    await until(database, workspace, 1, "waiting")
    kernel_vault = impatient.activity._vault
    await database.run(lambda session: engine_calls.begin_call(session, kernel_vault, impatient.started[0]))
    error_of(await slow, 409, "idempotency_in_progress")
    await run_sql(
        database,
        "update upstream_calls set until = clock_timestamp() - interval '1 s' where workspace_id = :w",
        w=workspace.id,
    )
    impatient.held = False
    app.state.kernel.upstream = UpstreamCaller(database, impatient)
    assert (await search(workspace, "lost")).status_code == 200
    assert await states(database, workspace) == ["failed", "collected"]


@pytest.mark.usefixtures("provider")
async def test_a_process_that_is_to_stop_answers_who_waits_and_the_call_goes_on(
    app: FastAPI, workspace: Workspace, database: Database, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_kernel, "LEFT_SECONDS", 0.1)
    await fund(database, workspace)
    stopping = asyncio.Event()
    app.state.kernel.upstream = UpstreamCaller(database, calls, stopping=stopping)
    calls.held = True
    begun, waiting = (asyncio.create_task(search(workspace, key)) for key in ("begun", "waiting"))
    await until(database, workspace, 2, "waiting")
    vault = calls.activity._vault
    await database.run(lambda session: engine_calls.begin_call(session, vault, calls.started[0]))
    stopping.set()
    answers = sorted([await begun, await waiting], key=lambda answer: answer.status_code)
    error_of(answers[0], 409, "idempotency_in_progress")
    error_of(answers[1], 429, "upstream_busy")
    assert all(answer.headers["retry-after"] for answer in answers)
    calls.held = False
