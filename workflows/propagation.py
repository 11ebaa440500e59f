"""Context propagation: workflows pass on the workspace, for logs, and the trace that woke them, for the collector.

Temporal headers carry both: workspace ids and W3C `traceparent`s. Workflows only copy them, so that a replay needs no
collector and gives the same result. Many traces may wake one workflow; its work belongs to the latest. A wake outside a
trace (from the dispatcher, which also wakes rows that a request has woken) begins a new trace, which never replaces a
request's. After an hour a trace is over: activities then begin new ones that link to it.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from opentelemetry.context import Context
from opentelemetry.trace import Link, SpanKind
from structlog.contextvars import get_contextvars
from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.client import (
    ActivityHandle,
    OutboundInterceptor,
    StartActivityInput,
    StartWorkflowInput,
    WorkflowHandle,
)
from temporalio.client import (
    Interceptor as ClientInterceptor,
)
from temporalio.converter import PayloadConverter
from temporalio.worker import (
    ContinueAsNewInput,
    ExecuteWorkflowInput,
    HandleSignalInput,
    StartLocalActivityInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)
from temporalio.worker import (
    Interceptor as WorkerInterceptor,
)
from temporalio.worker import (
    StartActivityInput as WorkflowStartActivityInput,
)

from models.operate import traces
from models.operate.traces import Fact
from workflows.contracts import WORKSPACE_ID

WORKSPACE = "workspace"
TRACE = "trace"
BACKGROUND = "trace-background"
PAST = "trace-past"
FRESH = timedelta(hours=1)
Headers = Mapping[str, Payload]


class ContextPropagation(ClientInterceptor, WorkerInterceptor):
    """Interceptor of a client and of the workers that use it."""

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:  # noqa: A002 - temporalio's name
        """Wrap the client's outbound calls."""
        return _ClientOutbound(next)

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:  # noqa: A002 - its name
        """Return the class that wraps every workflow."""
        return _WorkflowInbound


def header_text(headers: Headers, name: str) -> Any:  # noqa: ANN401 - a workspace id or a carrier
    """Return the value of a header, null if it is missing."""
    payload = headers.get(name)
    return None if payload is None else PayloadConverter.default.from_payload(payload)


def origin(headers: Headers) -> tuple[Context, list[Link]]:
    """Return the parent of an activity's span, and, if that trace is over, a link to it instead."""
    carrier = header_text(headers, TRACE) or header_text(headers, BACKGROUND)
    past = header_text(headers, PAST)
    return traces.received(carrier or {}), traces.links(past) if past else []


class _ClientOutbound(OutboundInterceptor):
    """Adds the request's workspace and trace to the workflows and activities that the client starts."""

    async def start_workflow(self, input: StartWorkflowInput) -> WorkflowHandle[Any, Any]:  # noqa: A002 - its name
        """Start or wake a workflow."""
        in_trace = bool(traces.carried())
        facts = {Fact.WORKFLOW: input.id, Fact.WORKSPACE: _workspace()}
        with traces.span(f"ring {input.workflow}", SpanKind.PRODUCER, facts):
            input.headers = _with(input.headers, TRACE if in_trace else BACKGROUND)
            return await super().start_workflow(input)

    async def start_activity(self, input: StartActivityInput) -> ActivityHandle[Any]:  # noqa: A002 - its name
        """Start a standalone activity."""
        facts = {Fact.WORKFLOW: input.id, Fact.ACTIVITY: input.activity_type, Fact.WORKSPACE: _workspace()}
        with traces.span(f"start {input.activity_type}", SpanKind.PRODUCER, facts):
            input.headers = _with(input.headers, TRACE)
            return await super().start_activity(input)


def _workspace() -> str | None:
    found: str | None = get_contextvars().get("workspace_id")
    return found


def _with(headers: Headers, kind: str) -> Headers:
    context: dict[str, Any] = {WORKSPACE: _workspace(), kind: traces.carried()}
    return {**headers, **{name: _payload(value) for name, value in context.items() if value}}


def _payload(value: object) -> Payload:
    return PayloadConverter.default.to_payload(value)


class _Origin:
    """The headers of the wake that a workflow is processing."""

    def __init__(self) -> None:
        self._workspace: Headers = {}
        self._trace: Headers = {}
        self._at = 0.0

    def take_over(self, headers: Headers) -> None:
        """Take over the headers of a wake. A background trace does not replace a recent trace of a request."""
        if WORKSPACE in headers:
            self._workspace = {WORKSPACE: headers[WORKSPACE]}
        if TRACE in headers:
            self._trace, self._at = {TRACE: headers[TRACE]}, workflow.time()
        elif BACKGROUND in headers and not (TRACE in self._trace and self._is_fresh):
            self._trace, self._at = {BACKGROUND: headers[BACKGROUND]}, workflow.time()

    @property
    def _is_fresh(self) -> bool:
        return workflow.time() - self._at < FRESH.total_seconds()

    def added_to(self, headers: Headers) -> Headers:
        """Return the headers of an activity or run that the workflow starts."""
        return {**headers, **self._whose(), **self._trace_now()}

    def _whose(self) -> Headers:
        known = workflow.info().typed_search_attributes.get(WORKSPACE_ID)
        return self._workspace if known is None else {WORKSPACE: workflow.payload_converter().to_payload(known)}

    def _trace_now(self) -> Headers:
        if self._is_fresh or not self._trace:
            return self._trace
        return {PAST: next(iter(self._trace.values()))}


class _WorkflowInbound(WorkflowInboundInterceptor):
    """Remembers the headers of the last wake."""

    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        """Share the received headers with the outbound interceptor."""
        self._origin = _Origin()
        super().init(_WorkflowOutbound(outbound, self._origin))

    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:  # noqa: A002, ANN401 - temporalio's signature
        """Take over the headers of the start."""
        self._origin.take_over(input.headers)
        return await super().execute_workflow(input)

    async def handle_signal(self, input: HandleSignalInput) -> None:  # noqa: A002 - its name
        """Take over the headers of a wake."""
        self._origin.take_over(input.headers)
        await super().handle_signal(input)


class _WorkflowOutbound(WorkflowOutboundInterceptor):
    """Adds the headers to activities and runs that the workflow starts."""

    def __init__(self, next: WorkflowOutboundInterceptor, origin: _Origin) -> None:  # noqa: A002 - its name
        super().__init__(next)
        self._origin = origin

    def start_activity(self, input: WorkflowStartActivityInput) -> workflow.ActivityHandle[Any]:  # noqa: A002 - its name
        """Start an activity with the headers."""
        input.headers = self._origin.added_to(input.headers)
        return super().start_activity(input)

    def start_local_activity(self, input: StartLocalActivityInput) -> workflow.ActivityHandle[Any]:  # noqa: A002 - its name
        """Start a local activity with the headers."""
        input.headers = self._origin.added_to(input.headers)
        return super().start_local_activity(input)

    def continue_as_new(self, input: ContinueAsNewInput) -> Any:  # noqa: A002, ANN401 - never returns
        """Begin the next run of the same workflow with the headers."""
        input.headers = self._origin.added_to(input.headers)
        super().continue_as_new(input)
