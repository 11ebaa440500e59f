"""Every error as callers see it, rendered in one place (specification, "Errors")."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from models.errors import InvalidRequest, MethodNotAllowed, ServiceError, Unauthorized

TOP_LEVEL = ("required_credits", "balance_credits")
"""Details of `insufficient_credits` that stand beside `error` as well."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """An error as a response."""

    status: int
    headers: dict[str, str]
    body: bytes


def render(error: ServiceError, *, request_id: str) -> Rendered:
    """The documented body, with the headers that belong to the error."""
    told: dict[str, object] = {"code": error.code, "message": error.message, "request_id": request_id}
    if error.details:
        told["details"] = error.details
    if error.fix:
        told["fix"] = error.fix
    told["docs"] = f"/docs#error-{error.code}"
    body: dict[str, object] = {"error": told}
    body |= {name: error.details[name] for name in TOP_LEVEL if name in error.details}
    return Rendered(error.status, _headers(error), json.dumps(body, ensure_ascii=False).encode())


def _headers(error: ServiceError) -> dict[str, str]:
    headers = {"content-type": "application/json"}
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = ", ".join(error.allow)
    if isinstance(error, Unauthorized):
        headers["WWW-Authenticate"] = error.challenge
    return headers


def refused(problems: Sequence[Mapping[str, Any]], given: JsonValue) -> InvalidRequest:
    """What pydantic found wrong first, with the dotted path of the field. `given` is the value that was checked."""
    first = problems[0]
    field = dotted(first.get("loc", ()), given)
    message = _message(first)
    return InvalidRequest(f"{field}: {message}" if field else message, field=field)


def dotted(location: Sequence[int | str], given: JsonValue) -> str | None:
    """The path of a field. Names of union members, which pydantic puts into its locations, are left out."""
    path: list[str] = []
    for place, step in enumerate(location):
        last = place == len(location) - 1
        if isinstance(given, dict) and isinstance(step, str) and (step in given or last):
            given = given.get(step)
        elif isinstance(given, list) and isinstance(step, int):
            given = given[step] if step < len(given) else None
        elif path or not last:
            continue
        path.append(str(step))
    return ".".join(path) or None


def _message(problem: Mapping[str, Any]) -> str:
    if problem.get("type") == "extra_forbidden":
        return "this field is not known."
    if problem.get("type") == "missing":
        return "this field is required."
    text = str(problem.get("msg", "is not valid")).removeprefix("Value error, ")
    return text if text.endswith(".") else f"{text}."
