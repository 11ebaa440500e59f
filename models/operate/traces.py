"""Traces of this process for the operator's OpenTelemetry collector; off unless `OTEL_*` variables turn them on.

A span carries only the attributes that `Fact` lists. The provider is not made the global one: spans that libraries
would record by themselves (addresses, queries, arguments) are dropped, and no trace header is sent to other servers.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, Link, Span, SpanKind, StatusCode, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from structlog.contextvars import bound_contextvars

from models.base.errors import ServiceError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
EXPORTER = "OTEL_TRACES_EXPORTER"
DISABLED = "OTEL_SDK_DISABLED"
PROJECT = "sourcing-and-outreach"
FLUSH_SECONDS = 5.0
"""How long a process waits at its end for the collector to take the last spans."""
PROPAGATOR = TraceContextTextMapPropagator()


class Fact(StrEnum):
    """The attributes that a span may carry: ids, templates, fixed names and states."""

    REQUEST = "request.id"
    WORKSPACE = "workspace.id"
    METHOD = "http.request.method"
    ROUTE = "http.route"
    STATUS = "http.response.status_code"
    WORKFLOW = "temporal.workflow.id"
    ACTIVITY = "temporal.activity.type"
    ATTEMPT = "temporal.attempt"
    UPSTREAM = "upstream.name"
    OPERATION = "upstream.operation"
    ERROR = "error.type"


class _Sending:
    """Holds the provider of this process, null while traces are off."""

    provider: "TracerProvider | None" = None


_SENDING = _Sending()


def asked_for(environment: Mapping[str, str]) -> bool:
    """Return whether the environment turns traces on.

    Raises:
        ValueError: the environment asks for an exporter other than OTLP over HTTP.
    """
    exporter = environment.get(EXPORTER, "").strip().lower()
    if exporter not in {"", "otlp", "none"}:
        raise ValueError(f"{EXPORTER} is otlp or none")
    if exporter == "none" or environment.get(DISABLED, "").strip().lower() == "true":
        return False
    return exporter == "otlp" or any(environment.get(name) for name in ENDPOINTS)


@contextlib.asynccontextmanager
async def sending(process: str) -> AsyncIterator[None]:
    """Send the spans of this process (`api`, `worker`) within the block if the environment turns traces on."""
    if not asked_for(os.environ):
        yield
        return
    provider = _provider(process)
    before, _SENDING.provider = _SENDING.provider, provider
    try:
        yield
    finally:
        _SENDING.provider = before
        await _flushed(provider)


async def _flushed(provider: "TracerProvider") -> None:
    """Wait for the last spans, at most `FLUSH_SECONDS`; a thread that waits for a hung collector is abandoned."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def flush() -> None:
        provider.shutdown()
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(done.set)

    threading.Thread(target=flush, name="last spans", daemon=True).start()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(FLUSH_SECONDS):
            await done.wait()


def _provider(process: str) -> "TracerProvider":
    """Return a provider that reads sampler, resource and exporter from the standard variables."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # slow to import, rarely needed
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": f"{PROJECT}-{process}"}
    provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


@contextlib.contextmanager
def span(
    name: str,
    kind: SpanKind,
    facts: Mapping[Fact, str | int | None],
    *,
    parent: Context | None = None,
    links: Sequence[Link] = (),
) -> Iterator[Span]:
    """Open a span around the block; while traces are off it records nothing.

    A null `parent` means the current span. Only the code or type of an exception is recorded, never its message. Lines
    logged inside carry the `trace_id`.
    """
    if _SENDING.provider is None:
        yield INVALID_SPAN
        return
    tracer = _SENDING.provider.get_tracer(PROJECT)
    known = {fact.value: value for fact, value in facts.items() if value is not None}
    with (
        tracer.start_as_current_span(
            name, parent, kind, known, links, record_exception=False, set_status_on_exception=False
        ) as made,
        bound_contextvars(trace_id=f"{made.get_span_context().trace_id:032x}"),
    ):
        try:
            yield made
        except BaseException as error:
            mark_failed(made, error.code if isinstance(error, ServiceError) else type(error).__name__)
            raise


def upstream(name: str, operation: str) -> contextlib.AbstractContextManager[Span]:
    """Return a span around a call to another party's server; `operation` is a fixed name or a template, never a URL."""
    return span(f"{name} {operation}", SpanKind.CLIENT, {Fact.UPSTREAM: name, Fact.OPERATION: operation})


def set_attribute(made: Span, fact: Fact, value: str | int | None) -> None:
    """Add an attribute that became known inside a span; null adds nothing."""
    if value is not None:
        made.set_attribute(fact.value, value)


def mark_failed(made: Span, code: str) -> None:
    """Mark the span as failed, with the error's code."""
    made.set_status(StatusCode.ERROR)
    made.set_attribute(Fact.ERROR.value, code)


def on() -> bool:
    """Return whether this process sends spans."""
    return _SENDING.provider is not None


def root() -> Context:
    """Return the parent for a span that begins a new trace."""
    return Context()


def carried() -> dict[str, str]:
    """Return the current span as W3C `traceparent` for another process of the installation; empty if there is none."""
    carrier: dict[str, str] = {}
    if get_current_span().get_span_context().is_valid:
        PROPAGATOR.inject(carrier)
    return carrier


def received(carrier: Mapping[str, str]) -> Context:
    """Return the span that another process sent by `carried`, as a parent."""
    return PROPAGATOR.extract(carrier, Context())


def links(carrier: Mapping[str, str]) -> list[Link]:
    """Return the span that another process sent as a link, for a trace too old to be continued."""
    return [Link(get_current_span(received(carrier)).get_span_context())]
