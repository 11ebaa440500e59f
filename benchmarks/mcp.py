"""`python -m benchmarks.mcp`: tool calls compared with the same operations over REST, in both protocol versions.

One uvicorn process serves our application and, as the floor, a server made only of the SDK, whose tool returns a
constant of the same size without a lookup. The same client calls them in turn, in one run. A tool should reach at least
0.4 times the calls per second of its REST twin. The CPU time per call is printed too, because other work on the machine
does not disturb it.
"""

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, TextContent
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from api.app import create_app
from benchmarks.api import Target, ask, database, fill, get, measure, served
from models.base.settings import Settings
from models.base.tenants import UNHELD

AIM = 0.4
FLOOR, CPU = "/floor", "/cpu"
"""Paths that the benchmark adds: the floor, and the seconds of CPU time that the process has used."""
LISTS = 10
ERAS = {"2025": "2025-11-25", "2026": "2026-07-28"}
Json = dict[str, Any]


def serve() -> ASGIApp:
    """Return our application and the floor under one server; uvicorn runs it."""
    ours = create_app(Settings())  # from the environment
    floor = StreamableHTTPSessionManager(app=_constant(), json_response=True, stateless=True)

    @contextlib.asynccontextmanager
    async def beside() -> AsyncIterator[None]:
        async with floor.run():
            yield

    async def both(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            async with beside():
                await ours(scope, receive, send)
            return
        await paths.get(scope["path"], ours)(scope, receive, send)

    async def cpu(scope: Scope, receive: Receive, send: Send) -> None:
        await JSONResponse(time.process_time())(scope, receive, send)

    paths: dict[str, ASGIApp] = {FLOOR: floor.handle_request, CPU: cpu}
    return both


def _constant() -> Server[Any]:
    """Return a server with the cheapest possible tool: a constant answer, as text and as structure."""
    known = json.loads(os.environ["BENCHMARK_ANSWER"])
    text = json.dumps(known)

    async def call(_: ServerRequestContext[Any, Any], __: CallToolRequestParams) -> CallToolResult:
        return CallToolResult(content=[TextContent(text=text)], structured_content=known)

    async def listed(_: ServerRequestContext[Any, Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[])

    return Server("floor", on_call_tool=call, on_list_tools=listed, get_tool_input_schema=lambda _: None)


def post(path: str, body: Json, headers: str) -> bytes:
    """Return the bytes of a POST request with a JSON body."""
    raw = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(raw)}\r\n{headers}\r\n".encode() + raw


def tool(path: str, name: str, given: Json, *, version: str, headers: str) -> bytes:
    """Return the bytes of a tool call as clients of this protocol version send it."""
    params: Json = {"name": name, "arguments": given}
    headers += f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {version}\r\n"
    if version == ERAS["2026"]:
        headers += f"Mcp-Method: tools/call\r\nMcp-Name: {name}\r\n"
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    return post(path, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers)


async def prepare(url: str, run_id: str) -> None:
    """Write a finished run that can be extended, and some lists."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""), server_settings=UNHELD)
    done = "update runs set status = 'completed', stop_reason = 'budget', finished_at = now() where id = $1"
    await connection.execute(done, run_id)
    made = """
        insert into lists (id, workspace_id, tenant_id, name, created_at, updated_at)
        select 'list_' || lpad(n::text, 26, '0'), workspace_id, tenant_id, 'List ' || n, now(), now()
          from runs, generate_series(1, $2) as n where runs.id = $1
    """
    await connection.execute(made, run_id, LISTS)
    await connection.close()


def sides(kind: str, run_id: str, key: str) -> list[Target]:
    """Return the REST operation, and the tool and the floor in each protocol version."""
    auth = f"Authorization: Bearer {key}\r\n"
    if kind == "read":
        rest, name, given = get("/v1/lists", auth), "list_lists", {}
    else:
        asked = {"add_target": 10}
        rest = post(f"/v1/runs/{run_id}/extend?dry_run=true", asked, auth)
        name, given = "extend_search", {"run_id": run_id, **asked}
    made = [Target("REST", rest)]
    for era, version in ERAS.items():
        made.append(Target(f"{name} {era}", tool("/mcp", name, given, version=version, headers=auth)))
        made.append(Target(f"floor {era}", tool(FLOOR, name, given, version=version, headers="")))
    return made


async def compare(
    port: int, kind: str, targets: list[Target], *, connections: int, seconds: float, rounds: int
) -> bool:
    """Measure and print all sides in turn; return whether the aim is met."""
    for target in targets:
        await measure(port, target, connections=connections, seconds=1)
    rates: dict[str, list[float]] = {target.name: [] for target in targets}
    costs: dict[str, list[float]] = {target.name: [] for target in targets}
    for _ in range(rounds):
        for target in targets:
            before = await cpu_seconds(port)
            found = await measure(port, target, connections=connections, seconds=seconds)
            rates[target.name].append(found.rate)
            costs[target.name].append(1000 * (await cpu_seconds(port) - before) / found.count)
    print(f"\n{kind}: {connections} connections, median of {rounds} rounds of {seconds:g} s")
    print(f"  {'side':<22} {'calls/s':>8} {'to REST':>8} {'CPU ms':>8} {'to REST':>8}")
    met = True
    for target in targets:
        ratio = _ratio(rates[target.name], rates["REST"])
        cheap = _ratio(costs["REST"], costs[target.name])
        met = met and (ratio >= AIM or target.name.startswith("floor"))
        often, cost = statistics.median(rates[target.name]), statistics.median(costs[target.name])
        print(f"  {target.name:<22} {often:>8.0f} {ratio:>8.2f} {cost:>8.2f} {cheap:>8.2f}")
    return met


def _ratio(ones: list[float], others: list[float]) -> float:
    return statistics.median(one / other for one, other in zip(ones, others, strict=True))


async def cpu_seconds(port: int) -> float:
    """Return the CPU time that the serving process has used."""
    return float(await answered(port, get(CPU)))


def main() -> int:
    """Measure, and return 0 if the aim is met, else 1."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mcp", description=__doc__)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=1, help="of each side in each round")
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="benchmark-"))
    folder.chmod(0o711)  # the system user of the database must be able to traverse it
    met = True
    try:
        with database(folder) as url:
            run_id, key = asyncio.run(fill(url))
            asyncio.run(prepare(url, run_id))
            for kind in ("read", "preview"):
                met = _measured(url, folder, kind, sides(kind, run_id, key), asked) and met
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\naim: at least {AIM} of REST")
    return 0 if met else 1


def _measured(url: str, folder: Path, kind: str, targets: list[Target], asked: argparse.Namespace) -> bool:
    """Read the REST answer, so that the floor can answer as much, then measure; return whether the aim is met."""
    with served(url, folder / "server.log", app="benchmarks.mcp:serve", BENCHMARK_ANSWER="{}") as port:
        answer = asyncio.run(answered(port, targets[0].request))
    with served(url, folder / "server.log", app="benchmarks.mcp:serve", BENCHMARK_ANSWER=answer) as port:
        work = compare(port, kind, targets, connections=asked.connections, seconds=asked.seconds, rounds=asked.rounds)
        return asyncio.run(work)


async def answered(port: int, request: bytes) -> str:
    """Return the body of the answer to a request."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    found = await ask(reader, writer, request)
    writer.close()
    return found.decode()


if __name__ == "__main__":
    sys.exit(main())
