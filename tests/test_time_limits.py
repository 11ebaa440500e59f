"""Everything that waits for another service has a time limit: every client and every activity of the product."""

import ast
import inspect
from functools import cache
from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowHandle

ROOT = Path(__file__).parent.parent
LIMITS = {"timeout", "command_timeout", "start_to_close_timeout", "schedule_to_close_timeout"}
MUST_SAY = {
    ("asyncpg", "connect"),
    ("aiosmtplib", "SMTP"),
    ("calls", "SpannedClient"),
    ("pool", "acquire"),
    ("workflow", "execute_activity"),
    ("workflow", "execute_local_activity"),
    ("workflow", "start_activity"),
    ("_client", "start_activity"),
    ("service_client", "check_health"),
}
HTTPX = {("httpx", "AsyncClient"), ("httpx", "Client")}
"""Limited by default, which no call may remove."""
RPC = {"rpc_timeout"}
TEMPORAL = {("_client", "start_workflow"), ("_client", "start_activity")}
"""Calls of the orchestrator's frontend, which would be repeated without end while it is silent."""
CLIENTS = ("client", "handle")
"""What a client of Temporal, or a handle of it, is called; connecting fails by itself."""
WAITING_LIBRARIES = {
    *("httpx", "asyncpg", "aiosmtplib", "stripe", "socket", "ssl", "smtplib", "urllib.request", "http.client"),
    *("requests", "aiohttp", "grpc", "psycopg", "redis", "websockets", "httpx2", "dns"),
}
DO_NOT_WAIT = {
    ("httpx", "Timeout"),
    ("httpx", "Limits"),
    ("httpx", "Request"),
    ("httpx", "URL"),
    ("httpx", "AsyncHTTPTransport"),
    ("ssl", "create_default_context"),
    ("stripe", "StripeClient"),
    ("asyncpg", "create_pool"),
}
"""Calls that wait for no service, or are limited by their surrounding guard, client or engine."""

Found = list[tuple[str, ast.Call]]


def calls(names: set[tuple[str, str]]) -> Found:
    """Calls of `owner.name` in the product's code, with where they stand."""
    return [(place, call) for name, place, call in _waiting_calls() if name in names]


@cache
def _trees() -> list[tuple[str, ast.Module]]:
    """Every file of the product's code."""
    files = [
        ROOT / "worker.py",
        *(path for top in ("api", "activities", "workflows", "models") for path in sorted((ROOT / top).rglob("*.py"))),
    ]
    return [(str(path.relative_to(ROOT)), ast.parse(path.read_text())) for path in files]


@cache
def _waiting_calls() -> list[tuple[tuple[str, str], str, ast.Call]]:
    found = []
    for path, tree in _trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner = node.func.value
                name = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")
                found.append(((name, node.func.attr), f"{path}:{node.lineno}", node))
    return found


def _says(call: ast.Call, limits: set[str]) -> bool:
    return any(word.arg in limits and not _is_none(word.value) for word in call.keywords)


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


@pytest.mark.parametrize("name", sorted(MUST_SAY))
def test_every_call_that_waits_for_another_service_is_limited(name: tuple[str, str]) -> None:
    found = calls({name})
    assert found, "nothing is called so any more: the test looks past the code"
    assert [place for place, call in found if not _says(call, LIMITS)] == []


def test_every_call_of_temporal_is_limited() -> None:
    """Whatever the client offers that is a call of the server; new ones by themselves."""
    offered = {name for name in dir(Client) if inspect.iscoroutinefunction(getattr(Client, name))} - {"connect"}
    offered |= {name for name in dir(WorkflowHandle) if inspect.iscoroutinefunction(getattr(WorkflowHandle, name))}
    assert {"start_workflow", "start_activity", "signal", "terminate"} <= offered
    asked = [
        (name, place, call)
        for name, place, call in _waiting_calls()
        if name[1] in offered and name[0].endswith(CLIENTS) and "temporalio" in _imported(place.partition(":")[0])
    ]
    assert {name for name, _, _ in asked} >= TEMPORAL
    assert [place for _, place, call in asked if not _says(call, RPC)] == []


@cache
def _imported(path: str) -> frozenset[str]:
    """The first words of what a file imports."""
    tree = dict(_trees())[path]
    plain = {one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names}
    named = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return frozenset(name.partition(".")[0] for name in plain | named)


def test_no_library_that_waits_for_another_service_is_called_in_an_unchecked_way() -> None:
    known = MUST_SAY | HTTPX | DO_NOT_WAIT
    unknown = []
    for path, tree in _trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in WAITING_LIBRARIES:
                callable_ones = [one.name for one in node.names if (node.module, one.name) not in known]
                unknown += [f"{path}: from {node.module} import {name}" for name in callable_ones]
    unknown += [
        f"{place}: {owner}.{name}"
        for (owner, name), place, _ in _waiting_calls()
        if owner in WAITING_LIBRARIES and (owner, name) not in known
    ]
    assert unknown == []


def test_every_engine_is_limited() -> None:
    """By what it hands the driver for each connection: for connecting, and but for migrations for each answer."""
    found = [
        (path, node)
        for path, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "create_async_engine"
    ]
    assert {path for path, _ in found} == {"models/base/database.py", "models/migrations/env.py"}
    limited = {"models/base/database.py": {"timeout", "command_timeout"}, "models/migrations/env.py": {"timeout"}}
    for path, wanted in limited.items():
        tree = dict(_trees())[path]
        keys = {
            key.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Dict)
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant) and not _is_none(value)
        }
        assert wanted <= keys, path


def test_no_limit_is_given_up() -> None:
    assert calls(HTTPX)
    given_up = [
        place
        for name, place, call in _waiting_calls()
        for word in call.keywords
        if (word.arg in LIMITS | RPC or name == ("httpx", "Timeout")) and _is_none(word.value)
    ]
    given_up += [place for place, call in calls({("httpx", "Timeout")}) if any(map(_is_none, call.args))]
    assert given_up == []
