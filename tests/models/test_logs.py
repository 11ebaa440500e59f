"""What libraries log by the standard means holds no message of an exception: it can quote what somebody sent."""

import logging

from models.logs import WithoutMessages


def fails() -> None:
    try:
        {"a": 1}["ada@example.com"]
    except KeyError as error:
        raise ValueError("input_value='ada@example.com'") from error


def test_an_exception_of_a_library_is_logged_without_its_words() -> None:
    try:
        fails()
    except ValueError as error:
        caught = (type(error), error, error.__traceback__)
    record = logging.LogRecord("library", logging.ERROR, __file__, 1, "handler raised", None, caught)
    told = WithoutMessages("%(levelname)s %(message)s").format(record)
    assert told.startswith("ERROR handler raised\nValueError\n")
    assert "KeyError" in told
    assert "test_logs.py" in told
    assert "ada" not in told
