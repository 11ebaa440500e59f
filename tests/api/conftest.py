"""An application on a database of the test module, and clients of it."""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import CursorResult, text

from api.app import create_app
from models.base.database import Database
from models.base.settings import Settings
from models.base.tenants import all_tenants

SECRET_KEY = "a secret of the tests, long enough"
PLENTY = 1_000_000


@dataclass
class Workspace:
    """A signed-up workspace with a client that sends its first key."""

    id: str
    api_key: str
    http: httpx.AsyncClient


def settings(url: str, **changed: Any) -> Settings:
    return Settings(
        **{
            "database_url": url,
            "database_pool_size": 16,
            "secret_key": SECRET_KEY,
            "rate_limit_per_minute": PLENTY,
            "signups_a_day": PLENTY,
            "log_level": "ERROR",
            **changed,
        }
    )


@asynccontextmanager
async def application(url: str, **changed: Any) -> AsyncIterator[FastAPI]:
    """Run one process of the API without Temporal: wakes stay in the outbox."""
    app = create_app(settings(url, **changed))
    yield app
    await app.state.kernel.database.close()


def client(app: FastAPI, *, address: str = "192.0.2.1", api_key: str | None = None) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app, client=(address, 1234))
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    return httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=headers)


@pytest.fixture(scope="module")
async def app(module_database_url: str) -> AsyncIterator[FastAPI]:
    async with application(module_database_url) as made:
        yield made


@pytest.fixture
async def http(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """Return a client without a key."""
    async with client(app) as made:
        yield made


@pytest.fixture(scope="module")
def database(app: FastAPI) -> Database:
    found: Database = app.state.kernel.database
    return found.within(all_tenants("tests"))


@pytest.fixture
async def sign_up(app: FastAPI) -> AsyncIterator[Callable[[], Awaitable[Workspace]]]:
    """Return a function that creates workspaces."""
    clients: list[httpx.AsyncClient] = []

    async def make() -> Workspace:
        async with client(app) as visitor:
            address = f"{secrets.token_hex(6)}@example.com"
            made = (await visitor.post("/v1/workspaces", json={"name": "Acme", "email": address})).json()
        clients.append(client(app, api_key=made["api_key"]))
        return Workspace(made["id"], made["api_key"], clients[-1])

    yield make
    for each in clients:
        await each.aclose()


@pytest.fixture
async def workspace(sign_up: Callable[[], Awaitable[Workspace]]) -> Workspace:
    return await sign_up()


@pytest.fixture
def key_of(app: FastAPI) -> Callable[..., Awaitable[httpx.AsyncClient]]:
    """Return a function that creates a client with another key of a workspace."""

    async def make(owner: Workspace, **body: Any) -> httpx.AsyncClient:
        made = await owner.http.post("/v1/api-keys", json={"name": "Another", **body})
        assert made.status_code == 201, made.text
        return client(app, api_key=made.json()["secret"])

    return make


async def run_sql(database: Database, statement: str, **values: Any) -> list[Any]:
    """Run SQL directly on the database, past the service."""
    async with database.transaction() as session:
        done = await session.execute(text(statement), values)
        return list(done.all()) if isinstance(done, CursorResult) and done.returns_rows else []


async def empty(database: Database, *tables: str) -> None:
    """Empty tables as their owner, because the service's role may not."""
    async with database.transaction() as session:
        await session.execute(text("set local role none"))
        await session.execute(text(f"truncate {', '.join(tables)} cascade"))


def error_of(answer: httpx.Response, status: int, code: str, field: str | None = None) -> dict[str, Any]:
    """Check that an answer is the documented error, and return its body."""
    assert answer.status_code == status, answer.text
    error: dict[str, Any] = answer.json()["error"]
    assert error["code"] == code
    assert error["message"]
    assert error["request_id"] == answer.headers["x-request-id"]
    assert error.get("details", {}).get("field") == field
    return error
