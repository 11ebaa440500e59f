"""A deadlock is found in the log of the server on which it happened."""

import asyncio

import asyncpg

from models.base.tenants import UNHELD
from stack.postgres import Postgres
from tests.chaos.deadlocks import deadlocks

PAIR = (8_061, 8_062)
LOCK = "select pg_advisory_xact_lock($1)"


async def test_a_deadlock_is_found_in_the_servers_log(postgres_server: Postgres, database_url: str) -> None:
    log = postgres_server.child.log
    before = len(deadlocks(log.read_text(errors="replace")))
    url = database_url.replace("+asyncpg", "")
    one, other = [await asyncpg.connect(url, server_settings=UNHELD) for _ in PAIR]
    try:
        for session, lock in zip((one, other), PAIR, strict=True):
            await session.execute("begin")
            await session.execute(LOCK, lock)
        crossed = [session.execute(LOCK, lock) for session, lock in zip((one, other), reversed(PAIR), strict=True)]
        ends = await asyncio.gather(*crossed, return_exceptions=True)
    finally:
        await one.close()
        await other.close()
    assert any(isinstance(end, asyncpg.DeadlockDetectedError) for end in ends), ends
    assert len(deadlocks(log.read_text(errors="replace"))) > before


def test_other_errors_are_no_deadlocks() -> None:
    assert deadlocks("2026-11-28 ERROR:  canceling statement due to user request\n2026-11-28 LOG:  ready") == []
