"""Wake workflows: signal-with-start, which finds the sleeping workflow of a row or starts a new one."""

from datetime import timedelta

from temporalio.client import Client
from temporalio.common import Priority, SearchAttributePair, TypedSearchAttributes, WorkflowIDReusePolicy

from models.base.steps import Queue, Subject
from workflows.contracts import CUSTOMER_ID, OUTREACH_ACCOUNT_ID, RING, SEQUENCE_ID, WORKSPACE_ID
from workflows.kinds import KINDS

RPC_LIMIT = timedelta(seconds=2)


class WorkflowWaker:
    """Wakes workflows over one Temporal client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def wake(
        self,
        subject: Subject,
        *,
        workspace_id: str | None = None,
        customer_id: str | None = None,
        fairness_key: str | None = None,
        sequence_id: str | None = None,
        account_id: str | None = None,
    ) -> None:
        """Signal the row's workflow; start it if none is open. Raises `RPCError` if Temporal does not answer.

        The ids become search attributes of a newly started workflow; with a fairness key, its tasks take turns with
        those of other keys.
        """
        known = [
            SearchAttributePair(key, value)
            for key, value in (
                (WORKSPACE_ID, workspace_id),
                (CUSTOMER_ID, customer_id),
                (SEQUENCE_ID, sequence_id),
                (OUTREACH_ACCOUNT_ID, account_id),
            )
            if value is not None
        ]
        kind = KINDS[subject.kind]
        if kind.id_attribute is not None:
            known.append(SearchAttributePair(kind.id_attribute, subject.id))
        await self._client.start_workflow(
            subject.kind,
            subject,
            id=subject.workflow_id,
            task_queue=Queue.SERVICE,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            start_signal=RING,
            static_summary=kind.summary,
            search_attributes=TypedSearchAttributes(known),
            priority=Priority(fairness_key=fairness_key),
            rpc_timeout=RPC_LIMIT,
        )
