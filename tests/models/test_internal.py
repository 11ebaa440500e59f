"""The internal address answers its pages and nothing else, and is off unless it is asked for."""

import asyncio

import pytest

from models import internal
from models.database import Database
from models.internal import Answer, listening
from models.metrics import Metrics
from models.reach import everywhere
from models.readiness import alive

pytestmark = pytest.mark.timeout(60)


async def ask(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    return answer


async def test_nothing_listens_unless_an_address_is_given() -> None:
    async with listening(None, {}) as port:
        assert port is None


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"GET /health HTTP/1.1\r\n\r\n", b"HTTP/1.1 200"),
        (b"GET /health?x=1 HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 200"),
        (b"POST /health HTTP/1.1\r\n\r\n", b"HTTP/1.1 405"),
        (b"GET /v1/workspace HTTP/1.1\r\n\r\n", b"HTTP/1.1 404"),
        (b"nonsense\r\n\r\n", b"HTTP/1.1 400"),
        (b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\n\r\n", b""),
    ],
)
async def test_only_its_pages_are_answered(request_line: bytes, status: bytes) -> None:
    async with listening("127.0.0.1:0", {"/health": alive}) as port:
        assert port is not None
        try:
            answer = await ask(port, request_line)
        except ConnectionResetError:
            answer = b""
        assert answer.startswith(status)
        assert answer == b"" or status


async def test_who_says_nothing_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(internal, "REQUEST_SECONDS", 0.1)
    async with listening("127.0.0.1:0", {"/health": alive}) as port:
        assert port is not None
        assert await ask(port, b"GET /hea") == b""


async def test_metrics_say_what_waits_and_survive_a_database_that_is_gone(database_url: str) -> None:
    database = Database(database_url, pool_size=0).within(everywhere("tests"))
    told = (await Metrics(database).page()).body.decode()
    assert "service_rows_readable 1.0" in told
    assert "service_oldest_undelivered_event_seconds 0.0" in told
    assert "service_ledger_mismatched_grants 0.0" in told
    await database.close()
    gone = Database("postgresql+asyncpg://nobody@127.0.0.1:1/none", pool_size=0)
    answer: Answer = await Metrics(gone).page()
    assert b"service_rows_readable 0.0" in answer.body
    assert b"service_requests" in answer.body
    await gone.close()
