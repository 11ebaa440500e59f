"""Builders for scenarios: answers as the activities return them, and the turns that contain them."""

from typing import Any

from models.base.steps import Call, Do, NextStep, Queue
from tests.workflows.scenario import Turn

SOON = 0.05
"""Seconds of a wait that ends by its time within the scenario."""
LATER = 21 * 24 * 3600.0
"""Seconds of a wait that only a wake-up ends within the scenario."""


def act(step: str, queue: Queue = Queue.SERVICE, *, number: int = 1, summary: str = "", **more: Any) -> NextStep:
    """Return a due call. `ahead`, `status` and `details` belong to the answer, everything else to the call."""
    of_answer = {name: more.pop(name) for name in ("ahead", "status", "details") if name in more}
    return NextStep(do=Do.ACT, call=call(step, queue, number=number, summary=summary, **more), **of_answer)


def call(step: str, queue: Queue, *, number: int = 1, summary: str = "", **more: Any) -> Call:
    """Return an activity to run now."""
    return Call(step=step, queue=queue, number=number, summary=summary or step, **more)


def wait(reason: str, seconds: float | None = LATER, **more: Any) -> NextStep:
    """Return a wait."""
    return NextStep(do=Do.WAIT, wait_seconds=seconds, reason=reason, details=f"**waiting**: {reason}", **more)


def done(status: str = "completed") -> NextStep:
    """Return the end."""
    return NextStep(do=Do.DONE, status=status, details=f"**{status}**")


def asleep(step: str, reason: str, **more: Any) -> Turn:
    """Return a step that answers with a long wait, and the wake-up that ends it."""
    return Turn(step, wait(reason, **more), woken_after=True)


def nap(step: str, reason: str, **more: Any) -> Turn:
    """Return a step that answers with a short wait that ends by its time."""
    return Turn(step, wait(reason, SOON, **more))
