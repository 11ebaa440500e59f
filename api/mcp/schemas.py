"""JSON schemas as agents get them, without what only costs reading: clients put every tool before a model."""

from typing import Any

Node = Any
"""Any JSON value."""
NULL = {"type": "null"}

NULL_MEANS = frozenset({"GivenIntent", "GivenBlock", "GivenExclude", "Range", "set_candidate_status", "save_sequence"})
"""Parts of arguments, and tools, where null says something else than leaving a field out."""


def plain_schema(schema: Node) -> Node:
    """The schema without the titles that pydantic makes of names, and without saying that null is the default."""
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
"""Whose keys are names of ours, among them `title`."""


def without_null(field: dict[str, Any], *, required: bool) -> dict[str, Any]:
    """A field that is left out rather than null."""
    kinds = field.get("anyOf", [])
    if required or len(kinds) != 2 or NULL not in kinds:  # noqa: PLR2004 - a type, or null
        return field
    (kind,) = (one for one in kinds if one != NULL)
    return {**kind, **{name: value for name, value in field.items() if name != "anyOf"}}
