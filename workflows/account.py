"""An outreach account: its connection, the provider's callbacks, and the polls that find what no callback told."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from models.base.subjects import Subject
    from workflows.contracts import End
    from workflows.names import ACCOUNT_NEXT
    from workflows.waiting import WaitingWorkflow


@workflow.defn(name="account")
class AccountWorkflow(WaitingWorkflow):
    """One account. A stored callback is a ring."""

    @workflow.init
    def __init__(self, subject: Subject) -> None:
        super().__init__()

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Look after the account until it is removed."""
        return await self.until_done(subject, ask=ACCOUNT_NEXT)
