"""The internal address answers its pages and nothing else, in bounded time, and is off unless it is asked for."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from functools import partial

import pytest

from api.kernel import internal
from api.kernel.internal import listening
from models.base.database import Database
from models.base.tenants import all_tenants
from models.operate.metrics import Metrics
from models.operate.readiness import Readiness

pytestmark = pytest.mark.timeout(60)


async def word(said: str) -> str:
    return said


@contextlib.asynccontextmanager
async def served(address: str = "127.0.0.1:0", **parts: str) -> AsyncIterator[int]:
    """The port of an internal address whose parts say what is given."""
    probes = {name: partial(word, said) for name, said in parts.items()}
    async with listening(address, Readiness(probes), Metrics(None)) as port:
        assert port is not None
        yield port


async def ask(port: int, request: bytes) -> bytes:
    """Everything that is answered until the connection ends; nothing when it is cut off."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


async def test_nothing_listens_unless_an_address_is_given() -> None:
    async with listening(None, Readiness({}), Metrics(None)) as port:
        assert port is None


async def test_an_address_that_is_taken_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        async with served(f"127.0.0.1:{taken.getsockname()[1]}"):
            pass


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"GET /health HTTP/1.1\r\n\r\n", b"HTTP/1.1 200"),
        (b"GET /health?x=1 HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 200"),
        (b"POST /health HTTP/1.1\r\n\r\n", b"HTTP/1.1 405"),
        (b"GET /health/ HTTP/1.1\r\n\r\n", b"HTTP/1.1 404"),
        (b"GET /v1/workspace HTTP/1.1\r\n\r\n", b"HTTP/1.1 404"),
        (b"nonsense\r\n\r\n", b"HTTP/1.1 400"),
        (b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\n\r\n", b""),
    ],
)
async def test_only_its_pages_are_answered(request_line: bytes, status: bytes) -> None:
    async with served() as port:
        answer = await ask(port, request_line)
    assert answer.startswith(status)
    assert bool(answer) == bool(status)


@pytest.mark.parametrize(
    ("said", "status", "body"),
    [
        ("ok", 200, {"status": "ready", "parts": {"database": "ok"}}),
        ("not_at_head", 503, {"status": "not_ready", "parts": {"database": "not_at_head"}}),
    ],
)
async def test_readiness_has_a_word_for_each_part(said: str, status: int, body: dict[str, object]) -> None:
    async with served(database=said) as port:
        head, _, text = (await ask(port, b"GET /readyz HTTP/1.1\r\n\r\n")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d" % status)
    assert json.loads(text) == body


async def test_an_answer_is_not_kept_and_ends_its_connection() -> None:
    async with served() as port:
        head, _, text = (await ask(port, b"GET /metrics HTTP/1.1\r\n\r\n")).partition(b"\r\n\r\n")
    names = {line.partition(b": ")[0]: line.partition(b": ")[2] for line in head.split(b"\r\n")[1:]}
    assert names == {
        b"cache-control": b"no-store",
        b"connection": b"close",
        b"content-length": b"%d" % len(text),
        b"content-type": b"text/plain; version=0.0.4; charset=utf-8",
    }


@pytest.mark.parametrize("said", [b"", b"GET /hea"])
async def test_who_does_not_ask_in_time_is_hung_up_on(monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    monkeypatch.setattr(internal, "REQUEST_SECONDS", 0.1)
    async with served() as port:
        assert await ask(port, said) == b""


async def test_a_page_that_takes_too_long_ends_with_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(internal, "REQUEST_SECONDS", 0.1)
    monkeypatch.setattr(internal, "ANSWER_SECONDS", 0.1)

    async def hangs() -> str:
        await asyncio.sleep(2)
        return "ok"

    async with listening("127.0.0.1:0", Readiness({"database": hangs}), Metrics(None)) as port:
        assert port is not None
        assert await ask(port, b"GET /readyz HTTP/1.1\r\n\r\n") == b""


async def test_silent_connections_are_bounded_and_answers_go_on_when_they_have_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(internal, "CONNECTIONS", 3)
    async with served() as port:
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        assert await ask(port, b"GET /health HTTP/1.1\r\n\r\n") == b""
        for _, writer in silent:
            writer.close()
            await writer.wait_closed()
        answer = b""
        while not answer:
            answer = await ask(port, b"GET /health HTTP/1.1\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200")


async def test_many_are_answered_at_once() -> None:
    async with served(database="ok") as port:
        answers = await asyncio.gather(*[ask(port, b"GET /readyz HTTP/1.1\r\n\r\n") for _ in range(100)])
    assert {answer.partition(b"\r\n")[0] for answer in answers} == {b"HTTP/1.1 200 OK"}


async def test_the_end_does_not_wait_for_a_silent_connection() -> None:
    async with asyncio.timeout(10):
        async with served() as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await reader.read() == b""
        writer.close()
    with pytest.raises(OSError, match="onnect"):
        await asyncio.open_connection("127.0.0.1", port)


async def test_metrics_say_what_waits_and_survive_a_database_that_is_gone(database_url: str) -> None:
    database = Database(database_url, pool_size=0).within(all_tenants("tests"))
    told = (await Metrics(database).text()).decode()
    assert "service_rows_readable 1.0" in told
    assert "service_oldest_undelivered_event_seconds 0.0" in told
    assert "service_ledger_mismatched_grants 0.0" in told
    await database.close()
    gone = Database("postgresql+asyncpg://nobody@127.0.0.1:1/none", pool_size=0)
    text = await Metrics(gone).text()
    assert b"service_rows_readable 0.0" in text
    assert b"service_requests" in text
    await gone.close()
