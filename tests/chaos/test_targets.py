"""A killed process is restarted until it runs."""

import os
from pathlib import Path

import pytest

from stack import control
from stack.installation import StackError
from tests.chaos import targets
from tests.chaos.targets import WORKER, TargetProcess
from tests.journeys.installation import Installation


def test_a_process_that_ends_while_a_dependency_is_down_is_restarted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Exception | control.Answer] = [
        StackError("worker ended right after its start"),
        TimeoutError(),
        {"pid": 7},
    ]

    def ask(path: Path, request: control.Request) -> control.Answer:
        assert request == {"do": "restart", "process": "worker"}
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(control, "ask", ask)
    monkeypatch.setattr(targets, "AGAIN_SECONDS", 0)
    process = TargetProcess(Installation(Path("nowhere"), {"processes": {"worker": os.getpid()}}), WORKER)
    process.restart()
    assert process.is_up
    assert answers == []
