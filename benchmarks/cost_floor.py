"""The least that a durable life costs in Temporal: the activities, timers and signals that it needs, nothing else."""

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
    """What a life cannot do without."""

    ACTIVITY = "activity"  # a call to somebody else
    STEP = "step"  # a transaction of one's own, as a local activity
    TIME = "time"  # a wait that its time ends
    RING = "ring"  # a wait that a signal ends, before its time


@activity.defn(name="floor.nothing")
async def nothing() -> None:
    """Does nothing."""


@workflow.defn(name="floor-life")
class FloorLife:
    """One life, need by need."""

    def __init__(self) -> None:
        self._rung = 0

    @workflow.signal
    def ring(self) -> None:
        """Somebody did what is waited for."""
        self._rung += 1

    @workflow.run
    async def run(self, needs: Sequence[Need]) -> None:
        """Go through the needs."""
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
