"""Context propagation of workflows: the trace of the last wake-up and the workspace, without harm to replays."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from opentelemetry.trace import SpanKind
from temporalio import activity
from temporalio.client import Client, WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner, Worker

import worker
from models.base.steps import Do, NextStep, Queue, Step, Subject
from models.operate import traces
from tests.collector import Collector, collecting
from tests.workflows.record import HISTORIES
from tests.workflows.replaying import kept
from workflows import propagation
from workflows.kinds import WORKFLOWS, RunWorkflow
from workflows.outbox import WorkflowWaker
from workflows.propagation import ContextPropagation

pytestmark = pytest.mark.timeout(90)


class Asked:
    """`run.next` that waits until it has been asked `times` times."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.asked = 0
        self.heard: list[asyncio.Event] = [asyncio.Event() for _ in range(times)]

    @activity.defn(name="run.next")
    async def next(self, step: Step) -> NextStep:
        self.heard[self.asked].set()
        self.asked += 1
        done = self.asked == self.times
        return NextStep(do=Do.DONE, status="completed") if done else NextStep(do=Do.WAIT, reason="for a wake-up")


@pytest.fixture
async def client(temporal_address: str, temporal_namespace: str) -> Client:
    return await Client.connect(
        temporal_address,
        namespace=temporal_namespace,
        data_converter=pydantic_data_converter,
        interceptors=[ContextPropagation()],
    )


@contextlib.asynccontextmanager
async def serving(client: Client, asked: Asked) -> AsyncIterator[None]:
    async with Worker(
        client,
        task_queue=Queue.SERVICE,
        workflows=[RunWorkflow],
        activities=[asked.next],
        workflow_runner=worker.runner(),
        interceptors=worker.INTERCEPTORS,
    ):
        yield


async def woken(client: Client, monkeypatch: pytest.MonkeyPatch, wakes: list[str]) -> tuple[Collector, WorkflowHistory]:
    """Wake a workflow from requests with these names one after the other, or from outside a request (`""`)."""
    subject, asked = Subject("run", uuid4().hex), Asked(len(wakes))
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        async with traces.sending("tests"), serving(client, asked):
            for name, heard in zip(wakes, asked.heard, strict=True):
                around = traces.span(name, SpanKind.SERVER, {}) if name else contextlib.nullcontext()
                with around:
                    await WorkflowWaker(client).wake(subject, workspace_id="ws_1")
                await heard.wait()
            handle = client.get_workflow_handle(subject.workflow_id)
            await handle.result()
        return collector, await handle.fetch_history()


async def test_steps_after_a_wake_up_belong_to_the_trace_that_woke_the_workflow(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector, history = await woken(client, monkeypatch, ["first", "second"])
    traced = [span.trace_id for span in collector.named("run.next")]
    assert traced == [collector.named(name)[0].trace_id for name in ("first", "second")]
    assert {span.facts["workspace.id"] for span in collector.named("run.next")} == {"ws_1"}
    for interceptors in ([], [ContextPropagation()]):  # with traces off, by workers of before and of today
        replayer = Replayer(
            workflows=WORKFLOWS,
            workflow_runner=worker.runner(),
            data_converter=pydantic_data_converter,
            interceptors=interceptors,
        )
        await replayer.replay_workflow(history)


async def test_a_wake_up_without_a_trace_leaves_a_requests_work_in_its_trace(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector, _ = await woken(client, monkeypatch, ["asked", "", ""])
    (request,) = collector.named("asked")
    assert {span.trace_id for span in collector.named("run.next")} == {request.trace_id}


async def test_work_started_by_the_dispatcher_is_a_separate_trace(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector, _ = await woken(client, monkeypatch, ["", ""])
    first, second = collector.named("ring run")
    assert first.parent_id == second.parent_id == ""
    assert [span.trace_id for span in collector.named("run.next")] == [first.trace_id, second.trace_id]


async def test_after_an_hour_an_activity_begins_a_trace_with_a_link_to_the_wake_up(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(propagation, "FRESH", propagation.FRESH * 0)
    collector, _ = await woken(client, monkeypatch, ["long ago"])
    (request,), (activity_span,) = collector.named("long ago"), collector.named("run.next")
    assert activity_span.parent_id == ""
    assert activity_span.links == [request.trace_id]


async def test_every_stored_history_replays_with_context_propagation() -> None:
    async def read() -> AsyncIterator[WorkflowHistory]:
        for one in kept(HISTORIES):
            yield one.history

    replayer = Replayer(
        workflows=WORKFLOWS,
        workflow_runner=UnsandboxedWorkflowRunner(),
        data_converter=pydantic_data_converter,
        interceptors=[ContextPropagation()],
    )
    await replayer.replay_workflows(read())
