"""Structured logs of every process: events with fields, never personal data, secrets or exception messages."""

import logging
import sys
import traceback
from types import TracebackType

import structlog

from models.base.settings import Settings

STAMP = structlog.processors.TimeStamper(fmt="iso", utc=True)
ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class WithoutMessages(logging.Formatter):
    """Renders the log records of libraries like our own events, with the ids of the current request or activity.

    Exceptions are shown by type and place, without their messages, which can quote what was sent.
    """

    def __init__(self, render: structlog.typing.Processor) -> None:
        super().__init__()
        self._processors: list[structlog.typing.Processor] = [structlog.contextvars.merge_contextvars, STAMP, render]

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        entry: structlog.typing.EventDict = {
            "level": record.levelname.lower(),
            "event": _message(record),
            "logger": record.name,
        }
        if record.exc_info and record.exc_info[1] is not None:
            entry["trace"] = self.formatException(record.exc_info).splitlines()
        for process in self._processors[:-1]:
            entry = process(None, record.levelname, entry)  # type: ignore[assignment] # none of these renders yet
        return str(self._processors[-1](None, record.levelname, entry))

    def formatException(self, ei: ExcInfo) -> str:  # noqa: N802 - logging's own name
        """Return the exceptions, first cause last, as types and places."""
        lines: list[str] = []
        error: BaseException | None = ei[1]
        while error is not None:
            lines.append(type(error).__qualname__)
            lines += [
                f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)
            ]
            error = error.__cause__ or error.__context__
        return "\n".join(lines)


def _message(record: logging.LogRecord) -> str:
    """Return the message; of asyncio only its first line, since the others show results and errors of tasks."""
    message = record.getMessage()
    return message.partition("\n")[0] if record.name == "asyncio" else message


def configure_logs(settings: Settings) -> None:
    """Send structlog's events to standard error, as JSON or readable lines."""
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    render: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if settings.log_json
        else structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"])
    )
    of_libraries = logging.StreamHandler(sys.stderr)
    of_libraries.setFormatter(WithoutMessages(render))
    logging.basicConfig(level=max(level, logging.WARNING), handlers=[of_libraries])
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            STAMP,
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
