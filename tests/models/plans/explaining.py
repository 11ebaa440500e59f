"""The cost of a recorded statement on large data: its executed plan, in a transaction that is rolled back.

Ids among the parameters are replaced by ids of the large workspace of the same kind. Role and tenant scope are those
of the service, because row-level security affects the plan.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import asyncpg

from benchmarks.large import Large
from models.base.tenants import ALL, ROLE, TenantScope
from tests.models.plans.recording import Said

ID = re.compile(r"([a-z]+)_[0-9a-z]{26}")
FIRST, STEP = 12, 3
"""Numbers of the requested rows: every third enrollment is open, and none of these rows is another workspace's."""
FEW = 3
"""Number of different rows requested of a kind; every kind has at least this many."""
MOST_ROWS = 5_000
"""Most rows that a statement may read, sort or discard."""
MOST_BLOCKS = 4_000
"""Most blocks of 8 kB read from memory or disk, which reveals a full index scan that returns no row."""
SMALL_TABLE = 5_000
"""Tables of at most this many rows may be scanned."""
DELETES = re.compile(r"(with \w+ as \()?delete ")
"""Deletions by time: tests set the clock so far ahead that they would delete all of the large data."""
EXPLAIN = "explain (analyze, buffers, timing off, format json) "
REFUSED = (
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.RaiseError,
    asyncpg.LockNotAvailableError,
    asyncpg.InsufficientPrivilegeError,
    asyncpg.CardinalityViolationError,
)
"""Because of ids that were exchanged: what one statement alone would write does not fit."""


Fault = tuple[str, str]
"""The table or joined tables, and the fault in how they are read."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one statement with one set of parameters. `was_refused`: only the plan is known, not what it read."""

    faults: frozenset[Fault]
    was_refused: bool


class Exchange:
    """Maps ids of the tests to ids of the large data, consistently. No time is later than `latest`."""

    def __init__(self, large: Large, *, latest: datetime | None = None) -> None:
        self._large = large
        self._latest = latest
        self._known: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def value(self, given: Any) -> Any:
        """Return the replacement of a parameter, including values in lists and documents."""
        if isinstance(given, str):
            return ID.sub(self._exchanged, given)
        if isinstance(given, list | tuple):
            return [self.value(one) for one in given]
        if isinstance(given, datetime) and self._latest is not None:
            return min(given, self._latest)
        return given

    def _exchanged(self, found: re.Match[str]) -> str:
        prefix, whole = found.group(1), found.group(0)
        if prefix in ("ws", "cus"):
            return self._large.workspace_id
        if prefix == "key":
            return self._large.key_id
        if whole not in self._known:
            count = self._counts[prefix] = self._counts.get(prefix, -1) + 1
            self._known[whole] = f"{prefix}_{FIRST + STEP * (count % FEW):026d}"
        return self._known[whole]


async def large_tables(connection: Any) -> set[str]:
    """Return the tables that must not be scanned."""
    found = await connection.fetch(
        "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and reltuples > $1",
        float(SMALL_TABLE),
    )
    return {row["relname"] for row in found}


async def cost(connection: Any, large: Large, said: Said, values: tuple[Any, ...], tables: set[str]) -> Cost:
    """Execute the statement, roll it back, and return its cost."""
    exchange = Exchange(large, latest=datetime.now(UTC) if DELETES.match(said.statement) else None)
    given = [exchange.value(one) for one in values]
    scope = TenantScope(ALL, ALL) if said.is_everywhere else TenantScope(large.workspace_id, ALL)
    for how, was_refused in ((EXPLAIN, False), ("explain (format json) ", True)):
        undone = connection.transaction()
        await undone.start()
        try:
            await connection.execute(f"set local role {ROLE}; {scope.statement(local=True)}")
            plan = json.loads(await connection.fetchval(how + said.statement, *given))[0]["Plan"]
        except REFUSED:
            continue
        finally:
            await undone.rollback()
        return _cost(plan, tables, was_refused=was_refused)
    raise AssertionError("a plan cannot be refused")


def _cost(plan: dict[str, Any], tables: set[str], *, was_refused: bool) -> Cost:
    faults = _faults(plan, tables)
    blocks: Counter[str] = Counter()
    for node in _nodes(plan):
        blocks[_of(node)] += _blocks(node) - sum(_blocks(inner) for inner in node.get("Plans", ()))
    if blocks.total() > MOST_BLOCKS:
        faults.add((blocks.most_common(1)[0][0], f"reads {blocks.total()} blocks"))
    return Cost(frozenset(faults), was_refused)


def _faults(node: dict[str, Any], tables: set[str], of: str = "") -> set[Fault]:
    """Return the faults of a step and those below it; rows only passed on do not count. `of`: the parent's table."""
    of = _of(node) or of
    below = {fault for inner in node.get("Plans", ()) for fault in _faults(inner, tables, of)}
    if node["Node Type"] == "Seq Scan" and node["Relation Name"] in tables and node.get("Actual Loops", 1):
        return below | {(of, "scans it")}
    if not below and _rows(node) > MOST_ROWS:
        return {(of, f"reads {_rows(node)} rows")}
    return below


def _of(node: dict[str, Any]) -> str:
    """Return the table that a step of a plan reads, else all tables that the steps below it read."""
    found = {one["Relation Name"] for one in _nodes(node) if "Relation Name" in one}
    return str(node.get("Relation Name") or " + ".join(sorted(found)))


def _rows(node: dict[str, Any]) -> int:
    removed = sum(value for name, value in node.items() if name.startswith("Rows Removed by"))
    return int((node.get("Actual Rows", 0) + removed) * node.get("Actual Loops", 1))


def _blocks(node: dict[str, Any]) -> int:
    return int(node.get("Shared Hit Blocks", 0) + node.get("Shared Read Blocks", 0))


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from _nodes(inner)
