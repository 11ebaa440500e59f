"""The least that a durable execution costs in Temporal: only the activities, timers and signals that it needs."""

import asyncio
import contextlib
from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum

from temporalio import activity, workflow

LIMIT = timedelta(seconds=30)
LATER = timedelta(days=21)
SOON = timedelta(milliseconds=50)


class Need(StrEnum):
    """What an execution needs at least."""

    ACTIVITY = "activity"  # a call to an external service
    STEP = "step"  # a transaction in the service, as a local activity
    TIME = "time"  # a wait that its time ends
    RING = "ring"  # a wait that a signal ends, before its time


@activity.defn(name="floor.nothing")
async def nothing() -> None:
    """Does nothing."""


@workflow.defn(name="floor-life")
class FloorLife:
    """One execution, need by need."""

    def __init__(self) -> None:
        self._rung = 0

    @workflow.signal
    def ring(self) -> None:
        """End the wait that waits for a signal."""
        self._rung += 1

    @workflow.run
    async def run(self, needs: Sequence[Need]) -> None:
        """Fulfil the needs one after the other."""
        for need in needs:
            if need is Need.ACTIVITY:
                await workflow.execute_activity(nothing, start_to_close_timeout=LIMIT)
            elif need is Need.STEP:
                await workflow.execute_local_activity(nothing, start_to_close_timeout=LIMIT)
            elif need is Need.TIME:
                await workflow.sleep(SOON)
            else:
                await self._ring()

    async def _ring(self) -> None:
        heard = self._rung
        with contextlib.suppress(asyncio.TimeoutError):
            await workflow.wait_condition(lambda: self._rung > heard, timeout=LATER)
