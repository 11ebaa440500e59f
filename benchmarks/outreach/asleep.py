"""Asleep: what open enrollments cost while nothing is due: memory, wake-ups and CPU, beside workflows that only sleep.

One enrollment is begun the product's way on a whole installation and waits for its invite to be accepted. Its rows are
then copied for as many people as asked, and the product's own sweep rings the copies, which is what a restored
installation does too. They are watched while they sleep. The floor are as many workflows of one timer each, on the same
Temporal server, with a worker of their own.
"""

import asyncio
import tempfile
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import asyncpg
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from benchmarks import floor
from benchmarks.processes import Usage, serving
from tests.journeys.installation import Installation, installed
from tests.journeys.outreach import Json, Outreach

STEPS: list[Json] = [
    {"type": "invite", "note": "Hi {{first_name}}, glad to be in touch."},
    {"type": "message", "only_after_accept": True, "body": "Hi {{first_name}}, thank you for connecting."},
    {"type": "withdraw_invite", "wait_days": 21},
]
PROCESSES = ("worker", "temporal", "postgres")
STARTS_AT_ONCE = 50
SAMPLE = 200
LONG = floor.Waits(seconds=[timedelta(days=30).total_seconds()], signalled=[0])

PEOPLE = "insert into people (id, created_at) select 'prof_asleep' || n, service_now() from generate_series(1, $1) n"
ENROLLMENTS = """
insert into enrollments
select (jsonb_populate_record(e, jsonb_build_object('id', 'enr_asleep' || n, 'profile_id', 'prof_asleep' || n,
    'position', n, 'rings', 1, 'answered', 0, 'wake_at', null))).*
from enrollments e, generate_series(1, $1) n where e.id = $2
"""
ACTIONS = """
insert into actions
select (jsonb_populate_record(a, jsonb_build_object('id', 'act_asleep' || n, 'profile_id', 'prof_asleep' || n,
    'enrollment_id', 'enr_asleep' || n, 'seed', 'asleep' || n))).*
from actions a, generate_series(1, $1) n where a.enrollment_id = $2
"""
RUNG = "select count(*) from enrollments where rings > answered or wake_at <= service_now()"
ASKED = "select sum(answered) from enrollments"


@dataclass(frozen=True, slots=True)
class Watched:
    """What a process used before there were sleepers, when they slept, and at the end of the watch."""

    before: Usage
    asleep: Usage
    after: Usage

    def row(self, name: str, count: int, seconds: float) -> str:
        """A line of the table."""
        more = self.asleep.memory - self.before.memory
        return (
            f"  {name:<16} {self.before.memory:9.1f} {self.asleep.memory:9.1f} {1000 * more / count:9.2f}"
            f" {100 * (self.after.cpu - self.asleep.cpu) / seconds:9.2f}"
        )


async def histories(client: Client, ids: list[str]) -> int:
    """Events in all these workflows' histories so far."""
    told = await asyncio.gather(*(client.get_workflow_handle(one).describe() for one in ids))
    return sum(one.history_length for one in told)


async def fall_asleep(connection: "asyncpg.Connection[asyncpg.Record]", count: int, enrollment_id: str) -> float:
    """Copy the enrollment and wait until every copy's workflow has answered; seconds from the copy to the last one."""
    async with connection.transaction():
        await connection.execute(PEOPLE, count)
        await connection.execute(ENROLLMENTS, count, enrollment_id)
        await connection.execute(ACTIONS, count, enrollment_id)
    await connection.execute("analyze")
    began = time.perf_counter()
    while await connection.fetchval(RUNG):  # noqa: ASYNC110 - another process works on it
        await asyncio.sleep(0.5)
    return time.perf_counter() - began


async def ours(installation: Installation, client: Client, enrollment_id: str, count: int, seconds: int) -> None:
    """Measure the product's sleepers, and print."""
    pids = {name: installation.pid(name) for name in PROCESSES}
    connection = await asyncpg.connect(str(installation.facts["database_url"]).replace("+asyncpg", ""))
    before = {name: Usage.of(pid) for name, pid in pids.items()}
    took = await fall_asleep(connection, count, enrollment_id)
    await asyncio.sleep(5)
    sample = [f"enrollment/enr_asleep{n}" for n in range(1, count + 1, max(1, count // SAMPLE))]
    length, asked = await histories(client, sample), await connection.fetchval(ASKED)
    asleep = {name: Usage.of(pid) for name, pid in pids.items()}
    await asyncio.sleep(seconds)
    after = {name: Usage.of(pid) for name, pid in pids.items()}
    woken = await connection.fetchval(ASKED) - asked
    grown = await histories(client, sample) - length
    await connection.close()
    print(f"{count} open enrollments asleep; started by the sweep in {took:.0f} s, watched for {seconds} s")
    print(f"  {'':<16} {'MB before':>9} {'MB asleep':>9} {'kB each':>9} {'CPU %':>9}")
    for name in PROCESSES:
        print(Watched(before[name], asleep[name], after[name]).row(name, count, seconds))
    print(f"  wake-ups: {woken}; events added to {len(sample)} histories: {grown}", flush=True)


async def least(client: Client, temporal_pid: int, temporal: str, count: int, seconds: int) -> None:
    """Measure as many workflows of one timer, and print."""
    gate = asyncio.Semaphore(STARTS_AT_ONCE)

    async def start() -> str:
        async with gate:
            workflow_id = f"floor/{uuid4().hex}"
            await client.start_workflow("floor_life", LONG, id=workflow_id, task_queue=floor.QUEUE)
            return workflow_id

    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        ready = Path(folder) / "ready"
        with serving(*floor.COMMAND, temporal, str(ready), ready=ready) as pid:
            pids = {"worker": pid, "temporal": temporal_pid}
            before = {name: Usage.of(one) for name, one in pids.items()}
            began = time.perf_counter()
            last = (await asyncio.gather(*(start() for _ in range(count))))[-SAMPLE:]
            while await histories(client, last) < 5 * len(last):  # noqa: ASYNC110 - a start, a workflow task, a timer
                await asyncio.sleep(0.5)
            took = time.perf_counter() - began
            await asyncio.sleep(5)
            asleep = {name: Usage.of(one) for name, one in pids.items()}
            await asyncio.sleep(seconds)
            after = {name: Usage.of(one) for name, one in pids.items()}
    print(f"floor: {count} workflows of one timer; started in {took:.0f} s, watched for {seconds} s")
    for name in pids:
        print(Watched(before[name], asleep[name], after[name]).row(name, count, seconds))


async def measure(installation: Installation, enrollment_id: str, count: int, seconds: int) -> None:
    """Ours, then the floor's."""
    temporal = str(installation.facts["temporal_address"])
    client = await Client.connect(temporal, data_converter=pydantic_data_converter)
    await ours(installation, client, enrollment_id, count, seconds)
    await least(client, installation.pid("temporal"), temporal, count, seconds)


def waiting(outreach: Outreach) -> str:
    """An enrollment whose invite was sent; its id."""
    outreach.order("switches", natural=False)
    (person,) = outreach.strangers(1)
    sequence_id = outreach.sequence("Asleep", STEPS)
    (enrollment,) = outreach.enroll(sequence_id, [person])["enrollments"]
    outreach.advance("4d")
    shown = outreach.recruiter.get(f"/v1/outreach/enrollments/{enrollment['id']}")
    if shown["status"] != "waiting_for_accept":
        raise SystemExit(f"the enrollment is {shown['status']}")
    return str(enrollment["id"])


def report(count: int, seconds: int) -> None:
    """Measure and print."""
    with installed("--population", "300", "--virtual-time") as installation:
        enrollment_id = waiting(Outreach.begin(installation))
        asyncio.run(measure(installation, enrollment_id, count, seconds))
