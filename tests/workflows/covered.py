"""`python -m tests.workflows.covered FOLDER`: replay histories, and list the workflow code that none of them runs.

This is a separate process, so that its measurement and that of the tests do not disturb each other. It prints a line
for each line or branch of a function that no history reaches.
"""

import ast
import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import coverage
from temporalio.worker import UnsandboxedWorkflowRunner

from tests.workflows.replaying import kept, replay
from workflows.kinds import WORKFLOWS


def modules() -> list[str]:
    """Return the modules with workflow code, new workflows included."""
    return sorted({each.__module__ for each in WORKFLOWS})


def bodies(file: Path) -> set[int]:
    """Return the lines within methods; all others run when a module is imported, before anything is measured."""
    return set(_lines(ast.parse(file.read_text())))


def _lines(tree: ast.AST) -> Iterator[int]:
    methods = (node for each in ast.walk(tree) if isinstance(each, ast.ClassDef) for node in each.body)
    for node in methods:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                yield from range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def missing(measured: coverage.Coverage, name: str) -> Iterator[str]:
    """Yield the lines and branches of one module that no history runs."""
    file = str(sys.modules[name].__file__)
    inside = bodies(Path(file))
    lines = [line for line in measured.analysis2(file)[3] if line in inside]
    yield from (f"{name}:{line}" for line in lines)
    for start, (ends, taken) in measured.branch_stats(file).items():
        if start in inside and start not in lines and taken < ends:
            yield f"{name}:{start} goes on in {taken} of {ends} ways"


def main() -> None:
    """Replay under measurement, without the workflow sandbox, whose copies of modules would not be measured."""
    measured = coverage.Coverage(branch=True, data_file=None, config_file=False, source=["workflows"])
    measured.start()
    asyncio.run(replay(kept(Path(sys.argv[1])), runner=UnsandboxedWorkflowRunner()))
    measured.stop()
    for name in modules():
        for line in missing(measured, name):
            print(line)  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
