"""Log lines of libraries contain no message of an exception, which could quote a caller's data."""

import json
import logging

import structlog

from models.operate.logs import WithoutMessages


def fails() -> None:
    try:
        {"a": 1}["ada@example.com"]
    except KeyError as error:
        raise ValueError("input_value='ada@example.com'") from error


def logged(name: str, message: str, error: BaseException | None = None) -> dict[str, object]:
    """What is written of a library's record, within a request."""
    caught = None if error is None else (type(error), error, error.__traceback__)
    record = logging.LogRecord(name, logging.ERROR, __file__, 1, message, None, caught)
    with structlog.contextvars.bound_contextvars(request_id="req_1"):
        told: dict[str, object] = json.loads(WithoutMessages(structlog.processors.JSONRenderer()).format(record))
    return told


def test_an_exception_of_a_library_is_logged_without_its_words() -> None:
    try:
        fails()
    except ValueError as error:
        told = logged("library", "handler raised", error)
    trace = told["trace"]
    assert isinstance(trace, list)
    assert "ValueError" in trace
    assert "KeyError" in trace
    assert any("test_logs.py" in line for line in trace)
    assert "ada" not in json.dumps(told)


def test_what_a_library_logs_has_the_form_and_the_ids_of_our_own_events() -> None:
    told = logged("library", "handler raised")
    assert (told["level"], told["logger"], told["event"]) == ("error", "library", "handler raised")
    assert told["request_id"] == "req_1"
    assert told["timestamp"]


def test_of_a_task_that_failed_unseen_its_exception_is_not_shown() -> None:
    told = logged("asyncio", "Task exception was never retrieved\nfuture: <Task exception=ValueError('ada')>")
    assert told["event"] == "Task exception was never retrieved"
