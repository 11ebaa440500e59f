"""The line to a caller: whether anybody still waits for the answer, and whether the process may still take its time."""

import asyncio
from collections.abc import Coroutine

from starlette.types import Message, Receive

STATE = "mcp.line"
GONE = "http.disconnect"
LONGEST_SECONDS = 55.0
"""All that a request may wait for things to happen, however many calls are in it: a little more than one may ask."""


class Line:
    """One request's connection. It is listened to once, from when somebody first asks, until `close`."""

    def __init__(self, receive: Receive, stopping: asyncio.Event) -> None:
        self._receive = receive
        self._stopping = stopping
        self._until = asyncio.get_running_loop().time() + LONGEST_SECONDS
        self._watching: dict[str, asyncio.Task[object]] = {}

    async def rest(self, seconds: float) -> bool:
        """Let time pass; false as soon as there is no more waiting: hung up, told to stop, or for too long already."""
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
        """The end of the connection, as ASGI tells it, once it has come."""
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
