"""An action without an enrollment: a direct send or a reply to a conversation."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from models.base.subjects import Subject
    from workflows.contracts import End
    from workflows.names import ACTION_NEXT
    from workflows.waiting import WaitingWorkflow


@workflow.defn(name="action")
class ActionWorkflow(WaitingWorkflow):
    """One direct send. Approval, cancelling and settling are rings."""

    @workflow.init
    def __init__(self, subject: Subject) -> None:
        super().__init__()

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Send it once, when its time has come."""
        return await self.until_done(subject, ask=ACTION_NEXT)
