"""A process comes through a restart of the database without an error of its own, and keeps no locks when it freezes."""

import asyncio

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from models.base import database as base_database
from models.base.database import Database
from models.base.tenants import all_tenants

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
    database = Database(database_url, pool_size=2).within(all_tenants("tests"))
    try:
        async with database.transaction() as one, database.transaction() as two:
            await asyncio.gather(one.execute(text("select 1")), two.execute(text("select 1")))
        await end_all_connections(database_url)
        for _ in range(2):
            async with getattr(database, way)() as session:
                assert (await session.execute(text("select 1"))).scalar_one() == 1
    finally:
        await database.close()


async def test_a_transaction_left_idle_is_ended_and_its_locks_are_free(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base_database, "IDLE_TIMEOUT", "300ms")
    database = Database(database_url, pool_size=2).within(all_tenants("tests"))
    lock = text("select shift from service_clock for update nowait")

    async def freeze() -> None:
        async with database.transaction() as frozen:
            await frozen.execute(text("update service_clock set shift = interval '1 hour'"))
            await asyncio.sleep(1)
            async with database.transaction() as other:
                assert (await other.execute(lock)).scalar_one().total_seconds() == 0

    try:
        with pytest.raises(DBAPIError):
            await freeze()
        async with database.transaction() as one, database.transaction() as two:
            for session in (one, two):
                assert (await session.execute(text("select 1"))).scalar_one() == 1
    finally:
        await database.close()


@pytest.mark.usefixtures("database_limits")
async def test_both_ways_to_the_database_have_the_limit(database_url: str) -> None:
    database = Database(database_url, pool_size=2).within(all_tenants("tests"))
    limit = "select current_setting('idle_in_transaction_session_timeout') as value"
    try:
        async with database.transaction() as session:
            assert (await session.execute(text(limit))).scalar_one() == "15s"
        shown = await database.statements.one(Setting, limit)
        assert shown is not None
        assert shown.value == "15s"
    finally:
        await database.close()


class Setting:
    """A setting of the session."""

    value: str
