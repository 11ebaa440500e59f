"""Starting synchronous upstream calls: each a standalone activity, or a workflow of one activity."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Protocol

from temporalio.client import Client
from temporalio.common import ActivityIDConflictPolicy, Priority, WorkflowIDConflictPolicy

from models.base.steps import Queue, Step, Subject
from workflows.policies import CALL_RETRIES, UPSTREAM_HEARTBEAT_LIMIT, UPSTREAM_LIMIT

KIND = "call"
UPSTREAM_CALL = "upstream.call"
PRIORITY = 2
"""Ahead of the pages and chunks of runs (3), because a caller waits."""
SUMMARY = "A call that a caller waits for"
RPC_LIMIT = timedelta(seconds=3)


def priority_of(workspace_id: str) -> Priority:
    """Return the priority and fairness key of a workspace's call."""
    return Priority(priority_key=PRIORITY, fairness_key=workspace_id)


class UpstreamCalls(Protocol):
    """Starts the upstream call of a row. Starting one that is running or finished has no effect."""

    async def start(self, call_id: str, *, workspace_id: str) -> None:
        """Start the call. Raises `RPCError` if Temporal does not answer."""
        ...


class StandaloneCalls:
    """Runs each call as a standalone activity `call/<id>`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def start(self, call_id: str, *, workspace_id: str) -> None:
        """Start the activity."""
        await self._client.start_activity(
            UPSTREAM_CALL,
            Step(id=call_id),
            id=Subject(KIND, call_id).workflow_id,
            task_queue=Queue.UPSTREAM,
            start_to_close_timeout=UPSTREAM_LIMIT,
            heartbeat_timeout=UPSTREAM_HEARTBEAT_LIMIT,
            retry_policy=CALL_RETRIES,
            id_conflict_policy=ActivityIDConflictPolicy.USE_EXISTING,
            summary=SUMMARY,
            priority=priority_of(workspace_id),
            rpc_timeout=RPC_LIMIT,
        )


class WorkflowCalls:
    """Runs each call as a workflow `call/<id>` of one activity, for servers without standalone activities."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def start(self, call_id: str, *, workspace_id: str) -> None:
        """Start the workflow."""
        await self._client.start_workflow(
            KIND,
            args=[Step(id=call_id), workspace_id],
            id=Subject(KIND, call_id).workflow_id,
            task_queue=Queue.SERVICE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            static_summary=SUMMARY,
            rpc_timeout=RPC_LIMIT,
        )


CALLS_AS: Mapping[str, Callable[[Client], UpstreamCalls]] = {"activity": StandaloneCalls, "workflow": WorkflowCalls}
"""The implementations, by the value of the setting `UPSTREAM_CALL_AS`."""
