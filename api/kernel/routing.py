"""Routes: how HTTP requests reach an operation, the methods of a path, and the paths that need no key.

The key is checked first, then the query, then the body; then the kernel is called.
"""

import hashlib
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cached_property
from inspect import Parameter, Signature
from types import NoneType, UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl, unquote_to_bytes

from fastapi import Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter
from starlette.convertors import Convertor, register_url_convertor
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from api.kernel import body
from api.kernel.body import ParsedBody
from api.kernel.facts import filled
from api.kernel.kernel import Awaited, Kernel, OperationCall, Shape, permit
from api.kernel.middleware import RequestEntry, entry_of
from api.kernel.operation import Operation, OtherAnswer, RestRoute
from models.base.errors import InvalidRequest

PREFIX = "/v1"
DRY_RUN = "dry_run"
KEY_HEADER = "Idempotency-Key"
MAX_KEY = 255
LONGEST_SHOWN = 100
IDS = re.compile(r"{(\w+):id}")
_VISIBLE = range(0x21, 0x7F)


class KeyedRoute(Route):
    """A route without an operation that needs a key nevertheless."""


class Paths:
    """The paths of one application, complete once it has its routes."""

    def __init__(self) -> None:
        self.serveds: list[Route] = []
        self._public: frozenset[str] = frozenset()
        self._public_patterns: tuple[re.Pattern[str], ...] = ()

    def learn(self, routes: Sequence[BaseRoute]) -> None:
        """Read every route."""
        self.serveds = [route for route in routes if isinstance(route, Route)]
        public = [route for route in self.serveds if self._needs_no_key(route)]
        self._public = frozenset(route.path for route in public if not route.param_convertors)
        self._public_patterns = tuple(route.path_regex for route in public if route.param_convertors)

    def _needs_no_key(self, route: Route) -> bool:
        """Return whether a route needs no key: pages and documents, and operations without a scope."""
        if isinstance(route, OperationRoute):
            return route.operation.scope is None
        return not isinstance(route, KeyedRoute)

    def is_public(self, path: str) -> bool:
        """Return whether something at this path is served without a key."""
        return path in self._public or any(pattern.match(path) for pattern in self._public_patterns)

    def methods(self, path: str) -> tuple[str, ...]:
        """Return the methods of all routes of exactly this path; if there is none, of all routes that match it."""
        exact = [route for route in self.serveds if route.path == path]  # `/people/search` is not a profile id
        matching = exact or [route for route in self.serveds if route.path_regex.match(path)]
        found = {method for route in matching for method in route.methods or ()}
        if "GET" in found:
            found.add("HEAD")
        return tuple(sorted(found))


class IdConvertor(Convertor[str]):
    """An id in a path. It contains no `:`, so that `/people/{id}` never matches `/people/contacts:fetch`."""

    regex = "[A-Za-z0-9_-]{1,100}"

    def convert(self, value: str) -> str:
        """The id as it is."""
        return value

    def to_string(self, value: str) -> str:
        """The id as it is."""
        return value


register_url_convertor("id", IdConvertor())


@dataclass(frozen=True, slots=True)
class Inputs:
    """How the input of an operation is assembled: ids of the path, and the fields of the query or the body.

    `model` is the type of the query or body, null if everything is in the path; `default` replaces a missing body.
    """

    ids: tuple[str, ...]
    model: Any
    default: Any
    compose: Callable[[Mapping[str, str], Any], Any]


def inputs_of(asked: object, path: str) -> Inputs:
    """Return the inputs of a route, derived from the type of its handler's `ask`.

    The type is None, `str` for the one id of the path, a model of the query or body, a model that adds the path's ids
    to the fields of a base class, or a dataclass of the path's ids and one model. Raises `ValueError` for another type.
    """
    ids = tuple(IDS.findall(path))
    if asked is NoneType and not ids:
        return Inputs(ids, None, Parameter.empty, lambda _ids, _model: None)
    if asked is str and len(ids) == 1:
        return Inputs(ids, None, Parameter.empty, lambda given, _: given[ids[0]])
    if is_dataclass(asked):
        others = [each for each in fields(asked) if each.name not in ids]
        if len(others) <= 1 and len(fields(asked)) == len(ids) + len(others):
            kinds, made = get_type_hints(asked), cast(Callable[..., Any], asked)
            if not others:
                return Inputs(ids, None, Parameter.empty, lambda given, _: made(**given))
            (other,) = others
            default = Parameter.empty if other.default is MISSING else other.default
            return Inputs(ids, kinds[other.name], default, lambda given, model: made(**given, **{other.name: model}))
    if isinstance(asked, type) and issubclass(asked, BaseModel) and (not ids or set(ids) <= asked.model_fields.keys()):
        bases = [base for base in asked.__mro__ if issubclass(base, BaseModel)]
        model = next(base for base in bases if not set(ids) & base.model_fields.keys())
        if model is asked:
            return Inputs(ids, asked, Parameter.empty, lambda _, given: given)
        return Inputs(ids, model, Parameter.empty, lambda given, query: asked(**given, **dict(query)))
    raise ValueError(f"{path}: a route cannot make a {asked} of its ids, query and body")


def answers_of(answered: object, other: OtherAnswer | None) -> object:
    """Return the type of a route's usual answer: the handler's type without `Awaited` and the `other` answer."""
    members = get_args(answered) if get_origin(answered) in (Union, UnionType) else (answered,)
    shown = [get_args(each)[0] if get_origin(each) is Awaited else each for each in members]
    usual = [each for each in dict.fromkeys(shown) if other is None or each is not other.model] or shown
    return None if usual == [NoneType] else Union[tuple(usual)]  # noqa: UP007 - the members are known at run time


class OperationRoute(APIRoute):
    """Serves an operation over HTTP, from its route and its handler's signature and docstring."""

    def __init__(self, operation: Operation[Any, Any], route: RestRoute) -> None:
        self.operation = operation
        self.noun = route.noun
        self.served = route
        hints = get_type_hints(operation.handler)
        asked = [kind for name, kind in hints.items() if name != "return"][1]
        self._inputs = inputs_of(asked, route.path)
        self._shape = Shape(status=self._status_of, location=self._location_of)
        super().__init__(
            PREFIX + route.path,
            self._endpoint(),
            methods=[route.method],
            status_code=route.status,
            operation_id=operation.name,
            tags=[route.noun.name],
            response_model=answers_of(hints["return"], route.other),
            responses=self.more_responses(),
        )

    def _endpoint(self) -> Callable[..., Coroutine[Any, Any, Response]]:
        """Return the function that FastAPI calls, with the signature that FastAPI reads."""
        inputs = self._inputs

        async def endpoint(request: IncomingRequest, ask: object = None, **ids: str) -> Response:
            return await self.answer(request, inputs.compose(ids, ask), ids)

        parameters = [Parameter("request", Parameter.KEYWORD_ONLY, annotation=Request)]
        parameters += [Parameter(name, Parameter.KEYWORD_ONLY, annotation=str) for name in inputs.ids]
        if inputs.model is not None:
            kind = Annotated[inputs.model, Query()] if self.served.method == "GET" else inputs.model
            parameters.append(Parameter("ask", Parameter.KEYWORD_ONLY, annotation=kind, default=inputs.default))
        handler = self.operation.handler
        endpoint.__name__, endpoint.__doc__ = handler.__name__, filled(handler.__doc__ or "")
        endpoint.__signature__ = Signature(parameters)  # type: ignore[attr-defined] # which `inspect` documents
        return endpoint

    def more_responses(self) -> dict[int | str, dict[str, Any]]:
        """Return the documentation of the other answers."""
        other = self.served.other
        return {} if other is None else {other.status: {"model": other.model, "description": other.description}}

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return FastAPI's handler with the checks that precede the validation of the input."""
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
                raise body.refused([{**problem, "loc": problem["loc"][1:]} for problem in problems], None) from None

        return handler

    @cached_property
    def is_direct(self) -> bool:
        """Whether all input of the route is in its path, so that FastAPI has nothing to read."""
        return self._inputs.model is None

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request to a direct route whose path has matched."""
        response: Response = await self.endpoint(self._entered(scope, receive), **scope["path_params"])
        await response(scope, receive, send)

    async def answer(self, request: "IncomingRequest", ask: object, _ids: Mapping[str, str]) -> Response:
        """Invoke the operation and answer with the route's status and address."""
        kernel: Kernel = request.app.state.kernel
        if self.served.completed is not None:
            ask = self.served.completed(ask, request)
        call = request.fingerprinted() if self.operation.executes else request.call
        outcome = await kernel.invoke(self.operation, ask, call, shape=self._shape)
        content = outcome.body
        converters = body.answer_converters(call.version, self.operation.name)
        if converters:
            content = ParsedBody(body.parse_body(content), converters).text.encode()
        media_type = "application/json" if content else None
        return Response(content, status_code=outcome.status, headers=outcome.headers, media_type=media_type)

    def _other(self, answer: object) -> OtherAnswer | None:
        other = self.served.other
        return other if other is not None and other.applies(answer) else None

    def _status_of(self, answer: object) -> int:
        other = self._other(answer)
        return self.served.status if other is None else other.status

    def _location_of(self, answer: object) -> str | None:
        other = self._other(answer)
        template = self.served.location if other is None else other.location
        return None if template is None else PREFIX + template.format(answer=answer)

    @cached_property
    def _query_names(self) -> frozenset[str]:
        names = {DRY_RUN} if self.operation.executes else set()
        if self.served.method == "GET" and self._inputs.model is not None:
            names |= self._inputs.model.model_fields.keys()
        return frozenset(names)

    def _entered(self, scope: Scope, receive: Receive) -> "IncomingRequest":
        """Return the request after checking its key and its query."""
        incoming = IncomingRequest(scope, receive)
        incoming.call = _call(entry_of(scope), incoming, self.operation)
        permit(self.operation, incoming.call)
        _check_query(incoming, self._query_names)
        return incoming


class Direct:
    """The short path to direct routes, found by method, noun and number of path segments.

    Requests that it does not find go through the framework, which answers everything.
    """

    def __init__(self, app: ASGIApp, *, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self.serveds: dict[tuple[str, str, int], list[OperationRoute]] = {}
        for route in routes:
            if isinstance(route, OperationRoute) and route.is_direct:
                for method in route.methods or ():
                    self.serveds.setdefault(_place(method, route.path), []).append(route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a direct route, or pass the request to the framework."""
        if scope["type"] == "http":
            path: str = scope["path"]
            for route in self.serveds.get(_place(scope["method"], path), ()):
                if found := route.path_regex.match(path):
                    scope["route"], scope["path_params"] = route, found.groupdict()
                    await route.serve(scope, receive, send)
                    return
        await self._app(scope, receive, send)


def _place(method: str, path: str) -> tuple[str, str, int]:
    parts = path.split("/", 3)
    return method, parts[2] if len(parts) > 2 else "", path.count("/")  # noqa: PLR2004 - "", "v1" and the noun


class IncomingRequest(Request):
    """A request whose body has been read, checked and validated."""

    call: OperationCall
    checked: ParsedBody | None = None
    ask: BaseModel | None = None

    async def body(self) -> BaseModel | None:  # type: ignore[override] # FastAPI only hands it to the endpoint
        """Return the validated body."""
        return self.ask

    async def json(self) -> BaseModel | None:
        """Return the validated body: bodies are JSON whatever their content type."""
        return self.ask

    def fingerprinted(self) -> OperationCall:
        """Return the call with the fingerprint of method, path, query and body, which an equal request must repeat."""
        query = parse_qsl(self.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        kept = sorted(pair for pair in query if pair[0] != DRY_RUN)
        content = self.checked.canonical() if self.checked else b""
        parts = [self.method, self.url.path, repr(kept)]
        return replace(self.call, fingerprint=hashlib.sha256("\n".join(parts).encode() + b"\n" + content).digest())


def _call(entry: RequestEntry, request: Request, operation: Operation[Any, Any]) -> OperationCall:
    if entry.admission is None:
        raise AssertionError("a route other than /health was not admitted")
    dry_run = operation.executes and _is_dry_run(request)
    key = _idempotency_key(entry) if operation.executes else None  # previews refuse an invalid one too
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
    """Return the key, quoted or bare. Raises `InvalidRequest` unless it is 1–255 visible ASCII characters."""
    given = entry.headers.get(KEY_HEADER.lower())
    if given is None:
        return None
    key = given[1:-1] if len(given) > 1 and given[0] == given[-1] == '"' else given
    if not 1 <= len(key) <= MAX_KEY or any(ord(character) not in _VISIBLE for character in key):
        raise InvalidRequest("An Idempotency-Key is 1 to 255 visible ASCII characters.", field=KEY_HEADER)
    return key


def _check_query(request: Request, names: frozenset[str]) -> None:
    """Refuse unknown parameters: a mistyped filter or `dry_run` must not pass for a missing one."""
    if not (raw := request.scope["query_string"]):
        return
    try:
        unquote_to_bytes(raw).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequest("The query is not valid UTF-8.") from error
    given = [name for name, _ in request.query_params.multi_items()]
    for name, value in request.query_params.multi_items():
        shown = name if name.isprintable() and len(name) <= LONGEST_SHOWN else None
        if name not in names:
            raise InvalidRequest("This query parameter is unknown.", field=shown)
        if given.count(name) > 1:
            raise InvalidRequest("This query parameter is given twice; give it once.", field=shown)
        body.check_text(value, field=shown)
