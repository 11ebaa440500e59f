"""Whatever waits for somebody else says for how long: every client and every activity in the product's code."""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LIMITS = {"timeout", "command_timeout", "start_to_close_timeout", "schedule_to_close_timeout"}
MUST_SAY = {
    ("asyncpg", "connect"),
    ("aiosmtplib", "SMTP"),
    ("transport", "SpannedClient"),
    ("pool", "acquire"),
    ("workflow", "execute_activity"),
    ("workflow", "execute_local_activity"),
    ("workflow", "start_activity"),
    ("_client", "start_activity"),
    ("service_client", "check_health"),
}
HTTPX = {("httpx", "AsyncClient"), ("httpx", "Client")}
"""Limited by default; nobody may take that away."""

Found = list[tuple[str, ast.Call]]


def calls(names: set[tuple[str, str]]) -> Found:
    """Calls of `owner.name` in the product's code, with where they stand."""
    return [(place, call) for name, place, call in _waiting_calls() if name in names]


@cache
def _waiting_calls() -> list[tuple[tuple[str, str], str, ast.Call]]:
    found = []
    files = [
        ROOT / "worker.py",
        *(path for top in ("api", "activities", "workflows", "models") for path in _files(top)),
    ]
    for path in files:
        written = path.read_text()
        if not any(name in written for _, name in MUST_SAY | HTTPX):
            continue
        for node in ast.walk(ast.parse(written)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner = node.func.value
                name = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")
                found.append(((name, node.func.attr), f"{path.relative_to(ROOT)}:{node.lineno}", node))
    return found


def _files(top: str) -> list[Path]:
    return sorted((ROOT / top).rglob("*.py"))


@pytest.mark.parametrize("name", sorted(MUST_SAY))
def test_every_call_that_waits_for_somebody_else_is_limited(name: tuple[str, str]) -> None:
    found = calls({name})
    assert found, "nothing is called so any more: the test looks past the code"
    unlimited = [
        place
        for place, call in found
        if not any(
            word.arg in LIMITS and not (isinstance(word.value, ast.Constant) and word.value.value is None)
            for word in call.keywords
        )
    ]
    assert unlimited == []


def test_no_http_client_gives_up_its_limits() -> None:
    found = calls(HTTPX)
    assert found
    for place, call in found:
        for word in call.keywords:
            given_up = word.arg == "timeout" and isinstance(word.value, ast.Constant) and word.value.value is None
            assert not given_up, place
