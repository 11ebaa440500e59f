"""The lowest cost of durable work: workflows that only wait and call an activity that does nothing, and a worker."""

import asyncio
import contextlib
import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

QUEUE = "floor"
COMMAND = ("-c", "from benchmarks.floor import main; main()")
"""Arguments to Python; a module of its own, because workflows of a main module cannot be served."""


@activity.defn(name="floor.nothing")
async def nothing() -> None:
    """Do nothing: the cheapest activity."""


@workflow.defn(name="floor")
class Floor:
    """One activity, then the end."""

    @workflow.run
    async def run(self) -> None:
        """Run the activity."""
        await workflow.execute_activity("floor.nothing", start_to_close_timeout=timedelta(seconds=30))


@dataclass(frozen=True, slots=True)
class Waits:
    """The waits before each activity, in seconds, and the indexes of the waits that a signal ends."""

    seconds: list[float]
    signalled: list[int]


@workflow.defn(name="floor_life")
class FloorLife:
    """Alternating waits and activities, ending with a wait."""

    def __init__(self) -> None:
        self._rings = 0

    @workflow.signal
    def ring(self) -> None:
        """End the current wait for a signal."""
        self._rings += 1

    async def _until_rung(self, limit: timedelta) -> None:
        heard = self._rings
        with contextlib.suppress(TimeoutError):
            await workflow.wait_condition(lambda: self._rings > heard, timeout=limit)

    @workflow.run
    async def run(self, waits: Waits) -> None:
        """Live it."""
        for place, seconds in enumerate(waits.seconds):
            if place in waits.signalled:
                await self._until_rung(timedelta(seconds=seconds))
            else:
                await workflow.sleep(seconds)
            await workflow.execute_activity("floor.nothing", start_to_close_timeout=timedelta(seconds=30))


async def serve(address: str, ready: Path) -> None:
    """Serve the workflows of the floor."""
    client = await Client.connect(address, data_converter=pydantic_data_converter)
    restrictions = SandboxRestrictions.default.with_passthrough_modules("benchmarks", "pydantic", "pydantic_core")
    runner = SandboxedWorkflowRunner(restrictions=restrictions)
    async with Worker(
        client, task_queue=QUEUE, workflows=[Floor, FloorLife], activities=[nothing], workflow_runner=runner
    ):
        await asyncio.to_thread(ready.write_text, "ready")
        await asyncio.Event().wait()


def main() -> None:
    """Run the process of `COMMAND`. Arguments: Temporal's address, and a file to write once the worker serves."""
    asyncio.run(serve(sys.argv[1], Path(sys.argv[2])))
