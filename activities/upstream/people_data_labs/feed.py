"""The opt-out feed of People Data Labs: a stream of ids, one a line, whose form is only loosely documented."""

import re
from collections.abc import AsyncIterator

from activities.upstream.ports.people import SourceUnusable

LONGEST_LINE = 4096
"""Bytes. A longer line means that the answer is no list of ids."""
ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
DIGIT = re.compile(r"[0-9]")


async def lines_of(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Return the lines of a stream, without their ends. Raises `SourceUnusable` for a line that does not end."""
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        if len(rest) > LONGEST_LINE or any(len(line) > LONGEST_LINE for line in whole):
            raise SourceUnusable("a line of the opt-out feed does not end")
        for line in whole:
            yield line.decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")


async def ids_of(lines: AsyncIterator[str]) -> AsyncIterator[str]:
    """Return the id of each line: its first column, without quotes. Anything else is skipped."""
    first = True
    async for line in lines:
        value = line.split(",", 1)[0].strip().strip("\"'\ufeff").strip()
        heading = first and not DIGIT.search(value)
        first = False
        if ID.fullmatch(value) and not heading:
            yield value
