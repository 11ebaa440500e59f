"""An enrollment: one person in one sequence, until it ends."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from models.base.subjects import Subject
    from workflows.contracts import End
    from workflows.names import ENROLLMENT_NEXT
    from workflows.waiting import WaitingWorkflow


@workflow.defn(name="enrollment")
class EnrollmentWorkflow(WaitingWorkflow):
    """One enrollment. Pause, resume, stop, reply, acceptance, approval and a changed sequence are all rings."""

    @workflow.init
    def __init__(self, subject: Subject) -> None:
        super().__init__()

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Take each step when it is due."""
        return await self.until_done(subject, ask=ENROLLMENT_NEXT)
