"""What the application serves: which methods a path takes, and which paths need no key."""

import hashlib
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl, unquote_to_bytes

from fastapi import APIRouter, Depends, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter
from starlette.convertors import Convertor, register_url_convertor
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from api.kernel import body
from api.kernel.body import ParsedBody, refused
from api.kernel.kernel import Kernel, OperationCall, Outcome, Shape, permit
from api.kernel.middleware import RequestEntry, entry_of
from api.kernel.operation import OPERATIONS, Operation
from api.kernel.schemas import Listing, PageAsk
from models.base.errors import InvalidRequest


class KeyedRoute(Route):
    """A route without an operation of its own that needs a key all the same."""


class Paths:
    """The paths of one application, known once its routes are."""

    def __init__(self, operations: Mapping[str, Operation[Any, Any]]) -> None:
        self._operations = operations
        self._routes: list[Route] = []
        self._public: frozenset[str] = frozenset()
        self._public_patterns: tuple[re.Pattern[str], ...] = ()

    def learn(self, routes: Sequence[BaseRoute]) -> None:
        """Take in every route."""
        self._routes = [route for route in routes if isinstance(route, Route)]
        public = [route for route in self._routes if self._needs_no_key(route)]
        self._public = frozenset(route.path for route in public if not route.param_convertors)
        self._public_patterns = tuple(route.path_regex for route in public if route.param_convertors)

    def _needs_no_key(self, route: Route) -> bool:
        """Pages and documents have no operation; an operation without a scope is for everybody."""
        if not isinstance(route, APIRoute):
            return not isinstance(route, KeyedRoute)
        return self._operations[route.operation_id or ""].scope is None

    def is_public(self, path: str) -> bool:
        """Whether something at this path is served without a key."""
        return path in self._public or any(pattern.match(path) for pattern in self._public_patterns)

    def methods(self, path: str) -> tuple[str, ...]:
        """Every method of every route of this very path; without one, of every route that matches."""
        exact = [route for route in self._routes if route.path == path]  # `/people/search` names no profile
        matching = exact or [route for route in self._routes if route.path_regex.match(path)]
        found = {method for route in matching for method in route.methods or ()}
        if "GET" in found:
            found.add("HEAD")
        return tuple(sorted(found))


# How a route reaches its operation: the key is checked, then the query, then the body, then the kernel is called.


A = TypeVar("A")
B = TypeVar("B")
P = TypeVar("P", bound=PageAsk)
V = TypeVar("V")

PREFIX = "/v1"
DRY_RUN = "dry_run"
KEY_HEADER = "Idempotency-Key"
MAX_KEY = 255
MAX_LIMIT = 100
_VISIBLE = range(0x21, 0x7F)


class IdConvertor(Convertor[str]):
    """An id in a path: no `:`, so that `/people/{id}` never takes `/people/contacts:fetch`, and nothing odd."""

    regex = "[A-Za-z0-9_-]{1,100}"

    def convert(self, value: str) -> str:
        """The id as it is."""
        return value

    def to_string(self, value: str) -> str:
        """The id as it is."""
        return value


register_url_convertor("id", IdConvertor())


class OperationRoute(APIRoute):
    """A route whose operation id names an operation."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler with the checks that come before the input is validated."""
        asked = self.body_field.field_info.annotation if self.body_field is not None else None
        adapter: TypeAdapter[Any] | None = TypeAdapter(asked) if asked is not None else None
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            incoming = self._entered(request.scope, request.receive)
            if adapter is not None:
                value = body.parse_body(await body.read_body(request))
                converters = body.request_converters(incoming.call.version, self.operation.name)
                incoming.checked = ParsedBody(value, converters)
                incoming.ask = body.validated(incoming.checked, adapter)
            try:
                return await handle(incoming)
            except RequestValidationError as error:
                problems = error.errors()
                raise refused([{**problem, "loc": problem["loc"][1:]} for problem in problems], None) from None

        return handler

    @cached_property
    def operation(self) -> Operation[Any, Any]:
        """What the route calls."""
        if self.operation_id not in OPERATIONS:
            raise ValueError(f"{self.path}: {self.operation_id!r} is not the name of an operation")
        return OPERATIONS[self.operation_id]

    @cached_property
    def is_direct(self) -> bool:
        """Whether all that the route takes is in its path, so that there is nothing for FastAPI to read."""
        takes = self.dependant
        read = (takes.query_params, takes.header_params, takes.cookie_params, takes.body_params)
        return not any(read) and [inner.call for inner in takes.dependencies] == [_invoker]

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request to a direct route, whose path has been matched."""
        incoming = self._entered(scope, receive)
        response: Response = await self.endpoint(**scope["path_params"], invoke=Invoker(incoming))
        await response(scope, receive, send)

    @cached_property
    def _query_names(self) -> frozenset[str]:
        names = {DRY_RUN} if self.operation.executes else set()
        for field in self.dependant.query_params:
            annotation = field.field_info.annotation
            if isinstance(annotation, type) and issubclass(annotation, BaseModel):
                names |= annotation.model_fields.keys()
            else:
                names.add(field.alias)
        return frozenset(names)

    def _entered(self, scope: Scope, receive: Receive) -> "_Incoming":
        """The request, its key and its query checked."""
        incoming = _Incoming(scope, receive)
        incoming.call = _call(entry_of(scope), incoming, self.operation)
        permit(self.operation, incoming.call)
        _check_query(incoming, self._query_names)
        return incoming


class Direct:
    """The short way to direct routes, found by method, noun and number of path segments.

    What it does not find goes the long way through the framework, which answers everything.
    """

    def __init__(self, app: ASGIApp, *, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self._routes: dict[tuple[str, str, int], list[OperationRoute]] = {}
        for route in routes:
            if isinstance(route, OperationRoute) and route.is_direct:
                for method in route.methods or ():
                    self._routes.setdefault(_place(method, route.path), []).append(route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a direct route, or leave it to the framework."""
        if scope["type"] == "http":
            path: str = scope["path"]
            for route in self._routes.get(_place(scope["method"], path), ()):
                if found := route.path_regex.match(path):
                    scope["route"], scope["path_params"] = route, found.groupdict()
                    await route.serve(scope, receive, send)
                    return
        await self._app(scope, receive, send)


def _place(method: str, path: str) -> tuple[str, str, int]:
    parts = path.split("/", 3)
    return method, parts[2] if len(parts) > 2 else "", path.count("/")  # noqa: PLR2004 - "", "v1" and the noun


class _Incoming(Request):
    """A request whose body has been read, checked and validated."""

    call: OperationCall
    checked: ParsedBody | None = None
    ask: BaseModel | None = None

    async def body(self) -> BaseModel | None:  # type: ignore[override] # FastAPI only hands it to the endpoint
        """The validated body."""
        return self.ask

    async def json(self) -> BaseModel | None:
        """The same: the content type does not matter, a body is JSON."""
        return self.ask


class Router(APIRouter):
    """The routes of one noun."""

    def __init__(self, *, tags: list[str]) -> None:
        super().__init__(prefix=PREFIX, tags=list(tags), route_class=OperationRoute, redirect_slashes=False)


class Invoker:
    """Calls an operation for the request of a route."""

    def __init__(self, request: _Incoming) -> None:
        self._request = request
        self._entry = entry_of(request.scope)
        self._kernel: Kernel = request.app.state.kernel

    async def __call__(
        self,
        operation: Operation[A, B],
        ask: A,
        *,
        location: Callable[[B], str | None] | None = None,
        status: Callable[[B], int] | None = None,
    ) -> Response:
        """Invoke and answer with the route's status, or `status(answer)`, and `location(answer)` as its address."""
        usual = self._request.scope["route"].status_code or 200
        shape = Shape(status=status or (lambda _: usual), location=location)
        call = self._fingerprinted() if operation.executes else self._request.call
        outcome = await self._kernel.invoke(operation, ask, call, shape=shape)
        return self._response(operation, outcome)

    async def pages(self, operation: Operation[P, Listing[V]], ask: P) -> AsyncIterator[Listing[V]]:
        """Every page of a list, from its beginning and in the largest steps; no connection is held between them."""
        following: str | None = None
        while True:
            step = ask.model_copy(update={"cursor": following, "limit": MAX_LIMIT})
            page = await self._kernel.read(operation, step, self._request.call)
            yield page
            following = page.next_cursor
            if following is None:
                return

    def _fingerprinted(self) -> OperationCall:
        call, request = self._request.call, self._request
        query = sorted(pair for pair in parse_qsl(_query(request), keep_blank_values=True) if pair[0] != DRY_RUN)
        content = request.checked.canonical() if request.checked else b""
        parts = [request.method, request.url.path, repr(query)]
        told = "\n".join(parts).encode() + b"\n" + content
        return OperationCall(
            version=call.version,
            now=call.now,
            caller=call.caller,
            tenant=call.tenant,
            dry_run=call.dry_run,
            idempotency_key=call.idempotency_key,
            network=call.network,
            fingerprint=hashlib.sha256(told).digest(),
        )

    def _response(self, operation: Operation[Any, Any], outcome: Outcome) -> Response:
        content = outcome.body
        converters = body.answer_converters(self._entry.version, operation.name)
        if converters:
            content = ParsedBody(body.parse_body(content), converters).text.encode()
        media_type = "application/json" if content else None
        return Response(content, status_code=outcome.status, headers=outcome.headers, media_type=media_type)


async def _invoker(request: Request) -> Invoker:
    if not isinstance(request, _Incoming):
        raise TypeError("operations are invoked from routes of this module alone")
    return Invoker(request)


Invoke = Annotated[Invoker, Depends(_invoker)]


def _call(entry: RequestEntry, request: Request, operation: Operation[Any, Any]) -> OperationCall:
    if entry.admission is None:
        raise AssertionError("every route but /health is admitted")
    dry_run = operation.executes and _is_dry_run(request)
    key = _idempotency_key(entry) if operation.executes else None  # a preview does not use it, but says if it is none
    return OperationCall(
        version=entry.version,
        now=entry.admission.now,
        caller=entry.caller,
        tenant=entry.tenant,
        dry_run=dry_run,
        network=entry.network,
        idempotency_key=None if dry_run else key,
    )


def _is_dry_run(request: Request) -> bool:
    given = request.query_params.getlist(DRY_RUN)
    match given:
        case []:
            return False
        case ["true"]:
            return True
        case ["false"]:
            return False
        case _:
            raise InvalidRequest("dry_run is true or false.", field=DRY_RUN)


def _idempotency_key(entry: RequestEntry) -> str | None:
    """The key, quoted or bare. Raises `InvalidRequest` unless it is 1–255 visible ASCII characters."""
    given = entry.headers.get(KEY_HEADER.lower())
    if given is None:
        return None
    key = given[1:-1] if len(given) > 1 and given[0] == given[-1] == '"' else given
    if not 1 <= len(key) <= MAX_KEY or any(ord(character) not in _VISIBLE for character in key):
        raise InvalidRequest("An Idempotency-Key is 1 to 255 visible ASCII characters.", field=KEY_HEADER)
    return key


def _check_query(request: Request, names: frozenset[str]) -> None:
    """Refuse what the route does not know: a mistyped filter or `dry_run` must not be taken for none."""
    if not (raw := request.scope["query_string"]):
        return
    try:
        unquote_to_bytes(raw).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequest("The query is not valid UTF-8.") from error
    given = [name for name, _ in request.query_params.multi_items()]
    for name, value in request.query_params.multi_items():
        shown = name if name.isprintable() and len(name) <= MAX_LIMIT else None
        if name not in names:
            raise InvalidRequest("This query parameter is not known.", field=shown)
        if given.count(name) > 1:
            raise InvalidRequest("This query parameter is given twice.", field=shown)
        body.check_text(value, field=shown)


def _query(request: Request) -> str:
    raw: bytes = request.scope["query_string"]
    return raw.decode("latin-1")
