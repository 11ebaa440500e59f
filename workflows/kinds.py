"""All workflows: the waiting loop, one workflow for each kind of waiting row, and one for a single call.

The loop asks what is due, does it or sleeps until it is, and asks again when the row is woken. A kind has one name: the
first part of its workflow ids, its workflow type, the key of its table (`models.base.tables.waiting`) and, with
`.next`, the step that tells its workflow what is due. Temporal requires a class with a `run` for each type.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from temporalio import workflow
from temporalio.common import Priority, SearchAttributeKey
from temporalio.exceptions import ActivityError, FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from models.base.steps import Call, Do, NextStep, Queue, Step, Subject
    from models.events.rules.deliveries import attempt_call
    from workflows.contracts import OUTREACH_ACCOUNT_ID, RING, RUN_STATUS, End
    from workflows.policies import (
        AFTER_FAILURE_SECONDS,
        ASK_LIMIT,
        ASK_RETRIES,
        CALL_RETRIES,
        UPSTREAM_HEARTBEAT_LIMIT,
        UPSTREAM_LIMIT,
    )
    from workflows.upstream_calls import SUMMARY, UPSTREAM_CALL, priority_of


class WaitingWorkflow:
    """A workflow that does the waiting of one row; the kind of the row defines which step to ask."""

    def __init__(self) -> None:
        self._wakes = 0

    @workflow.signal(name=RING)
    def wake(self) -> None:
        """Ask again: the row has changed."""
        self._wakes += 1

    async def until_done(self, subject: Subject, *, first: NextStep | None = None) -> End:
        """Drive the row until its step returns that nothing is left to do.

        A call returns the step after it, and a wait may name the call after it, so that the loop need not ask; `first`
        does the same at the start.
        """
        step, after = first, None
        ask = f"{subject.kind}.next"
        seen = self._wakes
        while True:
            if step is None and workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(subject)
            try:
                if step is None:
                    seen = self._wakes
                    step = after or await self._ask(subject, ask)
                self._show(step)
                if step.do is Do.ACT and step.call is not None:
                    seen = self._wakes
                    step = await self._act(subject, step.call, step.ahead)
                    continue
                if step.do is Do.DONE and self._wakes == seen:
                    return End(status=step.status or "")
                await self._sleep(seen, step.wait_seconds, step.reason)
                after = None if step.after is None else NextStep(do=Do.ACT, call=step.after)
            except FailureError as failure:  # a local activity's failure is not wrapped in an ActivityError
                if is_cancelled_exception(failure):
                    raise
                await self._sleep(seen, AFTER_FAILURE_SECONDS, "a step failed; it is asked again")
                after = None
            step = None

    async def _ask(self, subject: Subject, ask: str) -> NextStep:
        answer: NextStep = await workflow.execute_local_activity(
            ask,
            Step(id=subject.id),
            result_type=NextStep,
            start_to_close_timeout=ASK_LIMIT,
            retry_policy=ASK_RETRIES,
            summary="what is due",
        )
        return answer

    async def _act(self, subject: Subject, call: Call, ahead: Call | None) -> NextStep | None:
        """Make the call and return the next step; null if a second call ran beside it, and the step must be asked."""
        if ahead is None:
            return await self._call(subject, call)
        beside = asyncio.create_task(self._call(subject, ahead))
        try:
            await self._call(subject, call)
        finally:
            await asyncio.gather(beside, return_exceptions=True)  # a failure only means that no time was saved
        return None

    async def _call(self, subject: Subject, call: Call) -> NextStep:
        running: workflow.ActivityHandle[NextStep] = workflow.start_activity(
            call.step,
            Step(id=subject.id, number=call.number),
            result_type=NextStep,
            task_queue=call.queue,
            start_to_close_timeout=timedelta(seconds=call.limit_seconds),
            heartbeat_timeout=timedelta(seconds=call.heartbeat_seconds) if call.heartbeat_seconds else None,
            retry_policy=CALL_RETRIES,
            summary=call.summary,
            priority=Priority(priority_key=call.priority, fairness_key=call.fairness_key),
        )
        if call.queued is not None:
            try:
                await workflow.wait_condition(
                    running.done, timeout=call.queued_after, timeout_summary="until it is said to wait in the queue"
                )
            except TimeoutError:
                await self._show_queued(subject, call.queued, call.number)
        return await running

    async def _show_queued(self, subject: Subject, step: str, number: int) -> None:
        shown = await workflow.execute_local_activity(
            step,
            Step(id=subject.id, number=number),
            result_type=NextStep,
            start_to_close_timeout=ASK_LIMIT,
            retry_policy=ASK_RETRIES,
            summary="still queued",
        )
        self._show(shown)

    def _show(self, step: NextStep) -> None:
        if step.details is not None:
            workflow.set_current_details(step.details)
        if step.status is not None and workflow.info().typed_search_attributes.get(RUN_STATUS) != step.status:
            workflow.upsert_search_attributes([RUN_STATUS.value_set(step.status)])

    async def _sleep(self, seen: int, seconds: float | None, reason: str) -> None:
        """Sleep for `seconds`, null for no limit, or until a wake beyond the first `seen`; `reason` names the timer."""
        with contextlib.suppress(TimeoutError):
            await workflow.wait_condition(
                lambda: self._wakes != seen,
                timeout=None if seconds is None else timedelta(seconds=max(seconds, 0.001)),
                timeout_summary=reason or None,
            )


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
