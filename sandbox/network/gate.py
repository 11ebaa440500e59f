"""The path of every provider call: key, account, cache, rate limits, faults, operation, and faults of the answer."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from sandbox.breakage import GATEWAY_PAGE, HANG_SECONDS, LostConnection, until_gone
from sandbox.faults import FaultKind, Faults, OrderedFault
from sandbox.network.accounts import DAILY_TEXT, WEEKLY_TEXT, Account, Accounts
from sandbox.network.cache import Cache
from sandbox.network.events import PROVIDER
from sandbox.network.ledger import RateLimits, Window
from sandbox.network.schema import at_once
from sandbox.network.wire import Answer, ApiError, encoded, respond
from sandbox.state import State

_OVERSIZE = 3_000_000
_MOST_BYTES = 1_048_576
_LIMIT_FAULTS: Mapping[FaultKind, tuple[str, str]] = {
    FaultKind.DAILY_LIMIT: ("provider/unprocessable_entity", DAILY_TEXT),
    FaultKind.WEEKLY_LIMIT: ("provider/unprocessable_entity", WEEKLY_TEXT),
    FaultKind.NEUTRAL_LIMIT: ("provider/too_many_requests", "Try again later."),
}


@dataclass(frozen=True, slots=True)
class Call:
    """One call as an operation sees it; `values` are the variable parts of its path, without the account."""

    operation: str
    values: Sequence[str]
    query: Mapping[str, str]
    content: bytes
    base_url: str
    faults: Faults
    known_account: Account | None

    @property
    def account(self) -> Account:
        """The account of a call that names one."""
        if self.known_account is None:
            raise ApiError("api/resource_not_found", "there is no such account")
        return self.known_account

    def strike(self, kind: FaultKind) -> OrderedFault | None:
        """Return whether an ordered fault of this kind affects this call."""
        return self.faults.strike(PROVIDER, self.operation, kind)


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of the provider's API. `path` has None for each variable part; an account's path begins with one.

    `drops` names the operations whose cached answers a write makes stale; `person` finds the person of a call.
    """

    name: str
    method: str
    path: tuple[str | None, ...]
    perform: Callable[[Call], Answer]
    drops: frozenset[str] = frozenset()
    person: Callable[[Call], int | None] = lambda _: None

    @property
    def of_account(self) -> bool:
        """Whether the call acts for an account: it is rate-limited, and copied when it reads."""
        return self.path[0] is None

    def values(self, segments: Sequence[str]) -> list[str] | None:
        """Return the variable parts of a path of this operation; None for any other path."""
        if len(segments) != len(self.path):
            return None
        if any(part not in (None, segment) for part, segment in zip(self.path, segments, strict=True)):
            return None
        return [segment for part, segment in zip(self.path, segments, strict=True) if part is None]


@dataclass(slots=True)
class _Turn:
    window: Window | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gate:
    """Serves provider calls; `api_keys` are the valid keys, `latency_ms` is added to every call."""

    state: State
    faults: Faults
    accounts: Accounts
    cache: Cache
    limits: RateLimits
    operations: Sequence[Operation]
    api_keys: frozenset[str]
    latency_ms: int

    async def serve(self, request: Request) -> Response:
        """Process one call from its path to its answer."""
        turn = _Turn()
        try:
            operation, values = self._operation(request)
            return await self._executed(request, operation, values, turn)
        except ApiError as error:
            return respond(Answer(error.body(), error.status), headers=_headers(turn))

    def _operation(self, request: Request) -> tuple[Operation, list[str]]:
        if request.headers.get("x-api-key", "") not in self.api_keys:
            raise ApiError("api/missing_authorization", "the key is missing or unknown")
        # Ids contain slashes, so the path is split before it is decoded.
        raw: bytes = request.scope["raw_path"]
        segments = [unquote(part) for part in raw.decode("ascii").removesuffix("/").split("/")[2:]]
        matching = [(each, values) for each in self.operations if (values := each.values(segments)) is not None]
        for operation, values in matching:
            if operation.method == request.method:
                return operation, values
        if matching:
            raise ApiError("provider/method_not_allowed", f"{request.method} is not possible here")
        raise ApiError("api/resource_not_found", "there is no such path")

    async def _executed(self, request: Request, operation: Operation, values: list[str], turn: _Turn) -> Response:
        content = await request.body()
        if len(content) > _MOST_BYTES:
            raise ApiError("api/invalid_parameters", "the body is too large")
        await self._slow_down(operation)
        broken = await self._break(request, operation, turn, after_execution=False)
        if broken is not None:
            return broken
        answer = self._perform(request, operation, values, content, turn)
        broken = await self._break(request, operation, turn, after_execution=True)
        return self._shaped(operation, answer, turn) if broken is None else broken

    def _perform(
        self, request: Request, operation: Operation, values: list[str], content: bytes, turn: _Turn
    ) -> Answer:
        account = self.accounts.usable(values[0]) if operation.of_account else None
        call = Call(
            operation=operation.name,
            values=values[1:] if operation.of_account else values,
            query=dict(request.query_params),
            content=content,
            base_url=str(request.base_url).rstrip("/"),
            faults=self.faults,
            known_account=account,
        )
        if account is None:
            with at_once(self.state):
                return operation.perform(call)
        return self._for_account(request, operation, call, account, turn)

    def _for_account(self, request: Request, operation: Operation, call: Call, account: Account, turn: _Turn) -> Answer:
        reads = operation.method == "GET"
        key = f"{account.id} {request.scope['raw_path'].decode()} {sorted(request.query_params.multi_items())}"
        copy = self.cache.find(key, request.headers) if reads else None
        if copy is not None:
            turn.headers |= {"x-cache": "HIT", "age": str(copy.age)}
            return Answer(copy.body)
        turn.window = self.limits.take(account.id, operation.name)
        if not turn.window.allowed:
            turn.headers["retry-after"] = str(turn.window.reset)
            raise ApiError("api/too_many_requests", "Method limit reached.")
        person = operation.person(call)
        with at_once(self.state):
            answer = operation.perform(call)
            if reads:
                self.cache.keep(
                    key,
                    answer.body,
                    account_id=account.id,
                    operation=operation.name,
                    person=person,
                    headers=request.headers,
                )
            elif operation.drops:
                self.cache.drop(account.id, operation.drops, person=person)
        if reads:
            turn.headers |= {"x-cache": "MISS", "age": "0"}
        return answer

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
        if fault := struck(FaultKind.HTML_BODY):
            return HTMLResponse(GATEWAY_PAGE, status_code=fault.status or 502)
        if fault := struck(FaultKind.ERROR_WITH_200):
            error = ApiError(fault.type or "api/internal_error", "something went wrong")
            return respond(Answer(error.body()), headers=_headers(turn))
        self._refuse(struck, turn)
        return None

    def _refuse(self, struck: Callable[[FaultKind], OrderedFault | None], turn: _Turn) -> None:
        if fault := struck(FaultKind.RATE_LIMITED):
            if fault.retry_after:
                turn.headers["retry-after"] = "garbled" if fault.reset == "garbled" else "120"
            if fault.reset != "none":
                turn.headers["x-ratelimit-reset"] = "soon" if fault.reset == "garbled" else "180"
            raise ApiError(fault.type or "api/too_many_requests", "Method limit reached.")
        if fault := struck(FaultKind.SERVER_ERROR):
            raise ApiError("api/internal_error", "something went wrong on our side", status=fault.status)
        if fault := struck(FaultKind.PROVIDER_ERROR):
            raise ApiError(fault.type or "provider/server_error", "refused on purpose", status=fault.status)
        for kind, (type_, text) in _LIMIT_FAULTS.items():
            if struck(kind):
                raise ApiError(type_, text)

    def _shaped(self, operation: Operation, answer: Answer, turn: _Turn) -> Response:
        content = encoded(answer.body)
        if self.faults.strike(PROVIDER, operation.name, FaultKind.TRUNCATED_JSON):
            content = content[: len(content) * 2 // 3]
        elif self.faults.strike(PROVIDER, operation.name, FaultKind.OVERSIZE):
            content += b" " * _OVERSIZE
        else:
            return respond(answer, headers=_headers(turn))
        headers = _headers(turn) | {"content-type": "application/json"}
        return Response(content, status_code=answer.status, headers=headers)


def _headers(turn: _Turn) -> dict[str, str]:
    return (turn.window.headers() if turn.window else {}) | turn.headers
