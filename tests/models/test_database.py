"""A process comes through a restart of the database without an error of its own."""

import asyncio

import asyncpg
import pytest
from sqlalchemy import text

from models.database import Database

OTHERS = """select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()"""


async def end_all_connections(url: str) -> None:
    """What a killed server does to its clients."""
    outside = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        await outside.fetch(OTHERS)
    finally:
        await outside.close()
    await asyncio.sleep(0.2)  # the driver notices


@pytest.mark.parametrize("way", ["reading", "transaction", "autocommit"])
async def test_idle_connections_that_were_cut_are_replaced_before_they_are_used(database_url: str, way: str) -> None:
    database = Database(database_url, pool_size=2)
    try:
        async with database.transaction() as one, database.transaction() as two:
            await asyncio.gather(one.execute(text("select 1")), two.execute(text("select 1")))
        await end_all_connections(database_url)
        for _ in range(2):
            async with getattr(database, way)() as session:
                assert (await session.execute(text("select 1"))).scalar_one() == 1
    finally:
        await database.close()
