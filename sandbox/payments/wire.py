"""Stripe's wire shapes: form parameters in brackets, errors, lists, ids."""

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.responses import Response

# A JSON object on the wire.
Object = dict[str, Any]

API_VERSION = "2026-10-28.endive"
_PART = re.compile(r"[^\[\]]+")
_ID_BYTES = 12


class StripeError(Exception):
    """An error in the provider's format."""

    def __init__(self, status: int, kind: str, message: str, **more: object) -> None:
        super().__init__(message)
        self.status = status
        self.body: Object = {"error": {"type": kind, "message": message} | more}


def invalid(message: str, *, param: str | None = None, code: str | None = None, status: int = 400) -> StripeError:
    """Return the error of an invalid request."""
    more = {name: value for name, value in (("param", param), ("code", code)) if value is not None}
    return StripeError(status, "invalid_request_error", message, **more)


def missing(kind: str, object_id: str, *, param: str = "id") -> StripeError:
    """Return the error of a missing object: 404 when the path names it, 400 for a parameter."""
    status = 404 if param == "id" else 400
    return invalid(f"No such {kind}: '{object_id}'", param=param, code="resource_missing", status=status)


@dataclass(frozen=True, slots=True)
class Ask:
    """A call as an operation sees it: its parameters, the ids in its path, its own path and the sandbox's origin."""

    tree: Object
    path_ids: Mapping[str, str]
    path: str
    origin: str


def declined(**more: object) -> StripeError:
    """Return the error of a declined card."""
    return StripeError(402, "card_error", "Your card was declined.", **more)


def new_id(prefix: str) -> str:
    """Return a fresh id."""
    return f"{prefix}_{secrets.token_hex(_ID_BYTES)}"


def parameters(raw: bytes) -> Object:
    """Return form parameters such as `line_items[0][price_data][currency]=eur` as a tree; lists are keyed by number."""
    tree: Object = {}
    for name, value in parse_qsl(raw.decode("utf-8", "replace"), keep_blank_values=True):
        parts = _PART.findall(name)
        place = tree
        for part in parts[:-1]:
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                raise invalid(f"Invalid parameter: {name}", param=name)
        place[parts[-1]] = value
    return tree


def items(tree: Mapping[str, Any], name: str) -> list[Object]:
    """Return a list parameter, in order."""
    found = tree.get(name, {})
    if not isinstance(found, dict):
        raise invalid(f"Invalid array: {name}", param=name)
    return [found[key] for key in sorted(found, key=int)]


def known(tree: Mapping[str, Any], *names: str) -> None:
    """Refuse a parameter that the call does not take."""
    for name in tree:
        if name not in names:
            raise invalid(f"Received unknown parameter: {name}", param=name, code="parameter_unknown")


def required(tree: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - a text or a tree
    """Return a required parameter."""
    if tree.get(name) in (None, "", {}):
        raise invalid(f"Missing required param: {name}.", param=name, code="parameter_missing")
    return tree[name]


def integer(tree: Mapping[str, Any], name: str, *, least: int) -> int:
    """Return a whole number of at least `least`."""
    value = str(required(tree, name))
    if not value.isdigit() or int(value) < least:
        raise invalid(f"Invalid integer: {value}", param=name, code="parameter_invalid_integer")
    return int(value)


def shown(thing: Object) -> Object:
    """Return an object without the sandbox's internal fields."""
    return {name: value for name, value in thing.items() if not name.startswith("_")}


def listing(path: str, page: Sequence[Object], *, more: bool) -> Object:
    """Return a page of a list."""
    return {"object": "list", "url": path, "has_more": more, "data": [shown(thing) for thing in page]}


def answer(status: int, body: Object, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer in the provider's format."""
    return Response(json.dumps(body), status_code=status, headers=dict(headers or {}), media_type="application/json")
