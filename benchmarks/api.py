"""`python -m benchmarks.api`: `GET /v1/runs/{id}` compared with a bare FastAPI + asyncpg route with the same JSON.

One uvicorn process serves both from one database; the same client calls them in turn, in one run. The bare route only
reads the row by its primary key: no key, no scope, no tenant, no rate limit, no versions, no log. The ratio of requests
per second should be at least 0.5.
"""

import argparse
import asyncio
import contextlib
import hashlib
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from api.app import create_app
from models.access.rules.keys import ALL_SCOPES, key_secret
from models.base.errors import rfc3339
from models.base.ids import new_id
from models.base.settings import Settings
from models.base.tenants import UNHELD
from stack.postgres import Postgres

AIM = 0.5
BARE = "/bare/runs/"
ROOT = Path(__file__).parent.parent


def serve() -> ASGIApp:
    """Return our application and the bare one under one server; uvicorn runs it."""
    settings = Settings()  # from the environment
    ours, bare = create_app(settings), bare_app(settings.database_url)

    async def both(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            async with bare.router.lifespan_context(bare):
                await ours(scope, receive, send)
            return
        await (bare if scope["path"].startswith(BARE) else ours)(scope, receive, send)

    return both


def bare_app(url: str) -> FastAPI:
    """Return the floor: an application of a pool, a query and a dictionary."""
    pools: list[asyncpg.Pool[asyncpg.Record]] = []

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with asyncpg.create_pool(
            url.replace("+asyncpg", ""), min_size=16, max_size=16, server_settings=UNHELD
        ) as pool:
            pools.append(pool)
            yield

    app = FastAPI(lifespan=lifespan)

    @app.get(BARE + "{run_id}")
    async def get_run(run_id: str) -> dict[str, object]:
        row = await pools[0].fetchrow("select * from runs where id = $1", run_id)
        if row is None:
            return {}
        return _shown(row)

    return app


def _shown(row: asyncpg.Record) -> dict[str, object]:
    def moment(name: str) -> str | None:
        return rfc3339(row[name]) if row[name] else None

    tenant = row["tenant_id"]
    return {
        "id": row["id"],
        "object": "run",
        "status": row["status"],
        "stop_reason": row["stop_reason"],
        "finish_detail": row["finish_detail"],
        "failure": {"code": row["failure_code"], "message": ""} if row["failure_code"] else None,
        "retry_at": moment("retry_at"),
        "plan_id": row["plan_id"],
        "intent_id": row["intent_id"],
        "customer_id": tenant if tenant.startswith("cus_") else None,
        "target": row["target"],
        "budget": {
            "max_credits": row["max_credits"],
            "max_pages": row["max_pages"],
            "max_profile_fetches": row["max_profile_fetches"],
        },
        "mark_seen": row["mark_seen"],
        "progress": {
            "tier": row["tier"] + 1,
            "people_looked_at": row["people_looked_at"],
            "duplicates_skipped": row["duplicates_skipped"],
            "candidates_delivered": row["candidates_delivered"],
            "target": row["target"],
        },
        "spent": {
            "credits": row["spent_credits"],
            "pages": row["spent_pages"],
            "profile_fetches": row["spent_profile_fetches"],
        },
        "omitted": {"suppressed": row["omitted_suppressed"]},
        "query_key": row["query_key"],
        "cancel_requested_at": moment("cancel_requested_at"),
        "created_at": moment("created_at"),
        "started_at": moment("started_at"),
        "finished_at": moment("finished_at"),
    }


@dataclass(frozen=True, slots=True)
class Target:
    """One side of the comparison and its request."""

    name: str
    request: bytes


@dataclass(frozen=True, slots=True)
class Round:
    """The result of one side in one round: number of answers, and latencies in milliseconds."""

    count: int
    rate: float
    p50: float
    p99: float


def get(path: str, headers: str = "") -> bytes:
    """Return the bytes of a GET request."""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode()


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> bytes:
    """Send one request on an open connection and return the body of its answer."""
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(f"not answered: {head.decode()}")
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    return await reader.readexactly(length)


async def measure(port: int, target: Target, *, connections: int, seconds: float) -> Round:
    """Send requests over keep-alive connections for some seconds."""
    latencies: list[float] = []
    end = time.perf_counter() + seconds

    async def caller() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (began := time.perf_counter()) < end:
            await ask(reader, writer, target.request)
            latencies.append((time.perf_counter() - began) * 1000)
        writer.close()
        await writer.wait_closed()

    began = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(connections)))
    elapsed = time.perf_counter() - began
    ordered = sorted(latencies)
    return Round(len(ordered), len(ordered) / elapsed, statistics.median(ordered), ordered[int(len(ordered) * 0.99)])


async def compare(port: int, sides: list[Target], *, connections: int, seconds: float, rounds: int) -> float:
    """Measure and print both sides in turn, and return the median ratio of the second to the first."""
    await _check_same(port, sides)
    for side in sides:
        await measure(port, side, connections=connections, seconds=1)
    print(f"{'round':>5}  {'side':<22} {'requests/s':>10} {'p50 ms':>8} {'p99 ms':>8}")
    ratios: list[float] = []
    for number in range(1, rounds + 1):
        results = [await measure(port, side, connections=connections, seconds=seconds) for side in sides]
        for side, result in zip(sides, results, strict=True):
            print(f"{number:>5}  {side.name:<22} {result.rate:>10.0f} {result.p50:>8.2f} {result.p99:>8.2f}")
        ratios.append(results[1].rate / results[0].rate)
    return statistics.median(ratios)


async def _check_same(port: int, sides: list[Target]) -> None:
    answers = []
    for side in sides:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        answers.append(json.loads(await ask(reader, writer, side.request)))
        writer.close()
    if answers[0] != answers[1]:
        different = {name for name in answers[0] | answers[1] if answers[0].get(name) != answers[1].get(name)}
        raise RuntimeError(f"the two sides do not answer the same: {sorted(different)}")


async def join(
    connection: "asyncpg.Connection[asyncpg.Record]", now: datetime, *, name: str = "bench"
) -> tuple[str, str, str]:
    """Create a workspace with a key that has every scope; return the ids of both, and the key itself."""
    workspace, key = new_id("ws", now), new_id("key", now)
    secret = key_secret(os.urandom(32))
    await connection.execute(
        "insert into workspaces (id, name, email, email_key, marketing_opt_in, low_balance_credits, created_at)"
        " values ($1, 'Bench', $3, $3, false, 250, $2)",
        *(workspace, now, f"{name}@example.com"),
    )
    await connection.execute(
        "insert into api_keys (id, workspace_id, kind, name, prefix, last4, secret_hash, scopes, version, created_at)"
        " values ($1, $2, 'key', 'Bench', 'svc_live_', 'xxxx', $3, $4, '2026-11-01', $5)",
        *(key, workspace, hashlib.sha256(secret.encode()).digest(), sorted(ALL_SCOPES), now),
    )
    return workspace, key, secret


async def fill(url: str) -> tuple[str, str]:
    """Create a workspace with a key and 10,000 runs; return the id of one run, and the key."""
    now = datetime.now(UTC)
    plan, intent = (new_id(prefix, now) for prefix in ("plan", "int"))
    runs = [new_id("run", now) for _ in range(10_000)]
    connection = await asyncpg.connect(url.replace("+asyncpg", ""), server_settings=UNHELD)
    workspace, key, secret = await join(connection, now)
    await connection.execute(
        "insert into search_plans (id, workspace_id, tenant_id, intent_id, content, created_at)"
        " values ($1, $2, $2, $3, '{}', $4)",
        *(plan, workspace, intent, now),
    )
    await connection.execute(
        """
        insert into runs (id, workspace_id, tenant_id, rings, answered, api_key_id, plan_id, intent_id, status, target,
                          max_credits, mark_seen, spent_credits, spent_pages, spent_profile_fetches, reserved_credits,
                          reserved_fetches, tier, page, page_offset, tiers, chunk_offset, call_number, failures,
                          people_looked_at, duplicates_skipped, candidates_delivered, omitted_suppressed, query_key,
                          created_at, started_at)
        select id, $2, $2, 1, 1, $3, $4, $5, 'running', 30, 90, true, 36, 2, 12, 0, 0, 1, 0, 0, 3, 0, 2, 0, 40, 7, 12,
               1, 'q_1', $6, $6
          from unnest($1::text[]) as id
        """,
        *(runs, workspace, key, plan, intent, now),
    )
    await connection.execute("analyze")
    await connection.close()
    return runs[5000], secret


@contextlib.contextmanager
def database(folder: Path) -> Iterator[str]:
    """Start a durable PostgreSQL server with a migrated database, and yield its URL."""
    server = Postgres(home=folder / "postgres", log=folder / "postgres.log")
    server.start()
    try:
        server.ensure_database()
        environment = os.environ | {"DATABASE_URL": server.url()}
        subprocess.run([sys.executable, "-m", "models.migrations", "upgrade"], cwd=ROOT, check=True, env=environment)
        yield server.url()
    finally:
        server.stop()


@contextlib.contextmanager
def served(url: str, log: Path, *, app: str = "benchmarks.api:serve", **more: str) -> Iterator[int]:
    """Serve both applications in one uvicorn process with additional environment variables; yield its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    environment = os.environ | {
        "DATABASE_URL": url,
        "SECRET_KEY": "a secret of the benchmark, long enough",
        "RATE_LIMIT_PER_MINUTE": "100000000",
        **more,
    }
    command = [sys.executable, "-m", "uvicorn", app, "--factory", "--port", str(port)]
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, "--no-access-log", "--no-proxy-headers"], cwd=ROOT, env=environment, stdout=output, stderr=output
        )
    try:
        _await_port(port, process, log)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=20)


def _await_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start:\n{log.read_text()[-2000:]}")


def main() -> int:
    """Measure, and return 0 if the aim is met, else 1."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.api", description=__doc__)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=2, help="of each side in each round")
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="benchmark-"))
    folder.chmod(0o711)  # the system user of the database must be able to traverse it
    try:
        with database(folder) as url:
            run_id, key = asyncio.run(fill(url))
            sides = [
                Target("bare", get(f"{BARE}{run_id}")),
                Target("GET /v1/runs/{id}", get(f"/v1/runs/{run_id}", f"Authorization: Bearer {key}\r\n")),
            ]
            with served(url, folder / "server.log") as port:
                ratio = asyncio.run(
                    compare(port, sides, connections=asked.connections, seconds=asked.seconds, rounds=asked.rounds)
                )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\nratio: {ratio:.2f} (aim: at least {AIM})")
    return 0 if ratio >= AIM else 1


if __name__ == "__main__":
    sys.exit(main())
