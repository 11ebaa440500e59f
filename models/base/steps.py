"""What workflows, activities and the engines say to each other about a waiting row: ids, calls, waits and reasons."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict


class StepPayload(BaseModel):
    """A payload in Temporal's history. New fields always get a default: sleeping workflows replay old payloads."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Queue(StrEnum):
    """Task queues."""

    SERVICE = "service"
    UPSTREAM = "upstream"
    MAIL = "mail"
    WEBHOOKS = "webhooks"
    NETWORK = "network"
    PAYMENTS = "payments"


class Do(StrEnum):
    """What a step answers when it is asked what is due."""

    ACT = "act"
    WAIT = "wait"
    DONE = "done"


class Call(StepPayload):
    """One activity to run now.

    `number` fences it: a call whose number is no longer the row's does nothing. `fairness_key` and `priority` order it
    within its queue; `queued` names the step to tell when it has waited for `queued_after` seconds.
    """

    step: str
    number: int = 0
    queue: Queue = Queue.SERVICE
    summary: str = ""
    limit_seconds: float = 30
    heartbeat_seconds: float | None = None
    fairness_key: str | None = None
    priority: int | None = None
    queued: str | None = None
    queued_after: float = 60


class NextStep(StepPayload):
    """What is due: act, wait until a time because of a reason, or done.

    `after` is the call to make when the wait ends, by a wake or by time, without asking first: for calls that check
    themselves whether they are still wanted. `ahead` is a call that will certainly be needed; it may run beside `call`.
    `wait_seconds` is the distance to the row's `wake_at` by service time, null for "until woken". `status` becomes a
    search attribute, `details` what the operator reads on the workflow's page.
    """

    do: Do
    call: Call | None = None
    ahead: Call | None = None
    after: Call | None = None
    wait_seconds: float | None = None
    reason: str = ""
    status: str | None = None
    details: str | None = None


class Step(StepPayload):
    """The argument of an activity: the row, and the fence of the call."""

    id: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class ServedStep:
    """A step: the name of its activity, and the queues whose workers make it."""

    name: str
    queues: tuple[Queue, ...]


SERVED_STEPS: dict[Callable[..., Any], ServedStep] = {}
"""Every step by the method that makes it."""

Method = TypeVar("Method", bound=Callable[..., Any])


def served_step(name: str, *queues: Queue) -> Callable[[Method], Method]:
    """Register a method as the step of this name, made by the workers of these queues, by default of `service` alone.

    `Call.queue` sends a call to its queue; the step that answers what is due (`<kind>.next`) belongs to `service`.
    """

    def register(method: Method) -> Method:
        SERVED_STEPS[method] = ServedStep(name, queues or (Queue.SERVICE,))
        return method

    return register


@dataclass(frozen=True, slots=True)
class Decision:
    """What a waiting row needs next, as its engine decides it under the row's lock: an activity, a wait, or nothing.

    `now` and `until` are service time; `until` is null with a wait that only a wake ends. `reason` is what an operator
    reads as the timer's summary; `call`, `ahead`, `after`, `status` and `details` are those of `NextStep`.
    """

    do: Do
    now: datetime
    call: Call | None = None
    ahead: Call | None = None
    after: Call | None = None
    until: datetime | None = None
    reason: str = ""
    status: str | None = None
    details: str | None = None

    @property
    def need(self) -> str:
        """The activity that is due, or else `wait` or `done`."""
        return self.do.value if self.call is None else self.call.step

    @property
    def number(self) -> int:
        """The fence of the call that is due now or after the wait, 0 without one."""
        call = self.call or self.after
        return 0 if call is None else call.number

    @property
    def wait_seconds(self) -> float | None:
        """The distance to `until` by service time, null for a wait until the row is woken."""
        return None if self.until is None else (self.until - self.now).total_seconds()

    @property
    def next_step(self) -> NextStep:
        """What the workflow is told."""
        return NextStep(
            do=self.do,
            call=self.call,
            ahead=self.ahead,
            after=self.after,
            wait_seconds=self.wait_seconds,
            reason=self.reason,
            status=self.status,
            details=self.details,
        )


# Subjects: the waiting rows, each with a workflow.


@dataclass(frozen=True, slots=True)
class Subject:
    """A waiting row. Its workflow's id is `<kind>/<id>`."""

    kind: str
    id: str

    @property
    def workflow_id(self) -> str:
        """The id of the workflow that owns this row's time."""
        return f"{self.kind}/{self.id}"
