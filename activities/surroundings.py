"""What surrounds every activity: the ids that its log lines carry, and its span."""

from typing import Any

from opentelemetry.trace import SpanKind
from structlog.contextvars import bound_contextvars
from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from models import traces
from models.traces import Fact
from workflows import handing_on


class Surroundings(Interceptor):
    """Wraps every activity of a worker, outside of everything else that does."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        """Put the wrapper around the activity."""
        return _Surrounded(next)


class _Surrounded(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401 - temporalio's signature
        info = activity.info()
        subject = info.workflow_id or info.activity_id  # a standalone activity has a row's id as its own
        workspace = handing_on.text(input.headers, handing_on.WORKSPACE)
        ids = {"workflow_id": subject, "activity": info.activity_type, "attempt": info.attempt}
        whose = {} if workspace is None else {"workspace_id": workspace}
        facts = {
            Fact.WORKFLOW: subject,
            Fact.ACTIVITY: info.activity_type,
            Fact.ATTEMPT: info.attempt,
            Fact.WORKSPACE: workspace,
        }
        parent, links = handing_on.origin(input.headers)
        with (
            bound_contextvars(**ids, **whose),
            traces.span(info.activity_type, SpanKind.CONSUMER, facts, parent=parent, links=links),
        ):
            return await super().execute_activity(input)
