"""A contact lookup: addresses and numbers looked up in the background."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from models.base.subjects import Subject
    from workflows.contracts import End
    from workflows.names import CONTACTS_NEXT
    from workflows.waiting import WaitingWorkflow


@workflow.defn(name="contacts")
class ContactsWorkflow(WaitingWorkflow):
    """One lookup."""

    @workflow.init
    def __init__(self, subject: Subject) -> None:
        super().__init__()

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Drive the lookup to a final state."""
        return await self.until_done(subject, ask=CONTACTS_NEXT)
