"""A webhook delivery: one event on its way to one endpoint, until it is delivered, given up or dropped."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from models.base.steps import Do, NextStep
    from models.base.subjects import Subject
    from models.events.rules.deliveries import attempt_call
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
        """Attempt the delivery whenever it is due.

        Started with its endpoint as fairness key it begins with the attempt, which looks itself whether it is wanted:
        a delivery that succeeds at once is one activity. Started without, it asks first.
        """
        endpoint_id = workflow.info().priority.fairness_key
        first = None if endpoint_id is None else NextStep(do=Do.ACT, call=attempt_call(endpoint_id, 0))
        return await self.until_done(subject, ask=DELIVERY_NEXT, first=first)
