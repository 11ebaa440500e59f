"""The path of every provider call: key, limits, faults, the operation, billing, log."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from sandbox.breakage import GATEWAY_PAGE, HANG_SECONDS, LostConnection, until_gone
from sandbox.clock import Clock
from sandbox.faults import FaultKind, Faults, OrderedFault
from sandbox.people import ask as people_ask
from sandbox.people.ledger import PROVIDER, CallLog, Credits, RateLimits, Window
from sandbox.people.wire import Answer, ApiError, encoded, respond

MOST_BYTES = 1_048_576
KEY_LENGTH = 64
_GARBLED_RESET = "in a moment"
_OVERSIZE_PADDING = 3 * MOST_BYTES // 2


def reserved_key(status: int) -> str:
    """Return the key that always gets 401, 402 or 429: the status after zeros."""
    return str(status).zfill(KEY_LENGTH)


_RESERVED = {reserved_key(status): status for status in (401, 402, 429)}


@dataclass(frozen=True, slots=True)
class Call:
    """One call as an operation sees it."""

    operation: str
    path: Mapping[str, str]
    ask: Mapping[str, Any]
    faults: Faults

    def strike(self, kind: FaultKind) -> OrderedFault | None:
        """Return whether an ordered fault of this kind affects this call."""
        return self.faults.strike(PROVIDER, self.operation, kind)


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of the provider's API: its path, methods, the kind of its credits, and what it does."""

    name: str
    path: str
    methods: frozenset[str]
    credit_kind: str
    perform: Callable[[Call], Answer | Response]


@dataclass(slots=True)
class _Turn:
    """The state of a call in progress."""

    api_key: str = ""
    window: Window | None = None
    credits: int = 0
    status: int | None = None
    compress: bool = False
    extra_headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gate:
    """Serves provider calls; `api_keys` are the valid keys, `latency_ms` is added to every call."""

    clock: Clock
    faults: Faults
    log: CallLog
    credits: Credits
    limits: RateLimits
    api_keys: frozenset[str]
    latency_ms: int

    def endpoint(self, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
        """Return the web endpoint of an operation."""

        async def serve(request: Request) -> Response:
            return await self.serve(request, operation)

        return serve

    async def serve(self, request: Request, operation: Operation) -> Response:
        """Process one call from its key to its log entry."""
        at, started, turn = self.log.begin(), time.perf_counter(), _Turn()
        try:
            response = await self._answer(request, operation, turn)
            turn.status = response.status_code
            return response
        finally:
            self.log.end(
                at=at,
                operation=operation.name,
                api_key=turn.api_key,
                status=turn.status,
                credits=turn.credits,
                duration_ms=round((time.perf_counter() - started) * 1000, 3),
            )

    async def _answer(self, request: Request, operation: Operation, turn: _Turn) -> Response:
        turn.compress = "gzip" in request.headers.get("accept-encoding", "").lower()
        try:
            ask = await people_ask.read_ask(request)
            turn.api_key = request.headers.get("x-api-key") or str(ask.pop("api_key", ""))
            self._admit(request, operation, turn)
            return await self._executed(request, operation, turn, ask)
        except ApiError as error:
            return self._refusal(operation, turn, error)

    async def _executed(self, request: Request, operation: Operation, turn: _Turn, ask: Mapping[str, Any]) -> Response:
        await self._slow_down(operation)
        broken = await self._break(request, operation, turn, after_execution=False)
        if broken is not None:
            return broken
        if self.credits.remaining <= 0:
            raise ApiError(402, "you have used up your credits")
        answer = operation.perform(Call(operation.name, request.path_params, ask, self.faults))
        if isinstance(answer, Response):
            return answer
        response = self._shaped(operation, turn, answer, pretty=people_ask.flag(ask, "pretty"))
        broken = await self._break(request, operation, turn, after_execution=True)
        return response if broken is None else broken

    def _admit(self, request: Request, operation: Operation, turn: _Turn) -> None:
        if turn.api_key not in self.api_keys:
            status = _RESERVED.get(turn.api_key, 401)
            raise ApiError(status, f"this key is always answered with {status}" if status != 401 else "invalid API key")
        if request.method not in operation.methods:
            raise ApiError(405, f"method {request.method} is not allowed on {operation.path}")
        turn.window = self.limits.take(turn.api_key, operation.name)
        if not turn.window.allowed:
            raise ApiError(429, "too many calls in this window")

    async def _slow_down(self, operation: Operation) -> None:
        await asyncio.sleep(self.latency_ms / 1000)
        slow = self.faults.strike(PROVIDER, operation.name, FaultKind.LATENCY)
        if slow is not None:
            await asyncio.sleep((slow.latency_ms or 1000) / 1000)

    async def _break(
        self, request: Request, operation: Operation, turn: _Turn, *, after_execution: bool
    ) -> Response | None:
        def struck(kind: FaultKind) -> OrderedFault | None:
            return self.faults.strike(PROVIDER, operation.name, kind, after_execution=after_execution)

        if fault := struck(FaultKind.TIMEOUT):
            hang = HANG_SECONDS if fault.latency_ms is None else fault.latency_ms / 1000
            await until_gone(request, hang)
            return LostConnection()
        if struck(FaultKind.CONNECTION_LOST):
            return LostConnection()
        if fault := struck(FaultKind.RATE_LIMITED):
            return self._rate_limited(operation, turn, fault)
        if fault := struck(FaultKind.SERVER_ERROR):
            raise ApiError(fault.status or 500, "something went wrong on our side")
        if fault := struck(FaultKind.HTML_BODY):
            return HTMLResponse(GATEWAY_PAGE, status_code=fault.status or 502)
        return None

    def _rate_limited(self, operation: Operation, turn: _Turn, fault: OrderedFault) -> Response:
        if fault.reset == "garbled":
            turn.extra_headers["x-ratelimit-reset"] = _GARBLED_RESET
        if fault.reset == "none":
            turn.window = None
        if fault.retry_after and turn.window is not None:
            left = (turn.window.reset - self.clock.now()).total_seconds()
            turn.extra_headers["retry-after"] = str(max(1, round(left)))
        return self._refusal(operation, turn, ApiError(429, "too many calls in this window"))

    def _shaped(self, operation: Operation, turn: _Turn, answer: Answer, *, pretty: bool) -> Response:
        """Bill the answer and return it, corrupted if a fault says so; an answer that is too large is not billed."""
        content = encoded(answer.body, pretty=pretty)
        packed = respond(200, content, {}, compress=turn.compress)
        if len(packed.body) > MOST_BYTES:
            raise ApiError(413, f"the response would be over {MOST_BYTES} bytes")
        turn.credits = answer.credits
        self.credits.spend(answer.credits)
        packed.headers.update(self._headers(operation, turn) | dict(answer.headers))
        cut = self.faults.strike(PROVIDER, operation.name, FaultKind.TRUNCATED_JSON)
        padded = self.faults.strike(PROVIDER, operation.name, FaultKind.OVERSIZE)
        if not (cut or padded):
            return packed
        spoilt = content[: len(content) * 2 // 3] if cut else content
        spoilt += b" " * (_OVERSIZE_PADDING if padded else 0)
        return respond(200, spoilt, self._headers(operation, turn), compress=turn.compress and not padded)

    def _refusal(self, operation: Operation, turn: _Turn, error: ApiError) -> Response:
        body = error.body(
            type_as_string=self.faults.strike(PROVIDER, operation.name, FaultKind.TYPE_AS_STRING) is not None
        )
        if error.status == 404 and self.faults.strike(PROVIDER, operation.name, FaultKind.NOT_FOUND_WITHOUT_ERROR):
            body = {"status": 404, "message": error.message}
        return respond(error.status, encoded(body), self._headers(operation, turn), compress=turn.compress)

    def _headers(self, operation: Operation, turn: _Turn) -> dict[str, str]:
        limits = turn.window.headers() if turn.window else {}
        spent = self.credits.headers(spent=turn.credits, kind=operation.credit_kind)
        return limits | spent | turn.extra_headers
