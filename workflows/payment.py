"""A payment: the provider is asked, then a person, a callback or a time-out ends it."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from models.base.subjects import Subject
    from workflows.contracts import End
    from workflows.names import PAYMENT_NEXT
    from workflows.waiting import WaitingWorkflow


@workflow.defn(name="payment")
class PaymentWorkflow(WaitingWorkflow):
    """One payment."""

    @workflow.init
    def __init__(self, subject: Subject) -> None:
        super().__init__()

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Drive the payment to its end."""
        return await self.until_done(subject, ask=PAYMENT_NEXT)
