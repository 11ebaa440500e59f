"""The OpenAPI document: texts about the service and its parameters, webhooks, and additions to FastAPI's document."""

import copy
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from api.kernel.kernel import REPLAYED
from api.kernel.operation import OPERATIONS, Effect, Operation
from api.kernel.routing import OperationRoute
from models.access.rules.keys import CURRENT_VERSION, SUPPORTED_VERSIONS, Scope
from models.base.errors import ERROR_MEANINGS
from models.events.rules.catalogue import EventType

SUMMARY = (
    "An open, self-hosted backend for recruiting: durable search runs over a people source, and outreach sequences that"
    " never write to people who must not be contacted. Everything under `/v1` is JSON; `GET /docs` is for people."
    " A path answers methods that it does not support with 405 `method_not_allowed`; its `Allow` header lists the"
    " supported ones."
)

CONTACT_NAME = "The operator of this installation"

LICENSE: Mapping[str, str] = {"name": "Apache License 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"}

ID_PATTERN = "^[A-Za-z0-9_-]{1,100}$"
"""Pattern of ids in paths; anything else is not found."""

PARAMETERS: Mapping[str, str] = {
    "account_id": "The outreach account's id.",
    "city": "The name of a city, with or without its country.",
    "contacted": "Only people who were contacted, or only those who were not.",
    "country": "Only places in this country, an ISO 3166-1 alpha-2 code.",
    "cursor": "`next_cursor` of the previous page.",
    "do_not_contact": "Only people who must not be contacted, or only the others.",
    "domain": "The company's web domain.",
    "endpoint_id": "The webhook endpoint's id.",
    "field": "The filter whose values are listed.",
    "intent": "Only conversations with this label.",
    "key_id": "The API key's id.",
    "kind": "Only places of this kind.",
    "limit": "The largest number of entries to return.",
    "location_id": "A place, by its id from `/v1/lookups/locations`.",
    "lookup_id": "The contact lookup's id.",
    "max_distance_km": "At most this many kilometres from the anchor; people whose place is unknown are left out.",
    "max_years": "At most this many years of experience.",
    "min_years": "At least this many years of experience.",
    "outcome": "Only actions with this outcome.",
    "plan_id": "The search plan's id.",
    "profile_id": "The person's profile id.",
    "q": "The beginning or a part of the name.",
    "since": "ISO 8601, inclusive.",
    "status": "Only entries with this status.",
    "tag": "Only people with this tag.",
    "tier": "Only candidates of this tier of the plan.",
    "unread": "true: only unread entries; false: only read ones.",
    "until": "ISO 8601, exclusive.",
    "view": "How much of each candidate is shown.",
}
"""Descriptions by name, for parameters without their own; `thing_id` is "The thing's id." unless listed."""

# Webhooks.


Document = dict[str, Any]

HEADERS: Mapping[str, str] = {
    "X-Service-Signature": "`t=<unix seconds>,v1=<hex HMAC-SHA256>`, keyed with the endpoint's secret, of"
    " `<t>.<raw body>`. Compare in constant time, and refuse a `t` more than 300 seconds away from now.",
    "X-Service-Event": "The event's type.",
    "X-Service-Event-Id": "The event's id. Deliveries can repeat and come out of order: drop ids you have seen.",
    "X-Service-Delivery": "The delivery's id.",
}

ANSWER = (
    "Any 2xx within 5 seconds. Anything else is retried after 30 seconds, 2 minutes, 10 minutes, 1 hour and 6 hours;"
    " redirects are not followed."
)


def event_schemas() -> Document:
    """Return the schemas of the events' data, by class name."""
    return {data.__name__: data.model_json_schema() for data in dict.fromkeys(kind.data for kind in EventType)}


def webhooks() -> Document:
    """Return the webhooks, one for each event type."""
    return {kind.value: {"post": _described(kind)} for kind in EventType}


def _described(kind: EventType) -> Document:
    data = {"$ref": f"#/components/schemas/{kind.data.__name__}"}
    own = {"type": "object", "properties": {"type": {"const": kind.value}, "data": data}}
    return {
        "operationId": f"on.{kind.value}",
        "summary": kind.value,
        "description": kind.description,
        "tags": ["Events"],
        "security": [],
        "parameters": [
            {"name": name, "in": "header", "required": True, "description": text, "schema": {"type": "string"}}
            for name, text in HEADERS.items()
        ],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"allOf": [{"$ref": "#/components/schemas/EventView"}, own]}}},
        },
        "responses": {"2XX": {"description": ANSWER}},
    }


# FastAPI's document, with the kernel's additions to every operation.

Node = Any
"""Any JSON value."""

DEFS = "#/$defs/"
COMPONENTS = "#/components/schemas/"

ERROR_SCHEMA: Document = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "request_id"],
            "properties": {
                "code": {"type": "string", "enum": sorted(ERROR_MEANINGS)},
                "message": {"type": "string", "description": "A message for people; its wording may change."},
                "request_id": {"type": "string"},
                "details": {"type": "object", "additionalProperties": True},
                "fix": {"type": "string"},
                "docs": {"type": "string"},
            },
        },
        "required_credits": {"type": "integer"},
        "balance_credits": {"type": "integer"},
    },
}

EXTRA_PARAMETERS: Document = {
    "Version": {
        "name": "Service-Version",
        "in": "header",
        "required": False,
        "description": "The API version to use; by default the one that the key pins.",
        "schema": {"type": "string", "enum": list(SUPPORTED_VERSIONS)},
    },
    "Customer": {
        "name": "Service-Customer",
        "in": "header",
        "required": False,
        "description": "Act inside this customer.",
        "schema": {"type": "string", "pattern": "^cus_[0-9a-z]{26}$"},
    },
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": "Required unless `dry_run` is true: 1 to 255 visible ASCII characters, new for each action.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]{1,255}$"},
    },
    "DryRun": {
        "name": "dry_run",
        "in": "query",
        "required": False,
        "description": "Preview: free, changes nothing, and needs only the read scope.",
        "schema": {"type": "boolean", "default": False},
    },
}
ANSWER_HEADERS: Document = {
    "X-Request-Id": {"required": True, "schema": {"type": "string"}},
    "Service-Version": {"required": True, "schema": {"type": "string"}},
    "RateLimit-Limit": {"schema": {"type": "integer"}},
    "RateLimit-Remaining": {"schema": {"type": "integer"}},
    "RateLimit-Reset": {"schema": {"type": "integer"}, "description": "Seconds."},
}
"""Headers of every answer."""

RETRY_AFTER = "Retry-After"
SOME_HEADERS: Document = {
    "Location": {
        "description": "The address of the created object, if it has one.",
        "schema": {"type": "string", "format": "uri-reference"},
    },
    REPLAYED: {
        "description": "The answer to an earlier call with this Idempotency-Key.",
        "schema": {"type": "string", "const": "true"},
    },
    RETRY_AFTER: {
        "description": "Seconds to wait before the same call may succeed.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "WWW-Authenticate": {"required": True, "schema": {"type": "string"}},
}
"""Headers of answers of one status or kind."""

HEADERS_OF: Mapping[str, tuple[str, ...]] = {
    "201": ("Location",),
    "202": ("Location",),
    "401": ("WWW-Authenticate",),
    "409": (RETRY_AFTER,),
    "429": (RETRY_AFTER,),
    "502": (RETRY_AFTER,),
    "503": (RETRY_AFTER,),
}
ALWAYS_WAITED_FOR = "429"
"""The status that always has a `Retry-After` header."""

STATUSES = ("400", "401", "402", "403", "404", "409", "429", "500", "502", "503")


def openapi_document(app: FastAPI, *, server: str) -> Document:
    """Return the OpenAPI document of an application."""
    routes = [route for route in app.router.routes if isinstance(route, OperationRoute)]
    made = get_openapi(title=app.title, version=CURRENT_VERSION, openapi_version="3.1.0", routes=routes)
    made["info"] |= {
        "description": SUMMARY,
        "contact": {"name": CONTACT_NAME, "url": server},
        "license": dict(LICENSE),
    }
    made["tags"] = [
        {"name": noun.name, "description": noun.text} for noun in dict.fromkeys(route.noun for route in routes)
    ]
    made["servers"] = [{"url": server}]
    components = made.setdefault("components", {})
    components["parameters"] = EXTRA_PARAMETERS
    components["headers"] = ANSWER_HEADERS | SOME_HEADERS
    components["responses"] = {f"Error{status}": _error(status) for status in STATUSES}
    components["securitySchemes"] = {"api_key": {"type": "http", "scheme": "bearer"}}
    schemas = components.setdefault("schemas", {})
    schemas["Error"] = ERROR_SCHEMA
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    components["schemas"] = _hoisted(schemas | event_schemas())
    made["webhooks"] = webhooks()
    for path in made["paths"].values():
        for described in path.values():
            _allow_no_body(described, components["schemas"])
            _complete(described, OPERATIONS[described["operationId"]])
    return made


def _hoisted(schemas: Document) -> Document:
    """Move definitions nested in schemas to the components, because references point only there."""
    found: Document = {}

    def lift(part: Node) -> Node:
        if isinstance(part, list):
            return [lift(inner) for inner in part]
        if not isinstance(part, dict):
            return part
        for name, definition in part.get("$defs", {}).items():
            found.setdefault(name, lift(definition))
        lifted = {name: lift(inner) for name, inner in part.items() if name != "$defs"}
        if str(lifted.get("$ref", "")).startswith(DEFS):
            lifted["$ref"] = COMPONENTS + lifted["$ref"].removeprefix(DEFS)
        return lifted

    lifted: Document = lift(schemas)
    return found | lifted


def _allow_no_body(described: Document, schemas: Document) -> None:
    """Make the body optional if no field is required: an empty body is an empty object."""
    if "requestBody" in described:
        schema = described["requestBody"]["content"]["application/json"]["schema"]
        name = str(schema.get("$ref", "")).removeprefix(COMPONENTS)
        described["requestBody"]["required"] = bool(schemas.get(name, {}).get("required"))


def _complete(described: Document, operation: Operation[Any, Any]) -> None:
    parameters = described.setdefault("parameters", [])
    for parameter in parameters:
        _explain(parameter)
    parameters.append(_component("parameters", "Version"))
    described["security"] = [] if operation.scope is None else [{"api_key": []}]
    if operation.scope is not None:
        described["description"] = f"{described.get('description', '')}\n\n{_scope(operation, operation.scope)}".strip()
        if operation.for_customers:
            parameters.append(_component("parameters", "Customer"))
    if operation.executes:
        parameters += [_component("parameters", name) for name in ("IdempotencyKey", "DryRun")]
        _add_preview(described["responses"])
    responses = described["responses"]
    responses.pop("422", None)
    for status, response in responses.items():
        response["headers"] = _headers(status)
        if operation.executes:
            response["headers"][REPLAYED] = _component("headers", REPLAYED)
    for status in _error_statuses(operation):
        responses[status] = _component("responses", f"Error{status}")


def _explain(parameter: Document) -> None:
    name = parameter["name"]
    if name in PARAMETERS:
        parameter.setdefault("description", PARAMETERS[name])
    elif name.endswith("_id"):
        parameter.setdefault("description", f"The {name.removesuffix('_id').replace('_', ' ')}'s id.")
    if parameter["in"] == "path":
        parameter["schema"]["pattern"] = ID_PATTERN


def _component(kind: str, name: str) -> Document:
    return {"$ref": f"#/components/{kind}/{name}"}


def _headers(status: str) -> Document:
    found = {name: _component("headers", name) for name in (*ANSWER_HEADERS, *HEADERS_OF.get(status, ()))}
    if status == ALWAYS_WAITED_FOR:
        found[RETRY_AFTER] = SOME_HEADERS[RETRY_AFTER] | {"required": True}
    return found


def _scope(operation: Operation[Any, Any], scope: Scope) -> str:
    preview = f" A dry run needs `{scope.preview}`." if operation.executes else ""
    account = "" if operation.for_customers else " Keys that are bound to a customer cannot use it."
    return f"Scope: `{scope}`.{preview}{account}"


def _add_preview(responses: Document) -> None:
    executed = next(iter(responses.values()))
    content = copy.deepcopy(executed.get("content", {}))
    for body in content.values():
        preview = {"type": "object", "required": ["dry_run"], "properties": {"dry_run": {"const": True}}}
        body["schema"] = {"allOf": [body["schema"], preview]} if "200" not in responses else body["schema"]
    responses.setdefault("200", {"description": "The preview.", "content": content})


def _error_statuses(operation: Operation[Any, Any]) -> list[str]:
    statuses = {"400", "429", "500", "503"} | {str(status) for status in operation.fails}
    if operation.scope is not None:
        statuses |= {"401", "403", "404"}
    if operation.effect is not Effect.READ:
        statuses.add("409")
    if operation.effect is Effect.SPEND:
        statuses |= {"402", "502"}
    return sorted(statuses)


def _error(status: str) -> Document:
    codes = [code for code, (statuses, _) in ERROR_MEANINGS.items() if status in statuses]
    return {
        "description": ", ".join(f"`{code}`" for code in codes),
        "headers": _headers(status),
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
