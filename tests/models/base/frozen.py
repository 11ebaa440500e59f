"""A stand-in for a frozen server: the kernel accepts connections, and no answer ever comes."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def frozen_server() -> AsyncIterator[int]:
    """Yield the port of a listening socket whose connections are never accepted."""
    with socket.create_server(("127.0.0.1", 0), backlog=8) as listening:
        yield listening.getsockname()[1]
        await asyncio.sleep(0)
