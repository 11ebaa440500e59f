"""Structured logs of every process: events with fields, never personal data, secrets or exception messages."""

import logging
import sys
import traceback
from types import TracebackType

import structlog

from models.settings import Settings

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class WithoutMessages(logging.Formatter):
    """What libraries log of exceptions: where they came from, not what they say, which can quote what was sent."""

    def formatException(self, ei: ExcInfo) -> str:  # noqa: N802 - logging's own name
        """The exceptions, first cause last, as types and places."""
        lines: list[str] = []
        error: BaseException | None = ei[1]
        while error is not None:
            lines.append(type(error).__qualname__)
            lines += [
                f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)
            ]
            error = error.__cause__ or error.__context__
        return "\n".join(lines)


def configure_logs(settings: Settings) -> None:
    """Send structlog's events to standard error, as JSON or readable lines."""
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    of_libraries = logging.StreamHandler(sys.stderr)
    of_libraries.setFormatter(WithoutMessages("%(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=max(level, logging.WARNING), handlers=[of_libraries])
    render: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if settings.log_json
        else structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"])
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
