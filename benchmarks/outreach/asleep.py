"""The cost of idle open enrollments, each of which waits for an acceptance with a timer of weeks.

The rows are written with SQL, as the stores leave them after an invite, because so many invites would take months under
the caps. The product's dispatcher starts their workflows, because the rows are due for a wake. Then the installation
idles. The floors are: no memory and no wake for an idle enrollment, and the CPU of the same installation without
enrollments.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import TextClause, text
from temporalio.client import Client

from benchmarks.outreach.owner import Json, Owner, owner
from benchmarks.processes import Usage
from models.base.database import Database
from models.base.tenants import all_tenants

STEPS: list[Json] = [
    {"type": "invite"},
    {"type": "message", "only_after_accept": True, "accept_timeout_days": 21, "body": "Hi. {{privacy_notice}}"},
]
PROCESSES = ("worker", "upstream", "temporal", "postgres")
LONGEST_SECONDS = 3_600.0
SAMPLE = 100

PEOPLE = text(
    "insert into people (id, created_at) select 'prof_bench_' || n, service_now() from generate_series(1, :count) n"
)
ENROLLMENTS = text(
    """
    insert into enrollments (id, workspace_id, tenant_id, sequence_id, account_id, profile_id, status, given, position,
                             invited_at, rings, answered, created_at)
    select 'enr_bench_' || n, :workspace, :workspace, :sequence, :account, 'prof_bench_' || n, 'waiting_for_accept',
           '{}', n, service_now(), 1, 0, service_now() from generate_series(1, :count) n
    """
)
ACTIONS = text(
    """
    insert into actions (id, workspace_id, tenant_id, type, outcome, why, seed, account_id, profile_id, enrollment_id,
                         sequence_id, step_id, step_index, first_touch, starts_sequence, text_fixed, claimed_at,
                         sent_at, ended_at, attempts, rings, answered, created_at, failures, call_number, readings)
    select 'act_bench_' || n, :workspace, :workspace, 'invite', 'sent', '[]', 'seed' || n, :account, 'prof_bench_' || n,
           'enr_bench_' || n, :sequence, :step, 0, true, true, true, service_now(), service_now(), service_now(), 1,
           0, 0, service_now(), 0, 0, '[]' from generate_series(1, :count) n
    """
)
PENDING = text(
    """
    insert into network_people (account_id, profile_id, workspace_id, tenant_id, relation, invited_at)
    select :account, 'prof_bench_' || n, :workspace, :workspace, 'pending', service_now()
      from generate_series(1, :count) n
    """
)
AWAKE = text("select count(*) from enrollments where rings > answered or wake_at is null")


@dataclass(frozen=True, slots=True)
class Idle:
    """CPU seconds of each process during an idle period, and its memory at the end in MB."""

    cpu: Mapping[str, float]
    memory: Mapping[str, float]


def idle(of: Owner, seconds: int) -> Idle:
    """Wait for the given time, and return what the processes used."""
    pids = {name: pid for name, pid in of.facts["processes"].items() if name in PROCESSES}
    before = {name: Usage.of(pid) for name, pid in pids.items()}
    time.sleep(seconds)
    after = {name: Usage.of(pid) for name, pid in pids.items()}
    cpu = {name: after[name].cpu - before[name].cpu for name in pids}
    return Idle(cpu, {name: after[name].memory for name in pids})


async def fall_asleep(of: Owner, database: Database, count: int) -> float:
    """Write the enrollments, wait until all are idle, and return the seconds this took. Raises `TimeoutError`."""
    made = of.post("/v1/outreach/sequences", {"account_id": of.account_id, "name": "Asleep", "steps": STEPS})
    whose = {"workspace": of.workspace_id, "account": of.account_id}
    async with database.transaction() as session:
        await session.execute(PEOPLE, {"count": count})
        await session.execute(ENROLLMENTS, {**whose, "sequence": made["id"], "count": count})
        step = made["steps"][0]["id"]
        await session.execute(ACTIONS, {**whose, "sequence": made["id"], "step": step, "count": count})
        await session.execute(PENDING, {**whose, "count": count})
    began = time.perf_counter()
    async with asyncio.timeout(LONGEST_SECONDS):
        while await count_of(database, AWAKE):  # noqa: ASYNC110 - other processes do the work
            await asyncio.sleep(1)
    return time.perf_counter() - began


async def count_of(database: Database, query: TextClause) -> int:
    """Return the number that a query returns."""
    async with database.transaction() as session:
        return int((await session.execute(query)).scalar_one())


async def events_of_some(client: Client, count: int) -> int:
    """Return the number of history events of a hundred of the workflows; each wake adds some."""
    some = range(1, count + 1, max(1, count // SAMPLE))
    handles = (client.get_workflow_handle(f"enrollment/enr_bench_{n}") for n in some)
    return sum([(await handle.describe()).history_length for handle in handles])


async def measure(of: Owner, count: int, seconds: int) -> None:
    """Measure the idle installation without enrollments, then with them."""
    database = Database(of.facts["database_url"], pool_size=2).within(all_tenants("a benchmark"))
    bare = idle(of, seconds)
    took = await fall_asleep(of, database, count)
    client = await Client.connect(of.facts["temporal_address"])
    before = await events_of_some(client, count)
    asleep = idle(of, seconds)
    added = await events_of_some(client, count) - before
    print(f"{count} enrollments asleep; started by the dispatcher in {took:.0f} s, {count / took:.0f} a second")
    print(f"  idle for {seconds} s: {added} events added to the histories of {min(SAMPLE, count)} of them")
    print(f"  {'':<10} {'CPU s, none':>14} {'asleep':>8} {'MB, none':>12} {'asleep':>8} {'kB each':>8}")
    for name in bare.cpu:
        each = (asleep.memory[name] - bare.memory[name]) * 1e3 / count
        print(
            f"  {name:<10} {bare.cpu[name]:14.2f} {asleep.cpu[name]:8.2f} {bare.memory[name]:12.1f}"
            f" {asleep.memory[name]:8.1f} {each:8.2f}"
        )
    await database.close()


def report(count: int, seconds: int) -> None:
    """Measure on a separate installation, and print."""
    with owner() as of:
        asyncio.run(measure(of, count, seconds))
