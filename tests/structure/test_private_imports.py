"""Libraries are used through what they publish: a private name may change or go with any release."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("activities", "api", "benchmarks", "models", "sandbox", "stack", "tests", "workflows")
OURS = {*FOLDERS, "worker"}
FILES = [ROOT / "worker.py", *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))]
DOCUMENTED = {"os._exit"}
"""What a documentation offers though it looks private."""


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def private_uses(source: str) -> Iterator[str]:
    """The private names of libraries that a file imports, or reads from something that it imported."""
    bound: dict[str, str] = {}
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            bound |= {a.asname or a.name.partition(".")[0]: a.name for a in node.names}
            yield from (a.name for a in node.names if any(map(is_private, a.name.split("."))))
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            names = {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
            bound |= names
            yield from (name for name in names.values() if any(map(is_private, name.split("."))))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            steps, value = [node.attr], node.value
            while isinstance(value, ast.Attribute):
                steps.append(value.attr)
                value = value.value
            if isinstance(value, ast.Name) and value.id in bound:
                yield ".".join([bound[value.id], *reversed(steps)])


def test_no_private_name_of_a_library_is_used() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in FILES
        for name in private_uses(path.read_text())
        if name.partition(".")[0] not in OURS and name not in DOCUMENTED
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "used"),
    [
        ("from fastapi._compat import ModelField", ["fastapi._compat.ModelField"]),
        ("import asyncio._x", ["asyncio._x"]),
        ("from pydantic import _internal", ["pydantic._internal"]),
        ("import httpx\nhttpx.client._get", ["httpx.client._get"]),
        ("from __future__ import annotations\nimport os\nos.__name__", []),
    ],
)
def test_private_uses_are_found(source: str, used: list[str]) -> None:
    assert list(private_uses(source)) == used
