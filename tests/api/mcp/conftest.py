"""The application with its MCP address, and the official client of the protocol."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid4

import httpx2
import pytest
from fastapi import FastAPI
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.api.conftest import Workspace, application, client

Era = Literal["auto", "legacy"]
URL = "http://api.test"
SETTINGS = {"public_url": URL, "email_verification": False, "unipile_api_key": "of nobody"}


@asynccontextmanager
async def serving(url: str, **changed: Any) -> AsyncIterator[FastAPI]:
    """Run the application within its lifespan, as a server does, but without Temporal: wakes stay in the outbox."""
    opened, leave = asyncio.Event(), asyncio.Event()

    async def live(made: FastAPI) -> None:
        """Run in a separate task: it must end in the task in which it began, which fixtures do not ensure."""
        async with made.router.lifespan_context(made):
            made.state.kernel.waker = made.state.kernel.upstream = None
            opened.set()
            await leave.wait()

    async with application(url, **SETTINGS | changed) as made:
        life = asyncio.create_task(live(made))
        await opened.wait()
        yield made
        leave.set()
        await life


@pytest.fixture(scope="module")
async def app(module_database_url: str) -> AsyncIterator[FastAPI]:
    async with serving(module_database_url) as made:
        yield made


async def new_workspace(app: FastAPI) -> Workspace:
    async with client(app) as visitor:
        body = {"name": "Acme", "email": f"{uuid4().hex}@example.com"}
        made = (await visitor.post("/v1/workspaces", json=body)).json()
    return Workspace(made["id"], made["api_key"], client(app, api_key=made["api_key"]))


@dataclass
class Agent:
    """A client that calls the service by MCP."""

    app: FastAPI
    api_key: str
    headers: Mapping[str, str]

    @asynccontextmanager
    async def http(self) -> AsyncIterator[httpx2.AsyncClient]:
        transport = httpx2.ASGITransport(app=self.app)
        headers = {"Authorization": f"Bearer {self.api_key}", **self.headers}
        async with httpx2.AsyncClient(transport=transport, headers=headers, base_url=URL) as made:
            yield made

    @asynccontextmanager
    async def client(
        self, toolsets: str | None = "all", *, era: Era = "auto", path: str = "/mcp"
    ) -> AsyncIterator[Client]:
        address = f"{URL}{path}" + (f"?toolsets={toolsets}" if toolsets else "")
        async with self.http() as http, Client(streamable_http_client(address, http_client=http), mode=era) as made:
            yield made


Agents = Callable[..., Agent]


@pytest.fixture
def agent_of(app: FastAPI) -> Agents:
    """Return a function that creates an agent with the key of a workspace."""

    def make(workspace: Workspace, **headers: str) -> Agent:
        return Agent(app, workspace.api_key, headers)

    return make


@pytest.fixture
async def agent(workspace: Workspace, agent_of: Agents) -> Agent:
    return agent_of(workspace)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the waits for a worker, because none runs."""
    monkeypatch.setattr("api.outreach.accounts.WAIT_SECONDS", 0.2)
