"""120 requests a minute for a key or a network, over all processes."""

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import httpx
import pytest
from fastapi import FastAPI

from api.kernel.auth import Networks
from models.access.store import keys
from models.base.database import Database
from tests.api.conftest import application, client, error_of, run_sql

LIMIT = 120


@pytest.fixture(autouse=True)
def window_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock of the windows, so that none ends during a test, however long its calls take."""
    assert "clock_timestamp()" in keys.ADMIT
    now = f"timestamptz '{datetime.now(UTC).isoformat()}'"
    monkeypatch.setattr(keys, "ADMIT", keys.ADMIT.replace("clock_timestamp()", now))


@pytest.fixture(scope="module")
async def app(module_database_url: str) -> AsyncIterator[FastAPI]:
    async with application(
        module_database_url, rate_limit_per_minute=LIMIT, trusted_proxies=("198.51.100.0/24",)
    ) as made:
        yield made


def fresh_address() -> str:
    return f"10.{secrets.randbelow(256)}.{secrets.randbelow(256)}.{secrets.randbelow(256)}"


async def new_key(app: FastAPI) -> str:
    async with client(app, address=fresh_address()) as visitor:
        address = f"{secrets.token_hex(6)}@example.com"
        made = await visitor.post("/v1/workspaces", json={"name": "Acme", "email": address})
        return str(made.json()["api_key"])


async def test_exactly_120_of_300_parallel_calls_over_two_processes_pass(
    app: FastAPI, module_database_url: str
) -> None:
    key = await new_key(app)
    async with (
        application(module_database_url, rate_limit_per_minute=LIMIT, database_pool_size=8) as one,
        application(module_database_url, rate_limit_per_minute=LIMIT, database_pool_size=8) as other,
        client(one, api_key=key) as first,
        client(other, api_key=key) as second,
    ):
        answers = await asyncio.gather(*(caller.get("/v1/billing/balance") for caller in (first, second) * 150))
    assert Counter(answer.status_code for answer in answers) == {200: LIMIT, 429: 180}
    remaining = sorted(int(answer.headers["ratelimit-remaining"]) for answer in answers if answer.status_code == 200)
    assert remaining == list(range(LIMIT))


async def test_a_full_window_says_when_it_ends(app: FastAPI, database: Database) -> None:
    key = await new_key(app)
    async with client(app, api_key=key) as http:
        await http.get("/v1/workspace")
        await run_sql(database, "update rate_windows set hits = 119 where id like 'key_%'")
        last = await http.get("/v1/workspace")
        assert (last.status_code, last.headers["ratelimit-remaining"]) == (200, "0")
        answer = await http.get("/v1/workspace")
        error_of(answer, 429, "rate_limited")
        assert 0 < int(answer.headers["retry-after"]) <= 60
        assert answer.headers["ratelimit-reset"] == answer.headers["retry-after"]
        assert answer.headers["ratelimit-limit"] == "120"
        await run_sql(
            database, "update rate_windows set started_at = started_at - interval '60 s' where id like 'key_%'"
        )
        assert (await http.get("/v1/workspace")).headers["ratelimit-remaining"] == "119"


async def test_a_window_left_in_the_future_by_a_clock_set_back_restarts(app: FastAPI, database: Database) -> None:
    key = await new_key(app)
    async with client(app, api_key=key) as http:
        await http.get("/v1/workspace")
        await run_sql(
            database,
            "update rate_windows set hits = 500, started_at = started_at + interval '1 day' where id like 'key_%'",
        )
        answer = await http.get("/v1/workspace")
        assert (answer.status_code, answer.headers["ratelimit-remaining"]) == (200, "119")


async def test_a_network_shares_its_limit_and_wrong_keys_count_for_it(app: FastAPI) -> None:
    address = fresh_address()
    async with client(app, address=address) as http:
        for index in range(LIMIT):
            headers = {"Authorization": f"Bearer svc_live_{index}"} if index % 2 else {}
            path = "/v1/workspace" if index % 2 else "/v1/billing/plans"
            answer = await http.get(path, headers=headers)
            assert answer.status_code == (401 if index % 2 else 200)
        error_of(await http.get("/v1/workspace", headers={"Authorization": "Bearer svc_live_x"}), 429, "rate_limited")
        error_of(await http.get("/v1/billing/plans"), 429, "rate_limited")
        assert (await http.get("/health")).status_code == 200
    async with client(app, address=fresh_address()) as elsewhere:
        assert (await elsewhere.get("/v1/billing/plans")).status_code == 200


async def test_a_key_is_not_held_up_by_its_network(app: FastAPI, database: Database) -> None:
    key, address = await new_key(app), fresh_address()
    async with client(app, address=address) as visitor, client(app, address=address, api_key=key) as http:
        await visitor.get("/v1/billing/plans")
        await run_sql(database, "update rate_windows set hits = 500 where id = :id", id=f"net:{address}/32")
        error_of(await visitor.get("/v1/billing/plans"), 429, "rate_limited")
        assert (await http.get("/v1/workspace")).status_code == 200


async def test_health_is_not_counted(http: httpx.AsyncClient) -> None:
    assert "ratelimit-limit" not in (await http.get("/health")).headers


@pytest.mark.parametrize(
    ("peer", "forwarded", "bucket"),
    [
        ("203.0.113.9", None, "net:203.0.113.9/32"),
        ("203.0.113.9", "198.51.100.7", "net:203.0.113.9/32"),
        ("198.51.100.1", "203.0.113.9", "net:203.0.113.9/32"),
        ("198.51.100.1", "8.8.8.8, 203.0.113.9", "net:203.0.113.9/32"),
        ("198.51.100.1", "203.0.113.9, 198.51.100.2", "net:203.0.113.9/32"),
        ("198.51.100.1", "nonsense", "net:198.51.100.1/32"),
        ("198.51.100.1", "nonsense, 203.0.113.9", "net:203.0.113.9/32"),
        ("198.51.100.1", None, "net:198.51.100.1/32"),
        ("2001:db8:1:2:3:4:5:6", None, "net:2001:db8:1:2::/64"),
        ("::ffff:203.0.113.9", None, "net:203.0.113.9/32"),
        (None, None, "net:unknown"),
    ],
)
def test_the_network_is_the_peer_or_what_a_trusted_proxy_says(
    peer: str | None, forwarded: str | None, bucket: str
) -> None:
    assert Networks(["198.51.100.0/24"]).of(peer, forwarded) == bucket


async def test_a_trusted_proxy_is_believed(app: FastAPI, database: Database) -> None:
    real = fresh_address()
    async with client(app, address="198.51.100.3") as http:
        await http.get("/v1/billing/plans", headers={"X-Forwarded-For": real})
    found = await run_sql(database, "select hits from rate_windows where id = :id", id=f"net:{real}/32")
    assert found[0][0] == 1
