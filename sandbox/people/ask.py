"""Reads the parameters of a provider call from its address and its JSON body; the body wins."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from sandbox.people.wire import ApiError

_MOST_BYTES = 4_000_000
_DEEPEST = 40
_TRUE, _FALSE = ("true", "1"), ("false", "0")


async def read_ask(request: Request) -> dict[str, Any]:
    """Merge query parameters and JSON body; null means not given.

    Raises:
        ApiError: 400 when the body is not a JSON object or nested beyond reason.
    """
    ask: dict[str, Any] = {}
    for name in request.query_params:
        values = request.query_params.getlist(name)
        ask[name] = values[0] if len(values) == 1 else values
    content = await request.body()
    if len(content) > _MOST_BYTES:
        raise ApiError(413, "the request body is too large")
    if content.strip():
        ask |= _json_object(content)
    return {name: value for name, value in ask.items() if value is not None}


def _json_object(content: bytes | str) -> dict[str, Any]:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        raise ApiError(400, "the request body is not valid JSON") from None
    if not isinstance(body, dict):
        raise ApiError(400, "the request body must be a JSON object")
    if _depth(body, _DEEPEST) < 0:
        raise ApiError(400, "the request body is nested too deeply")
    return body


def _depth(value: object, left: int) -> int:
    """Count down with each level; negative when a value is nested deeper than allowed."""
    if left < 0:
        return left
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return min((_depth(child, left - 1) for child in children), default=left)


def text(ask: Mapping[str, Any], name: str) -> str | None:
    """Read a text parameter."""
    value = ask.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ApiError(400, f"{name} must be a string")
    return str(value)


def texts(ask: Mapping[str, Any], name: str) -> list[str]:
    """Read a parameter that takes one or several texts, given as a list, repeated, or as one JSON list."""
    value = ask.get(name)
    if isinstance(value, str) and value.startswith("["):
        try:
            value = json.loads(value)
        except ValueError:
            raise ApiError(400, f"{name} must be a string or a list of strings") from None
    values = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(item, str | int) for item in values):
        raise ApiError(400, f"{name} must be a string or a list of strings")
    return [str(item) for item in values if str(item).strip()]


def flag(ask: Mapping[str, Any], name: str) -> bool:
    """Read a yes-or-no parameter."""
    value = ask.get(name, False)
    if isinstance(value, bool):
        return value
    if str(value).lower() in (*_TRUE, *_FALSE):
        return str(value).lower() in _TRUE
    raise ApiError(400, f"{name} must be a boolean")


def whole(ask: Mapping[str, Any], name: str, *, low: int, high: int, default: int) -> int:
    """Read a whole number within bounds."""
    value = ask.get(name, default)
    try:
        number = int(value) if isinstance(value, int | str) and not isinstance(value, bool) else None
    except ValueError:
        number = None
    if number is None or not low <= number <= high:
        raise ApiError(400, f"{name} must be an integer from {low} to {high}")
    return number


def json_object(ask: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """Read an object, given as such or as JSON text."""
    value = ask.get(name)
    if isinstance(value, str):
        return _json_object(value)
    if value is None or isinstance(value, dict):
        return value
    raise ApiError(400, f"{name} must be an object or JSON text")
