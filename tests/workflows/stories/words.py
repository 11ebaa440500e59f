"""The words that stories are told in: answers as the activities give them, and the turns that bring them."""

from typing import Any

from models.base.steps import Call, Do, NextStep, Queue
from tests.workflows.telling import Turn

SOON = 0.05
"""Seconds of a wait that ends by its time within the story."""
LATER = 21 * 24 * 3600.0
"""Seconds of a wait that only a ring ends within the story."""


def act(step: str, queue: Queue = Queue.SERVICE, *, number: int = 1, summary: str = "", **more: Any) -> NextStep:
    """A call is due. `ahead`, `status` and `details` belong to the answer, everything else to the call."""
    told = {name: more.pop(name) for name in ("ahead", "status", "details") if name in more}
    return NextStep(do=Do.ACT, call=call(step, queue, number=number, summary=summary, **more), **told)


def call(step: str, queue: Queue, *, number: int = 1, summary: str = "", **more: Any) -> Call:
    """One activity to run now."""
    return Call(step=step, queue=queue, number=number, summary=summary or step, **more)


def wait(reason: str, seconds: float | None = LATER, **more: Any) -> NextStep:
    """Nothing is due before its time."""
    return NextStep(do=Do.WAIT, wait_seconds=seconds, reason=reason, details=f"**waiting**: {reason}", **more)


def done(status: str = "completed") -> NextStep:
    """Nothing is left to do."""
    return NextStep(do=Do.DONE, status=status, details=f"**{status}**")


def asleep(step: str, reason: str, **more: Any) -> Turn:
    """A step that answers to wait for long, and the ring that ends the wait."""
    return Turn(step, wait(reason, **more), rung_after=True)


def nap(step: str, reason: str, **more: Any) -> Turn:
    """A step that answers to wait, and the time comes."""
    return Turn(step, wait(reason, SOON, **more))
