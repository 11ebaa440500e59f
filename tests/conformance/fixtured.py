"""The api with the suite's fixtures, on loopback: `python -m tests.conformance.fixtured --port 8099`.

The official server suite sends no credentials, so requests without any get the key `CONFORMANCE_KEY`.
"""

import argparse
import os
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from api.__main__ import KEEP_ALIVE_SECONDS
from api.app import create_app
from tests.conformance.fixtures.server import create_fixtured_server


class LetIn:
    """Wraps an application and gives callers without a key a key."""

    def __init__(self, app: ASGIApp, api_key: str) -> None:
        self._app = app
        self._header = (b"authorization", f"Bearer {api_key}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, with the key if it has none."""
        if scope["type"] == "http" and not any(name == b"authorization" for name, _ in scope["headers"]):
            scope = {**scope, "headers": [*scope["headers"], self._header]}
        await self._app(scope, receive, send)


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.fixtured")
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    app: Any = LetIn(create_app(mcp_server=create_fixtured_server()), os.environ["CONFORMANCE_KEY"])
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=port,
        access_log=False,
        log_level="warning",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=2,
    )


if __name__ == "__main__":
    main()
