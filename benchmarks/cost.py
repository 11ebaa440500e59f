"""`python -m benchmarks.cost`: Temporal history events of each kind of execution, compared with the minimum.

Our cost is counted in the stored histories of the replay tests, which come from real workflows. The floor is measured
in this run: a minimal workflow with the same calls, timers and signals, on a real server. Aim: at most twice the floor.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from temporalio.client import Client, WorkflowHandle
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from benchmarks.cost_floor import FloorLife, Need, nothing
from stack.children import PROJECT
from stack.ports import Ports
from stack.temporal import Temporal

HISTORIES = PROJECT / "tests" / "workflows" / "histories"
QUEUE = "floor"
AIM = 2.0
ASLEEP_SECONDS = 0.3
A, S, T, R = Need.ACTIVITY, Need.STEP, Need.TIME, Need.RING


@dataclass(frozen=True, slots=True)
class Life:
    """A measured execution: a stored history, the steps it needs at least, and the number of its results."""

    label: str
    history: str
    needs: tuple[Need, ...]
    brings: int = 1


LIVES = (
    Life("run of 60 people: 2 pages, 2 chunks", "run/sixty-people", (A, A, A, A)),
    Life("each candidate of it", "run/sixty-people", (A, A, A, A), brings=60),
    Life("enrollment: invite, acceptance, message, reply", "enrollment/accepted-and-answered", (T, A, R, T, A, R)),
    Life("direct send", "action/sent", (T, A)),
    Life("delivery, accepted at once", "delivery/delivered-at-once", (A,)),
    Life("delivery, accepted at the first retry", "delivery/retried", (A, T, A)),
    Life("payment", "payment/paid", (A, R)),
    Life("callback of the payment provider", "callback/worked-in", (S,)),
    Life("fetch job of two chunks", "job/finishes", (A, A)),
    Life("mail", "mail/sent", (A,)),
    Life("synchronous call as a workflow", "call/answered", (A,)),
)


@contextmanager
def server() -> Iterator[str]:
    """Start a Temporal server for the benchmark, and yield its address."""
    ports = Ports()
    with tempfile.TemporaryDirectory(prefix="bench-cost-") as home:
        temporal = Temporal(
            database=Path(home) / "temporal.db",
            log=Path(home) / "log",
            port=ports.take(17433),
            ui_port=ports.take(18433),
            metrics_port=ports.take(19433),
        )
        try:
            temporal.start()
            yield temporal.address
        finally:
            temporal.stop()
            ports.release()


def counted(history: str) -> int:
    """Return the number of events in a stored history."""
    return len(json.loads((HISTORIES / f"{history}.json").read_text())["events"])


async def floor(client: Client, needs: Sequence[Need]) -> int:
    """Return the number of events of the minimal execution with these needs."""
    handle = await client.start_workflow(FloorLife.run, list(needs), id=uuid4().hex, task_queue=QUEUE)
    ringing = asyncio.create_task(_ring(handle, needs.count(R)))
    await handle.result()
    await ringing
    return len((await handle.fetch_history()).events)


async def _ring(handle: WorkflowHandle[FloorLife, None], times: int) -> None:
    """Wake the workflow each time it waits for a signal."""
    for number in range(1, times + 1):
        while await _waits(handle) < number:  # noqa: ASYNC110 - the condition is the state of a server
            await asyncio.sleep(ASLEEP_SECONDS)
        await handle.signal(FloorLife.ring)


async def _waits(handle: WorkflowHandle[FloorLife, None]) -> int:
    """Return how many waits for a signal have begun, by their long timers."""
    events = (await handle.fetch_history()).events
    started = [one.timer_started_event_attributes for one in events if one.HasField("timer_started_event_attributes")]
    return sum(timer.start_to_fire_timeout.seconds > 1 for timer in started)


async def measure(address: str) -> list[tuple[Life, int, int]]:
    """Return each execution with its number of events and its floor."""
    client = await Client.connect(address, data_converter=pydantic_data_converter)
    worker = Worker(
        client,
        task_queue=QUEUE,
        workflows=[FloorLife],
        activities=[nothing],
        workflow_runner=UnsandboxedWorkflowRunner(),
    )
    async with worker:
        return [(life, counted(life.history), await floor(client, life.needs)) for life in LIVES]


def main() -> None:
    """Print the table; fail when an execution costs more than twice its floor."""
    with server() as address:
        rows = asyncio.run(measure(address))
    print(f"{'events of':<50}{'here':>8}{'floor':>8}{'ratio':>8}")
    for life, here, least in rows:
        print(f"{life.label:<50}{here / life.brings:>8.4g}{least / life.brings:>8.4g}{here / least:>8.2f}")
    over = [life.label for life, here, least in rows if here > AIM * least]
    if over:
        sys.exit(f"more than {AIM:g} times the floor: {', '.join(over)}")


if __name__ == "__main__":
    main()
