"""The MCP address: hosts and origins, toolsets, the body, messages and batches, before the protocol server sees one."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from mcp_types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR
from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import Message, Receive, Scope, Send

from api.kernel import body
from api.kernel.middleware import entry_of, render_error
from api.kernel.routing import KeyedRoute
from api.mcp import toolsets
from api.mcp.calling import SteppingUp
from api.mcp.line import STATE, Line
from models.base.errors import InvalidRequest, ServiceError
from models.base.settings import Settings

VERSION = "2.0"
LONGEST_ID = 200
_ANSWERS = ("result", "error")


def check_message(message: JsonValue) -> dict[str, JsonValue]:
    """Return the message if it is a request, a notification or a response.

    Raises `InvalidRequest` naming the member that is wrong. A request whose id is neither a text nor a whole number
    would otherwise pass for a notification: accepted, and never executed.
    """
    if not isinstance(message, dict):
        raise InvalidRequest("A message is a JSON object.")
    if message.get("jsonrpc") != VERSION:
        raise InvalidRequest(f'jsonrpc: must be "{VERSION}".', field="jsonrpc")
    if "id" in message and not _is_id(message["id"], may_be_null="error" in message):
        raise InvalidRequest(f"id: must be a whole number or a text of at most {LONGEST_ID} characters.", field="id")
    if "method" not in message and not any(name in message for name in _ANSWERS):
        raise InvalidRequest("method: this field is required.", field="method")
    if not isinstance(message.get("method", ""), str):
        raise InvalidRequest("method: must be a text.", field="method")
    if not isinstance(message.get("params", {}), dict):
        raise InvalidRequest("params: must be an object.", field="params")
    return message


def wants_progress(message: dict[str, JsonValue]) -> bool:
    """Return whether the request asks for progress notifications."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and meta.get("progressToken") is not None


def _is_id(value: JsonValue, *, may_be_null: bool) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST_ID
    if value is None:
        return may_be_null
    return isinstance(value, int) and not isinstance(value, bool)


PATHS = ("/mcp", "/mcp/", "/api/mcp", "/api/mcp/")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MOST_MESSAGES = 50
"""Most messages in one batch."""
AT_ONCE = 4
"""Messages of a batch that are processed at the same time."""
JSON = "application/json"
TOO_LARGE = 413


class Endpoint:
    """The ASGI application behind every path of `PATHS`: `server` by HTTP. `running` holds it open; it runs once.

    Once `stopping` is set, no call is kept waiting for an event.
    """

    def __init__(self, settings: Settings, server: Server[Any], stopping: asyncio.Event) -> None:
        self._stopping = stopping
        self._security = TransportSecurityMiddleware(_allowed(settings))
        self._answering = StreamableHTTPSessionManager(app=server, json_response=True, stateless=True)
        self._streaming = StreamableHTTPSessionManager(app=server, json_response=False, stateless=True)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve requests until the context exits."""
        async with self._answering.run(), self._streaming.run():
            yield

    def routes(self) -> list[BaseRoute]:
        """Return the endpoint's routes. They refuse every method but POST: there is no stream that a GET could read."""
        return [KeyedRoute(path, endpoint=self, methods=["POST"], include_in_schema=False) for path in PATHS]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one POST: a message, or a batch of messages."""
        request = Request(scope, receive)
        try:
            await self._check(request)
            raw = await _read(request)
            value = _parsed(raw)
            batch = value if isinstance(value, list) else None
            message = _message(value) if batch is None else {}
        except RequestRefusal as refusal:
            await refusal.response(request)(scope, receive, send)
            return
        line = Line(receive, self._stopping)
        inner = {**scope, STATE: line, "headers": _typed(scope["headers"])}
        try:
            if batch is not None:
                await (await self._batch(batch, Request(inner, receive), line))(scope, receive, send)
                return
            streams = wants_progress(message) and takes_streams(request)
            manager = self._streaming if streams else self._answering
            telling = SteppingUp(send, entry_of(scope), request.app.state.audiences, request.url.path)
            await manager.handle_request(_readable(inner), _Replay(raw, line), telling)
        finally:
            line.close()

    async def _check(self, request: Request) -> None:
        """Check everything but the body."""
        if (refused := await self._security.validate_request(request, is_post=False)) is not None:
            told = bytes(refused.body).decode()
            raise RequestRefusal(InvalidRequest(f"{told}."), INVALID_REQUEST, status=refused.status_code)
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            raise RequestRefusal(InvalidRequest(f"The Content-Type must be {JSON}."), INVALID_REQUEST)
        try:
            toolsets.wanted(request.query_params.multi_items())
        except InvalidRequest as error:
            raise RequestRefusal(error, INVALID_PARAMS) from None

    async def _batch(self, messages: list[JsonValue], request: Request, line: Line) -> Response:
        """Return the answers to several messages in order; notifications have none. A batch counts as one request."""
        if not 1 <= len(messages) <= MOST_MESSAGES:
            error = InvalidRequest(f"A batch holds 1 to {MOST_MESSAGES} messages.")
            return RequestRefusal(error, INVALID_REQUEST).response(request)
        turn = asyncio.Semaphore(AT_ONCE)

        async def answered(message: JsonValue) -> bytes:
            async with turn:
                return await self._alone(message, request, line)

        answers = [found for found in await asyncio.gather(*map(answered, messages)) if found]
        if not answers:
            return Response(status_code=202)
        return Response(b"[" + b",".join(answers) + b"]", media_type=JSON)

    async def _alone(self, message: JsonValue, request: Request, line: Line) -> bytes:
        """Return the answer to one message of a batch; empty if it has none."""
        try:
            checked = _message(message)
        except RequestRefusal as refusal:
            return bytes(refusal.response(request).body)
        raw = json.dumps(checked, ensure_ascii=False).encode()
        scope = {**request.scope, "headers": _headers(request.scope, checked, raw)}
        gathered = _Gathered()
        await self._answering.handle_request(_readable(scope), _Replay(raw, line), gathered)
        return bytes(gathered.content)


@dataclass(eq=False)
class RequestRefusal(Exception):
    """Refuses a request before any of its messages is read; carries the JSON-RPC error number."""

    error: ServiceError
    code: int
    status: int | None = None

    def response(self, request: Request) -> Response:
        """Return the documented error body, wrapped in JSON-RPC."""
        rendered = render_error(self.error, request_id=entry_of(request.scope).request_id)
        told = {"code": self.code, "message": self.error.message, "data": json.loads(rendered.body)}
        content = json.dumps({"jsonrpc": "2.0", "id": None, "error": told}, ensure_ascii=False)
        return Response(content, status_code=self.status or rendered.status, media_type=JSON)


async def _read(request: Request) -> bytes:
    try:
        return await body.read_body(request)
    except InvalidRequest as error:
        raise RequestRefusal(error, INVALID_REQUEST, status=TOO_LARGE) from None


def _parsed(raw: bytes) -> JsonValue:
    try:
        return body.parse_body(raw)
    except InvalidRequest as error:
        raise RequestRefusal(error, PARSE_ERROR) from None


def _message(value: JsonValue) -> dict[str, JsonValue]:
    try:
        return check_message(value)
    except InvalidRequest as error:
        raise RequestRefusal(error, INVALID_REQUEST) from None


def takes_streams(request: Request) -> bool:
    """Return whether the client accepts a stream of events; one that accepts only JSON gets no progress."""
    return "text/event-stream" in request.headers.get("accept", "")


def _typed(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers with the checked content type in the only spelling that the protocol server accepts."""
    kept = [(name, value) for name, value in headers if name.lower() != b"content-type"]
    return [*kept, (b"content-type", JSON.encode())]


class _Replay:
    """Replays the body of a request that was already read, then passes on only the disconnect."""

    def __init__(self, raw: bytes, line: Line) -> None:
        self._raw: bytes | None = raw
        self._line = line

    async def __call__(self) -> Message:
        if self._raw is not None:
            raw, self._raw = self._raw, None
            return {"type": "http.request", "body": raw, "more_body": False}
        return await self._line.gone()


class _Gathered:
    """Collects a response's body."""

    def __init__(self) -> None:
        self.content = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.body":
            self.content += message.get("body", b"")


def _headers(scope: Scope, message: dict[str, JsonValue], raw: bytes) -> list[tuple[bytes, bytes]]:
    """Return a batch's headers for one of its messages, without those that name the method or the tool of the batch."""
    left_out = {b"content-length", b"mcp-method", b"mcp-name"}
    kept = [(name, value) for name, value in scope["headers"] if name.lower() not in left_out]
    return [*kept, (b"content-length", str(len(raw)).encode()), *_routing(message)]


def _routing(message: dict[str, JsonValue]) -> list[tuple[bytes, bytes]]:
    """Return the headers that repeat a message's method and tool, prompt or resource (required since 2026-07-28)."""
    params = message.get("params")
    told = params if isinstance(params, dict) else {}
    found = {b"mcp-method": message.get("method"), b"mcp-name": told.get("name", told.get("uri"))}
    return [(name, value.encode()) for name, value in found.items() if isinstance(value, str)]


def _readable(scope: Scope) -> Scope:
    """Return the request as the protocol server expects it: accepting both answer forms, no blanks around values.

    Clients may accept only JSON, or send no Accept header. Not every HTTP parser drops the blanks around a value.
    """
    kept = [(name, value.strip(b" \t")) for name, value in scope["headers"] if name.lower() != b"accept"]
    return {**scope, "headers": [*kept, (b"accept", b"application/json, text/event-stream")]}


def _allowed(settings: Settings) -> TransportSecuritySettings:
    """Return the host names of the service: that of `public_url`, the loopback names, and those the operator adds."""
    public = urlsplit(settings.public_url)
    names = [public.netloc, *settings.mcp_hosts]
    origins = [f"{public.scheme}://{public.netloc}", *settings.mcp_origins]
    for name in LOOPBACK:
        names += [name, f"{name}:*"]
        origins += [f"http://{name}", f"http://{name}:*"]
    return TransportSecuritySettings(allowed_hosts=names, allowed_origins=origins)
