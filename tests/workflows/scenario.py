"""Scenarios of workflows: the answers of each step and the wake-ups, played to real workflows on a real server.

The workflows are the product's; their steps are scripted here, so that a history holds ids, reasons and times alone
and every branch can be played in a second.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

import worker
from models.base.steps import SERVED_STEPS, NextStep, Queue, Step, Subject
from workflows.kinds import WORKFLOWS
from workflows.outbox import WorkflowWaker
from workflows.upstream_calls import KIND, WorkflowCalls

ASLEEP_SECONDS = 0.3
"""The time after which a workflow has processed an answer and sleeps."""
PATIENCE = 60.0
STEPS = sorted(step.name for step in SERVED_STEPS.values())
"""Every name of a step that a workflow may ask for."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of one step, or its failure.

    `wakes`: how often the workflow is woken while the step works; `woken_after`: it is woken once more when it sleeps.
    `cancels`: an operator cancels the workflow in Temporal while it works.
    """

    step: str
    answer: NextStep | None = None
    fails: bool = False
    works_seconds: float = 0
    wakes: int = 0
    woken_after: bool = False
    cancels: bool = False


@dataclass(frozen=True, slots=True)
class Scenario:
    """One life of a workflow; `before` is an earlier life under the same id, whose history is not kept."""

    kind: str
    name: str
    turns: tuple[Turn, ...]
    before: tuple[Turn, ...] = ()
    fairness_key: str | None = None
    ends: WorkflowExecutionStatus = WorkflowExecutionStatus.COMPLETED


@dataclass
class Played:
    """The remaining answers in the scenario of one row."""

    subject: Subject
    left: list[Turn]
    heard: list[asyncio.Task[None]] = field(default_factory=list)


class Stage:
    """Plays scenarios: answers every step from the scenario of its row."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._waker = WorkflowWaker(client)
        self._played: dict[str, Played] = {}
        self._numbers = count(1)

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Serve every queue."""
        steps = [self._step(name) for name in STEPS]
        async with contextlib.AsyncExitStack() as exits:
            for queue in Queue:
                serving = Worker(
                    self._client,
                    task_queue=queue,
                    workflows=WORKFLOWS if queue is Queue.SERVICE else [],
                    activities=steps,
                    workflow_runner=worker.runner(),
                    identity="recorder",
                )
                await exits.enter_async_context(serving)
            yield

    async def play(self, scenario: Scenario) -> WorkflowHandle[Any, Any]:
        """Play a scenario to its end, and return the execution with its history."""
        subject = Subject(scenario.kind, f"{scenario.name}-{next(self._numbers)}")
        if scenario.before:
            await self._live(subject, scenario.before, scenario.fairness_key)
        run_id = await self._live(subject, scenario.turns, scenario.fairness_key)
        kept = self._client.get_workflow_handle(subject.workflow_id, run_id=run_id)
        status = (await kept.describe()).status
        assert status is scenario.ends, (scenario.kind, scenario.name, status)
        return kept

    async def _live(self, subject: Subject, turns: tuple[Turn, ...], fairness_key: str | None) -> str:
        played = self._played[subject.id] = Played(subject, list(turns))
        if subject.kind == KIND:
            await WorkflowCalls(self._client).start(subject.id, workspace_id="ws_1")
        else:
            await self._waker.wake(subject, workspace_id="ws_1", fairness_key=fairness_key)
        handle = self._client.get_workflow_handle(subject.workflow_id)
        run_id = (await handle.describe()).run_id
        try:
            await asyncio.wait_for(handle.result(), PATIENCE)
        except TimeoutError:
            raise AssertionError(f"{subject} did not end; left: {[turn.step for turn in played.left]}") from None
        except WorkflowFailureError:
            pass  # `play` checks how it ended
        await asyncio.gather(*played.heard)
        assert not played.left, f"{subject}: never asked {played.left[0].step}"
        return run_id

    def _step(self, name: str) -> Callable[..., Any]:
        @activity.defn(name=name)
        async def answer(step: Step) -> NextStep | None:
            return await self._answer(name, step)

        return answer

    async def _answer(self, name: str, step: Step) -> NextStep | None:
        played = self._played[step.id]
        turn = next((one for one in played.left if one.step == name), None)
        if turn is None:
            raise ApplicationError(f"the scenario has no more {name}", type="OutOfScenario", non_retryable=True)
        played.left.remove(turn)
        for _ in range(turn.wakes):
            await self._waker.wake(played.subject)
        if turn.cancels:
            await self._client.get_workflow_handle(played.subject.workflow_id).cancel()
        await asyncio.sleep(turn.works_seconds)
        if turn.woken_after:
            played.heard.append(asyncio.create_task(self._wake_later(played.subject)))
        if turn.fails:
            raise ApplicationError("upstream_error", type="upstream_error", non_retryable=True)
        return turn.answer

    async def _wake_later(self, subject: Subject) -> None:
        await asyncio.sleep(ASLEEP_SECONDS)
        await self._waker.wake(subject)
