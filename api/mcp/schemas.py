"""JSON schemas as agents get them, without parts that only cost tokens: clients show every tool to a model."""

from typing import Any

Node = Any
"""Any JSON value."""
NULL = {"type": "null"}

NULL_MEANS = frozenset({"GivenIntent", "GivenBlock", "GivenExclude", "Range", "set_candidate_status", "save_sequence"})
"""Argument types and tools in which null differs from leaving the field out."""


def plain_schema(schema: Node) -> Node:
    """Return the schema without the titles that pydantic derives from names, and without defaults of null."""
    if isinstance(schema, list):
        return [plain_schema(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: {inner: plain_schema(value) for inner, value in node.items()} if name in _NAMED else plain_schema(node)
        for name, node in schema.items()
        if not (name == "title" and isinstance(node, str)) and not (name == "default" and node is None)
    }


_NAMED = ("properties", "$defs")
"""Keywords whose keys are names of fields or types, which may be `title`."""


def without_null(field: dict[str, Any], *, required: bool) -> dict[str, Any]:
    """Return the schema of a field that may be left out but not be null."""
    kinds = field.get("anyOf", [])
    if required or len(kinds) != 2 or NULL not in kinds:  # noqa: PLR2004 - a type, or null
        return field
    (kind,) = (one for one in kinds if one != NULL)
    return {**kind, **{name: value for name, value in field.items() if name != "anyOf"}}
