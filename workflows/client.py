"""One OAuth client with a metadata document: read when somebody wants to sign in with it."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from models.base.subjects import Subject
    from workflows.contracts import End
    from workflows.names import CLIENT_NEXT
    from workflows.waiting import WaitingWorkflow


@workflow.defn(name="client")
class ClientWorkflow(WaitingWorkflow):
    """One client."""

    @workflow.init
    def __init__(self, subject: Subject) -> None:
        super().__init__()

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Have the document read while somebody waits for it."""
        return await self.until_done(subject, ask=CLIENT_NEXT)
