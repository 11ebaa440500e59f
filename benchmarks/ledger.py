"""`python -m benchmarks.ledger`: charges per second in one busy workspace and across a hundred, with their floor.

The floor is the lowest possible cost of a charge: one transaction that updates a single row, once with all clients on
the same row and once spread over a hundred. Charge and floor take turns on a separate server, so that their ratio is
valid on a busy machine. Every charge is a lead: a spending limit is opened, charged and committed.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database
from models.base.tenants import all_tenants
from models.billing.rules.prices import CreditCharge
from models.billing.store import credits
from models.billing.store.credits import Payer
from stack.children import PROJECT
from stack.postgres import DATABASE, Postgres

WORKSPACES = 100
GRANTS_EACH = 3
CREDITS_EACH = 1_000_000_000

SETTLE = """
insert into workspaces (id, name, email, email_key, marketing_opt_in, low_balance_credits, created_at)
select 'ws_' || n, 'Benchmark', n || '@example.com', n || '@example.com', false, 250, service_now()
  from generate_series(1, :workspaces) n;
insert into api_keys (id, workspace_id, kind, name, prefix, last4, secret_hash, scopes, version, created_at)
select 'key_' || n, 'ws_' || n, 'key', 'key', 'svc_live_', '0000', sha256(n::text::bytea), '{}', '2026-11-01',
       service_now() from generate_series(1, :workspaces) n;
insert into grants
       (id, workspace_id, source, reference, granted_credits, remaining_credits, expires_at, created_at)
select 'grt_' || n || '_' || g, 'ws_' || n, 'top_up', 'pay_' || g, :credits, :credits,
       service_now() + make_interval(days => 30 * g), service_now()
  from generate_series(1, :workspaces) n, generate_series(1, :grants) g;
create table floor (id int primary key, credits bigint not null) with (fillfactor = 50);
insert into floor select n, 0 from generate_series(1, :workspaces) n
"""

Work = Callable[[Database, int, str], Awaitable[None]]


async def charge(database: Database, workspace: int, reference: str) -> None:
    """Charge one lead."""

    async def work(session: AsyncSession) -> None:
        purse = await credits.open_spending_limit(session, Payer(f"ws_{workspace}", f"key_{workspace}"))
        await purse.spend([CreditCharge(reference, "lead", "run_1", 1)])

    await database.run(work)


async def floor(database: Database, workspace: int, reference: str) -> None:
    """Update one row."""
    del reference
    async with database.transaction() as session:
        await session.execute(text("update floor set credits = credits + 1 where id = :id"), {"id": workspace})


@dataclass(frozen=True, slots=True)
class Load:
    """Concurrent clients over a number of workspaces for a number of seconds."""

    at_once: int
    seconds: float


async def per_second(database: Database, work: Work, workspaces: int, load: Load, name: str) -> float:
    """Return the number of calls of `work` per second."""
    done = 0
    began = time.perf_counter()
    deadline = began + load.seconds

    async def keep_going(worker: int) -> None:
        nonlocal done
        turn = worker
        while time.perf_counter() < deadline:
            await work(database, turn % workspaces + 1, f"{name}:{worker}:{turn}")
            done += 1
            turn += load.at_once

    await asyncio.gather(*(keep_going(worker) for worker in range(load.at_once)))
    return done / (time.perf_counter() - began)


async def measure(url: str, load: Load, rounds: int) -> None:
    """Measure charge and floor in turn, and print the medians."""
    database = Database(url, pool_size=load.at_once).within(all_tenants("a benchmark"))
    async with database.transaction() as session:
        await session.execute(text("set local role none"))  # the role of the service may not create tables
        for statement in SETTLE.split(";"):
            values = {"workspaces": WORKSPACES, "grants": GRANTS_EACH, "credits": CREDITS_EACH}
            used = {name: value for name, value in values.items() if f":{name}" in statement}
            await session.execute(text(statement), used)
    for title, workspaces in (("one hot workspace", 1), (f"{WORKSPACES} workspaces", WORKSPACES)):
        charges: list[float] = []
        floors: list[float] = []
        for number in range(rounds):
            charges.append(await per_second(database, charge, workspaces, load, f"{workspaces}:{number}"))
            floors.append(await per_second(database, floor, workspaces, load, "floor"))
        _show(title, charges, floors)
    await _check(database)
    await database.close()


def _show(title: str, charges: Sequence[float], floors: Sequence[float]) -> None:
    made, least = statistics.median(charges), statistics.median(floors)
    print(f"{title:>18}: {made:6.0f} charges/s   floor {least:6.0f} updates/s   ratio {least / made:.1f}")


async def _check(database: Database) -> None:
    """Check the sums: without correct sums the speed means nothing."""
    async with database.transaction() as session:
        wrong = await session.scalar(
            text(
                "select count(*) from (select g.id from grants g left join ledger_entries l on l.grant_id = g.id"
                " group by g.id having g.granted_credits + coalesce(sum(l.credits), 0) <> g.remaining_credits) w"
            )
        )
        total = await session.scalar(text("select -sum(credits) from ledger_entries"))
        counted = await session.scalar(text("select sum(credits) from daily_spends where subject_id like 'ws_%'"))
    if wrong or total != counted:
        raise SystemExit(f"the ledger does not add up: {wrong} grants, {total} charged, {counted} counted")
    print(f"{total} credits charged, every grant adds up")


def main() -> None:
    """Read the command line and measure on a separate server with durable commits."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ledger", description=__doc__)
    parser.add_argument("--at-once", type=int, default=16, help="connections, each charging one at a time (16)")
    parser.add_argument("--seconds", type=float, default=5, help="length of one turn (5)")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each kind; the median is printed (3)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-ledger-") as home:
        Path(home).chmod(0o755)
        server = Postgres(home=Path(home) / "postgres", log=Path(home) / "postgres.log", durable=True)
        server.start()
        try:
            server.ensure_database(DATABASE)
            url = server.url(DATABASE)
            migrate = [sys.executable, "-m", "models.migrations", "upgrade"]
            subprocess.run(migrate, cwd=PROJECT, check=True, env=os.environ | {"DATABASE_URL": url})
            asyncio.run(measure(url, Load(asked.at_once, asked.seconds), asked.rounds))
        finally:
            server.stop()


if __name__ == "__main__":
    main()
