"""The one waiting loop: ask what is due, do it or sleep until it is, and ask again when the doorbell rings."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import Priority
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from models.rules.subjects import Subject
    from workflows.contracts import Call, Do, End, NextStep, Step
    from workflows.names import RING, RUN_STATUS
    from workflows.policies import AFTER_FAILURE, ASK_LIMIT, ASK_RETRIES, CALL_RETRIES


class WaitingWorkflow:
    """A workflow that owns the time of one waiting row. Subclasses say which step to ask."""

    def __init__(self) -> None:
        self._rings = 0

    @workflow.signal(name=RING)
    def ring(self) -> None:
        """The row changed: ask again."""
        self._rings += 1

    async def until_done(self, subject: Subject, *, ask: str) -> End:
        """Drive the row until the step answers that nothing is left to do."""
        while True:
            heard = self._rings
            try:
                step = await self._ask(subject, ask)
                self._show(step)
                if step.do is Do.DONE and self._rings == heard:
                    return End(status=step.status or "")
                if step.do is Do.ACT and step.call is not None:
                    await self._call(subject, step.call)
                elif step.do is Do.WAIT:
                    await self._sleep(heard, step)
            except ActivityError:
                await self._pause(heard)
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(subject)

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

    async def _call(self, subject: Subject, call: Call) -> None:
        running = workflow.start_activity(
            call.step,
            Step(id=subject.id, number=call.number),
            task_queue=call.queue,
            start_to_close_timeout=timedelta(seconds=call.limit_seconds),
            heartbeat_timeout=timedelta(seconds=call.heartbeat_seconds) if call.heartbeat_seconds else None,
            retry_policy=CALL_RETRIES,
            summary=call.summary,
            priority=Priority(priority_key=call.priority, fairness_key=call.fairness_key),
        )
        if call.queued is not None:
            await workflow.wait([running], timeout=call.queued_after)
            if not running.done():
                await self._tell(subject, call.queued, call.number)
        await running

    async def _tell(self, subject: Subject, step: str, number: int) -> None:
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

    async def _sleep(self, heard: int, step: NextStep) -> None:
        try:
            await workflow.wait_condition(
                lambda: self._rings != heard,
                timeout=None if step.wait_seconds is None else timedelta(seconds=max(step.wait_seconds, 0.001)),
                timeout_summary=step.reason or None,
            )
        except TimeoutError:
            return

    async def _pause(self, heard: int) -> None:
        try:
            await workflow.wait_condition(
                lambda: self._rings != heard, timeout=AFTER_FAILURE, timeout_summary="a step failed; it is asked again"
            )
        except TimeoutError:
            return
