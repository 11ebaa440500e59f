"""The internal address: a small HTTP listener of every process for `/health`, `/readyz` and `/metrics`.

It is off unless `INTERNAL_ADDRESS` names where it listens, and is meant for the operator's network alone: it takes no
key. One GET a connection; a request that is slow, long or something else is refused.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass

import structlog

log = structlog.get_logger(__name__)

REQUEST_SECONDS = 5.0
ANSWER_SECONDS = 15.0
LONGEST_HEAD = 8192
AT_ONCE = 16
REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 503: "Service Unavailable"}


@dataclass(frozen=True, slots=True)
class Answer:
    """A response."""

    status: int
    body: bytes
    content_type: str = "application/json"


Page = Callable[[], Awaitable[Answer]]


@contextlib.asynccontextmanager
async def listening(address: str | None, pages: Mapping[str, Page]) -> AsyncIterator[int | None]:
    """Serve the pages at `host:port` within the block; gives the port. Without an address nothing listens.

    Raises `OSError` when the address is taken: a process that cannot be watched does not start.
    """
    if address is None:
        yield None
        return
    host, _, port = address.rpartition(":")
    turns = asyncio.Semaphore(AT_ONCE)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with turns:
            await _serve(pages, reader, writer)

    server = await asyncio.start_server(serve, host.strip("[]"), int(port), limit=LONGEST_HEAD)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def _serve(pages: Mapping[str, Page], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        async with asyncio.timeout(REQUEST_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
        async with asyncio.timeout(ANSWER_SECONDS):
            answer = await _answer(pages, head)
            writer.write(_raw(answer))
            await writer.drain()
    except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError) as error:
        log.debug("internal.request", error=type(error).__name__)
    finally:
        writer.close()


async def _answer(pages: Mapping[str, Page], head: bytes) -> Answer:
    words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    if len(words) != 3:  # noqa: PLR2004 - method, target, version
        return Answer(400, b"{}")
    method, target, _ = words
    page = pages.get(target.split("?", 1)[0])
    if page is None:
        return Answer(404, b"{}")
    return await page() if method == "GET" else Answer(405, b"{}")


def _raw(answer: Answer) -> bytes:
    head = (
        f"HTTP/1.1 {answer.status} {REASONS[answer.status]}\r\n"
        f"Content-Type: {answer.content_type}\r\nContent-Length: {len(answer.body)}\r\n"
        "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + answer.body
