"""A worker on an upstream queue in a separate process, for tests that kill or freeze it.

`python slot_worker.py DATABASE_URL TEMPORAL_ADDRESS NAMESPACE TASK_QUEUE SLOTS LINGER`. A call records when it began
and when the provider will have finished it, even if this process dies meanwhile. Transactions on slots stay open for
LINGER seconds.
"""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

from activities.upstream.slots import UpstreamSlots, upstream_tuner
from models.base import database as base_database
from models.base.database import Database
from models.base.tenants import all_tenants

LEASE_SECONDS = 1.5
RENEW_SECONDS = 0.4
IDLE_TIMEOUT = "3s"  # instead of fifteen seconds, to keep the test short
LIMIT_SECONDS = -2.0  # with the grace of five: a call's lease ends three seconds after its start


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tenant, which takes the provider this many seconds."""

    tenant: str
    number: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Calls:
    """The activity that makes calls."""

    database: Database
    slots: UpstreamSlots

    @activity.defn(name="call")
    async def call(self, ask: Call) -> None:
        """Make one call under a slot."""
        async with self.slots.calling(limit_seconds=LIMIT_SECONDS) as slot:
            if not await slot.still_ours():
                raise RuntimeError("slot lost")
            async with self.database.transaction() as session:
                await session.execute(
                    text(
                        "insert into calls (tenant, number, began, ends)"
                        " values (:tenant, :number, clock_timestamp(),"
                        " clock_timestamp() + make_interval(secs => :seconds))"
                    ),
                    {"tenant": ask.tenant, "number": ask.number, "seconds": ask.seconds},
                )
            await asyncio.sleep(ask.seconds)


async def main() -> None:
    """Work until SIGTERM."""
    database_url, address, namespace, queue, slots, linger = sys.argv[1:]
    base_database.IDLE_TIMEOUT = IDLE_TIMEOUT
    database = Database(database_url, pool_size=8).within(all_tenants("tests"))

    @asynccontextmanager
    async def lingering() -> AsyncIterator[AsyncSession]:
        async with database.transaction() as session:
            yield session
            await asyncio.sleep(float(linger))

    upstream = UpstreamSlots(lingering, slots=int(slots), lease_seconds=LEASE_SECONDS, renew_seconds=RENEW_SECONDS)
    await upstream.open()
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    client = await Client.connect(address, namespace=namespace)
    async with Worker(
        client, task_queue=queue, activities=[Calls(database, upstream).call], tuner=upstream_tuner(upstream)
    ):
        await stopped.wait()
    await upstream.close()
    await database.close()


if __name__ == "__main__":
    asyncio.run(main())
