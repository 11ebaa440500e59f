"""What a workspace pays for its outreach accounts: the provider's side is brought to what the rows say."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from models.base.subjects import Subject
    from workflows.contracts import End
    from workflows.names import OUTREACH_PLAN_NEXT
    from workflows.waiting import WaitingWorkflow


@workflow.defn(name="outreach_plan")
class OutreachPlanWorkflow(WaitingWorkflow):
    """One workspace's outreach plan, as long as it has accounts."""

    @workflow.init
    def __init__(self, subject: Subject) -> None:
        super().__init__()

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Change what is charged whenever it is due."""
        return await self.until_done(subject, ask=OUTREACH_PLAN_NEXT)
