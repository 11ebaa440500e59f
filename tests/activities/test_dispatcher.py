"""The dispatcher wakes rows with an unanswered wake-up immediately, and rows that stay silent less and less often."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import asyncpg
import pytest
from sqlalchemy import text
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.service import RPCError, RPCStatusCode

from activities import dispatcher
from activities.dispatcher import Dispatcher
from models.base import outbox
from models.base.database import Database
from models.base.steps import Subject
from models.base.tenants import all_tenants
from models.events.store import deliveries
from tests.models.conftest import join
from tests.models.events.webhook_world import World
from workflows.outbox import WorkflowWaker

FIRST, MOST = 0.4, 1.6


class Noting(WorkflowWaker):
    """Wakes real workflows, which have no worker here, and records which row was woken when."""

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self.rung: list[tuple[str, float, float]] = []
        """Row, beginning and end of each wake."""
        self.refused: list[str] = []
        self.refuses: Callable[[str], bool] = lambda _: False

    async def wake(self, subject: Subject, **given: Any) -> None:
        if self.refuses(subject.id):
            self.refused.append(subject.id)
            raise RPCError("away", RPCStatusCode.UNAVAILABLE, b"")
        began = time.monotonic()
        await super().wake(subject, **given)
        self.rung.append((subject.id, began, time.monotonic()))

    def times(self, row_id: str) -> list[tuple[float, float]]:
        return [(began, ended) for rung, began, ended in self.rung if rung == row_id]

    async def until_woken(self, row_id: str, times: int = 1) -> list[tuple[float, float]]:
        while len(self.times(row_id)) < times:  # noqa: ASYNC110 - the dispatcher wakes rows
            await asyncio.sleep(0.01)
        return self.times(row_id)


@pytest.fixture
async def client(temporal_address: str, temporal_namespace: str) -> Client:
    return await Client.connect(temporal_address, namespace=temporal_namespace, data_converter=pydantic_data_converter)


@pytest.fixture
async def world(database_url: str) -> AsyncIterator[World]:
    database = Database(database_url, pool_size=4).within(all_tenants("tests"))
    yield World(database, await database.run(join))
    await database.close()


@pytest.fixture
async def bell(
    world: World, database_url: str, client: Client, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Noting]:
    """A dispatcher at work, that looks by itself once an hour only unless told otherwise."""
    monkeypatch.setattr(dispatcher, "LEFT_ALONE_SECONDS", FIRST)
    monkeypatch.setattr(dispatcher, "LEFT_ALONE_AT_MOST_SECONDS", MOST)
    monkeypatch.setattr(dispatcher, "POLL_SECONDS", 3600.0)
    noting = Noting(client)
    working = asyncio.create_task(Dispatcher(world.database, noting, listen_url=database_url, overdue_seconds=30).run())
    await listening(database_url)
    yield noting
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    for row_id in {row_id for row_id, _, _ in noting.rung}:
        with contextlib.suppress(Exception):
            await client.get_workflow_handle(f"delivery/{row_id}").terminate()


async def listening(database_url: str) -> None:
    """Wait until a session listens, checked as the owner: the service's role sees no statements of others."""
    seen = "select count(*) from pg_stat_activity where datname = current_database() and query ilike 'listen%'"
    owner = await asyncpg.connect(database_url.replace("+asyncpg", ""))
    try:
        while not await owner.fetchval(seen):  # noqa: ASYNC110 - another connection works on it
            await asyncio.sleep(0.02)
    finally:
        await owner.close()


async def notify(world: World, payload: str = "") -> None:
    async with world.database.transaction() as session:
        await session.execute(
            text("select pg_notify(:channel, :payload)"), {"channel": outbox.CHANNEL, "payload": payload}
        )


async def test_a_commit_is_acted_on_without_waiting_for_the_next_look(world: World, bell: Noting) -> None:
    receiver = await world.endpoint()
    for _ in range(3):
        await world.emit()
    for row in await world.of(receiver):
        await bell.until_woken(row.id)


async def test_a_delivery_is_started_with_its_endpoint_as_fairness_key(
    world: World, bell: Noting, client: Client
) -> None:
    receiver = await world.endpoint()
    await world.emit()
    row = await world.one(receiver)
    await bell.until_woken(row.id)
    described = await client.get_workflow_handle(f"delivery/{row.id}").describe()
    assert described.raw_description.workflow_execution_info.priority.fairness_key == receiver


async def test_a_row_that_does_not_answer_is_left_alone_twice_as_long_each_time(
    world: World, bell: Noting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "POLL_SECONDS", 0.02)
    receiver = await world.endpoint()
    await world.emit()
    times = await bell.until_woken((await world.one(receiver)).id, 5)
    pauses = [began - ended for (_, ended), (began, _) in itertools.pairwise(times)]
    assert all(pause > wanted for pause, wanted in zip(pauses, [FIRST, 2 * FIRST, MOST, MOST], strict=True)), pauses


async def test_a_new_wake_up_of_a_silent_row_is_delivered_immediately(
    world: World, bell: Noting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "LEFT_ALONE_SECONDS", 300.0)
    receiver = await world.endpoint()
    await world.emit()
    row = await world.one(receiver)
    await bell.until_woken(row.id)
    await notify(world)
    async with world.database.transaction() as session:
        await outbox.wake(session, deliveries.delivery_subject(row.id))
    await bell.until_woken(row.id, 2)
    await asyncio.sleep(0.3)
    assert len(bell.rung) == 2, "the notification that told nothing new was no reason to ring"


async def test_again_wakes_silent_rows_immediately(world: World, bell: Noting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatcher, "LEFT_ALONE_SECONDS", 300.0)
    receiver = await world.endpoint()
    await world.emit()
    row = await world.one(receiver)
    await bell.until_woken(row.id)
    await notify(world, outbox.AGAIN)
    await bell.until_woken(row.id, 2)


async def test_silent_rows_hide_no_other_however_many_they_are(
    world: World, bell: Noting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "BATCH", 5)
    monkeypatch.setattr(dispatcher, "LEFT_ALONE_SECONDS", 300.0)
    silent, other = await world.endpoint(), await world.endpoint(events=["ping"])
    await world.emit(12)
    for row in await world.of(silent):
        await bell.until_woken(row.id)
    await world.change(silent, events=["ping"])
    await world.change(other, events=["*"])
    await world.emit()
    await bell.until_woken((await world.one(other)).id)
    assert len(bell.rung) == 13


async def test_a_failed_wake_up_is_retried_soon_and_delays_no_other(
    world: World, bell: Noting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "POLL_SECONDS", 0.5)
    receiver = await world.endpoint()
    await world.emit(3)
    first, *others = await world.of(receiver)
    bell.refuses = lambda row_id: row_id == first.id
    await notify(world, outbox.AGAIN)
    for row in others:
        await bell.until_woken(row.id)
    while len(bell.refused) < 3:  # noqa: ASYNC110 - the dispatcher wakes rows
        await asyncio.sleep(0.01)
    before = len(bell.times(first.id))
    bell.refuses = lambda _: False
    await bell.until_woken(first.id, before + 1)
