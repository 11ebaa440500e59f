"""Invalid bodies, queries and headers, which every operation must refuse."""

import gzip
import json
from collections.abc import Iterator
from typing import Any

DEPTHS = (150, 250, 900, 950, 990, 5_000, 100_000)
"""Levels of nesting: the limits of each part that walks a value, and far more."""

REFUSED_VALUES: tuple[bytes, ...] = (
    b"NaN",
    b"Infinity",
    b"-Infinity",
    b"9" * 5_000,
    b'"\\u0000"',
    b'"\x00"',
    b'"\\ud800"',
    b'"\\udc00\\ud800"',
    b'"\xff"',
    b'"\xed\xa0\x80"',  # a lone surrogate, which UTF-8 forbids
)
"""Invalid JSON and invalid texts, refused in any place."""

ODD_VALUES: tuple[bytes, ...] = (
    b"null",
    b"1e999",
    b"-1e999",
    b"1e-999",
    b"-0",
    b"9223372036854775808",
    b"1" + b"0" * 300,
    b"true",
    b'""',
    b'"\\ufffe\\u202e\\u0001"',
    b'"' + "\N{COMBINING ACUTE ACCENT}".encode() * 5_000 + b'"',
    b"[]",
    b"{}",
    b"[[[]]]",
    b'[null, 1e999, "\\u0007", {}]',
    b'{"\\u0007": [1e999]}',
    b'{"": {"__proto__": null, "$ref": "#"}}',
)
"""Valid JSON with values that code easily overlooks."""

REFUSED_QUERIES: tuple[str, ...] = (
    "&".join(f"a{number}=1" for number in range(1_001)),
    "limit=1&" * 1_001,
    "cursor=%00",
    "cursor=%ff",
    "cursor=%ed%a0%80",
    "%00=1",
    "limit[]=1",
    "__proto__[x]=1",
    "_method=DELETE",
    "x=" + "y" * 60_000,
)
"""Queries that no operation accepts."""

REFUSED_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"Service-Version", b"2026-11-01, 2026-11-01"),
    (b"Service-Version", b"x" * 60_000),
    (b"Service-Version", b"\xff\x00"),
    (b"Service-Customer", b"cus_" + b"0" * 60_000),
    (b"Service-Customer", b"\xff"),
    (b"Service-Customer", b"cus_\x00"),
)
"""Invalid headers; operations without a key ignore the customer."""

IGNORED_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"X-HTTP-Method-Override", b"DELETE"),
    (b"X-Method-Override", b"DELETE"),
    (b"X-Original-URL", b"/v1/workspace"),
    (b"X-Forwarded-For", b"\xff, ::1, 1.2.3.4" * 1_000),
    (b"X-Forwarded-Host", b"evil.test"),
    (b"Content-Encoding", b"gzip"),
    (b"Content-Length", b"-1"),
    (b"Content-Type", b"application/json; charset=utf-7"),
    (b"Accept", b"application/xml"),
    (b"Accept-Language", b"\xff" * 9_000),
    (b"Range", b"bytes=0-18446744073709551615"),
    (b"Expect", b"200-ok"),
    (b"X-Request-Id", b"x" * 60_000),
    (b"Cookie", b"a=b; " * 9_000),
)
"""Headers without an effect."""


def bodies() -> Iterator[bytes]:
    """Yield bodies that no operation accepts."""
    yield from (b" ", b"\n", b"[]", b"5", b'"text"', b"true", b"{", b'{"a": 1,}', b"{'a': 1}", b"{} {}", b"// {}\n{}")
    yield from (b"\xef\xbb\xbf{}", b"\xff\xfe{\x00}\x00", "{}".encode("utf-16"), "{}".encode("utf-32"))
    yield from (gzip.compress(b"{}"), b"a=1&b=2", b"--x\r\nContent-Disposition: form-data\r\n\r\n--x--", b"\x00")
    yield b'{"a": 1, "a": 2}'
    yield b'{"a": {"b": 1, "b": 2}}'
    yield b'{"\\u0000": 1}'
    yield b'{"\\ud800": 1}'
    for value in REFUSED_VALUES:
        yield b'{"a": ' + value + b"}"
    for depth in DEPTHS:
        yield from (nested(depth), nested(depth, b'"\\u0041"'), b'{"a":' * depth + b"1" + b"}" * depth)


def nested(depth: int, inner: bytes = b"1") -> bytes:
    """Return an object of nested lists."""
    return b'{"a": ' + b"[" * depth + inner + b"]" * depth + b"}"


def with_value(body: dict[str, Any], name: str, value: bytes) -> bytes:
    """Return the body with exactly these bytes as one field's value."""
    fields = [json.dumps(other).encode() + b": " + json.dumps(body[other]).encode() for other in body if other != name]
    return b"{" + b", ".join([*fields, json.dumps(name).encode() + b": " + value]) + b"}"
