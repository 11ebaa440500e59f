"""The MCP address: hosts and origins, toolsets, the body, and batches, before the protocol server sees a message."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from mcp_types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR
from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import Message, Receive, Scope, Send

from api import body
from api.errors import render
from api.mcp import toolsets
from api.mcp.server import create_server
from api.middleware import entry_of
from api.paths import KeyedRoute
from models.errors import InvalidRequest, ServiceError
from models.settings import Settings

PATHS = ("/mcp", "/mcp/", "/api/mcp", "/api/mcp/")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MOST_MESSAGES = 50
"""In one batch."""
AT_ONCE = 4
"""Messages of a batch that are worked on at a time."""
ASKS_FOR_PROGRESS = b'"progressToken"'


class Endpoint:
    """The ASGI application behind every path of `PATHS`. `running` holds it open; it runs once."""

    def __init__(self, settings: Settings) -> None:
        server = create_server()
        self._security = TransportSecurityMiddleware(_allowed(settings))
        self._answering = StreamableHTTPSessionManager(app=server, json_response=True, stateless=True)
        self._streaming = StreamableHTTPSessionManager(app=server, json_response=False, stateless=True)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve requests until the context ends."""
        async with self._answering.run(), self._streaming.run():
            yield

    def routes(self) -> list[BaseRoute]:
        """The endpoint's routes; what is no POST is refused there: nothing is kept that a GET could listen to."""
        return [KeyedRoute(path, endpoint=self, methods=["POST"], include_in_schema=False) for path in PATHS]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one POST: a message, or a batch of them."""
        request = Request(scope, receive)
        if (refused := await self._security.validate_request(request, is_post=True)) is not None:
            await refused(scope, receive, send)
            return
        try:
            toolsets.wanted(request.query_params.multi_items())
        except InvalidRequest as error:
            await _problem(error, INVALID_PARAMS, request)(scope, receive, send)
            return
        try:
            raw = await body.read(request)
            value = body.parse(raw)
        except InvalidRequest as error:
            await _problem(error, PARSE_ERROR, request)(scope, receive, send)
            return
        if isinstance(value, list):
            await (await self._batch(value, request))(scope, receive, send)
            return
        streams = ASKS_FOR_PROGRESS in raw
        manager = self._streaming if streams else self._answering
        await manager.handle_request(_accepting(scope, streams=streams), _Replay(raw, receive), send)

    async def _batch(self, messages: list[JsonValue], request: Request) -> Response:
        """The answers to several messages, in their order; notifications have none. One request, one hit."""
        if not 1 <= len(messages) <= MOST_MESSAGES:
            error = InvalidRequest(f"A batch holds 1 to {MOST_MESSAGES} messages.")
            return _problem(error, INVALID_REQUEST, request)
        turn = asyncio.Semaphore(AT_ONCE)

        async def answered(message: JsonValue) -> bytes:
            async with turn:
                return await self._alone(message, request)

        answers = [found for found in await asyncio.gather(*map(answered, messages)) if found]
        if not answers:
            return Response(status_code=202)
        return Response(b"[" + b",".join(answers) + b"]", media_type="application/json")

    async def _alone(self, message: JsonValue, request: Request) -> bytes:
        """The answer to one message of a batch; empty when it has none."""
        raw = json.dumps(message, ensure_ascii=False).encode()
        scope = {**request.scope, "headers": _headers(request.scope, raw)}
        gathered = _Gathered()
        await self._answering.handle_request(_accepting(scope, streams=False), _Replay(raw, request.receive), gathered)
        return bytes(gathered.content)


class _Replay:
    """A request's body once more, and then what else comes of it: nothing but its end."""

    def __init__(self, raw: bytes, receive: Receive) -> None:
        self._raw: bytes | None = raw
        self._receive = receive

    async def __call__(self) -> Message:
        if self._raw is not None:
            raw, self._raw = self._raw, None
            return {"type": "http.request", "body": raw, "more_body": False}
        return await self._receive()


class _Gathered:
    """Takes a response's body."""

    def __init__(self) -> None:
        self.content = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.body":
            self.content += message.get("body", b"")


def _headers(scope: Scope, raw: bytes) -> list[tuple[bytes, bytes]]:
    """The headers of a batch for one of its messages. Those that name the method or the tool are of the whole."""
    left_out = {b"content-length", b"mcp-method", b"mcp-name"}
    kept = [(name, value) for name, value in scope["headers"] if name.lower() not in left_out]
    told = json.loads(raw)
    named = _routing(told) if isinstance(told, dict) else []
    return [*kept, (b"content-length", str(len(raw)).encode()), *named]


def _routing(message: dict[str, JsonValue]) -> list[tuple[bytes, bytes]]:
    """The headers that repeat, since 2026-07-28, which method and which tool, prompt or resource a message names."""
    params = message.get("params")
    told = params if isinstance(params, dict) else {}
    found = {b"mcp-method": message.get("method"), b"mcp-name": told.get("name", told.get("uri"))}
    return [(name, value.encode()) for name, value in found.items() if isinstance(value, str)]


def _accepting(scope: Scope, *, streams: bool) -> Scope:
    """The request as one that takes what it is answered with: clients that ask for JSON alone, or for nothing."""
    accept = b"application/json, text/event-stream" if streams else b"application/json"
    kept = [(name, value) for name, value in scope["headers"] if name.lower() != b"accept"]
    return {**scope, "headers": [*kept, (b"accept", accept)]}


def _problem(error: ServiceError, code: int, request: Request) -> Response:
    """A refusal that belongs to no message: JSON-RPC around the documented body."""
    rendered = render(error, request_id=entry_of(request.scope).request_id)
    told = {"code": code, "message": error.message, "data": json.loads(rendered.body)}
    content = json.dumps({"jsonrpc": "2.0", "id": None, "error": told}, ensure_ascii=False)
    return Response(content, status_code=rendered.status, media_type="application/json")


def _allowed(settings: Settings) -> TransportSecuritySettings:
    """Names that the service has: that of `public_url`, loopback ones, and those the operator adds."""
    public = urlsplit(settings.public_url)
    names = [public.netloc, *settings.mcp_hosts]
    origins = [f"{public.scheme}://{public.netloc}", *settings.mcp_origins]
    for name in LOOPBACK:
        names += [name, f"{name}:*"]
        origins += [f"http://{name}", f"http://{name}:*"]
    return TransportSecuritySettings(allowed_hosts=names, allowed_origins=origins)
