"""A server as a frozen one is seen: the kernel takes connections, nobody ever speaks."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def frozen_server() -> AsyncIterator[int]:
    """The port of a listening socket that nobody accepts from."""
    with socket.create_server(("127.0.0.1", 0), backlog=8) as listening:
        yield listening.getsockname()[1]
        await asyncio.sleep(0)
