"""Broken answers of a provider: connections that are cut, answers that hang, a gateway's error page."""

import asyncio
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

HANG_SECONDS = 120.0
GATEWAY_PAGE = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"


class ConnectionCut(Exception):
    """Makes the server close the connection in the middle of an answer."""


class LostConnection(Response):
    """Announces a body and sends none, so that the server cuts the connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Announce more bytes than are sent."""
        headers = [(b"content-type", b"application/json"), (b"content-length", b"4096")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"{", "more_body": True})
        raise ConnectionCut


async def until_gone(request: Request, seconds: float) -> None:
    """Wait until the caller disconnects, but not longer than the limit."""

    async def hung_up() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    with suppress(TimeoutError):
        await asyncio.wait_for(hung_up(), seconds)
