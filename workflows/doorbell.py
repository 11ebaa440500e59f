"""Ringing a workflow: signal-with-start, so that a ring finds a sleeping workflow or starts a new one."""

from collections.abc import Mapping
from datetime import timedelta

from temporalio.client import Client
from temporalio.common import Priority, SearchAttributePair, TypedSearchAttributes, WorkflowIDReusePolicy

from models.base.steps import Queue
from models.base.subjects import Subject
from workflows.names import CUSTOMER_ID, OUTREACH_ACCOUNT_ID, RING, SEQUENCE_ID, WORKSPACE_ID

WORKFLOW_OF: Mapping[str, str] = {
    "run": "run",
    "mail": "mail",
    "housekeeping": "housekeeping",
    "delivery": "delivery",
    "job": "job",
    "contacts": "contacts",
    "account": "account",
    "enrollment": "enrollment",
    "action": "action",
    "payment": "payment",
    "callback": "callback",
    "refill": "refill",
    "client": "client",
    "outreach_plan": "outreach_plan",
}
"""The workflow type that owns each kind of waiting row."""

SUMMARY_OF: Mapping[str, str] = {
    "run": "Works a search plan and delivers candidates",
    "mail": "Sends one mail",
    "housekeeping": "A recurring duty of the installation",
    "job": "Fetches profiles in the background",
    "contacts": "Looks contact details up",
    "delivery": "Delivers one event to one webhook endpoint",
    "account": "Looks after an outreach account",
    "enrollment": "Takes one person through a sequence",
    "action": "Does one thing on the network",
    "payment": "One purchase at the payment provider",
    "callback": "Works one callback of the payment provider in",
    "refill": "Buys credits when a workspace runs low",
    "client": "Reads the description of one OAuth client",
    "outreach_plan": "Has a workspace charged for its outreach accounts",
}
RPC_LIMIT = timedelta(seconds=2)


class Doorbell:
    """Rings workflows over one Temporal client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def ring(
        self,
        subject: Subject,
        *,
        workspace_id: str | None = None,
        customer_id: str | None = None,
        fairness_key: str | None = None,
        sequence_id: str | None = None,
        account_id: str | None = None,
    ) -> None:
        """Signal the row's workflow, starting it when none is open. Raises `RPCError` when Temporal does not answer.

        The ids become search attributes of a workflow that this starts; with the fairness key its tasks take their
        turn among those of other keys.
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
        if subject.kind == "account":
            known.append(SearchAttributePair(OUTREACH_ACCOUNT_ID, subject.id))
        await self._client.start_workflow(
            WORKFLOW_OF[subject.kind],
            subject,
            id=subject.workflow_id,
            task_queue=Queue.SERVICE,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            start_signal=RING,
            static_summary=SUMMARY_OF[subject.kind],
            search_attributes=TypedSearchAttributes(known),
            priority=Priority(fairness_key=fairness_key),
            rpc_timeout=RPC_LIMIT,
        )
