"""Reading what OAuth clients and browsers send, and answering them: forms, JSON errors, headers."""

import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response

from api.access.oauth import OAuthRefused
from api.kernel.body import parse_body
from api.kernel.kernel import Kernel, OperationCall, Shape
from api.kernel.middleware import entry_of
from api.kernel.operation import Operation
from api.kernel.schemas import Answer
from models.access.rules.oauth import MAX_DOCUMENT
from models.base.errors import InvalidRequest, RateLimited, ServiceError

A = TypeVar("A")
B = TypeVar("B", bound=Answer)

MAX_FORM = 32_768
MAX_FIELDS = 100
FORM = "application/x-www-form-urlencoded"
SHAPE = Shape(status=lambda _: 200)
HEADERS = {
    "Cache-Control": "no-store",
    "Pragma": "no-cache",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Access-Control-Allow-Origin": "*",
}
"""Headers of JSON answers. Any origin may call: no cookie is read, every request carries its own credentials."""
PREFLIGHT = HEADERS | {
    "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, MCP-Protocol-Version",
    "Access-Control-Max-Age": "3600",
}
RETRY_SECONDS = "1"
SERVER_ERROR = 500


class Fields:
    """Parameters of a query or a form. Empty ones count as left out (RFC 6749, section 3.1)."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._found: dict[str, list[str]] = {}
        for name, value in pairs:
            if value:
                self._found.setdefault(name, []).append(value)

    def get(self, name: str) -> str | None:
        """Return the only value, null if there is none. Raises `OAuthRefused` for several values or invalid text."""
        found = self._found.get(name, [])
        if len(found) > 1:
            raise OAuthRefused("invalid_request", f"{name[:100]} is given twice: give it once.")
        if found and ("\x00" in found[0] or any("\ud800" <= each <= "\udfff" for each in found[0])):
            raise OAuthRefused("invalid_request", f"{name[:100]} is not valid text.")
        return found[0] if found else None

    def need(self, name: str) -> str:
        """Return the only value. Raises `OAuthRefused` if there is none or several."""
        if (found := self.get(name)) is None:
            raise OAuthRefused("invalid_request", f"{name} is missing.")
        return found

    def all(self, name: str) -> list[str]:
        """Return all values."""
        return self._found.get(name, [])

    def check_single(self) -> None:
        """Raise `OAuthRefused` if any parameter is given twice."""
        for name in self._found:
            self.get(name)


async def form(request: Request) -> Fields:
    """Return the body as a form. Raises `OAuthRefused` if it is not one."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise OAuthRefused("invalid_request", f"The body must be {FORM}.")
    raw = await read_limited(request, most=MAX_FORM)
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except ValueError:
        raise OAuthRefused("invalid_request", "The body is not a valid form.") from None
    return Fields(pairs)


async def document(request: Request) -> dict[str, object]:
    """Return the body as a JSON object. Raises `OAuthRefused` if it is not one."""
    raw = await read_limited(request, most=MAX_DOCUMENT)
    try:
        told = parse_body(raw)
    except InvalidRequest as error:
        raise OAuthRefused("invalid_client_metadata", error.message) from None
    if not isinstance(told, dict):
        raise OAuthRefused("invalid_client_metadata", "The body must be a JSON object.")
    return dict(told)


async def read_limited(request: Request, *, most: int) -> bytes:
    """Return the body. Raises `OAuthRefused` if it is longer than `most` bytes."""
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > most:
            raise OAuthRefused("invalid_request", f"The body is larger than {most} bytes.")
    return raw


async def run(request: Request, operation: Operation[A, B], ask: A, answer: type[B]) -> B:
    """Run an operation that needs no key, and return its answer."""
    outcome = await invoke(request, operation, ask)
    return answer.model_validate_json(outcome)


async def invoke(request: Request, operation: Operation[Any, Any], ask: object) -> bytes:
    """Run an operation that needs no key, and return its answer as JSON; empty if it has none."""
    entry = entry_of(request.scope)
    if entry.admission is None:
        raise AssertionError("a public path was not admitted")
    kernel: Kernel = request.app.state.kernel
    call = OperationCall(version=entry.version, now=entry.admission.now, network=entry.network)
    return (await kernel.invoke(operation, ask, call, shape=SHAPE)).body


Handler = Callable[[Request], Awaitable[Response]]


def spoken(handler: Handler) -> Handler:
    """Wrap a JSON endpoint so that it refuses with OAuth errors."""

    async def answered(request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=PREFLIGHT)
        try:
            return await handler(request)
        except OAuthRefused as error:
            return refusal(request, error)
        except InvalidRequest as error:
            return refusal(request, OAuthRefused("invalid_request", error.message))
        except RateLimited:
            raise
        except ServiceError as error:
            if error.status >= SERVER_ERROR:
                raise
            busy = OAuthRefused("temporarily_unavailable", "Another call is changing this. Try again.", status=503)
            return refusal(request, busy)

    return answered


def refusal(request: Request, error: OAuthRefused) -> Response:
    """Return an OAuth error as JSON (RFC 6749, section 5.2)."""
    answer = told({"error": error.code, "error_description": error.description}, status=error.status)
    if error.code == "invalid_client" and request.headers.get("authorization", "").lower().startswith("basic "):
        answer.headers["WWW-Authenticate"] = 'Basic realm="oauth"'
    if error.code == "temporarily_unavailable":
        answer.headers["Retry-After"] = RETRY_SECONDS
    return answer


def told(value: object, *, status: int = 200) -> Response:
    """Return a JSON answer that no cache stores."""
    content = json.dumps(value, ensure_ascii=False)
    return Response(content, status_code=status, headers=HEADERS, media_type="application/json")
