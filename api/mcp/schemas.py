"""JSON schemas as agents get them: without what only costs them reading."""

from typing import Any

Node = Any
"""Any JSON value."""


def plain(schema: Node) -> Node:
    """The schema without the titles that pydantic makes of names."""
    if isinstance(schema, list):
        return [plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: {inner: plain(value) for inner, value in node.items()} if name in _NAMED else plain(node)
        for name, node in schema.items()
        if name != "title" or not isinstance(node, str)
    }


_NAMED = ("properties", "$defs")
"""Whose keys are names of ours, among them `title`."""
