"""Deliveries by real workers: from the commit to the receiver, one workflow each, no endpoint in another's way."""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import pytest
import stripe
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

import worker
from activities.dispatcher import Dispatcher
from activities.upstream.guard import Guard
from models.base.outbound import Resolver
from models.base.secrets import Vault
from models.base.settings import Settings
from models.base.steps import Queue
from models.events.rules.deliveries import IN_FLIGHT, new_secret
from models.events.store import deliveries
from tests.activities.upstream.receivers import OK, Receiver, receiving, says, waits
from tests.models.conftest import join
from tests.models.events.webhook_world import World
from workflows.outbox import WorkflowWaker

SECRET_KEY = "a secret of the tests, long enough"
SECRET = new_secret(b"n" * 32)
HANG_SECONDS = 1.0


@pytest.fixture
async def client(temporal_address: str, temporal_namespace: str) -> Client:
    return await Client.connect(temporal_address, namespace=temporal_namespace, data_converter=pydantic_data_converter)


@pytest.fixture
async def world(database_url: str, temporal_address: str, temporal_namespace: str) -> AsyncIterator[World]:
    """An account, and every part that delivers to its endpoints."""
    settings = Settings(
        database_url=database_url,
        secret_key=SECRET_KEY,
        webhook_loopback=True,
        temporal_address=temporal_address,
        temporal_namespace=temporal_namespace,
    )
    async with contextlib.AsyncExitStack() as exits:
        parts = await worker.open_parts(settings, exits)
        database, waker = parts.database, WorkflowWaker(parts.client)
        dispatcher = Dispatcher(database, waker, listen_url=database_url, overdue_seconds=30)
        guard = await exits.enter_async_context(Guard(Resolver(), loopback=True, limit_seconds=HANG_SECONDS))
        parts = replace(parts, guard=guard)
        await exits.enter_async_context(worker.worker_of(Queue.WEBHOOKS, parts))
        await exits.enter_async_context(worker.worker_of(Queue.SERVICE, parts))
        dispatching = asyncio.create_task(dispatcher.run())
        try:
            yield World(database, await database.run(join))
        finally:
            dispatching.cancel()
            await asyncio.gather(dispatching, return_exceptions=True)


async def endpoint(world: World, receiver: Receiver) -> str:
    sealed = Vault(SECRET_KEY).seal(deliveries.SECRET_PURPOSE, SECRET.encode())
    return await world.endpoint(url=receiver.url, secret=sealed)


async def until(condition: Callable[[], Awaitable[bool]], *, within: float = 60) -> None:
    async with asyncio.timeout(within):
        while not await condition():  # noqa: ASYNC110 - the condition is the workers' rows
            await asyncio.sleep(0.05)


async def settled(world: World, endpoint_id: str, status: str, *, within: float = 60) -> None:
    async def all_are() -> bool:
        return {row.status for row in await world.of(endpoint_id)} == {status}

    await until(all_are, within=within)


async def attempted(world: World, endpoint_id: str, times: int = 1) -> None:
    """Wait until every delivery has been attempted so often."""

    async def all_are() -> bool:
        return min(row.made for row in await world.of(endpoint_id)) >= times

    await until(all_are)


async def test_an_event_arrives_signed_with_the_documented_headers_and_histories_hold_ids_alone(
    world: World, client: Client
) -> None:
    async with receiving(says(OK)) as receiver:
        endpoint_id = await endpoint(world, receiver)
        await world.emit()
        await settled(world, endpoint_id, "delivered")
    (request,) = receiver.received
    (delivery,) = await world.of(endpoint_id)
    assert request.headers["x-service-event"] == "credits.low"
    assert request.headers["x-service-event-id"] == delivery.event_id
    assert request.headers["x-service-delivery"] == delivery.id
    assert request.headers["content-type"] == "application/json"
    body = request.body.decode()
    assert stripe.WebhookSignature.verify_header(body, request.headers["x-service-signature"], SECRET, 300)
    event = json.loads(body)
    assert (event["id"], event["object"], event["type"]) == (delivery.event_id, "event", "credits.low")
    history = (await client.get_workflow_handle(f"delivery/{delivery.id}").fetch_history()).to_json()
    for kept_out in (receiver.url, SECRET, "grant_id", body):
        assert kept_out not in history


async def test_a_delivery_that_succeeds_at_once_costs_one_activity_and_no_question(
    world: World, client: Client
) -> None:
    async with receiving(says(OK)) as receiver:
        endpoint_id = await endpoint(world, receiver)
        await world.emit()
        await settled(world, endpoint_id, "delivered")
    handle = client.get_workflow_handle(f"delivery/{(await world.one(endpoint_id)).id}")
    assert await handle.result() == {"status": ""}
    kinds = Counter(EventType.Name(event.event_type) for event in (await handle.fetch_history()).events)
    assert kinds["EVENT_TYPE_ACTIVITY_TASK_SCHEDULED"] == 1
    assert kinds["EVENT_TYPE_MARKER_RECORDED"] == 0, "it was asked what is due"
    assert kinds["EVENT_TYPE_WORKFLOW_TASK_COMPLETED"] == 2


async def test_an_endpoint_that_hangs_has_ten_attempts_in_flight_and_delays_no_other(world: World) -> None:
    async with receiving(waits(60)) as slow, receiving(says(OK)) as quick:
        slow_id = await endpoint(world, slow)
        await world.emit(30)
        await until(slow.was_asked)
        quick_id = await endpoint(world, quick)
        await world.change(slow_id, events=["ping"])
        await world.emit(5)
        await settled(world, quick_id, "delivered", within=20)
        assert {row.status for row in await world.of(slow_id)} == {"pending"}
        await attempted(world, slow_id)
        await world.disable(slow_id)
    began = [request.at for request in slow.received]
    tenth_before = zip(began, began[IN_FLIGHT:], strict=False)
    assert len(began) == 30
    assert all(later - earlier > HANG_SECONDS * 0.9 for earlier, later in tenth_before)


async def test_an_operator_reads_on_the_timer_which_retry_comes_next(world: World, client: Client) -> None:
    async with receiving(says(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")) as receiver:
        endpoint_id = await endpoint(world, receiver)
        await world.emit()
        await attempted(world, endpoint_id)
    handle = client.get_workflow_handle(f"delivery/{(await world.one(endpoint_id)).id}")
    summaries: list[str] = []

    async def told() -> bool:
        history = await handle.fetch_history()
        summaries[:] = [json.loads(event.user_metadata.summary.data or b'""') for event in history.events]
        return any(summary.startswith("retry 1 of 5 at ") for summary in summaries)

    await until(told)
    assert "first attempt" in summaries
    await handle.terminate()


async def test_a_secret_rotated_while_a_retry_waits_signs_it(world: World, client: Client) -> None:
    fresh = new_secret(b"m" * 32)
    async with receiving(says(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")) as receiver:
        endpoint_id = await endpoint(world, receiver)
        await world.emit()
        await attempted(world, endpoint_id)
        delivery = await world.one(endpoint_id)
        await world.change(endpoint_id, secret=Vault(SECRET_KEY).seal(deliveries.SECRET_PURPOSE, fresh.encode()))
        await world.retry(endpoint_id, delivery.id)
        await WorkflowWaker(client).wake(deliveries.delivery_subject(delivery.id))
        await attempted(world, endpoint_id, 2)
    first, second = receiver.received
    assert first.body == second.body
    assert first.headers["x-service-signature"] != second.headers["x-service-signature"]
    for request, secret in ((first, SECRET), (second, fresh)):
        signed = request.headers["x-service-signature"]
        assert stripe.WebhookSignature.verify_header(request.body.decode(), signed, secret, 300)
    await client.get_workflow_handle(f"delivery/{delivery.id}").terminate()
