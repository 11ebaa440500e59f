"""One outgoing mail: sent, or tried again until its link would be expired."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from models.base.subjects import Subject
    from workflows.contracts import End
    from workflows.names import MAIL_NEXT
    from workflows.waiting import WaitingWorkflow


@workflow.defn(name="mail")
class MailWorkflow(WaitingWorkflow):
    """One mail."""

    @workflow.init
    def __init__(self, subject: Subject) -> None:
        super().__init__()

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Drive the mail until it is sent or given up."""
        return await self.until_done(subject, ask=MAIL_NEXT)
