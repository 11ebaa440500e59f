"""The middleware around everything: admission, headers, access log, and the rendering of every error."""

import json
import re
import secrets
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog
from opentelemetry.trace import INVALID_SPAN, Span, SpanKind
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars, bound_contextvars, unbind_contextvars

from api.kernel import auth
from api.kernel.auth import Audiences
from api.kernel.body import VERSION_HEADER, requested_version
from models.access.rules.keys import CURRENT_VERSION, Caller
from models.access.rules.keys import Scope as Permission
from models.access.store import keys
from models.access.store.keys import Admission
from models.base.database import Database, constraint, sqlstate, unreachable
from models.base.errors import DatabaseUnavailable, InternalError, MethodNotAllowed, ServiceError, Unauthorized
from models.base.tenants import Tenant
from models.operate import metrics, traces
from models.operate.traces import Fact

TOP_LEVEL = ("required_credits", "balance_credits")
"""Details of `insufficient_credits` that are repeated beside `error`."""


@dataclass(frozen=True, slots=True)
class RenderedError:
    """An error as a response."""

    status: int
    headers: dict[str, str]
    body: bytes


def render_error(error: ServiceError, *, request_id: str) -> RenderedError:
    """Return the documented body with the error's headers."""
    told: dict[str, object] = {"code": error.code, "message": error.message, "request_id": request_id}
    if error.details:
        told["details"] = error.details
    if error.fix:
        told["fix"] = error.fix
    told["docs"] = f"/docs#error-{error.code}"
    body: dict[str, object] = {"error": told}
    body |= {name: error.details[name] for name in TOP_LEVEL if name in error.details}
    return RenderedError(error.status, _headers(error), json.dumps(body, ensure_ascii=False).encode())


def _headers(error: ServiceError) -> dict[str, str]:
    headers = {"content-type": "application/json"}
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = ", ".join(error.allow)
    if isinstance(error, Unauthorized):
        headers["WWW-Authenticate"] = error.challenge
    return headers


# Defects in the log, without personal data.


ROOT = Path(__file__).parents[2]


def describe_exception(error: BaseException) -> list[str]:
    """Return type and place of an exception and its causes, without messages, which can hold personal data."""
    lines: list[str] = []
    current: BaseException | None = error
    while current is not None:
        lines.append(type(current).__qualname__)
        lines += [f"{_place(frame.filename)}:{frame.lineno} {frame.name}" for frame in _frames(current)]
        current = current.__cause__ or current.__context__
    return lines


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Return our own frames, and the frame that raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame in frames[:-1] if _is_ours(frame.filename)] + frames[-1:]


def _is_ours(filename: str) -> bool:
    path = Path(filename)
    return path.is_relative_to(ROOT) and "site-packages" not in path.parts


def _place(filename: str) -> str:
    return str(Path(filename).relative_to(ROOT)) if _is_ours(filename) else Path(filename).name


# The middleware.


REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
HEALTH = "/health"
CALLBACKS = "/callbacks/"
"""Paths of provider callbacks, which are signed: they need no key and are not counted."""
STATE = "service.entry"
WORKSPACE = "workspace_id"
FAULT = 500
HUNG_UP = 499
"""Status in metrics and log if the caller disconnected before its body was read; no answer is sent."""

log = structlog.get_logger()


@dataclass(slots=True)
class RequestEntry:
    """What the middleware knows about one request; routes find it in the scope."""

    request_id: str
    headers: Mapping[str, str]
    version: str = CURRENT_VERSION
    admission: Admission | None = None
    tenant: Tenant | None = None
    network: str = ""
    extra: dict[str, str] = field(default_factory=dict)
    lacking: Permission | None = None
    """The permission that the access token lacks."""
    status: int = 500
    route: str | None = None
    """The template of the path; null before routing."""
    started: bool = False

    @property
    def caller(self) -> Caller | None:
        """The calling key."""
        return self.admission.caller if self.admission else None


class Edge:
    """Pure ASGI middleware. `is_public(path)` returns whether a path is served without a key.

    `audiences` knows which paths accept access tokens, and how to get one.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        database: Database,
        networks: auth.Networks,
        limit: int,
        is_public: Callable[[str], bool],
        audiences: Audiences,
    ) -> None:
        self._app = app
        self._database = database
        self._networks = networks
        self._limit = limit
        self._is_public = is_public
        self._audiences = audiences

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Admit, serve and log one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = auth.header_map(scope["headers"])
        entry = RequestEntry(_request_id(headers.get("x-request-id")), headers)
        with bound_contextvars(request_id=entry.request_id), _traced(scope, entry) as span:
            try:
                await self._serve(scope, receive, send, entry)
            finally:
                unbind_contextvars(WORKSPACE)
                span.update_name(f"{metrics.known_method(scope['method'])} {entry.route or metrics.UNROUTED}")
                traces.set_attribute(span, Fact.ROUTE, entry.route)
                traces.set_attribute(span, Fact.STATUS, entry.status)
                traces.set_attribute(span, Fact.WORKSPACE, entry.caller.workspace_id if entry.caller else None)
                if entry.status >= FAULT:
                    traces.mark_failed(span, str(entry.status))

    async def _serve(self, scope: Scope, receive: Receive, send: Send, entry: RequestEntry) -> None:
        began = time.perf_counter()
        answer = _Answer(entry, send, without_body=scope["method"] == "HEAD")
        inner: Scope = {**scope, STATE: entry}
        if scope["method"] == "HEAD":
            inner["method"] = "GET"
        try:
            await self._enter(scope, entry)
            await self._app(inner, receive, answer)
        except ServiceError as error:
            await _refuse(error, entry, answer)
        except ClientDisconnect:
            if not entry.started:
                entry.status = HUNG_UP
        except Exception as error:
            if unreachable(error) and not entry.started:
                log.warning("database.unreachable", error=type(error).__name__)
                await _refuse(DatabaseUnavailable(), entry, answer)
                return
            log.error(  # noqa: TRY400 - messages of exceptions can hold personal data; `described` leaves them out
                "internal",
                trace=describe_exception(error),
                sqlstate=sqlstate(error),
                constraint=constraint(error),
            )
            if entry.started:
                raise
            await _refuse(InternalError(), entry, answer)
        finally:
            seconds = time.perf_counter() - began
            route = getattr(inner.get("route"), "path", None)
            metrics.answered(scope["method"], route, entry.status, seconds)
            entry.route = route
            if scope["path"] != HEALTH:
                log.info(
                    "request",
                    method=scope["method"],
                    route=route,
                    status=entry.status,
                    workspace_id=entry.caller.workspace_id if entry.caller else None,
                    ms=round(seconds * 1000, 1),
                )

    async def _enter(self, scope: Scope, entry: RequestEntry) -> None:
        if scope["path"] == HEALTH or scope["path"].startswith(CALLBACKS):
            return
        headers, public = entry.headers, self._is_public(scope["path"])
        hashed = auth.secret_hash(headers.get("authorization"))
        wanted = None if public else auth.selected_customer(headers.get("service-customer"))
        entry.network = self._network(scope, headers)
        found = await keys.admit_request(
            self._database,
            secret_hash=hashed,
            network=entry.network,
            customer_id=wanted,
        )
        entry.admission = found
        if found.caller is not None:
            bind_contextvars(**{WORKSPACE: found.caller.workspace_id})
        entry.extra |= auth.rate_headers(found, self._limit)
        auth.check_rate(found, self._limit)
        if not public:
            self._check_caller(found, scope["path"], presented=hashed is not None)
        entry.version = requested_version(
            headers.get("service-version"), found.caller.version if found.caller else None
        )
        if not public:
            entry.tenant = auth.requested_tenant(found)

    def _check_caller(self, found: Admission, path: str, *, presented: bool) -> None:
        try:
            auth.check_caller(found, audience=self._audiences.at(path))
        except Unauthorized as error:
            error.challenge = self._audiences.challenge(path, presented=presented) or error.challenge
            raise

    def _network(self, scope: Scope, headers: Mapping[str, str]) -> str:
        peer = scope["client"][0] if scope.get("client") else None
        return self._networks.of(peer, headers.get("x-forwarded-for"))


class _Answer:
    """Sends a response with the headers that every response carries."""

    def __init__(self, entry: RequestEntry, send: Send, *, without_body: bool) -> None:
        self._entry = entry
        self._send = send
        self._without_body = without_body

    async def __call__(self, message: Message) -> None:
        entry = self._entry
        if message["type"] == "http.response.start":
            entry.started = True
            entry.status = message["status"]
            common = {"X-Request-Id": entry.request_id, VERSION_HEADER: entry.version, **entry.extra}
            message["headers"] = [*message.get("headers", ()), *_raw(common)]
        elif self._without_body and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await self._send(message)


async def _refuse(error: ServiceError, entry: RequestEntry, send: Send) -> None:
    rendered = render_error(error, request_id=entry.request_id)
    length = {"content-length": str(len(rendered.body))}
    await send({"type": "http.response.start", "status": rendered.status, "headers": _raw(rendered.headers | length)})
    await send({"type": "http.response.body", "body": rendered.body})


def _traced(scope: Scope, entry: RequestEntry) -> AbstractContextManager[Span]:
    """Return the span of a request. It starts a new trace: an incoming `traceparent` header is ignored."""
    if scope["path"] == HEALTH:
        return nullcontext(INVALID_SPAN)
    method = metrics.known_method(scope["method"])
    facts = {Fact.REQUEST: entry.request_id, Fact.METHOD: method}
    return traces.span(method, SpanKind.SERVER, facts, parent=traces.root())


def _raw(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


def _request_id(given: str | None) -> str:
    return given if given is not None and REQUEST_ID.fullmatch(given) else f"req_{secrets.token_hex(12)}"


def entry_of(scope: Mapping[str, Any]) -> RequestEntry:
    """Return the middleware's entry of this request."""
    entry: RequestEntry = scope[STATE]
    return entry
