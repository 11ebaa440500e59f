"""Queries on an installation whose PostgreSQL may be down: each is repeated until the server is up."""

import asyncio

import asyncpg

from stack.virtual_time import EVERYWHERE

AGAIN_SECONDS = 0.1
LOST = (OSError, asyncpg.PostgresConnectionError, asyncpg.InterfaceError, asyncpg.CannotConnectNowError)
ENDING = (asyncpg.AdminShutdownError, asyncpg.CrashShutdownError, asyncpg.InternalClientError)
"""The last one: the server closed the connection while the driver was sending."""


class Watch:
    """One connection of one task, reopened when it is lost."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: asyncpg.Connection[asyncpg.Record] | None = None

    async def fetch(self, statement: str) -> list[asyncpg.Record]:
        """Return the rows as soon as the server answers."""
        while True:
            try:
                if self._connection is None:
                    self._connection = await asyncpg.connect(self._url, server_settings=EVERYWHERE)
                return list(await self._connection.fetch(statement))
            except (*LOST, *ENDING):
                await self.close()
                await asyncio.sleep(AGAIN_SECONDS)

    async def holds(self, statement: str) -> bool:
        """Return whether a statement with a single value is true."""
        ((found,),) = await self.fetch(statement)
        return bool(found)

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None
