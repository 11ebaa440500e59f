"""The opt-out feed as bytes: whatever shape it has, ids come out of it."""

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.upstream.people_data_labs import feed
from activities.upstream.ports.people import SourceUnusable


async def stream(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def read(*chunks: bytes) -> list[str]:
    return [one async for one in feed.ids_of(feed.lines_of(stream(*chunks)))]


@pytest.mark.parametrize(
    "content",
    [
        b"ex0001_0000\nex0002_0000\n",
        b"ex0001_0000\r\nex0002_0000",
        b'"ex0001_0000"\n\n   \n"ex0002_0000"\n',
        b"pdl_id\nex0001_0000\nex0002_0000\n",
        b'\xef\xbb\xbf"id","date"\nex0001_0000,2026-01-01\nex0002_0000,\n',
        b"ex0001_0000;x y\nex0001_0000\nnot an id\nex0002_0000\n",
    ],
)
async def test_the_first_column_of_each_line_is_an_id(content: bytes) -> None:
    assert await read(content) == ["ex0001_0000", "ex0002_0000"]


@given(st.lists(st.integers(min_value=1, max_value=40), max_size=12))
async def test_where_the_stream_is_cut_into_pieces_does_not_matter(sizes: list[int]) -> None:
    content = b"".join(b"ex%04d_0000,x\n" % number for number in range(20))
    chunks, at = [], 0
    for size in sizes:
        chunks.append(content[at : at + size])
        at += size
    assert await read(*chunks, content[at:]) == [f"ex{number:04d}_0000" for number in range(20)]


async def test_a_line_that_does_not_end_is_refused_and_what_came_before_it_is_kept() -> None:
    ids = feed.ids_of(feed.lines_of(stream(b"ex0001_0000\n", b"x" * 70_000, b"x" * 70_000)))
    assert await anext(ids) == "ex0001_0000"
    with pytest.raises(SourceUnusable):
        await anext(ids)
