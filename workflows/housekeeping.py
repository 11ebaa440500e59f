"""A recurring duty: expiry of grants, retention of what is kept for a while."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from models.base.subjects import Subject
    from workflows.contracts import End
    from workflows.names import HOUSEKEEPING_NEXT
    from workflows.waiting import WaitingWorkflow


@workflow.defn(name="housekeeping")
class HousekeepingWorkflow(WaitingWorkflow):
    """One duty, for ever."""

    @workflow.init
    def __init__(self, subject: Subject) -> None:
        super().__init__()

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Do the duty whenever it is due."""
        return await self.until_done(subject, ask=HOUSEKEEPING_NEXT)
