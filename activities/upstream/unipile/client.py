"""One call to Unipile v2: transport, time limits, size limit, and its answers as JSON or as an error to understand."""

import asyncio
import json
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx
import structlog
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from activities.upstream.ports.network_errors import (
    AccountTrouble,
    NetworkBusy,
    NetworkError,
    NetworkNotConfigured,
    PersonRefusal,
    PersonRefused,
    Trouble,
)
from activities.upstream.unipile.failures import AskedAction, ProviderProblem, classify, interrupted_call, needs_look
from models.operate import traces

log = structlog.get_logger(__name__)

CONNECT_SECONDS = 5.0
READ_SECONDS = 30.0
ACT_SECONDS = 90.0
MAX_BYTES = 1_048_576
ATTEMPTS_OF_A_READ = 2
MOST_ID_LENGTH = 100
FRESH = {"Cache-Control": "no-cache"}

Json = dict[str, Any]
_SECONDS = re.compile(r"[0-9]{1,9}", re.ASCII)
_TYPE = re.compile(r"[a-z_]{1,50}/[a-z_]{1,50}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """One call. `operation` names it in logs, `path` are its segments as they are, before they are encoded."""

    operation: str
    action: AskedAction
    method: str
    path: tuple[str, ...]
    query: Mapping[str, str] = field(default_factory=dict)
    body: Json | None = None
    fresh: bool = False


class ProblemAnswer(Exception):
    """The provider answered with an error; what it means may depend on how the account stands."""

    def __init__(self, problem: ProviderProblem) -> None:
        super().__init__(problem.code)
        self.problem = problem


class UnipileClient:
    """Pooled connections for reads; each act gets a connection of its own, so that none dies on a stale one.

    Without an API key every call is refused before it is made.
    """

    def __init__(
        self, *, base_url: str, api_key: str | None, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._configured = bool(api_key)
        headers = {"X-API-KEY": api_key or "", "Accept": "application/json", "Accept-Encoding": "identity"}
        verify = ssl.create_default_context()

        def connections(limits: httpx.Limits) -> httpx.AsyncClient:
            return httpx.AsyncClient(
                base_url=base_url,
                headers=headers,
                trust_env=False,
                follow_redirects=False,
                transport=transport,
                verify=verify,
                limits=limits,
            )

        self._reading = connections(httpx.Limits(max_connections=None, max_keepalive_connections=20))
        self._acting = connections(httpx.Limits(max_connections=None, max_keepalive_connections=0))

    async def close(self) -> None:
        """Close the connections."""
        await self._reading.aclose()
        await self._acting.aclose()

    async def call(self, ask: ProviderCall) -> Json:
        """The JSON object of a 2xx answer. A read is repeated once after a passing fault, nothing else ever.

        Raises:
            ProblemAnswer: the provider refused.
            NetworkBusy: a read got no usable answer, or no connection was made.
            OutcomeUnknown: an act was sent and its answer is missing or unreadable.
            NetworkNotConfigured: this installation has no API key.
        """
        if not self._configured:
            raise NetworkNotConfigured("no_provider")
        if ask.method != "GET":
            return await self._once(ask)
        repeating = AsyncRetrying(
            retry=retry_if_exception(_passes),
            stop=stop_after_attempt(ATTEMPTS_OF_A_READ),
            wait=wait_random_exponential(multiplier=0.25, max=2),
            reraise=True,
        )
        return await repeating(self._once, ask)

    async def _once(self, ask: ProviderCall) -> Json:
        began = time.monotonic()
        limit = ACT_SECONDS if ask.action.acts else READ_SECONDS
        outcome = "cut_off"
        try:
            with traces.upstream("unipile", ask.operation):
                async with asyncio.timeout(limit):
                    body = await self._answer(ask, limit)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol) as error:
            outcome = type(error).__name__
            raise NetworkBusy("unreachable") from None
        except (httpx.HTTPError, TimeoutError) as error:
            outcome = type(error).__name__
            raise interrupted_call(ask.action, "no_answer") from None
        except ProblemAnswer as error:
            outcome = error.problem.code
            raise
        except NetworkError as error:
            outcome = error.code
            raise
        else:
            outcome = "answered"
            return body
        finally:
            milliseconds = round((time.monotonic() - began) * 1000)
            log.info("unipile.call", operation=ask.operation, outcome=outcome, milliseconds=milliseconds)

    async def _answer(self, ask: ProviderCall, limit: float) -> Json:
        http = self._acting if ask.action.acts else self._reading
        request = http.build_request(
            ask.method,
            _path(ask.path),
            params=dict(ask.query) or None,
            json=ask.body,
            headers=FRESH if ask.fresh else None,
            timeout=httpx.Timeout(limit, connect=CONNECT_SECONDS),
        )
        response = await http.send(request, stream=True)
        try:
            content = await _read(response)
        finally:
            await response.aclose()
        body = _parsed(content)
        if not response.is_success or (body is not None and body.get("object") == "Error"):
            raise ProblemAnswer(_problem(ask, response, body))
        if body is None:
            raise interrupted_call(ask.action, "unreadable")
        return body


def meaning(error: ProblemAnswer, *, standing: Trouble | None = None) -> NetworkError:
    """What an error answer means for us; `standing` is what is wrong with the account, when it was looked at."""
    if standing is not None and needs_look(error.problem):
        return AccountTrouble(standing, error.problem.code)
    return classify(error.problem)


def _path(segments: tuple[str, ...]) -> str:
    """The path, every segment encoded completely: ids hold `/`, `+`, `=` and `:`.

    Raises:
        PersonRefused: an id that cannot stand in a path.
    """
    if any(segment in ("", ".", "..") for segment in segments):
        raise PersonRefused(PersonRefusal.NOT_FOUND, "impossible_id")
    return "/v2/" + "/".join(quote(segment, safe="") for segment in segments)


def _problem(ask: ProviderCall, response: httpx.Response, body: Json | None) -> ProviderProblem:
    said = body or {}
    type_, request_id = said.get("type"), said.get("req_id")
    text = " ".join(part for part in (said.get("title"), said.get("detail")) if isinstance(part, str)).lower()
    status = said.get("status") if response.is_success else response.status_code
    problem = ProviderProblem(
        action=ask.action,
        status=status if isinstance(status, int) else 500,
        type=type_ if isinstance(type_, str) and _TYPE.fullmatch(type_) else None,
        text=text,
        retry_after=_seconds(response.headers.get("retry-after")),
        reset=_seconds(response.headers.get("x-ratelimit-reset")),
    )
    log.warning(
        "unipile.refused",
        operation=ask.operation,
        status=response.status_code,
        type=problem.type,
        req_id=request_id if isinstance(request_id, str) and len(request_id) <= MOST_ID_LENGTH else None,
    )
    return problem


def _seconds(text: str | None) -> float | None:
    """A header in seconds; null when it is absent or no number."""
    if text is None or not _SECONDS.fullmatch(text):
        return None
    return float(text)


def _passes(error: BaseException) -> bool:
    """Whether a read is worth a repeat: no answer, none that can be read, or a fault of theirs."""
    if isinstance(error, ProblemAnswer):
        status = error.problem.status
        return status >= httpx.codes.INTERNAL_SERVER_ERROR and status != httpx.codes.NOT_IMPLEMENTED
    return isinstance(error, NetworkBusy)


async def _read(response: httpx.Response) -> bytes:
    """The body, cut right after `MAX_BYTES`; empty when it is encoded although we asked for none."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        return b""
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MAX_BYTES:
            break
    return bytes(body)


def _parsed(content: bytes) -> Json | None:
    """A JSON object; null for anything else."""
    if len(content) > MAX_BYTES:
        return None
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None
