"""Two upstream workers on the real Temporal server: the installation's limit and its fairness, through a kill."""

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from temporalio.client import ActivityHandle, Client
from temporalio.common import Priority, RetryPolicy

from models.base.database import Database
from models.base.tenants import all_tenants

pytestmark = pytest.mark.timeout(400)

WORKER = Path(__file__).with_name("slot_worker.py")
PROJECT = Path(__file__).parents[3]
SLOTS = 5
SECONDS = 0.15


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url, pool_size=0).within(all_tenants("tests"))
    async with database.engine.begin() as connection:
        await connection.execute(text("set local role none"))  # the service may make no table
        await connection.execute(
            text("create table calls (tenant text, number int, began timestamptz, ends timestamptz)")
        )
    yield database
    await database.close()


class Workers:
    """Worker processes on one queue, of which none is left when the test ends."""

    def __init__(self, *arguments: str) -> None:
        self._command = [sys.executable, str(WORKER), *arguments, str(SLOTS)]
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, *, linger: float = 0) -> subprocess.Popen[bytes]:
        """Start one; it stays so many seconds in each transaction on slots before it commits."""
        process = subprocess.Popen(
            [*self._command, str(linger)], cwd=PROJECT, env=os.environ | {"PYTHONPATH": str(PROJECT)}
        )
        self.running.append(process)
        return process

    def end(self) -> None:
        for process in self.running:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in self.running:
            process.wait(30)


@pytest.fixture
def queue() -> str:
    return f"upstream-{uuid.uuid4().hex}"


@pytest.fixture
def workers(
    database: Database, database_url: str, temporal_address: str, temporal_namespace: str, queue: str
) -> Iterator[Workers]:
    started = Workers(database_url, temporal_address, temporal_namespace, queue)
    yield started
    started.end()


async def ask(client: Client, queue: str, tenant: str, count: int) -> list[ActivityHandle[Any]]:
    return [
        await client.start_activity(
            "call",
            {"tenant": tenant, "number": number, "seconds": SECONDS},
            id=f"{queue}/{tenant}/{number}",
            task_queue=queue,
            start_to_close_timeout=timedelta(seconds=4),
            retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=200)),
            priority=Priority(fairness_key=tenant),
        )
        for number in range(count)
    ]


async def calls(database: Database) -> list[tuple[str, int, float, float]]:
    async with database.transaction() as session:
        found = await session.execute(
            text("select tenant, number, extract(epoch from began), extract(epoch from ends) from calls order by began")
        )
        return [(tenant, number, float(began), float(ends)) for tenant, number, began, ends in found]


async def until_called(database: Database, count: int) -> None:
    async with asyncio.timeout(200):
        while len(await calls(database)) < count:  # noqa: ASYNC110 - other processes make the calls
            await asyncio.sleep(0.05)


def most_at_once(made: list[tuple[str, int, float, float]]) -> int:
    return max(sum(b <= began < e for _, _, b, e in made) for _, _, began, _ in made)


async def test_two_workers_one_killed_never_exceed_the_limit_and_finish_everything(
    database: Database, workers: Workers, queue: str, temporal_address: str, temporal_namespace: str
) -> None:
    client = await Client.connect(temporal_address, namespace=temporal_namespace)
    victim, _ = workers.start(), workers.start()
    crowd = await ask(client, queue, "crowd", 60)
    await until_called(database, 10)
    single = await ask(client, queue, "single", 5)
    before = len(await calls(database))
    await until_called(database, 25)
    victim.kill()
    await asyncio.wait_for(asyncio.gather(*(handle.result() for handle in crowd + single)), 240)

    made = await calls(database)
    assert {(tenant, number) for tenant, number, *_ in made} == {
        *(("crowd", n) for n in range(60)),
        *(("single", n) for n in range(5)),
    }
    assert most_at_once(made) == SLOTS
    turns = [place for place, (tenant, *_) in enumerate(made) if tenant == "single"]
    assert max(turns) - before <= 5 * 2 + 2 * SLOTS


IN_TRANSACTION = text("""
select count(*) from pg_stat_activity a join pg_locks l using (pid)
 where a.datname = current_database() and a.state = 'idle in transaction' and l.mode = 'RowExclusiveLock'
   and l.relation = 'upstream_slots'::regclass
""")


async def freeze_in_mid_transaction(database: Database, process: subprocess.Popen[bytes]) -> None:
    """Stop it at a moment when it holds the lock of a slot."""
    async with asyncio.timeout(60):
        while True:
            process.send_signal(signal.SIGSTOP)
            await asyncio.sleep(0.02)  # what it has sent arrives
            async with database.transaction() as session:
                await session.execute(text("set local role none"))  # the service's role cannot see other sessions
                if await session.scalar(IN_TRANSACTION):
                    return
            process.send_signal(signal.SIGCONT)
            await asyncio.sleep(random.uniform(0.001, 0.02))


async def free_slots(database: Database) -> int:
    async with database.transaction() as session:
        return len((await session.execute(text("select slot from upstream_slots for update skip locked"))).all())


async def test_a_worker_frozen_with_the_lock_of_a_slot_does_not_block_others_for_long(
    database: Database, workers: Workers, queue: str, temporal_address: str, temporal_namespace: str
) -> None:
    client = await Client.connect(temporal_address, namespace=temporal_namespace)
    frozen = workers.start(linger=0.05)
    warm = await ask(client, queue, "warm", 3)
    await asyncio.wait_for(asyncio.gather(*(handle.result() for handle in warm)), 60)
    handles = await ask(client, queue, "crowd", 60)
    await freeze_in_mid_transaction(database, frozen)
    workers.start()
    await asyncio.wait_for(asyncio.gather(*(handle.result() for handle in handles)), 60)
    made = await calls(database)
    assert {number for tenant, number, *_ in made if tenant == "crowd"} == set(range(60))
    assert most_at_once(made) <= SLOTS
    async with asyncio.timeout(30):  # the living one holds a lock for a moment now and then
        while await free_slots(database) < SLOTS:  # noqa: ASYNC110 - another process gives them back
            await asyncio.sleep(0.05)
    frozen.send_signal(signal.SIGCONT)


async def test_a_worker_frozen_past_its_lease_makes_no_call_when_it_thaws(
    database: Database, workers: Workers, queue: str, temporal_address: str, temporal_namespace: str
) -> None:
    client = await Client.connect(temporal_address, namespace=temporal_namespace)
    frozen = workers.start()
    warm = await ask(client, queue, "warm", 3)
    await asyncio.wait_for(asyncio.gather(*(handle.result() for handle in warm)), 240)
    frozen.send_signal(signal.SIGSTOP)
    workers.start()
    handles = await ask(client, queue, "crowd", 30)
    await until_called(database, 20)
    frozen.send_signal(signal.SIGCONT)
    await asyncio.wait_for(asyncio.gather(*(handle.result() for handle in handles)), 240)

    made = await calls(database)
    assert {number for tenant, number, *_ in made if tenant == "crowd"} == set(range(30))
    assert most_at_once(made) <= SLOTS
