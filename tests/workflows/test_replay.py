"""Sleeping workflows survive a deployment: every kept history replays with the workflows of today.

When one fails here, workflows that sleep at this moment would fail as well: bring the old way back behind
`workflow.patched`, and record a scenario for the new one (`python -m tests.workflows.record KIND/STORY`).
"""

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.worker import UnsandboxedWorkflowRunner
from temporalio.workflow import NondeterminismError

import worker
from stack.children import PROJECT
from tests.workflows.record import HISTORIES, place, scenarios
from tests.workflows.replaying import Kept, kept, replay
from tests.workflows.scenario import STEPS
from workflows.kinds import KINDS, WORKFLOWS, WaitingWorkflow

ALL = kept(HISTORIES)
SAID = {"do", "call", "ahead", "after", "wait_seconds", "reason", "status", "details"}
SAID |= {"step", "number", "queue", "summary", "limit_seconds", "heartbeat_seconds", "fairness_key", "priority"}
SAID |= {"queued", "queued_after", "id", "kind"}
"""Every field that a payload may have."""


async def test_every_kept_history_replays() -> None:
    await replay(ALL, runner=UnsandboxedWorkflowRunner())


async def test_histories_replay_in_the_sandbox_of_the_workers() -> None:
    longest = [
        max((one for one in ALL if one.kind == kind), key=lambda one: len(one.events)) for kind in ("call", "run")
    ]
    await replay(longest, runner=worker.runner())


def test_there_is_a_history_of_every_scenario_and_a_scenario_of_every_history() -> None:
    assert {history.file for history in ALL} == {place(scenario) for scenario in scenarios()}


def test_every_kind_of_workflow_has_scenarios() -> None:
    started = {attributes["workflowType"]["name"] for history in ALL for attributes in history.of(STARTED)}
    assert started == {*KINDS, "call"}
    assert len(WORKFLOWS) == len(started)


STARTED, SIGNALLED = "workflowExecutionStartedEventAttributes", "workflowExecutionSignaledEventAttributes"
TIMER, FIRED = "timerStartedEventAttributes", "timerFiredEventAttributes"
SCHEDULED, MARKED = "activityTaskScheduledEventAttributes", "markerRecordedEventAttributes"
FAILED, CANCELLED = "activityTaskFailedEventAttributes", "workflowExecutionCanceledEventAttributes"
ATTRIBUTES, AS_NEW = "upsertWorkflowSearchAttributesEventAttributes", "workflowExecutionContinuedAsNewEventAttributes"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_waiting_kind_is_woken_by_signal_and_by_time_fails_and_is_cancelled(kind: str) -> None:
    told = [history for history in ALL if history.kind == kind]
    assert any(len(history.of(SIGNALLED)) > 1 for history in told)
    for attributes in (TIMER, FIRED, MARKED, CANCELLED, ATTRIBUTES):
        assert any(history.of(attributes) for history in told), attributes
    assert any("failure" in marked for history in told for marked in history.of(MARKED))


def test_every_step_is_asked_for_in_some_history() -> None:
    called = {found["activityType"]["name"] for history in ALL for found in history.of(SCHEDULED)}
    asked = {str(held.get("activity_type")) for history in ALL for held in local_activities(history)}
    assert called | asked == set(STEPS)
    assert any(history.of(FAILED) for history in ALL)
    assert any(history.of(AS_NEW) for history in ALL)


def test_histories_reach_every_line_and_branch_of_workflows() -> None:
    measured = subprocess.run(
        [sys.executable, "-m", "tests.workflows.covered", str(HISTORIES)],
        cwd=PROJECT,
        check=True,
        capture_output=True,
        text=True,
    )
    assert measured.stdout.splitlines() == []


def test_histories_contain_only_ids_reasons_and_times() -> None:
    for history in ALL:
        for value in payloads(history.events):
            names = set(value) if isinstance(value, dict) else set()
            assert names <= SAID | LOCAL, f"{history.file.name} holds {names - SAID - LOCAL}"
        written = history.file.read_text()
        assert str(Path.home()) not in written
        assert "@" not in written


async def test_a_workflow_that_waits_in_another_way_fails_its_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof that the replays above can fail."""

    async def sleeps(self: object, heard: int, seconds: float | None, reason: str) -> None:
        del self, heard, reason
        await workflow.sleep(seconds or 1)
        await workflow.sleep(1)

    monkeypatch.setattr(WaitingWorkflow, "_sleep", sleeps)
    slept = next(one for one in ALL if one.of(FIRED))
    with pytest.raises(NondeterminismError):
        await replay([slept], runner=UnsandboxedWorkflowRunner())


LOCAL = {
    "activation_index",
    "seq",
    "attempt",
    "activity_id",
    "activity_type",
    "complete_time",
    "backoff",
    "original_schedule_time",
}
"""What the SDK notes of a local activity."""


def local_activities(history: Kept) -> list[dict[str, Any]]:
    """Return what the SDK noted of each local activity."""
    return [
        value
        for marked in history.of(MARKED)
        for held in marked.get("details", {}).get("data", {}).get("payloads", [])
        if isinstance(value := decoded(held), dict)
    ]


def decoded(payload: dict[str, Any]) -> Any:
    """Return the value of a payload as the history file has it."""
    data = base64.b64decode(payload.get("data", ""))
    return json.loads(data) if data else None


def payloads(value: Any) -> list[Any]:
    """Return every payload within a part of a history."""
    if isinstance(value, dict):
        if "metadata" in value and "data" in value and "encoding" in value["metadata"]:
            return [decoded(value)]
        return [found for inner in value.values() for found in payloads(inner)]
    if isinstance(value, list):
        return [found for inner in value for found in payloads(inner)]
    return []
