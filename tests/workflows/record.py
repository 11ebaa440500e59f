"""`python -m tests.workflows.record`: play every scenario on a real Temporal server and store the histories.

Do this when a workflow is added or a scenario changes, never to make a failing replay pass: a workflow that has
slept for three weeks has the old history, and continues only by `workflow.patched`.
"""

import asyncio
import contextlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from stack.ports import Ports
from stack.temporal import Temporal
from tests.workflows.scenario import Scenario, Stage
from tests.workflows.scenarios import every_kind, other, outreach, sourcing

HISTORIES = Path(__file__).parent / "histories"
SUGGEST_AFTER = 100
"""Events after which the recorder's server suggests to continue as new; 4,096 would be a large file."""

LEFT_OUT = {"workerVersion", "stackTrace"}
"""Fields that depend on the place of recording; a replay reads neither."""


def scenarios() -> list[Scenario]:
    """Return every scenario."""
    return [*every_kind.scenarios(), *sourcing.scenarios(), *outreach.scenarios(), *other.scenarios()]


def place(scenario: Scenario, folder: Path = HISTORIES) -> Path:
    """Return the file of a scenario."""
    return folder / scenario.kind / f"{scenario.name}.json"


@contextlib.contextmanager
def server() -> Iterator[Temporal]:
    """Run a Temporal server for the recorder alone."""
    ports = Ports()
    with tempfile.TemporaryDirectory() as home:
        made = Temporal(
            database=Path(home) / "temporal.db",
            log=Path(home) / "log",
            port=ports.take(17333),
            ui_port=ports.take(18333),
            metrics_port=ports.take(19333),
        )
        suggested = f"limit.historyCount.suggestContinueAsNew={SUGGEST_AFTER}"
        made.child.command = [*made.child.command, "--dynamic-config-value", suggested]
        try:
            made.start()
            yield made
        finally:
            made.stop()
            ports.release()


async def record(address: str, wanted: list[Scenario], folder: Path) -> None:
    """Play scenarios, eight at a time, and write their histories."""
    client = await Client.connect(address, data_converter=pydantic_data_converter, identity="recorder")
    stage, places = Stage(client), asyncio.Semaphore(8)

    async def one(scenario: Scenario) -> None:
        async with places:
            handle = await stage.play(scenario)
            written = plain((await handle.fetch_history()).to_json_dict())
        place(scenario, folder).parent.mkdir(parents=True, exist_ok=True)
        place(scenario, folder).write_text(json.dumps(written, separators=(",", ":"), sort_keys=True) + "\n")

    async with stage.open():
        await asyncio.gather(*(one(scenario) for scenario in wanted))


def plain(history: dict[str, Any]) -> dict[str, Any]:
    """Return a history without the names of processes and of their sticky queues."""

    def walk(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            if value.get("kind") == "TASK_QUEUE_KIND_STICKY":
                return value | {"name": "sticky"}
            return {inner: walk(held, inner) for inner, held in value.items() if inner not in LEFT_OUT}
        if isinstance(value, list):
            return [walk(held) for held in value]
        return "recorder" if name == "identity" and value not in ("", "history-service") else value

    cleaned: dict[str, Any] = walk(history)
    return cleaned


def main() -> None:
    """Record the named scenarios, or all of them."""
    names = sys.argv[1:]
    wanted = [one for one in scenarios() if not names or f"{one.kind}/{one.name}" in names]
    if not names:
        shutil.rmtree(HISTORIES, ignore_errors=True)
    with server() as temporal:
        asyncio.run(record(temporal.address, wanted, HISTORIES))
    print(f"{len(wanted)} histories in {HISTORIES.relative_to(Path.cwd())}")  # noqa: T201 - a command says what it did


if __name__ == "__main__":
    main()
