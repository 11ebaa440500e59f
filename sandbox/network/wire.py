"""The provider's envelopes: errors with type and title, answers, and the two kinds of paging."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.responses import Response

Json = dict[str, Any]

DEFAULT_LIMIT = 20
MOST_PER_PAGE = 100

_STATUSES: Mapping[str, int] = {
    "api/invalid_parameters": 400,
    "provider/invalid_parameters": 400,
    "api/invalid_auth_format": 400,
    "provider/invalid_authorization": 401,
    "provider/invalid_credentials": 401,
    "api/missing_authorization": 401,
    "api/expired_authorization": 401,
    "provider/account_mismatch": 401,
    "provider/invalid_checkpoint_code": 401,
    "provider/unknown_authentication_context": 401,
    "api/inactive_subscription": 402,
    "api/insufficient_permissions": 403,
    "provider/insufficient_permissions": 403,
    "api/account_restricted": 403,
    "api/resource_not_found": 404,
    "provider/resource_not_found": 404,
    "provider/method_not_allowed": 405,
    "api/conflict": 409,
    "provider/conflict": 409,
    "api/already_exists": 409,
    "provider/unprocessable_entity": 422,
    "provider/invalid_file": 422,
    "api/too_many_requests": 429,
    "provider/too_many_requests": 429,
    "api/internal_error": 500,
    "provider/server_error": 500,
    "api/not_implemented": 501,
    "api/proxy_error": 502,
    "api/proxy_auth_error": 502,
    "api/proxy_timeout": 504,
    "provider/timeout": 504,
}


class ApiError(Exception):
    """An error of the provider; without a status, it has the usual one of its type."""

    def __init__(self, type_: str, detail: str, *, status: int | None = None) -> None:
        super().__init__(detail)
        self.type = type_
        self.detail = detail
        self.status = status or _STATUSES.get(type_, 500)

    def body(self) -> Json:
        """Return the error envelope."""
        title = self.type.partition("/")[2].replace("_", " ").capitalize()
        named = {"object": "Error", "status": self.status, "type": self.type, "title": title}
        return named | {"detail": self.detail, "req_id": "req-sandbox"}


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of an operation."""

    body: Json
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def respond(answer: Answer, *, headers: Mapping[str, str]) -> Response:
    """Return the HTTP answer."""
    sent = dict(headers) | dict(answer.headers) | {"content-type": "application/json"}
    return Response(encoded(answer.body), status_code=answer.status, headers=sent)


def encoded(body: Json) -> bytes:
    """Return JSON as it is sent."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")


class Ask(BaseModel):
    """A request body: undocumented fields are refused, so that mistakes show."""

    model_config = ConfigDict(extra="forbid", strict=True)


AnyAsk = TypeVar("AnyAsk", bound=Ask)


def read(model: type[AnyAsk], content: bytes) -> AnyAsk:
    """Read a request body.

    Raises:
        ApiError: it is not JSON or does not fit.
    """
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ApiError("api/invalid_parameters", f"{place}: {first['msg']}") from None


@dataclass(frozen=True, slots=True)
class Page:
    """The requested part of a list."""

    offset: int
    limit: int


def page_of(query: Mapping[str, str], *, by_cursor: bool) -> Page:
    """Read `limit` and the list's own kind of paging, `offset` or `cursor`.

    Raises:
        ApiError: a number out of bounds, an unknown cursor, or the other kind of paging.
    """
    limit = _number(query, "limit", DEFAULT_LIMIT)
    if not 1 <= limit <= MOST_PER_PAGE:
        raise ApiError("api/invalid_parameters", f"limit must be from 1 to {MOST_PER_PAGE}")
    offset = _number(query, "offset", 0)
    if not by_cursor:
        if "cursor" in query:
            raise ApiError("api/invalid_parameters", "this list takes an offset")
        return Page(offset, limit)
    if offset:
        raise ApiError("provider/invalid_parameters", "this list takes a cursor instead of an offset")
    return Page(_position(query["cursor"]) if "cursor" in query else 0, limit)


def listed(rows: Sequence[Json], page: Page, *, by_cursor: bool, ceiling: int) -> Json:
    """Return a page of a provider list with at most `ceiling` entries, whatever `limit` says."""
    count = min(page.limit, ceiling)
    cut = list(rows[page.offset : page.offset + count])
    body: Json = {"data": cut}
    if by_cursor:
        if page.offset + count < len(rows):
            body["next_cursor"] = _cursor(page.offset + count)
        return body
    return body | {"total_count": len(rows)}


def listed_by_core(name: str, rows: Sequence[Json], page: Page) -> Json:
    """Return a page of a list of the provider's own objects."""
    cut = list(rows[page.offset : page.offset + page.limit])
    return {"object": name, "data": cut, "has_more": page.offset + page.limit < len(rows)}


def _number(query: Mapping[str, str], name: str, default: int) -> int:
    text = query.get(name, str(default))
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise ApiError("api/invalid_parameters", f"{name} must be a number")
    return int(text)


def _cursor(position: int) -> str:
    return base64.b64encode(f"page:{position}:+/".encode()).decode()


def _position(cursor: str) -> int:
    try:
        name, position, _ = base64.b64decode(cursor, validate=True).decode().split(":")
    except (binascii.Error, ValueError):
        name, position = "", ""
    if name != "page" or not position.isdecimal():
        raise ApiError("api/invalid_parameters", "the cursor is not valid")
    return int(position)
