"""Auto-refill of one workspace: looks at the balance whenever it is rung."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from models.base.subjects import Subject
    from workflows.contracts import End
    from workflows.names import REFILL_NEXT
    from workflows.waiting import WaitingWorkflow


@workflow.defn(name="refill")
class RefillWorkflow(WaitingWorkflow):
    """One workspace's auto-refill, for ever. A balance that falls below the threshold is a ring."""

    @workflow.init
    def __init__(self, subject: Subject) -> None:
        super().__init__()

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Buy whenever it is due."""
        return await self.until_done(subject, ask=REFILL_NEXT)
