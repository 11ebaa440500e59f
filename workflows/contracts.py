"""What workflows and the code around them agree on: signals, search attributes, and how a workflow ends."""

from temporalio.common import SearchAttributeKey

from models.base.steps import StepPayload


class End(StepPayload):
    """How a workflow ended: the row's status."""

    status: str


RING = "ring"
"""The signal that wakes a workflow: its row has changed."""

WORKSPACE_ID = SearchAttributeKey.for_keyword("WorkspaceId")
CUSTOMER_ID = SearchAttributeKey.for_keyword("CustomerId")
RUN_STATUS = SearchAttributeKey.for_keyword("RunStatus")
SEQUENCE_ID = SearchAttributeKey.for_keyword("SequenceId")
OUTREACH_ACCOUNT_ID = SearchAttributeKey.for_keyword("OutreachAccountId")
