"""What a run does when the source gives no data: put off, fail, or show that it queues."""

from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from models.rules.run_states import FINAL, FailureCode, RunStatus, retry_delay
from models.rules.run_steps import UNUSABLE_ANSWERS, failed
from models.stores.run_steps.rows import called, end_call, finish, locked
from models.tables import Run


async def put_off(
    session: AsyncSession, run_id: str, number: int, *, after: timedelta | None, at_least: timedelta = timedelta()
) -> None:
    """The source is busy: wait as it said; when it said nothing, twice as long each time, at least `at_least`."""
    run, now = await called(session, run_id, number)
    if run is None:
        return
    end_call(run)
    run.failures += 1
    run.status = RunStatus.WAITING_FOR_QUOTA
    run.retry_at = now + (max(retry_delay(run.failures), at_least) if after is None else after)


async def unusable(session: AsyncSession, run_id: str, number: int, *, final: bool) -> None:
    """The source answered with something unusable: try again, and after a few times (or at once) fail."""
    run, now = await called(session, run_id, number)
    if run is None:
        return
    end_call(run)
    run.failures += 1
    if final or run.failures >= UNUSABLE_ANSWERS:
        finish(session, run, failed(FailureCode.UPSTREAM_ERROR), now)
        return
    run.retry_at = now + retry_delay(run.failures)
    run.status = RunStatus.WAITING_FOR_QUOTA


async def still_queued(session: AsyncSession, run_id: str, number: int, *, look_again: timedelta) -> Run:
    """A call has queued for long: show the run as waiting for quota until it starts."""
    run, now = await locked(session, run_id)
    if run.call_number == number and run.call_started_at is None and run.status not in FINAL:
        run.status = RunStatus.WAITING_FOR_QUOTA
        run.retry_at = now + look_again
    return run
