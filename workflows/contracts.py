"""What workflows and activities say to each other: ids, statuses, times and reasons."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Payload(BaseModel):
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


class Call(Payload):
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


class NextStep(Payload):
    """What is due: act, wait until a time because of a reason, or done.

    `after` is the call to make when the wait is over, rung or not, without asking: for calls that look themselves
    whether they are still wanted. `ahead` is a call that will be needed for certain and may run beside `call`.
    `wait_seconds` is the distance to the row's `wake_at` by service time, null for "until rung". `status` becomes a
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


class Step(Payload):
    """The argument of an activity: the row, and the fence of the call."""

    id: str
    number: int = 0


class End(Payload):
    """How a workflow ended: the row's status."""

    status: str
