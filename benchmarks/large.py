"""Large data: one workspace with 90,000 candidates, 9,000 open enrollments and 900,000 events, and other workspaces.

Set-based SQL writes the rows as the product would. `scale` 1.0 is the full size: 100,000 candidates, 10,000 open
enrollments and 1,000,000 events in total; every tenth row belongs to another workspace.
"""

from dataclasses import dataclass
from datetime import datetime

import asyncpg

from benchmarks.api import join
from benchmarks.large_around import AROUND
from benchmarks.large_rows import ACCOUNTS, CHARGES, ENROLLED, ID, INTENT, PROFILE, READING, RUNS, SEQUENCES, STATEMENTS
from models.base.tenants import UNHELD

OTHERS = 9
"""Number of workspaces beside the large one."""


@dataclass(frozen=True, slots=True)
class Large:
    """The large workspace and one of its keys."""

    workspace_id: str
    key_id: str
    secret: str
    scale: float


async def fill(url: str, now: datetime, *, scale: float = 1.0) -> Large:
    """Fill an empty, migrated database, then vacuum and analyze it."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""), server_settings=UNHELD)
    try:
        joined = [await join(connection, now, name=f"bench-{number}") for number in range(1 + OTHERS)]
        await connection.execute("create temporary table members (n int primary key, workspace text, key text)")
        await connection.copy_records_to_table(
            "members", records=[(n, workspace, key) for n, (workspace, key, _) in enumerate(joined)]
        )
        for count, statement in (*STATEMENTS.values(), CHARGES, *AROUND.values()):
            await connection.execute(_written(statement, max(1, round(count * scale)), scale))
        await connection.execute("vacuum (analyze)")
    finally:
        await connection.close()
    workspace, key, secret = joined[0]
    return Large(workspace, key, secret, scale)


def _period(many: int, scale: float) -> int:
    """Return the period of references between rows: a multiple of ten, so that both rows are of one workspace."""
    there = max(1, round(many * scale))
    return there // 10 * 10 or min(there, OTHERS - 1)


def _written(statement: str, count: int, scale: float) -> str:
    """Return a statement with its expressions; row `n` belongs to the large workspace unless it ends in 9."""

    def one_of(many: int) -> str:
        return ID.format(n=f"(1 + (n - 1) % {_period(many, scale)})")

    body = statement.format(
        id=ID.format(n="n"),
        at="now() - n * interval '7 s'",
        ahead="now() + (1 + n % 600) * interval '1 h'",
        sent="now() - n * interval '3 min'",
        ws="workspace",
        key="key",
        run=one_of(RUNS),
        runs=_period(RUNS, scale),
        list=one_of(60),
        job=one_of(10_000),
        scroll=one_of(10_000),
        small="'ws_' || " + ID.format(n="n"),
        account=one_of(ACCOUNTS),
        sequence=one_of(SEQUENCES),
        conversation=one_of(ENROLLED // 3),
        endpoint=one_of(20),
        grant=one_of(200),
        profile=PROFILE,
        intent=INTENT,
        reading=READING,
    )
    return (
        f"with numbers as (select series.n, workspace, key from generate_series(1, {count}) as series(n)"  # noqa: S608 - constants of this package
        f" join members on members.n = case when series.n % 10 = 9 then 1 + series.n / 10 % {OTHERS} else 0 end) {body}"
    )
