import lzma
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from models.market.reference import open_reference, unpack_reference


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    database = sqlite3.connect(tmp_path / "small.sqlite")
    database.execute("CREATE TABLE value (name TEXT)")
    database.commit()
    database.close()
    packed = tmp_path / "small.sqlite.xz"
    packed.write_bytes(lzma.compress((tmp_path / "small.sqlite").read_bytes()))
    return packed


def test_unpacks_once_and_leaves_nothing_else_behind(shipped: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = unpack_reference(shipped, cache=cache)
    written = first.stat().st_mtime_ns
    assert unpack_reference(shipped, cache=cache) == first
    assert first.stat().st_mtime_ns == written
    assert list(cache.iterdir()) == [first]


def test_another_content_gets_another_file(shipped: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = unpack_reference(shipped, cache=cache)
    shipped.write_bytes(lzma.compress(lzma.decompress(shipped.read_bytes()), preset=0))
    assert unpack_reference(shipped, cache=cache) != first


def test_many_at_once_end_with_one_whole_file(shipped: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with ThreadPoolExecutor(8) as pool:
        paths = set(pool.map(lambda _: unpack_reference(shipped, cache=cache), range(16)))
    (path,) = paths
    assert list(cache.iterdir()) == [path]
    assert path.read_bytes() == lzma.decompress(shipped.read_bytes())


def test_a_damaged_file_is_refused_and_nothing_is_left(shipped: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    shipped.write_bytes(shipped.read_bytes()[:-20])
    with pytest.raises((lzma.LZMAError, EOFError)):
        unpack_reference(shipped, cache=cache)
    assert list(cache.iterdir()) == []


def test_the_opened_file_cannot_be_written(shipped: Path, tmp_path: Path) -> None:
    database = open_reference(unpack_reference(shipped, cache=tmp_path / "cache"))
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        database.execute("INSERT INTO value VALUES ('x')")
    database.close()
