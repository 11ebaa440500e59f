"""Receivers of webhooks on loopback, well and badly behaved, written directly on sockets."""

import asyncio
import contextlib
import socket
import ssl
import struct
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNK = b"x" * 65536
HUNDRED_MB = 100 * 1024 * 1024


@dataclass
class Received:
    """One received request; `at` is a time of the monotonic clock."""

    at: float
    head: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """A server: `received` are its requests, `sent` counts the body bytes that it could send."""

    port: int = 0
    received: list[Received] = field(default_factory=list)
    sent: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?a=1"

    async def was_asked(self) -> bool:
        """Return whether a request has arrived."""
        return bool(self.received)

    async def read(self, reader: asyncio.StreamReader) -> Received:
        head, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().rstrip().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        request = Received(time.monotonic(), head, headers, await reader.readexactly(int(headers["content-length"])))
        self.received.append(request)
        return request


Behaviour = Callable[[Receiver, asyncio.StreamWriter], Awaitable[None]]


def says(answer: bytes) -> Behaviour:
    """Return the behaviour of answering with these bytes."""

    async def behave(_: Receiver, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()

    return behave


def waits(seconds: float, answer: bytes = OK) -> Behaviour:
    """Return the behaviour of answering late."""

    async def behave(_: Receiver, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        writer.write(answer)
        await writer.drain()

    return behave


def drips(answer: bytes, seconds: float, *, head: bytes = b"") -> Behaviour:
    """Return the behaviour of sending the head at once and the rest a byte at a time."""

    async def behave(_: Receiver, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        for byte in answer:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(seconds)

    return behave


async def resets(_: Receiver, writer: asyncio.StreamWriter) -> None:
    """Reset the connection."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def floods(head: bytes) -> Behaviour:
    """Return the behaviour of sending 100 MB after this head, as long as the client reads."""

    async def behave(receiver: Receiver, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        for _ in range(HUNDRED_MB // len(CHUNK)):
            writer.write(CHUNK)
            await writer.drain()
            receiver.sent += len(CHUNK)

    return behave


@contextlib.asynccontextmanager
async def receiving(behave: Behaviour, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    """Run a receiver with this behaviour on a free port of 127.0.0.1."""
    receiver = Receiver()
    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await receiver.read(reader)
            await behave(receiver, writer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    async with server:
        yield receiver
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
