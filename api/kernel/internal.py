"""The internal address: `/health`, `/readyz` and `/metrics` of a process, only for the operator's network.

It is off unless `INTERNAL_ADDRESS` is set, and needs no key. The API and every worker serve it. Each connection gets
one answer; slow connections and those that send too much are closed.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from models.operate.metrics import CONTENT_TYPE, Metrics
from models.operate.readiness import OK, Readiness

REQUEST_SECONDS = 5.0
ANSWER_SECONDS = 15.0
LONGEST_REQUEST = 8192
CONNECTIONS = 128
HEADERS = [(b"cache-control", b"no-store"), (b"connection", b"close")]


class Connection(HttpToolsProtocol):
    """A connection with limits on its duration and its request, which uvicorn leaves to a proxy."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Accept the connection, or close it if the most allowed are open."""
        super().connection_made(transport)
        self._received = 0
        self._limit = self.loop.call_later(REQUEST_SECONDS, self._check_request)
        if len(self.connections) > CONNECTIONS:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the connection's place."""
        self._limit.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read data, up to the longest allowed request."""
        self._received += len(data)
        if self._received > LONGEST_REQUEST:
            self.transport.abort()
        else:
            super().data_received(data)

    def _check_request(self) -> None:
        if self.cycle is None:
            self.transport.abort()
        else:
            self._limit = self.loop.call_later(ANSWER_SECONDS, self.transport.abort)


@contextlib.asynccontextmanager
async def listening(address: str | None, readiness: Readiness, metrics: Metrics) -> AsyncIterator[int | None]:
    """Serve the pages at `host:port` within the block, and yield the port; null if there is no address.

    Raises `OSError` if the address is in use: a process that cannot be monitored does not start. uvicorn's protocol is
    used without its server, which would handle the process's signals and end the process.
    """
    if address is None:
        yield None
        return
    host, _, port = address.rpartition(":")
    config = Config(
        _pages(readiness, metrics),
        http=Connection,
        ws="none",
        lifespan="off",
        interface="asgi3",
        proxy_headers=False,
        log_config=None,
        access_log=False,
    )
    state = ServerState()
    state.default_headers = HEADERS
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(config=config, server_state=state, app_state={}), host.strip("[]"), int(port)
    )
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for connection in list(state.connections):
            connection.shutdown()


def _pages(readiness: Readiness, metrics: Metrics) -> Starlette:
    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(_: Request) -> Response:
        parts = await readiness.parts()
        if all(word == OK for word in parts.values()):
            return JSONResponse({"status": "ready", "parts": parts})
        return JSONResponse({"status": "not_ready", "parts": parts}, status_code=503)

    async def figures(_: Request) -> Response:
        return Response(await metrics.text(), media_type=CONTENT_TYPE)

    async def refused(_: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        return JSONResponse({}, status_code=status)

    pages = Starlette(
        routes=[Route("/health", health), Route("/readyz", ready), Route("/metrics", figures)],
        exception_handlers={HTTPException: refused},
    )
    pages.router.redirect_slashes = False
    return pages
