"""`python -m api`: the API served by uvicorn, with the switches that the service relies on.

The peer of a connection is what the rate limit of networks counts, so uvicorn must not replace it by what a header
claims (TRUSTED_PROXIES names whose claims count), and its own access log would write query strings.
"""

import argparse
import asyncio
import signal
import socket
from types import FrameType
from typing import NoReturn

import uvicorn
from sse_starlette.sse import AppStatus

from api.app import create_app

KEEP_ALIVE_SECONDS = 75
"""Longer than clients and proxies keep an idle connection, so that the server never closes one that they reuse."""


class Server(uvicorn.Server):
    """uvicorn, which tells long polls that the process is about to stop."""

    def __init__(self, config: uvicorn.Config, stopping: asyncio.Event) -> None:
        super().__init__(config)
        self._stopping = stopping

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer long polls at once, then let running requests end."""
        self._stopping.set()
        await super().shutdown(sockets)


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    """End with exit code 0, since a requested stop is no failure: uvicorn raises the signal again when it is done."""
    raise SystemExit(0)


def main() -> None:
    """Read the command line and serve until told to stop; SIGTERM ends it with exit code 0."""
    signal.signal(signal.SIGTERM, _end)
    parser = argparse.ArgumentParser(prog="python -m api", description="Serve the REST API.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--drain-seconds", type=int, default=10, help="how long running requests may take on a stop")
    asked = parser.parse_args()
    # Otherwise sse-starlette cuts streams whose answers are about to be sent.
    AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call] # the library has no annotations
    app = create_app()
    config = uvicorn.Config(
        app,
        host=asked.host,
        port=asked.port,
        proxy_headers=False,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=asked.drain_seconds,
        log_level="warning",
    )
    Server(config, app.state.stopping).run()


if __name__ == "__main__":
    main()
