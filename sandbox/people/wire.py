"""The provider's envelopes: errors, headers, selected fields, title case, compressed answers."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None

_WORTH_COMPRESSING = 1000
_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "payment_required",
    403: "permission_error",
    404: "not_found",
    405: "invalid_request_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
}
_TITLE_KEYS = frozenset(
    ("full_name", "first_name", "middle_name", "last_name", "name", "job_title", "job_company_name")
)
_TITLE_PREFIXES = ("location_", "job_company_location_")
_UNTOUCHED = frozenset({"location_geo", "location_last_updated", "job_company_location_geo", "location_names"})


class ApiError(Exception):
    """The provider answers with an error status."""

    def __init__(self, status: int, message: str, **extra: object) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.extra = extra

    def body(self, *, type_as_string: bool = False) -> dict[str, Any]:
        """Write the error envelope; the type is a list, or plain text when asked."""
        kind = _ERROR_TYPES.get(self.status, "api_error")
        error = {"type": kind if type_as_string else [kind], "message": self.message} | self.extra
        return {"status": self.status, "error": error}


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of an operation: a JSON body with status 200, and its cost in credits."""

    body: Any
    credits: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)


def encoded(body: object, *, pretty: bool = False) -> bytes:
    """Return JSON in the provider's format."""
    return json.dumps(body, ensure_ascii=False, indent=4 if pretty else None).encode("utf-8", "surrogatepass")


def respond(status: int, content: bytes, headers: Mapping[str, str], *, compress: bool) -> Response:
    """Return the HTTP answer, compressed when the caller accepts that and it is large enough."""
    sent = dict(headers) | {"content-type": "application/json"}
    if compress and len(content) > _WORTH_COMPRESSING:
        content = gzip.compress(content, 1, mtime=0)
        sent["content-encoding"] = "gzip"
    return Response(content, status_code=status, headers=sent)


def selected(record: Mapping[str, Any], data_include: str | None) -> dict[str, Any]:
    """Keep the named fields, or all but the named ones after a leading `-`; nothing for an empty list."""
    if data_include is None:
        return dict(record)
    names = [name.strip() for name in data_include.lstrip("-").split(",") if name.strip()]
    paths = [name.lstrip("-").split(".") for name in names]
    if data_include.strip().startswith("-"):
        return _without(record, paths)
    return _only(record, paths)


def wanted_fields(data_include: str | None) -> list[str] | None:
    """Return the top-level fields that a selection keeps; None when it may keep any."""
    if data_include is None or data_include.strip().startswith("-"):
        return None
    return [name.strip().split(".")[0] for name in data_include.split(",")]


def _only(record: Mapping[str, Any], paths: list[list[str]]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name in dict.fromkeys(path[0] for path in paths):
        if name not in record:
            continue
        deeper = [path[1:] for path in paths if path[0] == name and len(path) > 1]
        whole = any(path == [name] for path in paths)
        kept[name] = record[name] if whole or not deeper else _each(record[name], deeper, keep=True)
    return kept


def _without(record: Mapping[str, Any], paths: list[list[str]]) -> dict[str, Any]:
    dropped = {path[0] for path in paths if len(path) == 1}
    left = {}
    for name, value in record.items():
        if name in dropped:
            continue
        deeper = [path[1:] for path in paths if path[0] == name]
        left[name] = _each(value, deeper, keep=False) if deeper else value
    return left


def _each(value: Json, paths: list[list[str]], *, keep: bool) -> Json:
    if isinstance(value, list):
        return [_each(item, paths, keep=keep) for item in value]
    if isinstance(value, dict):
        return _only(value, paths) if keep else _without(value, paths)
    return value


def titled(record: Mapping[str, Json]) -> dict[str, Json]:
    """Capitalise names, titles, companies and places of a record."""
    return {name: _titled(value, name) for name, value in record.items()}


def _titled(value: Json, key: str) -> Json:
    if isinstance(value, dict):
        return {name: _titled(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_titled(item, key) for item in value]
    wanted = key in _TITLE_KEYS or (key.startswith(_TITLE_PREFIXES) and key not in _UNTOUCHED)
    return value.title() if wanted and isinstance(value, str) else value
