"""Readiness says of each part how it is, within bounded time, also of one that hangs."""

import asyncio
import contextlib

import pytest

from models.base.database import Database
from models.operate import readiness
from models.operate.readiness import Readiness, database_probes
from tests.models.base.frozen import frozen_server

pytestmark = pytest.mark.timeout(60)


async def well() -> str:
    return "ok"


async def test_a_migrated_database_is_ready_and_an_older_one_is_not(database_url: str) -> None:
    ready = Readiness(database_probes(database_url))
    assert await ready.parts() == {"database": "ok", "migrations": "ok"}
    database = Database(database_url, pool_size=0)
    async with database.transaction() as session:
        await session.connection(execution_options={})
        await (await session.connection()).exec_driver_sql("update alembic_version set version_num = '0001'")
    await database.close()
    assert await ready.parts() == {"database": "ok", "migrations": "not_at_head"}


async def test_a_part_that_is_gone_or_hangs_is_named_and_the_others_are_still_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readiness, "PART_SECONDS", 0.2)
    begun = 0
    ends_at = asyncio.get_running_loop().time() + 1.5

    async def hangs() -> str:
        nonlocal begun
        begun += 1
        while True:  # not even to be cancelled
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(1)
            if asyncio.get_running_loop().time() > ends_at:
                return "ok"

    gone = database_probes("postgresql+asyncpg://nobody@127.0.0.1:1/none")
    ready = Readiness({"temporal": well, "hanging": hangs, "database": gone["database"]})
    wanted = {"temporal": "ok", "hanging": "no_answer", "database": "unreachable"}
    assert await ready.parts() == wanted
    assert await ready.parts() == wanted
    assert begun == 1


async def test_a_server_that_takes_connections_and_says_nothing_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "PART_SECONDS", 0.3)
    async with frozen_server() as port:
        ready = Readiness(database_probes(f"postgresql+asyncpg://nobody@127.0.0.1:{port}/none"))
        parts = await ready.parts()
    assert set(parts.values()) <= {"no_answer", "unreachable"}
