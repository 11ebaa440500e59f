"""The waiting loop: ask what is due, do it or sleep until it is, and ask again when the row is woken."""

import asyncio
import contextlib
from datetime import timedelta

from temporalio import workflow
from temporalio.common import Priority
from temporalio.exceptions import FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from models.base.steps import Call, Do, NextStep, Step, Subject
    from workflows.contracts import RING, RUN_STATUS, End
    from workflows.policies import AFTER_FAILURE_SECONDS, ASK_LIMIT, ASK_RETRIES, CALL_RETRIES


class WaitingWorkflow:
    """A workflow that does the waiting of one row. Subclasses define which step to ask."""

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
