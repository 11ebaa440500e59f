"""The lowest cost of a durable execution in Temporal: only the activities, timers and signals that it needs."""

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
    """A step that an execution needs."""

    ACTIVITY = "activity"  # a call to an external service
    STEP = "step"  # a transaction in the service, as a local activity
    TIME = "time"  # a wait that ends by its timer
    RING = "ring"  # a wait that a signal ends before its timer


@activity.defn(name="floor.nothing")
async def nothing() -> None:
    """Does nothing."""


@workflow.defn(name="floor-life")
class FloorLife:
    """An execution of the given steps, in order."""

    def __init__(self) -> None:
        self._rung = 0

    @workflow.signal
    def ring(self) -> None:
        """End the current wait for a signal."""
        self._rung += 1

    @workflow.run
    async def run(self, needs: Sequence[Need]) -> None:
        """Execute the steps in order."""
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
