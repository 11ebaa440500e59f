"""A fetch job: profiles fetched in the background, however long the source is busy."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from models.base.subjects import Subject
    from workflows.contracts import End
    from workflows.names import JOB_NEXT
    from workflows.waiting import WaitingWorkflow


@workflow.defn(name="job")
class JobWorkflow(WaitingWorkflow):
    """One job."""

    @workflow.init
    def __init__(self, subject: Subject) -> None:
        super().__init__()

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Drive the job to a final state."""
        return await self.until_done(subject, ask=JOB_NEXT)
