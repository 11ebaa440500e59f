"""A callback of the payment provider: worked in once."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from models.base.subjects import Subject
    from workflows.contracts import End
    from workflows.names import CALLBACK_NEXT
    from workflows.waiting import WaitingWorkflow


@workflow.defn(name="callback")
class CallbackWorkflow(WaitingWorkflow):
    """One callback."""

    @workflow.init
    def __init__(self, subject: Subject) -> None:
        super().__init__()

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Work it in."""
        return await self.until_done(subject, ask=CALLBACK_NEXT)
