"""The documentation page, rendered from the OpenAPI document: readable without scripts and without a network."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from api.kernel.openapi import HEADERS
from models.base.errors import ERROR_MEANINGS
from models.events.rules.catalogue import EventType

Document = Mapping[str, Any]

MAX_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Field:
    """One row of a table of fields; `name` is dotted, `[]` marks the entries of a list."""

    name: str
    kind: str
    required: bool
    description: Markup


@dataclass(frozen=True, slots=True)
class Described:
    """One operation as the page shows it."""

    anchor: str
    method: str
    path: str
    text: Markup
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    statuses: tuple[tuple[str, Markup], ...]
    answer: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """One error code."""

    code: str
    status: str
    meaning: Markup


def by_tag(document: Document) -> dict[str, list[Described]]:
    """Return the operations by their first tag, in the order of the routes."""
    groups: dict[str, list[Described]] = defaultdict(list)
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            groups[described["tags"][0]].append(_described(document, path, method, described))
    return dict(groups)


@dataclass(frozen=True, slots=True)
class EventRow:
    """One type of event, with the fields of its data."""

    type: str
    meaning: Markup
    data: tuple[str, ...]


def events() -> list[EventRow]:
    """Return the table of event types."""
    return [EventRow(kind, text_as_html(kind.description), tuple(kind.data.model_fields)) for kind in EventType]


def event_headers() -> dict[str, Markup]:
    """Return the headers of a delivery with their descriptions as HTML."""
    return {name: text_as_html(meaning) for name, meaning in HEADERS.items()}


def errors() -> list[ErrorRow]:
    """Return the table of errors."""
    return [ErrorRow(code, status, text_as_html(meaning)) for code, (status, meaning) in ERROR_MEANINGS.items()]


def text_as_html(written: str) -> Markup:
    """Return the escaped text with its back-quoted parts as code and its blank lines as paragraphs."""
    paragraphs = re.split(r"\n\s*\n", written.strip())
    coded = [re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(paragraph))) for paragraph in paragraphs]
    return Markup("<br>".join(coded))  # noqa: S704 - escaped above


def _described(document: Document, path: str, method: str, described: Document) -> Described:
    body = _schema_of(described.get("requestBody", {}))
    success = [status for status in described["responses"] if status.startswith("2")]
    return Described(
        anchor=described["operationId"],
        method=method.upper(),
        path=path,
        text=text_as_html(described.get("description", described.get("summary", ""))),
        parameters=tuple(_parameter(document, _found(document, part)) for part in described.get("parameters", [])),
        body=tuple(_fields(document, body)),
        statuses=tuple(
            (status, text_as_html(_found(document, part)["description"]))
            for status, part in sorted(described["responses"].items())
        ),
        answer=tuple(_fields(document, _schema_of(described["responses"][min(success, key=_executed_last)]))),
    )


def _executed_last(status: str) -> tuple[bool, str]:
    """Return a sort key that puts the preview's status, 200, after other statuses."""
    return status == "200", status


def _found(document: Document, part: Document) -> Document:
    """Return the part itself, or the part that its reference points to."""
    for name in str(part["$ref"]).split("/")[1:] if "$ref" in part else ():
        part = document[name]
        document = part
    return part


def _schema_of(part: Document) -> Document:
    schema: Document = part.get("content", {}).get("application/json", {}).get("schema", {})
    return schema


def _parameter(document: Document, parameter: Document) -> Field:
    return Field(
        name=parameter["name"],
        kind=f"{parameter['in']}, {_kind(document, parameter['schema'])}",
        required=parameter.get("required", False),
        description=text_as_html(parameter.get("description", "")),
    )


def _fields(document: Document, schema: Document, prefix: str = "", depth: int = 0) -> Iterator[Field]:
    resolved = _resolved(document, schema)
    if "items" in resolved:
        yield from _fields(document, resolved["items"], f"{prefix}[]" if prefix else "[]", depth)
        return
    required = resolved.get("required", [])
    for name, inner in resolved.get("properties", {}).items():
        dotted = f"{prefix}.{name}" if prefix else name
        described = inner.get("description") or _resolved(document, inner).get("description", "")
        yield Field(dotted, _kind(document, inner), name in required, text_as_html(described))
        if depth < MAX_DEPTH:
            yield from _fields(document, inner, dotted, depth + 1)


def _resolved(document: Document, schema: Document) -> Document:
    """Return the schema behind a reference, or the non-null schema of a nullable one."""
    if "$ref" in schema:
        return _found(document, schema)
    for alternatives in (schema.get("anyOf"), schema.get("allOf")):
        for alternative in alternatives or ():
            if alternative.get("type") != "null":
                return _resolved(document, alternative)
    return schema


def _kind(document: Document, schema: Document) -> str:
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(document, inner) for inner in schema["anyOf"]))
    resolved = _resolved(document, schema)
    if "const" in resolved:
        return f'"{resolved["const"]}"'
    if "enum" in resolved:
        return " | ".join(str(value) for value in resolved["enum"])
    if "items" in resolved:
        return f"list of {_kind(document, resolved['items'])}"
    kind = str(resolved.get("format") or resolved.get("type", "any"))
    return f"{kind}{_bounds(resolved)}"


def _bounds(schema: Document) -> str:
    low = schema.get("minimum", schema.get("minLength", schema.get("minItems")))
    high = schema.get("maximum", schema.get("maxLength", schema.get("maxItems")))
    if low is None and high is None:
        return ""
    return f" ({'' if low is None else low}…{'' if high is None else high})"
