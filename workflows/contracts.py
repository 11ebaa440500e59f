"""What workflows and activities say to each other: ids, statuses, times and reasons."""

from models.base.steps import StepPayload


class End(StepPayload):
    """How a workflow ended: the row's status."""

    status: str
