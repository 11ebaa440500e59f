"""What tools add to their operations: keys by themselves, one run for a search, waiting, progress, error results."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
from mcp import Client
from mcp_types import TextContent

from models.base.database import Database
from tests.api.conftest import Workspace, run_sql
from tests.api.mcp.conftest import Agent, Era
from tests.api.mcp.twins import Refused
from tests.api.sourcing.sourcing import ADVERTISEMENT, DATA_ENGINEER, deliver, fund, profile

RUNS = "select count(*) from runs where workspace_id = :w"


@pytest.fixture
async def mcp(agent: Agent) -> AsyncIterator[Client]:
    """The client of an agent, closed in the task that opened it."""
    opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
    leave = asyncio.Event()

    async def live() -> None:
        async with agent.client() as made:
            opened.set_result(made)
            await leave.wait()

    life = asyncio.create_task(live())
    yield await opened
    leave.set()
    await life


async def call(mcp: Client, name: str, **given: Any) -> dict[str, Any]:
    """A call as an agent makes it, without a key of its own."""
    result = await mcp.call_tool(name, given)
    (content,) = result.content
    assert isinstance(content, TextContent)
    if result.is_error:
        raise Refused(0, json.loads(content.text)["error"])
    found: dict[str, Any] = json.loads(content.text)
    return found


async def runs_of(database: Database, workspace: Workspace) -> int:
    ((count,),) = await run_sql(database, RUNS, w=workspace.id)
    return int(count)


async def test_a_search_is_shown_first_and_runs_when_it_is_confirmed(
    mcp: Client, database: Database, workspace: Workspace
) -> None:
    await fund(database, workspace)
    shown = await call(mcp, "start_search", job_description=ADVERTISEMENT)
    assert shown["summary"]
    assert shown["estimate"]["credits_max"] > 0
    assert shown["dry_run"] is True
    assert {"applied_filters", "ignored_fields", "warnings"} <= shown.keys()
    assert await runs_of(database, workspace) == 0
    started = await call(mcp, "start_search", search_id=shown["search_id"], confirm=True, budget_credits=20)
    assert started["run"]["budget"]["max_credits"] == 20
    assert started["search_id"] == shown["search_id"]
    assert await runs_of(database, workspace) == 1


async def test_a_search_runs_once_whatever_else_is_said(mcp: Client, database: Database, workspace: Workspace) -> None:
    await fund(database, workspace)
    shown = await call(mcp, "start_search", intent=DATA_ENGINEER)
    first = await call(mcp, "start_search", search_id=shown["search_id"], confirm=True)
    again = await call(mcp, "start_search", search_id=shown["search_id"], confirm=True, budget_credits=5, target=50)
    assert (first["replayed"], again["replayed"]) == (False, True)
    assert again["run_id"] == first["run_id"]
    assert "idempotency_key" in again["next_step"]
    await run_sql(database, "delete from idempotency_records where workspace_id = :w", w=workspace.id)  # a day later
    later = await call(mcp, "start_search", search_id=shown["search_id"], confirm=True)
    assert (later["run_id"], later["replayed"]) == (first["run_id"], True)
    meant = await call(mcp, "start_search", search_id=shown["search_id"], confirm=True, idempotency_key=uuid4().hex)
    assert meant["run_id"] != first["run_id"]
    assert await runs_of(database, workspace) == 2


async def test_many_confirmations_at_once_start_one_run(mcp: Client, database: Database, workspace: Workspace) -> None:
    await fund(database, workspace)
    shown = await call(mcp, "start_search", intent=DATA_ENGINEER)

    async def confirm() -> str:
        try:
            return str((await call(mcp, "start_search", search_id=shown["search_id"], confirm=True))["run_id"])
        except Refused as error:
            return str(error.error["code"])

    answers = set(await asyncio.gather(*(confirm() for _ in range(8)))) - {"idempotency_in_progress"}
    assert len(answers) == 1
    assert await runs_of(database, workspace) == 1


async def test_a_refused_confirmation_can_be_repeated(mcp: Client, database: Database, workspace: Workspace) -> None:
    await run_sql(database, "update grants set remaining_credits = 0 where workspace_id = :w", w=workspace.id)
    shown = await call(mcp, "start_search", intent=DATA_ENGINEER)
    assert shown["would_fail"] == {"code": "insufficient_credits"}
    with pytest.raises(Refused) as refused:
        await call(mcp, "start_search", search_id=shown["search_id"], confirm=True)
    assert refused.value.error["code"] == "insufficient_credits"
    await fund(database, workspace)
    assert (await call(mcp, "start_search", search_id=shown["search_id"], confirm=True))["replayed"] is False


async def test_equal_calls_within_a_day_are_one(mcp: Client, database: Database, workspace: Workspace) -> None:
    await fund(database, workspace)
    asked: dict[str, Any] = {"job_description": ADVERTISEMENT, "budget_credits": 30, "confirm": True}
    first = await call(mcp, "start_search", **asked)
    again = await call(mcp, "start_search", **asked | {"mark_seen": True})  # which is what is left out
    other = await call(mcp, "start_search", **asked | {"budget_credits": 31})
    assert (again["run_id"], again["replayed"]) == (first["run_id"], True)
    assert other["run_id"] != first["run_id"]


async def test_a_key_is_not_taken_for_another_wish(mcp: Client, database: Database, workspace: Workspace) -> None:
    await fund(database, workspace)
    await call(mcp, "start_search", intent=DATA_ENGINEER, confirm=True, idempotency_key="mine")
    with pytest.raises(Refused) as refused:
        await call(mcp, "start_search", intent=DATA_ENGINEER, target=50, confirm=True, idempotency_key="mine")
    assert refused.value.error["code"] == "idempotency_key_reused"


async def test_searches_that_never_ran_are_listed_too(mcp: Client, database: Database, workspace: Workspace) -> None:
    await fund(database, workspace)
    ran = await call(mcp, "start_search", intent=DATA_ENGINEER, confirm=True)
    waiting = await call(mcp, "start_search", intent=DATA_ENGINEER)
    listed = await call(mcp, "list_searches")
    assert [run["id"] for run in listed["data"]] == [ran["run_id"]]
    assert [plan["search_id"] for plan in listed["unconfirmed"]] == [waiting["search_id"]]


async def test_results_are_waited_for_until_the_run_ends(mcp: Client, database: Database, workspace: Workspace) -> None:
    await fund(database, workspace)
    run = (await call(mcp, "start_search", intent=DATA_ENGINEER, confirm=True))["run"]
    waiting = asyncio.create_task(call(mcp, "get_search_results", run_id=run["id"], wait_seconds=30))
    await asyncio.sleep(0.3)
    assert not waiting.done()
    await deliver(database, run, [profile(1), profile(2)])
    await run_sql(database, "update runs set status = 'completed', stop_reason = 'finish' where id = :r", r=run["id"])
    found = await asyncio.wait_for(waiting, 10)
    assert found["done"] is True
    assert [row["distance_km"] for row in found["data"]] == [1.0, 2.0]
    assert "profile" not in found["data"][0]
    full = await call(mcp, "get_search_results", run_id=run["id"], view="full", limit=1)
    assert full["data"][0]["profile"]["skills"] == ["python"]
    assert (full["done"], full["has_more"]) == (False, True)


async def test_waiting_ends_with_its_time(mcp: Client, database: Database, workspace: Workspace) -> None:
    await fund(database, workspace)
    run_id = (await call(mcp, "start_search", intent=DATA_ENGINEER, confirm=True))["run_id"]
    loop = asyncio.get_running_loop()
    began = loop.time()
    found = await call(mcp, "get_search_results", run_id=run_id, wait_seconds=1)
    assert 1 <= loop.time() - began < 5
    assert (found["done"], found["data"], found["status"]) == (False, [], "queued")


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_progress_is_sent_to_callers_who_ask(
    agent: Agent, database: Database, workspace: Workspace, era: Era
) -> None:
    await fund(database, workspace)
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with agent.client(era=era) as mcp:
        run = (await call(mcp, "start_search", intent=DATA_ENGINEER, confirm=True))["run"]
        asked = {"run_id": run["id"], "wait_seconds": 30}
        waiting = asyncio.create_task(mcp.call_tool("get_search_results", asked, progress_callback=hear))
        for status in ("running", "aborted"):
            await asyncio.sleep(1)
            moved = "update runs set status = :s, candidates_delivered = 7 where id = :r"
            await run_sql(database, moved, s=status, r=run["id"])
        found = await asyncio.wait_for(waiting, 10)
    assert [(done, total) for done, total, _ in heard] == [(0, 30), (7, 30)]
    assert found.structured_content is not None
    assert found.structured_content["done"] is True


async def test_an_error_is_a_result_that_holds_the_body_of_rest(mcp: Client, workspace: Workspace) -> None:
    result = await mcp.call_tool("cancel_search", {"run_id": "run_" + "0" * 26})
    rest = await workspace.http.post("/v1/runs/run_" + "0" * 26 + "/cancel")
    assert result.is_error
    (content,) = result.content
    assert isinstance(content, TextContent)
    told, body = json.loads(content.text), rest.json()
    assert told["error"].pop("request_id") != body["error"].pop("request_id")
    assert told == body


@pytest.mark.parametrize(
    ("name", "given", "field"),
    [
        ("get_search_results", {"run_id": "run_1", "wait_seconds": 51}, "wait_seconds"),
        ("get_search_results", {"run_id": "run_1", "wait_seconds": "25"}, "wait_seconds"),
        ("get_search_results", {}, "run_id"),
        ("start_search", {"job_description": "x", "confirm": "true"}, "confirm"),
        ("start_search", {"job_description": "x", "intent": {"must": {"titles": ["\u200b"]}}}, "intent.must.titles.0"),
        ("start_search", {"search_id": "plan_" + "0" * 26, "confirm": True, "idempotency_key": ""}, "idempotency_key"),
        ("start_search", {"search_id": "plan_" + "0" * 26}, "search_id"),
        ("get_guide", {"topic": "everything"}, "topic"),
        ("update_enrollment", {"enrollment_id": "enr_1", "action": "delete"}, "action"),
    ],
)
async def test_bad_arguments_are_named(mcp: Client, name: str, given: dict[str, Any], field: str) -> None:
    with pytest.raises(Refused) as refused:
        await call(mcp, name, **given)
    assert refused.value.error["details"]["field"] == field
