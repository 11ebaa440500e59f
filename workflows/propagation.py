"""What rows' workflows hand on beside ids: whose work it is, for the logs, and the trace that rang, for the collector.

Headers of Temporal carry both: workspace ids and W3C `traceparent`s. Within a workflow they are only copied, so that
a replay needs no collector and finds the same. A workflow is rung many times by many traces: what it has done belongs
to the trace that rang it last. Rings from outside of a trace (the dispatcher's, which come beside those of requests)
begin one of their own, which gives way to a request's. After an hour a trace is over: activities begin new ones that
link to it.
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
    """Given to a client, it serves the workers of that client as well."""

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:  # noqa: A002 - temporalio's name
        """Around what the client starts."""
        return _Starting(next)

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:  # noqa: A002
        """Around every workflow."""
        return _Hearing


def text(headers: Headers, name: str) -> Any:  # noqa: ANN401 - a workspace id or a carrier
    """The value of a header; null when it is not there."""
    payload = headers.get(name)
    return None if payload is None else PayloadConverter.default.from_payload(payload)


def origin(headers: Headers) -> tuple[Context, list[Link]]:
    """The parent of an activity's span, and the trace that it follows when there is no parent any more."""
    carrier = text(headers, TRACE) or text(headers, BACKGROUND)
    past = text(headers, PAST)
    return traces.received(carrier or {}), traces.links(past) if past else []


class _Starting(OutboundInterceptor):
    """Has what is started know the workspace of the request, and the trace."""

    async def start_workflow(self, input: StartWorkflowInput) -> WorkflowHandle[Any, Any]:  # noqa: A002
        """Start or ring a workflow."""
        within = bool(traces.carried())
        facts = {Fact.WORKFLOW: input.id, Fact.WORKSPACE: _workspace()}
        with traces.span(f"ring {input.workflow}", SpanKind.PRODUCER, facts):
            input.headers = _with(input.headers, TRACE if within else BACKGROUND)
            return await super().start_workflow(input)

    async def start_activity(self, input: StartActivityInput) -> ActivityHandle[Any]:  # noqa: A002
        """Start a standalone activity."""
        facts = {Fact.WORKFLOW: input.id, Fact.ACTIVITY: input.activity_type, Fact.WORKSPACE: _workspace()}
        with traces.span(f"start {input.activity_type}", SpanKind.PRODUCER, facts):
            input.headers = _with(input.headers, TRACE)
            return await super().start_activity(input)


def _workspace() -> str | None:
    found: str | None = get_contextvars().get("workspace_id")
    return found


def _with(headers: Headers, kind: str) -> Headers:
    told: dict[str, Any] = {WORKSPACE: _workspace(), kind: traces.carried()}
    return {**headers, **{name: _payload(value) for name, value in told.items() if value}}


def _payload(value: object) -> Payload:
    return PayloadConverter.default.to_payload(value)


class _Origin:
    """The headers of the ring that a workflow answers."""

    def __init__(self) -> None:
        self._workspace: Headers = {}
        self._trace: Headers = {}
        self._at = 0.0

    def hear(self, headers: Headers) -> None:
        """A ring has come: a request's trace takes over, another one where there is none that is fresh."""
        if WORKSPACE in headers:
            self._workspace = {WORKSPACE: headers[WORKSPACE]}
        if TRACE in headers:
            self._trace, self._at = {TRACE: headers[TRACE]}, workflow.time()
        elif BACKGROUND in headers and not (TRACE in self._trace and self._is_fresh):
            self._trace, self._at = {BACKGROUND: headers[BACKGROUND]}, workflow.time()

    @property
    def _is_fresh(self) -> bool:
        return workflow.time() - self._at < FRESH.total_seconds()

    def handed_on(self, headers: Headers) -> Headers:
        """The headers of what the workflow starts."""
        return {**headers, **self._whose(), **self._trace_now()}

    def _whose(self) -> Headers:
        known = workflow.info().typed_search_attributes.get(WORKSPACE_ID)
        return self._workspace if known is None else {WORKSPACE: workflow.payload_converter().to_payload(known)}

    def _trace_now(self) -> Headers:
        if self._is_fresh or not self._trace:
            return self._trace
        return {PAST: next(iter(self._trace.values()))}


class _Hearing(WorkflowInboundInterceptor):
    """Remembers who rang."""

    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        """Share what is heard with what is started."""
        self._origin = _Origin()
        super().init(_Handing(outbound, self._origin))

    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:  # noqa: A002, ANN401 - temporalio's signature
        """The start."""
        self._origin.hear(input.headers)
        return await super().execute_workflow(input)

    async def handle_signal(self, input: HandleSignalInput) -> None:  # noqa: A002
        """A ring."""
        self._origin.hear(input.headers)
        await super().handle_signal(input)


class _Handing(WorkflowOutboundInterceptor):
    """Tells activities."""

    def __init__(self, next: WorkflowOutboundInterceptor, origin: _Origin) -> None:  # noqa: A002
        super().__init__(next)
        self._origin = origin

    def start_activity(self, input: WorkflowStartActivityInput) -> workflow.ActivityHandle[Any]:  # noqa: A002
        """An activity."""
        input.headers = self._origin.handed_on(input.headers)
        return super().start_activity(input)

    def start_local_activity(self, input: StartLocalActivityInput) -> workflow.ActivityHandle[Any]:  # noqa: A002
        """A local activity."""
        input.headers = self._origin.handed_on(input.headers)
        return super().start_local_activity(input)

    def continue_as_new(self, input: ContinueAsNewInput) -> Any:  # noqa: A002, ANN401 - never returns
        """The next run of the same workflow."""
        input.headers = self._origin.handed_on(input.headers)
        super().continue_as_new(input)
