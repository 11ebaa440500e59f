"""`python -m tests.workflows.record`: play every story on a real Temporal server, and keep the histories.

Do this when a workflow is added or a story is told anew, never to make a failing replay pass: a workflow that has
slept for three weeks has the old history, and `workflow.patched` is what lets it go on.
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
from tests.workflows.stories import every, other, outreach, sourcing
from tests.workflows.telling import Stage, Story

HISTORIES = Path(__file__).parent / "histories"
SUGGEST_AFTER = 100
"""Events after which the recorder's server suggests to continue as new; 4,096 would be a large file."""

LEFT_OUT = {"workerVersion", "stackTrace"}
"""What says where it was recorded; a replay reads neither."""


def stories() -> list[Story]:
    """Every story."""
    return [*every.stories(), *sourcing.stories(), *outreach.stories(), *other.stories()]


def place(story: Story, folder: Path = HISTORIES) -> Path:
    """The file of a story."""
    return folder / story.kind / f"{story.name}.json"


@contextlib.contextmanager
def server() -> Iterator[Temporal]:
    """A Temporal server of the recorder's own."""
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


async def record(address: str, told: list[Story], folder: Path) -> None:
    """Play stories, eight at a time, and write their histories."""
    client = await Client.connect(address, data_converter=pydantic_data_converter, identity="recorder")
    stage, places = Stage(client), asyncio.Semaphore(8)

    async def one(story: Story) -> None:
        async with places:
            handle = await stage.play(story)
            written = plain((await handle.fetch_history()).to_json_dict())
        place(story, folder).parent.mkdir(parents=True, exist_ok=True)
        place(story, folder).write_text(json.dumps(written, separators=(",", ":"), sort_keys=True) + "\n")

    async with stage.open():
        await asyncio.gather(*(one(story) for story in told))


def plain(history: dict[str, Any]) -> dict[str, Any]:
    """A history without what says where it was recorded: names of processes, and of the queues they alone poll."""

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
    """Record the stories whose names are given, or all anew."""
    wanted = [story for story in stories() if not sys.argv[1:] or f"{story.kind}/{story.name}" in sys.argv[1:]]
    if not sys.argv[1:]:
        shutil.rmtree(HISTORIES, ignore_errors=True)
    with server() as temporal:
        asyncio.run(record(temporal.address, wanted, HISTORIES))
    print(f"{len(wanted)} histories in {HISTORIES.relative_to(Path.cwd())}")  # noqa: T201 - a command says what it did


if __name__ == "__main__":
    main()
