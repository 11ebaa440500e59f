"""The registry of waiting kinds: each kind has a workflow, a table and a step that answers what is due."""

import subprocess
import sys

import pytest

import worker  # noqa: F401 - registers every step
from models.base.steps import SERVED_STEPS
from models.base.tables import WAITING
from stack.children import PROJECT
from workflows.kinds import KINDS, WORKFLOWS


def test_every_kind_has_a_table_and_every_waiting_table_a_kind() -> None:
    assert KINDS.keys() == WAITING.keys()


@pytest.mark.parametrize("module", ["activities.dispatcher", "models.operate.metrics", "models.operate.recovery"])
def test_what_reads_every_table_that_waits_imports_them_all(module: str) -> None:
    code = f"import {module}; from models.base.tables import WAITING; print(*sorted(WAITING))"
    read = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=True, capture_output=True, text=True)
    assert read.stdout.split() == sorted(KINDS)


def test_the_worker_serves_every_kind() -> None:
    assert {kind.workflow for kind in KINDS.values()} < set(WORKFLOWS)


def test_every_kind_has_a_step_that_answers_what_is_due() -> None:
    assert {f"{kind}.next" for kind in KINDS} <= {step.name for step in SERVED_STEPS.values()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_says_on_its_page_what_it_does(kind: str) -> None:
    assert 0 < len(KINDS[kind].summary.encode()) <= 400, "Temporal's limit"
