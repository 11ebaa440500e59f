"""The least that a durable step costs: a workflow of one activity that does nothing, and a worker for it."""

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

QUEUE = "floor"
COMMAND = ("-c", "from benchmarks.floor import main; main()")
"""For Python: workflows of a programme's main module cannot be served."""


@activity.defn(name="floor.nothing")
async def nothing() -> None:
    """What one activity costs at least."""


@workflow.defn(name="floor")
class Floor:
    """One activity, and the end."""

    @workflow.run
    async def run(self) -> None:
        """Ask for it and wait."""
        await workflow.execute_activity("floor.nothing", start_to_close_timeout=timedelta(seconds=30))


async def serve(address: str, ready: Path) -> None:
    """Serve the floor."""
    client = await Client.connect(address, data_converter=pydantic_data_converter)
    restrictions = SandboxRestrictions.default.with_passthrough_modules("benchmarks", "pydantic", "pydantic_core")
    runner = SandboxedWorkflowRunner(restrictions=restrictions)
    async with Worker(client, task_queue=QUEUE, workflows=[Floor], activities=[nothing], workflow_runner=runner):
        await asyncio.to_thread(ready.write_text, "ready")
        await asyncio.Event().wait()


def main() -> None:
    """What the process of `COMMAND` runs: its arguments are Temporal's address and a file to write once it serves."""
    asyncio.run(serve(sys.argv[1], Path(sys.argv[2])))
