"""`python -m benchmarks.webhooks`: deliveries compared with one-activity workflows on the same server, in one run.

The floor starts and completes workflows of one activity that does nothing, as many at once as there are deliveries, in
a worker configured like ours. Our side commits events, each in its own transaction, to endpoints on loopback; the
dispatcher, the workflows and the attempts are the product's, in one worker process. Prints deliveries per second and
their ratio to the floor (aim: at least 0.7), and, for single events, the time from the commit to the first byte at the
receiver.
"""

import argparse
import asyncio
import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from sqlalchemy import text
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from benchmarks import floor
from benchmarks.processes import serving
from models.access.tables import Workspace
from models.base.database import Database, service_time
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.tenants import Tenant, all_tenants
from models.events.rules.catalogue import CreditsLow, EventType
from models.events.rules.deliveries import hint, new_secret
from models.events.store import deliveries, events
from models.events.tables import WebhookEndpoint
from stack.children import PROJECT
from stack.ports import Ports
from stack.postgres import Postgres
from stack.temporal import Temporal

AIM = 0.7
SECRET_KEY = "a secret of the benchmark, long enough"  # noqa: S105 - invented
LOW = CreditsLow(grant_id="grt_1", balance_credits=1, threshold_credits=2)
COUNT = 300
WARM = 30
STARTS_AT_ONCE = 10
"""Concurrent starts, as in the dispatcher."""
PAUSE_SECONDS = 0.2


@dataclass
class Receiver:
    """Answers 200 to every POST, and records the event id and the time of the first byte."""

    arrivals: asyncio.Queue[tuple[str, float]] = field(default_factory=asyncio.Queue)
    port: int = 0

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Listen on a free loopback port."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=512)
        self.port = server.sockets[0].getsockname()[1]
        async with server:
            yield

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            first = await reader.readexactly(1)
            at = time.perf_counter()
            head = (first + await reader.readuntil(b"\r\n\r\n")).decode().lower()
            lines = dict(line.split(": ", 1) for line in head.rstrip().split("\r\n")[1:])
            await reader.readexactly(int(lines["content-length"]))
            self.arrivals.put_nowait((lines["x-service-event-id"], at))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
        writer.close()


@contextlib.contextmanager
def servers() -> Iterator[tuple[Postgres, Temporal, Path]]:
    """Start a migrated, durable PostgreSQL server and a Temporal server, and yield both."""
    home = Path(tempfile.mkdtemp(prefix="bench-webhooks-"))
    home.chmod(0o755)
    ports = Ports()
    database = Postgres(home=home / "postgres", log=home / "postgres.log")
    temporal = Temporal(
        database=home / "temporal.db",
        log=home / "temporal.log",
        port=ports.take(17533),
        ui_port=ports.take(18533),
        metrics_port=ports.take(19533),
    )
    try:
        database.start()
        database.ensure_database("service")
        temporal.start()
        environment = os.environ | {"DATABASE_URL": database.url()}
        subprocess.run([sys.executable, "-m", "models.migrations", "upgrade"], cwd=PROJECT, check=True, env=environment)
        register = [sys.executable, "-m", "stack.register", "--address", temporal.address]
        subprocess.run([*register, "--namespace", "default"], cwd=PROJECT, check=True, capture_output=True)
        yield database, temporal, home
    finally:
        temporal.stop()
        database.stop()
        shutil.rmtree(home, ignore_errors=True)


async def join(database: Database, receiver: Receiver, endpoints: int) -> Tenant:
    """Create an account whose events all go to this number of endpoints, and return its tenant."""
    secret = new_secret(os.urandom(32))
    sealed = Vault(SECRET_KEY).seal(deliveries.SECRET_PURPOSE, secret.encode())
    async with database.transaction() as session:
        now = await service_time(session)
        workspace_id = new_id("ws", now)
        address = f"{workspace_id}@example.com"
        session.add(Workspace(id=workspace_id, name="B", email=address, email_key=address, created_at=now))
        await session.flush()
        for _ in range(endpoints):
            session.add(
                WebhookEndpoint(
                    id=new_id("whe", now),
                    workspace_id=workspace_id,
                    url=f"http://127.0.0.1:{receiver.port}/hook",
                    events=["*"],
                    secret=sealed,
                    secret_hint=hint(secret),
                    created_at=now,
                )
            )
    return Tenant(workspace_id)


async def emit(database: Database, tenant: Tenant) -> tuple[str, float]:
    """Commit one event; return its id and the time when the commit returned."""
    async with database.transaction() as session:
        event_id = events.emit(session, tenant, EventType.CREDITS_LOW, LOW, now=await service_time(session))
    return event_id, time.perf_counter()


async def floor_rate(client: Client, count: int) -> float:
    """Return one-activity workflows per second, from the first start to the last end."""
    gate = asyncio.Semaphore(STARTS_AT_ONCE)

    async def one() -> None:
        async with gate:
            handle = await client.start_workflow("floor", id=f"floor/{uuid4().hex}", task_queue=floor.QUEUE)
        await handle.result()

    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(count)))
    return count / (time.perf_counter() - began)


async def our_rate(database: Database, receiver: Receiver, *, accounts: int, endpoints: int, events_each: int) -> float:
    """Return deliveries per second, from the first commit until every row is delivered."""
    tenants = [await join(database, receiver, endpoints) for _ in range(accounts)]
    count = accounts * endpoints * events_each
    began = time.perf_counter()
    for _ in range(events_each):
        await asyncio.gather(*(emit(database, tenant) for tenant in tenants))
    delivered = text("select count(*) from deliveries where workspace_id = any(:ids) and status = 'delivered'")
    ids = [tenant.workspace_id for tenant in tenants]
    while True:
        async with database.transaction() as session:
            done = await session.scalar(delivered, {"ids": ids})
        if done == count:
            return count / (time.perf_counter() - began)
        await asyncio.sleep(0.02)


async def latencies(database: Database, receiver: Receiver, count: int) -> list[float]:
    """Return the milliseconds from the commit of each single event to the first byte at the receiver."""
    tenant = await join(database, receiver, 1)
    found: list[float] = []
    for _ in range(count):
        while not receiver.arrivals.empty():
            receiver.arrivals.get_nowait()
        event_id, committed = await emit(database, tenant)
        arrived, at = await receiver.arrivals.get()
        assert arrived == event_id
        found.append((at - committed) * 1000)
        await asyncio.sleep(PAUSE_SECONDS)
    return found


async def measure(server: Postgres, temporal: Temporal, home: Path, *, rounds: int, singles: int) -> None:
    """Measure floor and product in turn, then print the table."""
    client = await Client.connect(temporal.address, data_converter=pydantic_data_converter)
    database = Database(server.url(), pool_size=8).within(all_tenants("a benchmark"))
    receiver = Receiver()
    environment = os.environ | {
        "DATABASE_URL": server.url(),
        "TEMPORAL_ADDRESS": temporal.address,
        "SECRET_KEY": SECRET_KEY,
        "WEBHOOK_LOOPBACK": "true",
        "LOG_LEVEL": "ERROR",
    }
    ready = home / "ready"
    ours = ("worker.py", "--queues", "service,webhooks", "--ready-file", str(ready))
    floors = (*floor.COMMAND, temporal.address, str(ready))
    least, many, one = [], [], []
    async with receiver.open():
        for turn in range(rounds + 1):
            with serving(*floors, environment=environment, ready=ready):
                await floor_rate(client, WARM)
                bare = await floor_rate(client, COUNT)
            with serving(*ours, environment=environment, ready=ready):
                await our_rate(database, receiver, accounts=2, endpoints=2, events_each=5)
                spread = await our_rate(database, receiver, accounts=15, endpoints=2, events_each=10)
                narrow = await our_rate(database, receiver, accounts=1, endpoints=1, events_each=COUNT // 2)
                if turn == rounds:
                    single = sorted(await latencies(database, receiver, singles))
            print(f"  floor {bare:6.1f}/s   30 endpoints {spread:6.1f}/s   one endpoint {narrow:6.1f}/s", flush=True)
            if turn > 0:  # the first round is a warm-up
                least.append(bare)
                many.append(spread)
                one.append(narrow)
    await database.close()
    ratio = statistics.median(many) / statistics.median(least)
    print(f"{COUNT} deliveries, median of {rounds} rounds")
    print(f"  floor: one-activity workflows   {statistics.median(least):7.1f} a second")
    print(f"  to 30 endpoints                 {statistics.median(many):7.1f} a second, ratio {ratio:.2f}, aim {AIM}")
    print(f"  to one endpoint, ten in flight  {statistics.median(one):7.1f} a second")
    p50, p99 = single[len(single) // 2], single[int(len(single) * 0.99)]
    print(f"  from commit to first byte, {len(single)} singly: p50 {p50:.0f} ms, p99 {p99:.0f} ms")


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.webhooks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--singles", type=int, default=100)
    asked = parser.parse_args()
    with servers() as (server, temporal, home):
        asyncio.run(measure(server, temporal, home, rounds=asked.rounds, singles=asked.singles))


if __name__ == "__main__":
    main()
