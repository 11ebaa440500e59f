"""Stories of workflows: what each step answers and who rings when, played to real workflows on a real server.

The workflows are the product's; their steps are scripted here, so that a history holds ids, reasons and times alone
and every branch can be told in a second.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

import worker
from models.base.steps import NextStep, Queue, Step
from models.base.subjects import Subject
from workflows.doorbell import Doorbell
from workflows.upstream_calls import KIND, WorkflowCalls

ASLEEP_SECONDS = 0.3
"""After so long a workflow has taken in an answer and sleeps."""
PATIENCE = 60.0
STEPS = sorted(
    {
        value
        for module in list(sys.modules.values())
        if module.__name__.startswith(("models.", "workflows.", "activities."))
        for name, value in vars(module).items()
        if isinstance(value, str) and "." in value and name == value.upper().replace(".", "_")
    }
)
"""Every name of a step that a workflow may ask for."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of one step, or its failure.

    `rings` times somebody rings while it works; `rung_after` the answer somebody rings once the workflow sleeps.
    `cancels`: an operator cancels the workflow in Temporal while it works.
    """

    step: str
    answer: NextStep | None = None
    fails: bool = False
    works_seconds: float = 0
    rings: int = 0
    rung_after: bool = False
    cancels: bool = False


@dataclass(frozen=True, slots=True)
class Story:
    """One life of a workflow; `before` is an earlier life under the same id, whose history is not kept."""

    kind: str
    name: str
    turns: tuple[Turn, ...]
    before: tuple[Turn, ...] = ()
    fairness_key: str | None = None
    ends: WorkflowExecutionStatus = WorkflowExecutionStatus.COMPLETED


@dataclass
class Played:
    """What is left to be answered in the story of one row."""

    subject: Subject
    left: list[Turn]
    heard: list[asyncio.Task[None]] = field(default_factory=list)


class Stage:
    """Plays stories: answers every step by the story of its row."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._bell = Doorbell(client)
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
                    workflows=worker.WORKFLOWS if queue is Queue.SERVICE else [],
                    activities=steps,
                    workflow_runner=worker.runner(),
                    identity="recorder",
                )
                await exits.enter_async_context(serving)
            yield

    async def play(self, story: Story) -> WorkflowHandle[Any, Any]:
        """Play a story to its end; gives the execution whose history tells it."""
        subject = Subject(story.kind, f"{story.name}-{next(self._numbers)}")
        if story.before:
            await self._live(subject, story.before, story.fairness_key)
        run_id = await self._live(subject, story.turns, story.fairness_key)
        kept = self._client.get_workflow_handle(subject.workflow_id, run_id=run_id)
        status = (await kept.describe()).status
        assert status is story.ends, (story.kind, story.name, status)
        return kept

    async def _live(self, subject: Subject, turns: tuple[Turn, ...], fairness_key: str | None) -> str:
        told = self._played[subject.id] = Played(subject, list(turns))
        if subject.kind == KIND:
            await WorkflowCalls(self._client).start(subject.id, workspace_id="ws_1")
        else:
            await self._bell.ring(subject, workspace_id="ws_1", fairness_key=fairness_key)
        handle = self._client.get_workflow_handle(subject.workflow_id)
        run_id = (await handle.describe()).run_id
        try:
            await asyncio.wait_for(handle.result(), PATIENCE)
        except TimeoutError:
            raise AssertionError(f"{subject} did not end; left: {[turn.step for turn in told.left]}") from None
        except WorkflowFailureError:
            pass  # how it ended is looked at by `play`
        await asyncio.gather(*told.heard)
        assert not told.left, f"{subject}: never asked {told.left[0].step}"
        return run_id

    def _step(self, name: str) -> Callable[..., Any]:
        @activity.defn(name=name)
        async def answer(step: Step) -> NextStep | None:
            return await self._answer(name, step)

        return answer

    async def _answer(self, name: str, step: Step) -> NextStep | None:
        told = self._played[step.id]
        turn = next((one for one in told.left if one.step == name), None)
        if turn is None:
            raise ApplicationError(f"the story has no more {name}", type="OutOfStory", non_retryable=True)
        told.left.remove(turn)
        for _ in range(turn.rings):
            await self._bell.ring(told.subject)
        if turn.cancels:
            await self._client.get_workflow_handle(told.subject.workflow_id).cancel()
        await asyncio.sleep(turn.works_seconds)
        if turn.rung_after:
            told.heard.append(asyncio.create_task(self._ring_later(told.subject)))
        if turn.fails:
            raise ApplicationError("upstream_error", type="upstream_error", non_retryable=True)
        return turn.answer

    async def _ring_later(self, subject: Subject) -> None:
        await asyncio.sleep(ASLEEP_SECONDS)
        await self._bell.ring(subject)
