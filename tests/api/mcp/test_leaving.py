"""Waiting callers are released when they disconnect or the process is told to stop, and no work goes on for them."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fastapi import FastAPI

from models.sourcing import store as sourcing_store
from tests.api.conftest import Workspace
from tests.api.mcp.conftest import URL
from tests.api.sourcing.sourcing import start

pytestmark = pytest.mark.timeout(30)
"""Each wait would last for 50 seconds."""

Json = dict[str, Any]


class Socket:
    """One POST to the application as its server passes it on, by a client that can disconnect."""

    def __init__(self, app: FastAPI, workspace: Workspace, message: Any, version: str) -> None:
        self._app = app
        self._raw = json.dumps(message).encode()
        self._gone = asyncio.Event()
        self._read = False
        self.sent: list[Json] = []
        self.listeners = 0
        headers = {
            "host": URL.removeprefix("http://"),
            "authorization": f"Bearer {workspace.api_key}",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": version,
            "mcp-method": "tools/call",
            "mcp-name": "get_search_results",
        }
        path: Json = {"path": "/mcp", "raw_path": b"/mcp", "query_string": b"", "root_path": "", "scheme": "http"}
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        self._scope: Json = {"type": "http", "method": "POST", "http_version": "1.1", "headers": raw, **path}
        self._scope |= {"client": ("192.0.2.1", 5), "server": ("api.test", 80), "asgi": {"version": "3.0"}}

    async def call(self) -> None:
        await self._app(self._scope, self._receive, self._send)  # type: ignore[arg-type]  # plain dictionaries

    def hang_up(self) -> None:
        self._gone.set()

    async def _receive(self) -> Json:
        if not self._read:
            self._read = True
            return {"type": "http.request", "body": self._raw, "more_body": False}
        self.listeners += 1
        try:
            await self._gone.wait()
        finally:
            self.listeners -= 1
        return {"type": "http.disconnect"}

    async def _send(self, message: Json) -> None:
        self.sent.append(message)


def waiting(run_id: str, *, progress: bool, modern: bool) -> Json:
    meta: Json = {"progressToken": 1} if progress else {}
    if modern:
        meta |= {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    asked = {"name": "get_search_results", "arguments": {"run_id": run_id, "wait_seconds": 50}}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked | {"_meta": meta}}


@asynccontextmanager
async def nothing_left() -> AsyncIterator[None]:
    """Whatever was begun meanwhile has ended, but for one task that the library of event streams keeps for all."""
    before = asyncio.all_tasks()
    yield
    while {task for task in asyncio.all_tasks() - before if "_shutdown_watcher" not in repr(task)}:  # noqa: ASYNC110 - tasks have no event
        await asyncio.sleep(0.01)  # the time-out of the test ends it


async def until(looks: list[str], count: int) -> None:
    while len(looks) < count:  # noqa: ASYNC110 - tasks have no event - the time-out of the test ends it
        await asyncio.sleep(0.01)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every look at a run, by its id."""
    seen: list[str] = []
    shown = sourcing_store.show_run

    async def noted(statements: Any, tenant: Any, run_id: str) -> Any:
        seen.append(run_id)
        return await shown(statements, tenant, run_id)

    monkeypatch.setattr(sourcing_store, "show_run", noted)
    monkeypatch.setattr("api.sourcing.search_tools.LOOK_SECONDS", 0.05)
    return seen


@pytest.mark.parametrize("progress", [False, True])
@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.parametrize("batch", [False, True])
async def test_no_work_continues_for_a_client_that_disconnected(
    app: FastAPI, workspace: Workspace, looks: list[str], *, progress: bool, modern: bool, batch: bool
) -> None:
    run_id = (await start(workspace.http)).json()["run"]["id"]
    message = waiting(run_id, progress=progress, modern=modern)
    version = "2026-07-28" if modern else "2025-11-25"
    socket = Socket(app, workspace, [message] * 3 if batch else message, version)
    async with nothing_left():
        calling = asyncio.create_task(socket.call())
        await until(looks, 6)
        assert not calling.done()
        socket.hang_up()
        await calling
    assert socket.listeners == 0
    before = len(looks)
    await asyncio.sleep(0.2)
    assert len(looks) == before


async def test_a_batch_waits_no_longer_than_one_call_may(
    app: FastAPI, workspace: Workspace, looks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = (await start(workspace.http)).json()["run"]["id"]
    monkeypatch.setattr("api.mcp.line.LONGEST_SECONDS", 0.5)
    message = waiting(run_id, progress=False, modern=False)
    socket = Socket(app, workspace, [message] * 20, "2025-11-25")
    async with nothing_left():
        await socket.call()
    answers = json.loads(b"".join(message.get("body", b"") for message in socket.sent))
    assert [one["result"]["structuredContent"]["done"] for one in answers] == [False] * 20
    assert set(looks) == {run_id}


@pytest.mark.parametrize("progress", [False, True])
async def test_a_process_that_stops_answers_who_waits(
    app: FastAPI, workspace: Workspace, looks: list[str], stopped: Callable[[], None], *, progress: bool
) -> None:
    run_id = (await start(workspace.http)).json()["run"]["id"]
    socket = Socket(app, workspace, waiting(run_id, progress=progress, modern=False), "2025-11-25")
    async with nothing_left():
        calling = asyncio.create_task(socket.call())
        await until(looks, 3)
        stopped()
        await calling
    assert socket.sent[0]["status"] == 200
    body = b"".join(message.get("body", b"") for message in socket.sent)
    assert b'"done":false' in body
    assert b'"isError":true' not in body


@pytest.fixture
def stopped(app: FastAPI) -> Iterator[Callable[[], None]]:
    """Tells the application that its process is to stop, for the length of the test."""
    yield app.state.stopping.set
    app.state.stopping.clear()
