"""One synchronous upstream call as a workflow of one activity."""

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from models.base.steps import Queue, Step
    from workflows.names import UPSTREAM_CALL
    from workflows.policies import CALL_RETRIES, UPSTREAM_HEARTBEAT_LIMIT, UPSTREAM_LIMIT
    from workflows.upstream_calls import SUMMARY, priority_of


@workflow.defn(name="call")
class CallWorkflow:
    """One call. Its row says how it ended."""

    @workflow.run
    async def run(self, step: Step, workspace_id: str) -> None:
        """Have the call made."""
        try:
            await workflow.execute_activity(
                UPSTREAM_CALL,
                step,
                task_queue=Queue.UPSTREAM,
                start_to_close_timeout=UPSTREAM_LIMIT,
                heartbeat_timeout=UPSTREAM_HEARTBEAT_LIMIT,
                retry_policy=CALL_RETRIES,
                summary=SUMMARY,
                priority=priority_of(workspace_id),
            )
        except ActivityError as failure:
            if is_cancelled_exception(failure):
                raise
