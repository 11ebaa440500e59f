"""All workflows: one for each kind of waiting row, with its summary for operators, and one for a single call.

A kind has one name: the first part of its workflow ids, its workflow type, the key of its table
(`models.base.tables.waiting`) and, with `.next`, the step that tells its workflow what is due. Temporal requires a
class with a `run` for each type; all of them run the loop.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from models.base.steps import Do, NextStep, Queue, Step, Subject
    from models.events.rules.deliveries import attempt_call
    from workflows.contracts import OUTREACH_ACCOUNT_ID, End
    from workflows.loop import WaitingWorkflow
    from workflows.policies import CALL_RETRIES, UPSTREAM_HEARTBEAT_LIMIT, UPSTREAM_LIMIT
    from workflows.upstream_calls import SUMMARY, UPSTREAM_CALL, priority_of


@dataclass(frozen=True, slots=True)
class WaitingKind:
    """A kind of waiting row. `id_attribute` is the search attribute that holds the row's own id, null for none."""

    workflow: type[WaitingWorkflow]
    summary: str
    id_attribute: SearchAttributeKey[str] | None = None


KINDS: dict[str, WaitingKind] = {}
"""Every kind by name."""

T = TypeVar("T", bound=type[WaitingWorkflow])


def waiting_kind(name: str, summary: str, *, id_attribute: SearchAttributeKey[str] | None = None) -> Callable[[T], T]:
    """Define a workflow of this name, and register it for a kind of waiting row."""

    def register(workflow_class: T) -> T:
        defined = workflow.defn(name=name)(workflow_class)
        KINDS[name] = WaitingKind(defined, summary, id_attribute)
        return defined

    return register


@waiting_kind("run", "Works a search plan and delivers candidates")
class RunWorkflow(WaitingWorkflow):
    """One run. An extension wakes it: signal-with-start under the same id."""

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Work the plan's tiers until the target, a limit or the end of the ladder."""
        return await self.until_done(subject)


@waiting_kind("job", "Fetches profiles in the background")
class JobWorkflow(WaitingWorkflow):
    """One fetch job; waits as long as the source is busy."""

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Drive the job to a final state."""
        return await self.until_done(subject)


@waiting_kind("contacts", "Looks contact details up")
class ContactsWorkflow(WaitingWorkflow):
    """One contact lookup."""

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Drive the lookup to a final state."""
        return await self.until_done(subject)


@waiting_kind("mail", "Sends one mail")
class MailWorkflow(WaitingWorkflow):
    """One outgoing mail."""

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Send the mail; retry until its link has expired."""
        return await self.until_done(subject)


@waiting_kind("housekeeping", "A recurring duty of the installation")
class HousekeepingWorkflow(WaitingWorkflow):
    """One recurring duty; never ends."""

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Do the duty whenever it is due."""
        return await self.until_done(subject)


@waiting_kind("account", "Looks after an outreach account", id_attribute=OUTREACH_ACCOUNT_ID)
class AccountWorkflow(WaitingWorkflow):
    """One outreach account. A stored callback of the provider wakes it."""

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Connect and poll the account, and process its callbacks, until it is removed."""
        return await self.until_done(subject)


@waiting_kind("enrollment", "Takes one person through a sequence")
class EnrollmentWorkflow(WaitingWorkflow):
    """One person in one sequence.

    Pause, resume, stop, reply, acceptance, approval and a changed sequence all wake it.
    """

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Take each step when it is due."""
        return await self.until_done(subject)


@waiting_kind("action", "Does one thing on the network")
class ActionWorkflow(WaitingWorkflow):
    """An action without an enrollment. Approving, cancelling and settling it wake it."""

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Do it once, when its time has come."""
        return await self.until_done(subject)


@waiting_kind("payment", "One purchase at the payment provider")
class PaymentWorkflow(WaitingWorkflow):
    """One payment, until a customer, a callback or a time-out ends it."""

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Drive the payment to its end."""
        return await self.until_done(subject)


@waiting_kind("callback", "Works one callback of the payment provider in")
class CallbackWorkflow(WaitingWorkflow):
    """One callback of the payment provider."""

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Apply the callback once."""
        return await self.until_done(subject)


@waiting_kind("refill", "Buys credits when a workspace runs low")
class RefillWorkflow(WaitingWorkflow):
    """One workspace's auto-refill; never ends. A balance below the threshold wakes it."""

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Buy whenever it is due."""
        return await self.until_done(subject)


@waiting_kind("client", "Reads the description of one OAuth client")
class ClientWorkflow(WaitingWorkflow):
    """One OAuth client that is described by a metadata document."""

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Read the document while a sign-in waits for it."""
        return await self.until_done(subject)


@waiting_kind("outreach_plan", "Has a workspace charged for its outreach accounts")
class OutreachPlanWorkflow(WaitingWorkflow):
    """One workspace's outreach plan, as long as it has accounts."""

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Update what is charged whenever it is due."""
        return await self.until_done(subject)


@waiting_kind("delivery", "Delivers one event to one webhook endpoint")
class DeliveryWorkflow(WaitingWorkflow):
    """The delivery of one event to one endpoint. A retry that the customer requests wakes it."""

    @workflow.run
    async def run(self, subject: Subject) -> End:
        """Attempt the delivery whenever it is due, until it is delivered, given up or dropped.

        Started with its endpoint as fairness key, it begins with the attempt, which itself checks whether it is due:
        a delivery that succeeds at once needs one activity. Started without the key, it asks first.
        """
        endpoint_id = workflow.info().priority.fairness_key
        first = None if endpoint_id is None else NextStep(do=Do.ACT, call=attempt_call(endpoint_id, 0))
        return await self.until_done(subject, first=first)


@workflow.defn(name="call")
class CallWorkflow:
    """One upstream call that a caller waits for, on servers without standalone activities. It has no waiting row."""

    @workflow.run
    async def run(self, step: Step, workspace_id: str) -> None:
        """Run the activity that makes the call."""
        try:
            await workflow.execute_activity(
                UPSTREAM_CALL,
                step,
                task_queue=Queue.UPSTREAM,
                start_to_close_timeout=UPSTREAM_LIMIT,
                heartbeat_timeout=UPSTREAM_HEARTBEAT_LIMIT,
                retry_policy=CALL_RETRIES,
                summary=SUMMARY,
                priority=priority_of(workspace_id),
            )
        except ActivityError as failure:
            if is_cancelled_exception(failure):
                raise


WORKFLOWS: list[type] = [CallWorkflow, *(kind.workflow for kind in KINDS.values())]
