"""Scenarios of every waiting kind; a new kind has them automatically."""

from temporalio.client import WorkflowExecutionStatus

from tests.workflows.scenario import STEPS, Scenario, Turn
from tests.workflows.scenarios.builders import act, asleep, done, nap
from workflows.kinds import KINDS

MANY = 60
"""Steps after which the recorder's server suggests to continue as new."""


def scenarios() -> list[Scenario]:
    """Return the same few scenarios for each kind."""
    return [scenario for kind in KINDS for scenario in _lives(kind)]


def _lives(kind: str) -> list[Scenario]:
    ask = f"{kind}.next"
    step = next((name for name in STEPS if name.startswith(f"{kind}.") and name != ask), ask)
    due = act(step, summary="something")
    ended = Turn(ask, done())
    return [
        Scenario(kind, "over-at-once", (ended,)),
        Scenario(
            kind, "rung-while-asleep", (asleep(ask, "for a ring"), asleep(ask, "for a ring", seconds=None), ended)
        ),
        Scenario(kind, "woken-by-time", (nap(ask, "until its time"), ended)),
        Scenario(kind, "rung-while-over", (Turn(ask, done(), wakes=2), ended)),
        Scenario(kind, "rung-while-acting", (Turn(ask, due), Turn(step, done(), wakes=1), ended)),
        Scenario(kind, "asking-fails", (Turn(ask, fails=True, wakes=1), ended)),
        Scenario(kind, "acting-fails", (Turn(ask, due), Turn(step, fails=True, wakes=1), ended)),
        Scenario(
            kind,
            "cancelled-by-an-operator",
            (Turn(ask, due), Turn(step, cancels=True, works_seconds=0.5)),
            ends=WorkflowExecutionStatus.CANCELED,
        ),
        Scenario(kind, "started-again", (ended,), before=(ended,)),
    ]
