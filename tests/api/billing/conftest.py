"""The application and a payment provider, each on a port, that call each other."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI

from api.kernel.kernel import Kernel
from models.base.database import Database
from tests.api.conftest import Workspace, application, run_sql
from tests.provider import API_KEY, SECRET, Hand, Provider, listening, provider, serving

BACK = {"success_url": "https://app.example/paid", "cancel_url": "https://app.example/left"}
PATIENCE = 20.0


@pytest.fixture(scope="module")
async def world(
    module_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[FastAPI, Provider]]:
    """Serve the application and the provider, each on a port, so that they call each other."""
    folder: Path = tmp_path_factory.mktemp("provider")
    async with listening() as (port, url), provider(folder, callback_url=f"{url}/callbacks/payments") as other:
        sells = {"stripe_base_url": other.url, "stripe_api_key": API_KEY, "stripe_webhook_secret": SECRET}
        async with application(module_database_url, **sells) as app, serving(app, port):
            yield app, other


@pytest.fixture(scope="module")
def app(world: tuple[FastAPI, Provider]) -> FastAPI:
    return world[0]


@pytest.fixture
async def shop(world: tuple[FastAPI, Provider], database: Database) -> Provider:
    await run_sql(database, "update payments set rings = answered, wake_at = null")
    await run_sql(database, "update payment_callbacks set rings = answered, body = null")
    await world[1].reset()
    return world[1]


@pytest.fixture
async def hand(app: FastAPI, shop: Provider, database: Database) -> AsyncIterator[Hand]:
    kernel: Kernel = app.state.kernel
    async with Hand(database, kernel.vault, shop.adapter).at_work() as working:
        yield working


async def ask(workspace: Workspace, item: str = "pack", *, key: str | None = None, **more: Any) -> httpx.Response:
    headers = {"Idempotency-Key": key or uuid4().hex}
    return await workspace.http.post("/v1/billing/checkout", json={"item": item, **BACK} | more, headers=headers)


async def opened(workspace: Workspace, item: str = "pack") -> dict[str, Any]:
    answer = await ask(workspace, item)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def balance(workspace: Workspace) -> dict[str, int]:
    shown = (await workspace.http.get("/v1/billing/balance")).json()
    return {each["source"]: each["remaining_credits"] for each in shown["by_source"]}


async def until(reached: Callable[[], Awaitable[bool]]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not await reached():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.03)


async def worked_in(database: Database) -> None:
    """Wait until every received callback is applied."""

    async def done() -> bool:
        return not await run_sql(database, "select 1 from payment_callbacks where body is not null")

    await until(done)
