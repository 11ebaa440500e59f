"""The smallest bodies that routes accept, made from the API's schemas."""

from typing import Any


def minimal(schemas: dict[str, Any], schema: dict[str, Any]) -> Any:
    """Return the smallest value that a schema accepts."""
    if "$ref" in schema or "anyOf" in schema:
        inner = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema["anyOf"][0]
        return minimal(schemas, inner)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    kind = schema.get("type")
    if kind == "object":
        return {name: minimal(schemas, schema["properties"][name]) for name in schema.get("required", [])}
    if kind == "array":
        return [minimal(schemas, schema["items"])] * schema.get("minItems", 0)
    plain = {"integer": schema.get("minimum", 1), "number": schema.get("minimum", 1), "boolean": False}
    return plain.get(str(kind), "x" * max(1, schema.get("minLength", 1)))


def body_schema(document: dict[str, Any], path: str, method: str) -> dict[str, Any] | None:
    content = document["paths"][path][method.lower()].get("requestBody", {}).get("content", {})
    found: dict[str, Any] | None = content.get("application/json", {}).get("schema")
    return found
