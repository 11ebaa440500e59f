"""The interceptors of activities: failures reach Temporal as a code, and log lines and spans carry the ids.

No message, cause or trace of a failure leaves the process, for they may name people.
"""

from typing import Any

import structlog
from opentelemetry.trace import SpanKind
from structlog.contextvars import bound_contextvars
from temporalio import activity
from temporalio.exceptions import ApplicationError, is_cancelled_exception
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from models.base.database import constraint, sqlstate
from models.base.errors import ServiceError
from models.operate import traces
from models.operate.traces import Fact
from workflows import propagation

log = structlog.get_logger(__name__)


class SilentFailures(Interceptor):
    """Replaces every failure of an activity by its code, and logs where it arose."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - its name
        """Put the wrapper around the activity."""
        return _Silent(next)


class _Silent(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401 - temporalio's signature
        try:
            return await super().execute_activity(input)
        except Exception as error:
            if is_cancelled_exception(error):
                raise
            code = error.code if isinstance(error, ServiceError) else type(error).__name__
            info = activity.info()
            log.warning(
                "activity.failed",
                activity=info.activity_type,
                workflow_id=info.workflow_id,
                attempt=info.attempt,
                code=code,
                where=_where(error),
                sqlstate=sqlstate(error),
                constraint=constraint(error),
            )
        raise ApplicationError(code, type=code)


def _where(error: BaseException) -> str:
    """Return file and line of the innermost frame: enough to find the defect, and none of the data."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"


class LoggingInterceptor(Interceptor):
    """Gives every activity its span, and its log lines the ids. It is the outermost interceptor."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - its name
        """Put the wrapper around the activity."""
        return _Logging(next)


class _Logging(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401 - temporalio's signature
        info = activity.info()
        subject = info.workflow_id or info.activity_id  # a standalone activity has a row's id as its own
        workspace = propagation.header_text(input.headers, propagation.WORKSPACE)
        ids = {"workflow_id": subject, "activity": info.activity_type, "attempt": info.attempt}
        whose = {} if workspace is None else {"workspace_id": workspace}
        facts = {
            Fact.WORKFLOW: subject,
            Fact.ACTIVITY: info.activity_type,
            Fact.ATTEMPT: info.attempt,
            Fact.WORKSPACE: workspace,
        }
        parent, links = propagation.origin(input.headers)
        with (
            bound_contextvars(**ids, **whose),
            traces.span(info.activity_type, SpanKind.CONSUMER, facts, parent=parent, links=links),
        ):
            return await super().execute_activity(input)
