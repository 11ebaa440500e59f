"""What can happen to every waiting workflow, whatever it is about; a new kind has these stories by itself."""

from temporalio.client import WorkflowExecutionStatus

from tests.workflows.stories.words import act, asleep, done, nap
from tests.workflows.telling import STEPS, Story, Turn
from workflows.doorbell import WORKFLOW_OF

MANY = 60
"""Steps after which the recorder's server suggests to continue as new."""


def stories() -> list[Story]:
    """The same few lives of each kind."""
    return [story for kind in WORKFLOW_OF for story in _lives(kind)]


def _lives(kind: str) -> list[Story]:
    ask = f"{kind}.next"
    step = next((name for name in STEPS if name.startswith(f"{kind}.") and name != ask), ask)
    due = act(step, summary="something")
    ended = Turn(ask, done())
    return [
        Story(kind, "over-at-once", (ended,)),
        Story(kind, "rung-while-asleep", (asleep(ask, "for a ring"), asleep(ask, "for a ring", seconds=None), ended)),
        Story(kind, "woken-by-time", (nap(ask, "until its time"), ended)),
        Story(kind, "rung-while-over", (Turn(ask, done(), rings=2), ended)),
        Story(kind, "rung-while-acting", (Turn(ask, due), Turn(step, done(), rings=1), ended)),
        Story(kind, "asking-fails", (Turn(ask, fails=True, rings=1), ended)),
        Story(kind, "acting-fails", (Turn(ask, due), Turn(step, fails=True, rings=1), ended)),
        Story(
            kind,
            "cancelled-by-an-operator",
            (Turn(ask, due), Turn(step, cancels=True, works_seconds=0.5)),
            ends=WorkflowExecutionStatus.CANCELED,
        ),
        Story(kind, "started-again", (ended,), before=(ended,)),
    ]
