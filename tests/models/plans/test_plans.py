"""No list and no sweep reads a table: plans of what the store functions say, on 1,000,000 events and what goes along.

The tests of the stores and of the API are run once more with a recorder at the driver; each statement that a store
function had sent is then carried out, and undone, on the large data as the role and in the tenant scope of the service.
"""

import ast
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg
import pytest

import models
from benchmarks.large import Large, fill
from models.base.tenants import UNHELD
from stack.children import PROJECT
from tests.models.plans.exceptions import EXCEPTIONS, UNSPOKEN
from tests.models.plans.explaining import cost, large_tables
from tests.models.plans.recording import BENEATH, FOLDER, Said, recorded

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

DRIVEN = ("tests/models", "tests/api", "tests/activities")
"""Tests that call the store functions."""
RAN = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
"""Whether they hold is said where they are run for themselves."""
STATEMENT_SECONDS = 20
WRITES = re.compile(r"\b(insert|update|delete)\b", re.IGNORECASE)
OF_THE_SERVER = ("select pg_catalog.version()", "select current_schema()", "show ", "set ", "notify ")


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[Said]:
    """Everything that was said; of an earlier run when its folder is named, which saves most of the time."""
    if FOLDER in os.environ:
        return recorded(Path(os.environ[FOLDER]))
    folder = tmp_path_factory.mktemp("statements")
    command = [sys.executable, "-m", "pytest", "-n", "2", "-q", "-m", "not slow", "-p", "tests.models.plans.recording"]
    run = subprocess.run(
        [*command, *DRIVEN], cwd=PROJECT, env=os.environ | {FOLDER: str(folder)}, capture_output=True, check=False
    )
    assert run.returncode in RAN, run.stdout[-2000:]
    return recorded(folder)


@pytest.fixture(scope="module")
async def large(module_database_url: str) -> Large:
    return await fill(module_database_url, datetime.now(UTC))


@pytest.fixture
async def connection(module_database_url: str, large: Large) -> AsyncIterator[Any]:
    settings = {**UNHELD, "statement_timeout": f"{STATEMENT_SECONDS}s"}
    opened = await asyncpg.connect(module_database_url.replace("+asyncpg", ""), server_settings=settings)
    await opened.set_type_codec("jsonb", schema="pg_catalog", encoder=_document, decoder=json.loads)
    yield opened
    await opened.close()


def _document(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _store_functions() -> set[str]:
    """Every function of the stores that is handed a session or connection: `module.function`."""
    stores, found = Path(models.__file__).parent, set()
    for file in stores.rglob("*.py"):
        if str(file).startswith(BENEATH):
            continue
        module = ".".join(file.relative_to(stores).with_suffix("").parts).removesuffix(".__init__")
        found |= {f"{module}.{name}" for name in _handed(ast.parse(file.read_text()))}
    return found


def _handed(within: ast.Module | ast.ClassDef) -> Iterator[str]:
    for node in within.body:
        if isinstance(node, ast.AsyncFunctionDef) and {"session", "connection"} & {one.arg for one in node.args.args}:
            yield node.name
        elif isinstance(node, ast.ClassDef) and "Protocol" not in {ast.unparse(base) for base in node.bases}:
            yield from (f"{node.name}.{name}" for name in _handed(node))


def test_every_store_function_has_been_heard(said: list[Said]) -> None:
    silent = _store_functions() - {name for one in said for name in one.functions}
    assert silent == set(UNSPOKEN)


def _leaves_dead_rows(one: Said) -> tuple[bool, bool]:
    """What comes late because it leaves dead rows behind, though it is undone: many, of what may read many."""
    return any(name in one.functions for name, _ in EXCEPTIONS), WRITES.search(one.statement) is not None


async def test_no_statement_of_a_store_reads_a_large_table(said: list[Said], large: Large, connection: Any) -> None:
    tables = await large_tables(connection)
    assert {"events", "candidates", "enrollments", "actions", "deliveries", "seen_entries"} <= tables
    faults: dict[str, set[str]] = defaultdict(set)
    excused: set[tuple[str, str]] = set()
    looked_at = 0
    for one in sorted(said, key=_leaves_dead_rows):
        if one.statement.lower().startswith(OF_THE_SERVER):
            continue
        for values in one.samples:
            found = await cost(connection, large, one, values, tables)
            looked_at += not found.was_refused
            for table, what in found.faults:
                by = {(name, table) for name in one.functions} & EXCEPTIONS.keys()
                excused |= by
                if not by:
                    faults[f"{sorted(one.functions)}: {' '.join(one.statement.split())}"].add(f"{table}: {what}")
    assert not faults, json.dumps({name: sorted(what) for name, what in faults.items()}, indent=1)
    assert excused == EXCEPTIONS.keys()
    assert looked_at > len(said) // 2


async def test_an_index_taken_away_is_noticed(large: Large, connection: Any) -> None:
    """Else the test above would pass for a measure that sees nothing."""
    newest = Said("select * from events where tenant_id = $1 order by created_at desc limit 20", is_everywhere=False)
    tables = await large_tables(connection)
    asked = ("ws_" + "0" * 26,)
    assert not (await cost(connection, large, newest, asked, tables)).faults
    undone = connection.transaction()
    await undone.start()
    try:
        await connection.execute("drop index ix_events_tenant_id_created_at")
        await connection.execute("alter table events drop constraint uq_events_workspace_id_created_at")
        await connection.execute("drop index ix_events_created_at")
        assert (await cost(connection, large, newest, asked, tables)).faults
    finally:
        await undone.rollback()
