"""A webhook delivery: one event on its way to one endpoint, until it is delivered, given up or dropped."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from models.rules.subjects import Subject
    from workflows.contracts import End
    from workflows.names import DELIVERY_NEXT
    from workflows.waiting import WaitingWorkflow


@workflow.defn(name="delivery")
class DeliveryWorkflow(WaitingWorkflow):
    """One delivery. A retry asked for by hand is a ring."""

    @workflow.init
    def __init__(self, subject: Subject) -> None:
        super().__init__()

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Attempt the delivery whenever it is due."""
        return await self.until_done(subject, ask=DELIVERY_NEXT)
