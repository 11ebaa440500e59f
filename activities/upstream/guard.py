"""Requests to addresses that strangers chose: resolved and checked first, then sent to the address that was checked.

The name is resolved once for each request; the connection goes to a literal address, while SNI, the certificate check
and the Host header use the name. No proxy or other setting of the environment, no redirect, no kept connection,
`ANSWER_SECONDS` for everything, and at most `READ_AT_MOST` bytes of the answer's body unless the caller asks for more.
"""

import asyncio
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import httpx

from models.base.outbound import Address, AddressRefused, RefusedUrl, Resolver, Target, Unresolved, parse_webhook_url
from models.events.rules.deliveries import ANSWER_SECONDS, READ_AT_MOST, AttemptError
from models.operate import traces
from models.operate.traces import Fact


@dataclass(frozen=True, slots=True)
class Posted:
    """The result of a POST: the status, or why there is none, and how long it took."""

    duration_ms: int
    status_code: int | None = None
    error: AttemptError | None = None


@dataclass(frozen=True, slots=True)
class FetchedDocument:
    """The result of a GET: the status, the media type and the whole body, or why there is none."""

    status_code: int | None = None
    media_type: str = ""
    body: bytes = b""
    error: AttemptError | None = None


class Guard:
    """Sends requests to checked addresses. `loopback` is the development switch; tests replace `tls`."""

    def __init__(
        self,
        resolver: Resolver,
        *,
        loopback: bool,
        tls: ssl.SSLContext | None = None,
        limit_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self._resolver = resolver
        self._loopback = loopback
        self._limit_seconds = limit_seconds
        # A bare transport: no cookies between strangers, no redirects, no headers of its own.
        self._transport = httpx.AsyncHTTPTransport(
            verify=tls or ssl.create_default_context(),
            trust_env=False,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
        )

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Posted:
        """POST once. The status of an answer in time counts, even if its body cannot be read."""
        try:
            target = parse_webhook_url(url, loopback=self._loopback)
        except RefusedUrl:  # the development switch was turned off after the URL was saved
            return Posted(0, error=AttemptError.ADDRESS_REFUSED)
        return await self.send(target, body, headers)

    async def send(self, target: Target, body: bytes, headers: Mapping[str, str]) -> Posted:
        """POST once to a parsed URL."""
        attempt = _Attempt(self._transport, "POST", target, body, headers)
        began = time.monotonic()
        error = await self._make(attempt)
        ended = attempt.answered_at or time.monotonic()
        duration_ms = round((ended - began) * 1000)
        if attempt.status_code is not None:
            return Posted(duration_ms, attempt.status_code)
        return Posted(duration_ms, error=error or AttemptError.BAD_ANSWER)

    async def get(self, url: str, headers: Mapping[str, str], *, most: int) -> FetchedDocument:
        """GET once and return the answer's body; one that is longer than `most` bytes or incomplete is a bad answer."""
        try:
            target = parse_webhook_url(url, loopback=self._loopback)
        except RefusedUrl:
            return FetchedDocument(error=AttemptError.ADDRESS_REFUSED)
        attempt = _Attempt(self._transport, "GET", target, b"", headers, most=most)
        error = await self._make(attempt)
        if error is not None or attempt.status_code is None:
            return FetchedDocument(error=error or AttemptError.BAD_ANSWER)
        if len(attempt.read) > most:
            return FetchedDocument(error=AttemptError.BAD_ANSWER)
        return FetchedDocument(attempt.status_code, attempt.media_type, bytes(attempt.read))

    async def _make(self, attempt: "_Attempt") -> AttemptError | None:
        try:
            with traces.upstream("stranger", attempt.method) as span:
                async with asyncio.timeout(self._limit_seconds):
                    addresses = await self._resolver.addresses(attempt.target)
                    await attempt.make(addresses, connect_seconds=self._limit_seconds / len(addresses))
                traces.set_attribute(span, Fact.STATUS, attempt.status_code)
        except AddressRefused:
            return AttemptError.ADDRESS_REFUSED
        except Unresolved:
            return AttemptError.UNRESOLVED
        except (TimeoutError, httpx.TimeoutException):
            return AttemptError.TIMEOUT
        except httpx.ProtocolError:
            return AttemptError.BAD_ANSWER
        except (httpx.TransportError, OSError, ssl.SSLError):
            return AttemptError.CONNECTION_FAILED
        return None

    async def close(self) -> None:
        """Close the transport."""
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class _Attempt:
    """One request: its status as soon as it is known, and what was read of the body, just over `most` bytes."""

    def __init__(
        self,
        transport: httpx.AsyncHTTPTransport,
        method: str,
        target: Target,
        body: bytes,
        headers: Mapping[str, str],
        *,
        most: int = READ_AT_MOST,
    ) -> None:
        self._transport = transport
        self.method = method
        self.target = target
        self._body = body
        self._headers = headers
        self._most = most
        self.read = bytearray()
        self.media_type = ""
        self.status_code: int | None = None
        self.answered_at: float | None = None

    async def make(self, addresses: tuple[Address, ...], *, connect_seconds: float) -> None:
        """Send to the first address that accepts a connection; each gets its share of the time."""
        for place, address in enumerate(addresses, start=1):
            try:
                return await self._send(address, connect_seconds)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                if place == len(addresses):
                    raise
        return None

    async def _send(self, address: Address, connect_seconds: float) -> None:
        url = httpx.URL(self.target.url)
        if url.host != self.target.host:
            raise AddressRefused  # httpx reads another host from the text than the one that was checked
        request = httpx.Request(
            self.method,
            url.copy_with(host=str(address)),
            headers={"Host": url.netloc.decode(), "Connection": "close", **self._headers},
            content=self._body,
            extensions={"sni_hostname": self.target.host, "timeout": {"connect": connect_seconds}},
        )
        response = await self._transport.handle_async_request(request)
        try:
            self.status_code, self.answered_at = response.status_code, time.monotonic()
            self.media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            async for chunk in response.aiter_raw(READ_AT_MOST):
                self.read += chunk
                if len(self.read) >= self._most + 1:
                    break
        finally:
            await response.aclose()
