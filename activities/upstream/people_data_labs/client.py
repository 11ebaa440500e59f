"""One call to People Data Labs: transport, retries, time limits, and its answers as the errors of `ports.py`."""

import asyncio
import contextlib
import json
import random
import time
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

import httpx
import structlog
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential

from activities.upstream.ports.people import (
    FeedUnavailable,
    SourceBusy,
    SourceNotConfigured,
    SourceRefusedQuery,
    SourceUnusable,
)
from models.operate import traces
from models.operate.traces import Fact

log = structlog.get_logger(__name__)

CALL_SECONDS = 50.0
"""A search or fetch with all its repetitions is over within this."""
CONNECT_SECONDS = 5.0
READ_SECONDS = 30.0
BULK_READ_SECONDS = 60.0
MAX_BYTES = 1_048_576
FAULT_REPEATS = 2
TRANSPORT_REPEATS = 1
NOT_CONFIGURED_SECONDS = 900.0
FAULT_SECONDS = 30.0
LONGEST_RESET = timedelta(hours=24)
RESET_JITTER_SECONDS = 5.0
GZIP = 31

_jitter = random.SystemRandom()


class AnswerTooLarge(SourceUnusable):
    """The answer was over the source's own limit of 1 MiB: ask for less at a time."""


class _PassingFault(Exception):
    """A fault worth `repeats` repetitions, then `busy`."""

    def __init__(self, busy: SourceBusy, *, repeats: int) -> None:
        super().__init__(busy.reason)
        self.busy = busy
        self.repeats = repeats


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """What the source said: `found` is false for its 404, which is a normal outcome; `body` is null then."""

    found: bool
    body: Any


@contextlib.asynccontextmanager
async def within_limit() -> AsyncIterator[None]:
    """Bound one question with all its retries. Raises `SourceBusy` after `CALL_SECONDS`."""
    try:
        async with asyncio.timeout(CALL_SECONDS):
            yield
    except TimeoutError:
        log.warning("people_data_labs.limit_reached")
        raise SourceBusy("the source took too long", status=502, cooldown_seconds=FAULT_SECONDS) from None


def utc_now() -> datetime:
    """Return the wall time."""
    return datetime.now(UTC)


class PeopleDataLabsClient:
    """A pooled client. Repeats what is worth repeating: every call is a read, at worst billed to us twice."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str | None,
        transport: httpx.AsyncBaseTransport | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._configured = bool(api_key)
        self._now = now
        self._http = httpx.AsyncClient(
            base_url=base_url,
            headers={
                "X-Api-Key": api_key or "",
                "Accept": "application/json",
                "Accept-Encoding": "gzip",
                "Content-Type": "application/json",
            },
            trust_env=False,
            follow_redirects=False,
            transport=transport,
        )

    async def close(self) -> None:
        """Close the pool."""
        await self._http.aclose()

    async def post(self, path: str, body: Mapping[str, Any], *, read_seconds: float = READ_SECONDS) -> SourceAnswer:
        """Call `path` with a JSON body.

        Raises:
            SourceBusy, SourceNotConfigured, SourceRefusedQuery, SourceUnusable, AnswerTooLarge: see `ports.py`.
        """
        timeout = httpx.Timeout(read_seconds, connect=CONNECT_SECONDS)
        return await self._repeated(
            self._http.build_request("POST", path, content=json.dumps(body).encode(), timeout=timeout)
        )

    async def get(self, path: str, parameters: Mapping[str, str]) -> SourceAnswer:
        """Call `path`, where the source takes nothing but a query. Raises what `post` raises."""
        timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        return await self._repeated(self._http.build_request("GET", path, params=dict(parameters), timeout=timeout))

    @contextlib.asynccontextmanager
    async def streaming(self, path: str) -> AsyncIterator[httpx.Response]:
        """Call `path` and read the answer as it comes, once.

        Raises what `post` raises, but `FeedUnavailable` when our plan lacks the path. A transfer that dies on its way
        is `SourceBusy`.
        """
        if not self._configured:
            raise SourceNotConfigured("no key for the people source", cooldown_seconds=NOT_CONFIGURED_SECONDS)
        timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        try:
            with traces.upstream("people_data_labs", path) as span:
                async with self._http.stream("GET", path, timeout=timeout) as response:
                    traces.set_attribute(span, Fact.STATUS, response.status_code)
                    yield self._taken(path, response)
        except _PassingFault as fault:
            raise fault.busy from None
        except httpx.TimeoutException:
            raise SourceBusy(f"{path} timed out", status=502, cooldown_seconds=FAULT_SECONDS) from None
        except httpx.HTTPError:
            raise SourceBusy(f"{path} broke off", cooldown_seconds=FAULT_SECONDS) from None

    def _taken(self, path: str, response: httpx.Response) -> httpx.Response:
        """Open the stream and check its status. Raises what `streaming` raises."""
        status = response.status_code
        log.info("people_data_labs.stream", operation=path, status=status)
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND}:
            raise FeedUnavailable(f"{path} is not part of our plan")
        if status != HTTPStatus.OK:
            self._not_ok(path, status, response.headers)
        return response

    async def _repeated(self, request: httpx.Request) -> SourceAnswer:
        if not self._configured:
            raise SourceNotConfigured("no key for the people source", cooldown_seconds=NOT_CONFIGURED_SECONDS)
        repeating = AsyncRetrying(
            retry=retry_if_exception_type(_PassingFault),
            stop=_repeated_enough,
            wait=wait_random_exponential(multiplier=0.25, max=2),
            reraise=True,
        )
        try:
            return await repeating(self._once, request)
        except _PassingFault as fault:
            raise fault.busy from None

    async def _once(self, request: httpx.Request) -> SourceAnswer:
        began = time.monotonic()
        operation = request.url.path
        try:
            with traces.upstream("people_data_labs", operation) as span:
                response = await self._http.send(request, stream=True)
                traces.set_attribute(span, Fact.STATUS, response.status_code)
                try:
                    body = await _read(response)
                finally:
                    await response.aclose()
        except httpx.TimeoutException as error:
            log.warning("people_data_labs.timed_out", operation=operation, error=type(error).__name__)
            busy = SourceBusy(f"{operation} timed out", status=502, cooldown_seconds=FAULT_SECONDS)
            raise _PassingFault(busy, repeats=TRANSPORT_REPEATS) from None
        except httpx.TransportError as error:
            log.warning("people_data_labs.out_of_reach", operation=operation, error=type(error).__name__)
            busy = SourceBusy(f"{operation} is out of reach", cooldown_seconds=FAULT_SECONDS)
            raise _PassingFault(busy, repeats=TRANSPORT_REPEATS) from None
        parsed = _parsed(body)
        status = _worse(response.status_code, parsed)
        log.info(
            "people_data_labs.call",
            operation=operation,
            status=status,
            milliseconds=round((time.monotonic() - began) * 1000),
            credits=response.headers.get("x-call-credits-spent"),
        )
        if status == HTTPStatus.OK:
            return _usable(body, parsed)
        return self._not_ok(operation, status, response.headers)

    def _not_ok(self, operation: str, status: int, headers: httpx.Headers) -> SourceAnswer:
        if status == HTTPStatus.NOT_FOUND:
            return SourceAnswer(found=False, body=None)
        if status == HTTPStatus.BAD_REQUEST:
            raise SourceRefusedQuery(f"{operation} refused the request")
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            log.error("people_data_labs.key_refused", status=status)
            raise SourceNotConfigured("the people source refuses our key", cooldown_seconds=NOT_CONFIGURED_SECONDS)
        if status == HTTPStatus.PAYMENT_REQUIRED:
            log.error("people_data_labs.credits_used_up")
            raise SourceNotConfigured(
                "our credits at the people source are used up",
                retry_at=reset_time(headers, now=self._now()),
                cooldown_seconds=NOT_CONFIGURED_SECONDS,
            )
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            now = self._now()
            raise SourceBusy(f"{operation} is rate limited", retry_at=reset_time(headers, now=now) or next_minute(now))
        if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            raise AnswerTooLarge(f"{operation} would have answered with over 1 MiB")
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            busy = SourceBusy(f"{operation} answered {status}", cooldown_seconds=FAULT_SECONDS)
            raise _PassingFault(busy, repeats=FAULT_REPEATS)
        raise SourceUnusable(f"{operation} answered {status}")


def reset_time(headers: Mapping[str, str], *, now: datetime) -> datetime | None:
    """Return when the rate window ends; null when that is absent, unreadable, past or more than a day ahead."""
    try:
        reset = datetime.fromisoformat(headers.get("x-ratelimit-reset", "").strip())
    except ValueError:
        return None
    reset = reset if reset.tzinfo else reset.replace(tzinfo=UTC)
    return reset if timedelta(0) < reset - now <= LONGEST_RESET else None


def next_minute(now: datetime) -> datetime:
    """Return the end of the current minute, the latest end of the source's rate windows, with a little jitter."""
    minute = now.replace(second=0, microsecond=0) + timedelta(minutes=1)
    return minute + timedelta(seconds=_jitter.uniform(0, RESET_JITTER_SECONDS))


def _repeated_enough(state: RetryCallState) -> bool:
    fault = state.outcome.exception() if state.outcome else None
    return isinstance(fault, _PassingFault) and state.attempt_number > fault.repeats


async def _read(response: httpx.Response) -> bytes:
    """Return the decoded body, cut right after `MAX_BYTES`; empty when its encoding is unreadable."""
    encoding = response.headers.get("content-encoding", "identity").lower()
    inflate = zlib.decompressobj(GZIP) if encoding == "gzip" else None
    if inflate is None and encoding != "identity":
        return b""
    body = bytearray()
    async for chunk in response.aiter_raw():
        try:
            body += inflate.decompress(chunk, MAX_BYTES + 1 - len(body)) if inflate else chunk
        except zlib.error:
            return b""
        if len(body) > MAX_BYTES:
            break
    return bytes(body)


def _parsed(body: bytes) -> Any:  # noqa: ANN401 - JSON
    if len(body) > MAX_BYTES:
        return None
    try:
        return json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _usable(body: bytes, parsed: Any) -> SourceAnswer:  # noqa: ANN401 - JSON
    if len(body) > MAX_BYTES:
        raise AnswerTooLarge("the answer is over 1 MiB")
    if not isinstance(parsed, dict | list):
        raise SourceUnusable("the answer is not JSON")
    return SourceAnswer(found=True, body=parsed)


def _worse(status: int, parsed: Any) -> int:  # noqa: ANN401 - JSON
    """Return the worse of the response's status and the one that its body repeats, which may differ."""
    said = parsed.get("status") if isinstance(parsed, dict) else None
    return max(status, said) if isinstance(said, int) else status
