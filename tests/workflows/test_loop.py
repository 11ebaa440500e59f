"""The waiting loop on a real server: no wake-up is lost, no failed step ends a workflow."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from uuid import uuid4

import pytest
from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Worker

import worker
from activities.interceptors import SilentFailures
from models.base.steps import Call, Do, NextStep, Queue, Step, Subject
from models.sourcing.engine import decide
from workflows import contracts, kinds
from workflows.kinds import RunWorkflow
from workflows.outbox import WorkflowWaker

WAIT = NextStep(do=Do.WAIT, reason="for a ring")
DONE = NextStep(do=Do.DONE, status="completed")


class Script:
    """Answers of `run.next` and of the call, given by functions, with a log of what was asked."""

    def __init__(self, next_step: Callable[[int], NextStep], call: Callable[[], NextStep] = lambda: DONE) -> None:
        self.asked = 0
        self.called = 0
        self.calling = asyncio.Event()
        self.let_go = asyncio.Event()
        self.let_go.set()
        self._next = next_step
        self._call = call

    @activity.defn(name="run.next")
    async def next(self, step: Step) -> NextStep:
        self.asked += 1
        return self._next(self.asked)

    @activity.defn(name=decide.RUN_QUEUED)
    async def queued(self, step: Step) -> NextStep:
        return NextStep(do=Do.WAIT, status="waiting_for_quota")

    @activity.defn(name=decide.RUN_READ_PAGE)
    async def read_page(self, step: Step) -> NextStep:
        self.called += 1
        self.calling.set()
        await self.let_go.wait()
        return self._call()


ACT = NextStep(do=Do.ACT, call=Call(step=decide.RUN_READ_PAGE, queue=Queue.SERVICE, summary="reads", limit_seconds=20))


@pytest.fixture
async def client(temporal_address: str, temporal_namespace: str) -> Client:
    return await Client.connect(temporal_address, namespace=temporal_namespace, data_converter=pydantic_data_converter)


@contextlib.asynccontextmanager
async def serving(client: Client, script: Script) -> AsyncIterator[None]:
    async with Worker(
        client,
        task_queue=Queue.SERVICE,
        workflows=[RunWorkflow],
        activities=[script.next, script.queued, script.read_page],
        workflow_runner=worker.runner(),
        interceptors=[SilentFailures()],
    ):
        yield


async def start(client: Client) -> tuple[Subject, WorkflowHandle[RunWorkflow, object]]:
    subject = Subject("run", uuid4().hex)
    await WorkflowWaker(client).wake(subject, workspace_id="ws_1")
    return subject, client.get_workflow_handle(subject.workflow_id)


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(15):
        while not condition():  # noqa: ASYNC110 - the condition is another process's state
            await asyncio.sleep(0.02)


async def test_a_wake_up_ends_the_wait_and_the_step_is_asked_again(client: Client) -> None:
    script = Script(lambda asked: DONE if asked > 1 else WAIT)
    async with serving(client, script):
        subject, handle = await start(client)
        await eventually(lambda: script.asked == 1)
        await WorkflowWaker(client).wake(subject)
        await handle.result()
    assert script.asked == 2


async def test_a_wait_ends_at_its_time_without_a_wake_up(client: Client) -> None:
    soon = NextStep(do=Do.WAIT, wait_seconds=0.2, reason="soon")
    script = Script(lambda asked: DONE if asked > 3 else soon)
    async with serving(client, script):
        _, handle = await start(client)
        await handle.result()


async def test_a_wake_up_during_a_call_is_not_lost_although_the_call_answers_that_nothing_is_due(
    client: Client,
) -> None:
    script = Script(lambda asked: ACT if asked == 1 else DONE, call=lambda: WAIT)
    script.let_go.clear()
    async with serving(client, script):
        subject, handle = await start(client)
        await script.calling.wait()
        asked = script.asked
        await WorkflowWaker(client).wake(subject)
        await asyncio.sleep(0.2)
        script.let_go.set()
        await handle.result()
    assert script.asked == asked + 1


async def test_a_failed_step_is_asked_again_and_reports_only_its_code(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "AFTER_FAILURE_SECONDS", 0.1)

    def failing(asked: int) -> NextStep:
        if asked <= 4:
            raise ValueError("jane.doe@acme.example")
        return DONE

    script = Script(failing)
    async with serving(client, script):
        _, handle = await start(client)
        await handle.result()
        history = (await handle.fetch_history()).to_json()
    assert "ValueError" in history
    assert "jane" not in history


async def test_a_wake_up_after_the_end_starts_the_workflow_again_under_the_same_id(client: Client) -> None:
    script = Script(lambda _: DONE)
    async with serving(client, script):
        subject, handle = await start(client)
        await handle.result()
        asked = script.asked
        await WorkflowWaker(client).wake(subject)
        await handle.result()
    assert script.asked > asked


async def test_a_call_that_queues_for_long_is_shown_and_then_awaited(client: Client) -> None:
    assert ACT.call is not None
    slow = ACT.model_copy(
        update={"call": ACT.call.model_copy(update={"queued": decide.RUN_QUEUED, "queued_after": 0.1})}
    )
    script = Script(lambda _: slow)
    script.let_go.clear()
    async with serving(client, script):
        _, handle = await start(client)
        await script.calling.wait()

        async def shown() -> bool:
            described = await handle.describe()
            return described.typed_search_attributes.get(contracts.RUN_STATUS) == "waiting_for_quota"

        async with asyncio.timeout(15):
            while not await shown():  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.05)
        history = await handle.fetch_history()
        timers = [event for event in history.events if event.HasField("timer_started_event_attributes")]
        assert timers
        assert all(event.user_metadata.summary.data for event in timers)
        script.let_go.set()
        await handle.result()


async def test_fifty_concurrent_wake_ups_start_one_workflow(client: Client) -> None:
    script = Script(lambda _: WAIT)
    async with serving(client, script):
        subject = Subject("run", uuid4().hex)
        waker = WorkflowWaker(client)
        await asyncio.gather(*(waker.wake(subject, workspace_id="ws_1") for _ in range(50)))
        handle = client.get_workflow_handle(subject.workflow_id)
        described = await handle.describe()
        assert described.status is WorkflowExecutionStatus.RUNNING
        assert described.typed_search_attributes.get(contracts.WORKSPACE_ID) == "ws_1"
        first = described.run_id
        await eventually(lambda: script.asked >= 1)
        assert (await handle.describe()).run_id == first
        await handle.terminate()


async def test_workflows_of_outreach_are_found_by_account_and_sequence(client: Client) -> None:
    enrollment, account = Subject("enrollment", uuid4().hex), Subject("account", uuid4().hex)
    waker = WorkflowWaker(client)
    await waker.wake(enrollment, workspace_id="ws_1", sequence_id="seq_1", account_id="acc_1")
    await waker.wake(account, workspace_id="ws_1")
    for subject, sequence_id, account_id in ((enrollment, "seq_1", "acc_1"), (account, None, account.id)):
        handle = client.get_workflow_handle(subject.workflow_id)
        found = (await handle.describe()).typed_search_attributes
        assert (found.get(contracts.SEQUENCE_ID), found.get(contracts.OUTREACH_ACCOUNT_ID)) == (sequence_id, account_id)
        await handle.terminate()
