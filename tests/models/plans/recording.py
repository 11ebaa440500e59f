"""Records the statements of the store functions: a plugin of pytest (`-p tests.models.plans.recording`).

Each process of the run writes one file into the folder that `RECORDED_STATEMENTS` names. Statements are recorded where
the driver sends them, with their parameters and tenant scope, so that none is missed.
"""

import asyncio
import inspect
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
from asyncpg import Connection
from asyncpg.prepared_stmt import PreparedStatement

import models
from models.base.tenants import ScopedConnection

FOLDER = "RECORDED_STATEMENTS"
MODELS = str(Path(models.__file__).parent) + os.sep
DATABASE = str(Path(MODELS, "base", "database.py"))
BENEATH = (DATABASE, str(Path(MODELS, "base", "tenants.py")), str(Path(MODELS, "migrations")))
"""Files on which store functions are built."""
BY_OTHERS = (__file__, str(Path(asyncpg.__file__).parents[1]), str(Path(asyncio.__file__).parents[1]))
"""Places of frames that belong neither to the product nor to a test."""
ENDING = "database"
"""Stands for a store function, for rows that are written when a transaction ends."""
SAMPLES = 3


@dataclass
class Said:
    """A statement, the store functions that sent it, and some of its parameters."""

    statement: str
    is_everywhere: bool
    functions: set[str] = field(default_factory=set)
    samples: list[tuple[Any, ...]] = field(default_factory=list)


said: dict[tuple[str, bool], Said] = {}


def asking() -> set[str]:
    """Return the store functions that wait for the statement being sent, as `module.function`."""
    found: set[str] = set()
    sender = None
    frame = inspect.currentframe()
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(MODELS) and not file.startswith(BENEATH):
            found.add(function(file, frame.f_code.co_qualname))
        if sender is None and not file.startswith(BY_OTHERS):
            sender = file
        frame = frame.f_back
    return found or ({ENDING} if sender == DATABASE else found)


def function(file: str, name: str) -> str:
    """Return `outreach.engine.claim.claim_action` for that function in its file; of an inner function its outer one."""
    module = file.rpartition(MODELS)[2].removesuffix(".py").replace(os.sep, ".").removesuffix(".__init__")
    return f"{module}.{name.partition('.<locals>')[0]}"


def record(connection: Any, statement: str, values: tuple[Any, ...]) -> None:
    """Record the statement, unless a test itself sent it."""
    functions = asking()
    if not functions or not isinstance(connection, ScopedConnection):
        return
    turned = getattr(connection, "turned", None)
    scope = (turned or connection.scope) if connection.is_in_transaction() else connection.connection_scope
    key = (statement, scope is not None and scope.is_everywhere)
    one = said.setdefault(key, Said(*key))
    one.functions |= functions
    if len(one.samples) < SAMPLES:
        one.samples.append(values)


def _of_prepared(original: Callable[..., Any]) -> Callable[..., Any]:
    async def fetch(self: Any, *values: Any, **named: Any) -> Any:
        record(_bare(self._connection), self._query, values)
        return await original(self, *values, **named)

    return fetch


def _of_connection(original: Callable[..., Any]) -> Callable[..., Any]:
    async def fetchrow(self: Any, query: str, *values: Any, **named: Any) -> Any:
        record(_bare(self), query, values)
        return await original(self, query, *values, **named)

    return fetchrow


def _of_many(original: Callable[..., Any]) -> Callable[..., Any]:
    async def executemany(self: Any, command: str, args: Any, **named: Any) -> Any:
        rows = [tuple(one) for one in args]
        if rows:
            record(_bare(self), command, rows[0])
        return await original(self, command, rows, **named)

    return executemany


def _bare(connection: Any) -> Any:
    return getattr(connection, "_con", connection)  # a pool returns a proxy


def _turning(original: Callable[..., Any]) -> Callable[..., Any]:
    async def set_for_transaction(self: Any, scope: Any) -> None:
        await original(self, scope)
        self.turned = scope

    return set_for_transaction


def _beginning(original: Callable[..., Any]) -> Callable[..., Any]:
    async def execute(self: Any, query: str, *values: Any, **named: Any) -> Any:
        if query.startswith("BEGIN"):
            self.turned = None
        return await original(self, query, *values, **named)

    return execute


def pytest_configure() -> None:
    PreparedStatement.fetch = _of_prepared(PreparedStatement.fetch)
    Connection.fetchrow = _of_connection(Connection.fetchrow)
    Connection.executemany = _of_many(Connection.executemany)
    ScopedConnection.set_for_transaction = _turning(ScopedConnection.set_for_transaction)  # type: ignore[method-assign]  # to record
    ScopedConnection.execute = _beginning(ScopedConnection.execute)  # type: ignore[method-assign]  # to record


def pytest_unconfigure() -> None:
    file = Path(os.environ[FOLDER], f"{os.getpid()}.pickle")
    kept = [(one.statement, one.is_everywhere, one.functions, one.samples) for one in said.values()]
    file.write_bytes(pickle.dumps(kept))


def recorded(folder: Path) -> list[Said]:
    """Return the statements of all processes of a run, each once."""
    found: dict[tuple[str, bool], Said] = {}
    for file in sorted(folder.glob("*.pickle")):
        for statement, is_everywhere, functions, samples in pickle.loads(file.read_bytes()):  # noqa: S301 - ours
            one = found.setdefault((statement, is_everywhere), Said(statement, is_everywhere))
            one.functions |= functions
            one.samples = (one.samples + samples)[:SAMPLES]
    return list(found.values())
