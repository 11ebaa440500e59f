"""Client metadata documents are read by the worker, behind the guard of addresses, and believed for an hour."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from activities.access import ClientSteps
from activities.upstream.guard import Guard
from models.access.store import oauth
from models.access.tables import OauthClient
from models.base.database import Database
from models.base.outbound import Resolver
from models.base.steps import Do, Step
from tests.api.conftest import run_sql

Answer = Callable[[str], tuple[str, bytes]]
"""Of an address: the head and the body of the HTTP answer of its server."""
JSON = "200 OK\r\nContent-Type: application/json"


def described(url: str) -> tuple[str, bytes]:
    told = {"client_id": url, "client_name": "Agent", "redirect_uris": ["http://127.0.0.1/callback"]}
    return JSON, json.dumps(told).encode()


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[tuple[str, list[str]]]:
    """A client's own server: where its document is, and what it was asked."""
    asked: list[str] = []
    where: list[str] = []

    async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        head, body = answer(where[0])
        writer.write(f"HTTP/1.1 {head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answered, "127.0.0.1", 0)
    where.append(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/client.json")
    async with server:
        yield where[0], asked


@pytest.fixture(scope="module")
async def database(module_database_url: str) -> AsyncIterator[Database]:
    made = Database(module_database_url, pool_size=0)
    yield made
    await made.close()


async def wanted(database: Database, url: str) -> str:
    """Start a sign-in with a client, and return the row's id."""

    async with database.transaction() as session:
        client = await oauth.client_of_document(session, url, network=b"somewhere")
        assert client is not None
        return client.id


async def read(database: Database, url: str, *, loopback: bool = True) -> OauthClient:
    """Have the document read, as the workflow does."""
    row_id = await wanted(database, url)
    async with Guard(Resolver(), loopback=loopback) as guard:
        steps = ClientSteps(database, guard)
        step = Step(id=row_id)
        if (await steps.next(step)).do is Do.ACT:
            assert (await steps.read(step)).do is Do.DONE
    async with database.reading() as session:
        found = await oauth.load_client(session, url)
    assert found is not None
    return found


async def test_a_document_is_read_once_an_hour(database: Database) -> None:
    async with serving(described) as (url, asked):
        client = await read(database, url)
        assert (client.name, client.redirect_uris, client.auth_method) == (
            "Agent",
            ["http://127.0.0.1/callback"],
            "none",
        )
        assert asked[0].startswith("GET /client.json HTTP/1.1\r\n")
        await read(database, url)
        assert len(asked) == 1
        await run_sql(database, "update oauth_clients set fetched_at = fetched_at - interval '1 hour'")
        await read(database, url)
        assert len(asked) == 2


@pytest.mark.parametrize(
    "answer",
    [
        lambda url: ("404 Not Found\r\nContent-Type: application/json", described(url)[1]),
        lambda url: ("302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Type: application/json", described(url)[1]),
        lambda url: ("200 OK\r\nContent-Type: text/html", described(url)[1]),
        lambda url: (JSON, described(url + "x")[1]),
        lambda url: (JSON, described(url)[1] + b" " * 9000),
        lambda _: (JSON, b"{"),
    ],
)
async def test_what_cannot_be_taken_makes_no_client(database: Database, answer: Answer) -> None:
    async with serving(answer) as (url, asked):
        client = await read(database, url)
        assert client.failure
        assert (client.fetched_at, client.redirect_uris) == (None, [])
        await read(database, url)
        assert len(asked) == 1, "a failure is not tried again at once"


async def test_a_document_that_went_bad_leaves_what_was_read_and_is_not_believed(database: Database) -> None:
    bad: list[bool] = []
    async with serving(lambda url: (JSON, b"{") if bad else described(url)) as (url, _):
        await read(database, url)
        bad.append(True)
        await run_sql(database, "update oauth_clients set fetched_at = fetched_at - interval '1 hour'")
        client = await read(database, url)
        assert client.failure
        async with database.reading() as session:
            assert not oauth.is_fresh(client, await oauth.wall_time(session))


async def test_no_address_of_the_inside_is_asked(database: Database) -> None:
    async with serving(described) as (url, asked):
        client = await read(database, url, loopback=False)
        assert "address_refused" in str(client.failure)
        assert not asked
