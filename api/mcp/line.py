"""The connection to a caller: whether the caller is still there, and whether the process may keep waiting."""

import asyncio
from collections.abc import Coroutine

from starlette.types import Message, Receive

STATE = "mcp.line"
GONE = "http.disconnect"
LONGEST_SECONDS = 55.0
"""The longest wait of one request, however many calls it holds: slightly more than one call may ask for."""


class Line:
    """One request's connection. One task listens to it, from the first wait until `close`."""

    def __init__(self, receive: Receive, stopping: asyncio.Event) -> None:
        self._receive = receive
        self._stopping = stopping
        self._until = asyncio.get_running_loop().time() + LONGEST_SECONDS
        self._watching: dict[str, asyncio.Task[object]] = {}

    async def rest(self, seconds: float) -> bool:
        """Sleep. Return false as soon as the wait must end: the caller hung up, the process stops, or time is up."""
        left = self._until - asyncio.get_running_loop().time()
        if self._stopping.is_set() or left <= 0:
            return False
        watching = {
            self._watch("gone", self._until_gone()),
            self._watch("stopping", self._stopping.wait()),
        }
        over, _ = await asyncio.wait(watching, timeout=min(seconds, left), return_when=asyncio.FIRST_COMPLETED)
        return not over

    async def gone(self) -> Message:
        """Wait until the connection has ended, and return the ASGI message that reports it."""
        await asyncio.wait({self._watch("gone", self._until_gone())})
        return {"type": GONE}

    def close(self) -> None:
        """Stop listening."""
        for task in self._watching.values():
            task.cancel()

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != GONE:
            pass

    def _watch(self, name: str, work: Coroutine[object, object, object]) -> asyncio.Task[object]:
        if name in self._watching:
            work.close()
        else:
            self._watching[name] = asyncio.create_task(work)
        return self._watching[name]
