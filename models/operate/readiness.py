"""Readiness: whether the database, its migrations and Temporal answer, each checked on its own in bounded time."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import cache

import asyncpg
from alembic.script import ScriptDirectory

from models.migrations.__main__ import config

PART_SECONDS = 3.0
OK = "ok"

Probe = Callable[[], Awaitable[str]]
"""Returns `ok` or one word that says what is wrong; raises if the part does not answer."""


class Readiness:
    """Checks all parts at once. A part that hangs is given up after `PART_SECONDS`, and never checked twice at once."""

    def __init__(self, probes: Mapping[str, Probe]) -> None:
        self._probes = probes
        self._running: dict[str, asyncio.Task[str]] = {}

    async def parts(self) -> dict[str, str]:
        """Return one word for each part: `ok` or what is wrong."""
        return dict(zip(self._probes, await asyncio.gather(*map(self._ask, self._probes)), strict=True))

    async def _ask(self, part: str) -> str:
        before = self._running.get(part)
        task = before if before is not None and not before.done() else asyncio.ensure_future(self._probes[part]())
        self._running[part] = task
        done, _ = await asyncio.wait([task], timeout=PART_SECONDS)
        if not done:
            task.cancel()
            return "no_answer"
        if task.cancelled() or task.exception() is not None:
            return "unreachable"
        return task.result()


@cache
def newest() -> str:
    """Return the revision that this code needs."""
    head: str | None = ScriptDirectory.from_config(config("")).get_current_head()
    return head or ""


async def _one(url: str, statement: str) -> object:
    """Return one value, read over a separate connection, because the pool may be the fault."""
    connection = await asyncpg.connect(
        url.replace("+asyncpg", ""), timeout=PART_SECONDS, command_timeout=PART_SECONDS, statement_cache_size=0
    )
    try:
        return await connection.fetchval(statement)
    finally:
        connection.terminate()  # closing in the regular way would wait for a server that hangs


def database_probes(url: str) -> dict[str, Probe]:
    """Return the probes `database` (it answers) and `migrations` (it is at the revision that this code needs)."""

    async def answers() -> str:
        return OK if await _one(url, "select 1") == 1 else "wrong_answer"

    async def migrated() -> str:
        found = await _one(url, "select version_num from alembic_version")
        return OK if found == newest() else "not_at_head"

    return {"database": answers, "migrations": migrated}
