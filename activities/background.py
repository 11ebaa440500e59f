"""Steps of work in the background: what is due, and what a source's trouble means for the row."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

import structlog

from activities.people import CALL_SECONDS, HEARTBEAT_SECONDS
from activities.upstream.ports import SourceBusy, SourceRefusedQuery, SourceUnusable
from models.database import Database
from models.errors import DailyCreditCapReached, InsufficientCredits
from models.rules.jobs import JobFailure
from models.stores.background import Background, Decision
from models.tables.jobs import BackgroundRow
from workflows.contracts import Call, Do, NextStep, Queue, Step

log = structlog.get_logger(__name__)

PRIORITY = 3
"""With the pages of runs: nobody waits on the line."""
W = TypeVar("W", bound=BackgroundRow)


class BackgroundSteps(Generic[W]):
    """What one kind of work asks of its row; `call` names the activity that calls upstream, `what` what it does."""

    def __init__(self, database: Database, work: Background[W], *, call: str, what: str) -> None:
        self._database = database
        self._work = work
        self._call = call
        self._what = what

    async def next(self, row_id: str) -> NextStep:
        """Say what is due now: a call, waiting, or nothing more."""
        return self._answer(await self._database.run(lambda session: self._work.decide(session, row_id)))

    async def guarded(self, step: Step, call: Callable[[], Awaitable[None]]) -> None:
        """Make the call; what the source answers instead of data becomes the row's state."""
        work = self._work
        try:
            await call()
        except SourceBusy as busy:
            after = _announced(busy)
            await self._database.run(lambda session: work.put_off(session, step.id, step.number, after=after))
        except (SourceUnusable, SourceRefusedQuery) as error:
            final = isinstance(error, SourceRefusedQuery)
            log.warning("background.source_unusable", id=step.id, error=type(error).__name__)
            await self._database.run(lambda session: work.unusable(session, step.id, step.number, final=final))
        except (InsufficientCredits, DailyCreditCapReached) as error:
            failure = JobFailure(error.code)
            await self._database.run(lambda session: work.fail(session, step.id, step.number, failure))

    def _answer(self, decision: Decision[W]) -> NextStep:
        row = decision.row
        details = f"**{row.status}**: {row.spent_credits} credits, call {row.call_number}"
        if decision.act:
            call = Call(
                step=self._call,
                number=row.call_number,
                queue=Queue.UPSTREAM,
                summary=self._what,
                limit_seconds=2 * CALL_SECONDS,
                heartbeat_seconds=3 * HEARTBEAT_SECONDS,
                fairness_key=row.workspace_id,
                priority=PRIORITY,
            )
            return NextStep(do=Do.ACT, call=call, details=details)
        if decision.until is not None:
            reason = f"data source busy until {decision.until:%d %b %H:%M:%S} UTC"
            seconds = (decision.until - decision.now).total_seconds()
            return NextStep(do=Do.WAIT, wait_seconds=seconds, reason=reason, details=f"{details}; {reason}")
        return NextStep(do=Do.DONE, details=details)


def _announced(busy: SourceBusy) -> timedelta | None:
    """How long the source asked to be left alone, by the wall clock that it speaks of; null when it did not say."""
    if busy.retry_at is not None:
        return max(busy.retry_at - datetime.now(UTC), timedelta(seconds=1))
    return None if busy.cooldown_seconds is None else timedelta(seconds=busy.cooldown_seconds)
