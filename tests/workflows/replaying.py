"""Replays stored histories with the current workflows."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer, WorkflowRunner

from workflows.kinds import WORKFLOWS


@dataclass(frozen=True)
class Kept:
    """One stored history."""

    kind: str
    name: str
    file: Path

    @cached_property
    def history(self) -> WorkflowHistory:
        """Return the history in Temporal's form."""
        return WorkflowHistory.from_json(f"{self.kind}/{self.name}", self.file.read_text())

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """Its events."""
        found: list[dict[str, Any]] = json.loads(self.file.read_text())["events"]
        return found

    def of(self, attributes: str) -> list[dict[str, Any]]:
        """Return the attributes of one kind of event, in order."""
        return [event[attributes] for event in self.events if attributes in event]


def kept(folder: Path) -> list[Kept]:
    """Return every history of a folder."""
    return [Kept(file.parent.name, file.stem, file) for file in sorted(folder.glob("*/*.json"))]


async def replay(histories: Sequence[Kept], *, runner: WorkflowRunner) -> None:
    """Replay histories. Raises if a current workflow would deviate from its history."""

    async def read() -> AsyncIterator[WorkflowHistory]:
        for one in histories:
            yield one.history

    replayer = Replayer(workflows=WORKFLOWS, workflow_runner=runner, data_converter=pydantic_data_converter)
    await replayer.replay_workflows(read())
