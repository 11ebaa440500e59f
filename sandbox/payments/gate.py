"""The path of every call of the payment provider: key, idempotency, faults, the operation, log."""

import asyncio
import hashlib
import time
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from sandbox.breakage import LostConnection, until_gone
from sandbox.clock import Clock
from sandbox.faults import FaultKind, Faults, OrderedFault
from sandbox.payments.calls import Operation
from sandbox.payments.ledger import Ledger
from sandbox.payments.wire import API_VERSION, Ask, Object, StripeError, answer, invalid, parameters, shown
from sandbox.state import State

PROVIDER = "payments"
_HANG_SECONDS = 120.0
_MALFORMED_GATEWAY = "<html><body><h1>502 Bad Gateway</h1></body></html>"
_SERVER_ERROR = 500
_TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class Gate:
    """Serves calls with one of the valid `api_keys`."""

    state: State
    clock: Clock
    faults: Faults
    ledger: Ledger
    api_keys: frozenset[str]

    async def serve(self, request: Request, operation: Operation) -> Response:
        """Process one call from its key to its log entry."""
        started, status = time.perf_counter(), None
        try:
            response = await self._answer(request, operation)
            status = response.status_code
            return response
        finally:
            self.state.database.execute(
                "insert into calls (provider, at, operation, api_key, status, credits, duration_ms)"
                " values (?, ?, ?, '', ?, 0, ?)",
                (
                    PROVIDER,
                    self.clock.now().isoformat(),
                    operation.name,
                    status,
                    round((time.perf_counter() - started) * 1000, 3),
                ),
            )

    async def _answer(self, request: Request, operation: Operation) -> Response:
        body = await request.body()
        if slow := self._struck(operation, FaultKind.LATENCY):
            await asyncio.sleep((slow.latency_ms or 1000) / 1000)
        try:
            self._admit(request)
            broken = await self._break(request, operation, after_execution=False)
            if broken is not None:
                return broken
            status, content, headers = self._once(request, operation, body)
        except StripeError as error:
            return answer(error.status, error.body, self._headers())
        broken = await self._break(request, operation, after_execution=True)
        if broken is not None:
            return broken
        response = answer(status, content, self._headers() | headers)
        if self._struck(operation, FaultKind.TRUNCATED_JSON):
            return Response(bytes(response.body)[: len(response.body) // 2], media_type="application/json")
        return response

    def _admit(self, request: Request) -> None:
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        if key not in self.api_keys:
            raise invalid("Invalid API Key provided", status=401)

    def _once(self, request: Request, operation: Operation, body: bytes) -> tuple[int, Object, dict[str, str]]:
        """Perform the call, or repeat the answer to an earlier call with the same idempotency key."""
        raw = body if operation.method == "POST" else request.url.query.encode()
        key = request.headers.get("idempotency-key") if operation.method == "POST" else None
        fingerprint = hashlib.sha256(request.url.path.encode() + b"\n" + body).hexdigest()
        if key is not None and (known := self.ledger.answered(key)):
            if known[0] != fingerprint:
                message = (
                    "Keys for idempotent requests can only be used with the same parameters they were first used with."
                )
                raise StripeError(400, "idempotency_error", message)
            return known[1], known[2], {"Idempotent-Replayed": "true"}
        ask = Ask(
            parameters(raw), request.path_params, request.url.path, f"{request.url.scheme}://{request.url.netloc}"
        )
        try:
            status, content = 200, shown(operation.perform(ask))
        except StripeError as error:
            if error.status != 402:
                raise
            status, content = error.status, error.body
        if key is not None:
            self.ledger.remember_answer(key, fingerprint, status, content)
        return status, content, {}

    async def _break(self, request: Request, operation: Operation, *, after_execution: bool) -> Response | None:
        def struck(kind: FaultKind) -> OrderedFault | None:
            return self.faults.strike(PROVIDER, operation.name, kind, after_execution=after_execution)

        if fault := struck(FaultKind.TIMEOUT):
            await until_gone(request, _HANG_SECONDS if fault.latency_ms is None else fault.latency_ms / 1000)
            return LostConnection()
        if struck(FaultKind.CONNECTION_LOST):
            return LostConnection()
        if struck(FaultKind.RATE_LIMITED):
            return self._failure(_TOO_MANY, "Too many requests")
        if fault := struck(FaultKind.SERVER_ERROR):
            return self._failure(fault.status or _SERVER_ERROR, "Something went wrong on our end")
        if fault := struck(FaultKind.HTML_BODY):
            return HTMLResponse(_MALFORMED_GATEWAY, status_code=fault.status or 502)
        return None

    def _failure(self, status: int, message: str) -> Response:
        return answer(status, StripeError(status, "api_error", message).body, self._headers())

    def _struck(self, operation: Operation, kind: FaultKind) -> OrderedFault | None:
        return self.faults.strike(PROVIDER, operation.name, kind)

    @staticmethod
    def _headers() -> dict[str, str]:
        return {"Stripe-Version": API_VERSION, "Request-Id": f"req_{time.monotonic_ns()}"}
