"""The run: works a confirmed plan's tiers until the target, a limit or the end of the ladder."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from models.base.subjects import Subject
    from workflows.contracts import End
    from workflows.names import RUN_NEXT
    from workflows.waiting import WaitingWorkflow


@workflow.defn(name="run")
class RunWorkflow(WaitingWorkflow):
    """One run. An extension is a ring: signal-with-start under the same id."""

    @workflow.init
    def __init__(self, subject: Subject) -> None:
        super().__init__()

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Drive the run to a final state."""
        return await self.until_done(subject, ask=RUN_NEXT)
