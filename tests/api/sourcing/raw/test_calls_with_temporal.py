"""Synchronous calls on the real Temporal server, as standalone activities and as workflows: the same promises."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from fastapi import FastAPI
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Worker

from activities.interceptors import SilentFailures
from activities.sourcing.calls import RawCalls
from activities.sourcing.people import PeopleCalls
from api.kernel.kernel import Kernel, UpstreamCaller
from models.base.database import Database
from models.base.steps import Queue
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.sourcing.raw.conftest import Provider, charged, spend
from tests.api.sourcing.sourcing import fund
from worker import runner
from workflows.kinds import CallWorkflow
from workflows.upstream_calls import CALLS_AS

SEARCH = "/v1/people/search"
ENGINEERS = {"filters": {"titles": {"include": ["engineer"]}}, "limit": 5}


@pytest.fixture
async def temporal(temporal_address: str, temporal_namespace: str) -> Client:
    return await Client.connect(temporal_address, namespace=temporal_namespace, data_converter=pydantic_data_converter)


@pytest.fixture(params=sorted(CALLS_AS))
async def kind(request: pytest.FixtureRequest, app: FastAPI, database: Database, temporal: Client) -> str:
    kernel: Kernel = app.state.kernel
    kernel.upstream = UpstreamCaller(database, CALLS_AS[request.param](temporal), seconds=30)
    return str(request.param)


@pytest.fixture
async def workers(
    kind: str, app: FastAPI, database: Database, temporal: Client, source: PeopleCalls
) -> AsyncIterator[None]:
    del kind
    raw = RawCalls(database, app.state.kernel.vault, source)
    interceptors = [SilentFailures()]
    upstream = Worker(temporal, task_queue=Queue.UPSTREAM, activities=[raw.call], interceptors=interceptors)
    service = Worker(temporal, task_queue=Queue.SERVICE, workflows=[CallWorkflow], workflow_runner=runner())
    async with upstream, service:
        yield


async def call_ids(database: Database, workspace: Workspace) -> list[str]:
    return [
        one
        for (one,) in await run_sql(
            database, "select id from upstream_calls where workspace_id = :w order by id", w=workspace.id
        )
    ]


@pytest.mark.usefixtures("workers", "provider")
async def test_a_call_is_made_answered_and_paid_once(workspace: Workspace, database: Database) -> None:
    await fund(database, workspace)
    answers = await asyncio.gather(*(spend(workspace, SEARCH, ENGINEERS, key="same") for _ in range(20)))
    assert {answer.status_code for answer in answers} <= {200, 409}
    assert sum(answer.status_code == 200 for answer in answers) >= 1
    assert await charged(database, workspace) == {"lead": 5}
    assert len(await call_ids(database, workspace)) == 1


@pytest.mark.usefixtures("workers")
async def test_starting_a_call_again_makes_it_once_and_temporal_carries_ids_alone(
    workspace: Workspace, database: Database, kind: str, temporal: Client, provider: Provider, app: FastAPI
) -> None:
    await fund(database, workspace)
    before = await provider.calls()
    assert (await spend(workspace, SEARCH, ENGINEERS)).status_code == 200
    (call_id,) = await call_ids(database, workspace)
    port = CALLS_AS[kind](temporal)
    await asyncio.gather(*(port.start(call_id, workspace_id=workspace.id) for _ in range(3)))
    if kind == "workflow":
        handle = temporal.get_workflow_handle(f"call/{call_id}")
        await handle.result()
        history = (await handle.fetch_history()).to_json()
        assert call_id in history
        assert "engineer" not in history.lower()
    else:
        await temporal.get_activity_handle(f"call/{call_id}").result()
    assert await provider.calls() - before == 1
    assert await charged(database, workspace) == {"lead": 5}


@pytest.mark.usefixtures("workers")
async def test_a_failed_call_is_an_error_and_a_repeat_succeeds(
    workspace: Workspace, database: Database, provider: Provider
) -> None:
    await fund(database, workspace)
    await provider.fault("truncated_json", count=1)
    error_of(await spend(workspace, SEARCH, ENGINEERS, key="k"), 502, "upstream_error")
    assert (await spend(workspace, SEARCH, ENGINEERS, key="k")).status_code == 200
    assert await charged(database, workspace) == {"lead": 5}
