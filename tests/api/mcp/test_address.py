"""The MCP address against the hostile and the mistaken: keys, hosts, origins, bodies, batches, methods."""

import json
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from api.mcp.endpoint import MOST_MESSAGES, PATHS
from models.base.database import Database
from tests.api.conftest import Workspace, client, run_sql
from tests.api.mcp.conftest import URL, serving

LEGACY = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def called(number: int, name: str = "get_guide", **given: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": given}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


async def post(workspace: Workspace, body: Any, path: str = "/mcp", **headers: str) -> httpx.Response:
    return await workspace.http.post(path, json=body, headers=LEGACY | headers)


@pytest.mark.parametrize("path", PATHS)
async def test_no_key_no_service(http: httpx.AsyncClient, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer svc_live_wrong"}, {"Authorization": "Basic abc"}):
        answer = await http.post(path, json=LIST_TOOLS, headers=LEGACY | headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert answer.json()["error"]["code"] == "unauthorized"


async def test_rejected_credentials_are_counted_by_network(module_database_url: str) -> None:
    async with serving(module_database_url, rate_limit_per_minute=3) as app, client(app, address="192.0.2.77") as http:
        statuses = []
        for number in range(5):
            guess = {"Authorization": f"Bearer svc_live_guess{number}"}
            statuses.append((await http.post("/mcp", json=LIST_TOOLS, headers=LEGACY | guess)).status_code)
    assert statuses == [401, 401, 401, 429, 429]


@pytest.mark.parametrize("host", ["evil.example", "api.test.evil.example", "evil.example:80", "127.0.0.1.evil.example"])
async def test_a_foreign_host_is_refused(workspace: Workspace, host: str) -> None:
    assert (await post(workspace, LIST_TOOLS, host=host)).status_code == 421


@pytest.mark.parametrize("origin", ["https://evil.example", "null", f"{URL}.evil.example", "http://localhost.evil"])
async def test_a_foreign_origin_is_refused(workspace: Workspace, origin: str) -> None:
    assert (await post(workspace, LIST_TOOLS, origin=origin)).status_code == 403


@pytest.mark.parametrize(
    "headers", [{"origin": URL}, {"origin": "http://localhost:5173"}, {"host": "localhost:8080"}, {"host": "127.0.0.1"}]
)
async def test_the_service_itself_is_let_in(workspace: Workspace, headers: dict[str, str]) -> None:
    assert (await post(workspace, LIST_TOOLS, **headers)).status_code == 200


async def test_hosts_and_origins_of_the_operator_are_let_in(module_database_url: str) -> None:
    more = {"mcp_hosts": ("inside:*",), "mcp_origins": ("https://console.example",)}
    async with serving(module_database_url, **more) as app, client(app) as http:
        answer = await http.post(
            "/mcp", json=LIST_TOOLS, headers={"host": "inside:9", "origin": "https://console.example"}
        )
        assert answer.status_code == 401


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_nothing_but_post_is_taken(workspace: Workspace, method: str) -> None:
    answer = await workspace.http.request(method, "/mcp", headers=LEGACY)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize("size", [1, 4, 17])
async def test_an_overlong_body_is_refused(workspace: Workspace, size: int) -> None:
    text = "x" * (size * 1024 * 1024)
    answer = await post(workspace, called(1, "start_search", job_description=text))
    assert answer.status_code == 413
    assert answer.json()["error"]["data"]["error"]["code"] == "invalid_request"


@pytest.mark.parametrize(
    "content",
    [
        *(b"{", b"\xff\xfe", b"[" * 100_000, b'{"a": 1, "a": 2}', b'{"a": NaN}'),
        *(b'{"a": "\\u0000"}', b'{"a": "\\ud800"}', b'{"a": ' + b"9" * 5000 + b"}"),
    ],
)
async def test_what_is_no_json_is_refused(workspace: Workspace, content: bytes) -> None:
    headers = LEGACY | {"content-type": "application/json"}
    answer = await workspace.http.post("/mcp", content=content, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32700


@pytest.mark.parametrize("body", ["text", 1, None, {}, {"jsonrpc": "2.0"}, {"jsonrpc": "1.0", "id": 1, "method": "x"}])
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28", "1999-01-01", "x" * 5000])
async def test_what_is_no_message_is_refused(workspace: Workspace, body: Any, version: str) -> None:
    headers = LEGACY | {"content-type": "application/json", "mcp-protocol-version": version}
    answer = await workspace.http.post("/mcp", content=json.dumps(body), headers=headers)
    assert 400 <= answer.status_code < 500, answer.text


@pytest.mark.parametrize("query", ["toolsets=", "toolsets=sourcing,,", "toolsets=All", "toolsets=x", "toolset=all"])
async def test_an_unknown_toolset_is_an_error(workspace: Workspace, query: str) -> None:
    answer = await post(workspace, LIST_TOOLS, f"/mcp?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32602


async def test_a_tool_outside_of_the_toolsets_is_not_called(database: Database, workspace: Workspace) -> None:
    asked = called(1, "add_suppression", profile_url="https://www.linkedin.com/in/somebody-example")
    answer = (await post(workspace, asked)).json()
    assert answer["error"]["code"] == -32602
    assert "advanced" in answer["error"]["message"]
    counted = "select count(*) from suppressions where workspace_id = :w"
    assert (await run_sql(database, counted, w=workspace.id))[0][0] == 0


async def test_several_calls_in_one_request_are_one_hit(module_database_url: str) -> None:
    async with serving(module_database_url) as app:
        workspace = await _workspace(app)
        before = int((await workspace.http.get("/v1/workspace")).headers["ratelimit-remaining"])
        batch = [called(number, topic="cost") for number in range(10)]
        batch.insert(3, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        answer = await post(workspace, batch)
        assert [one["id"] for one in answer.json()] == list(range(10))
        assert all(one["result"]["structuredContent"]["topic"] == "cost" for one in answer.json())
        assert int(answer.headers["ratelimit-remaining"]) == before - 1
        await workspace.http.aclose()


async def _workspace(app: FastAPI) -> Workspace:
    async with client(app) as visitor:
        made = (await visitor.post("/v1/workspaces", json={"name": "Acme", "email": "batch@example.com"})).json()
    return Workspace(made["id"], made["api_key"], client(app, api_key=made["api_key"]))


async def test_a_batch_of_the_newest_protocol_is_answered_too(workspace: Workspace) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    batch = [called(number, topic="cost") for number in range(3)]
    for one in batch:
        one["params"]["_meta"] = meta
    answer = await post(workspace, batch, **{"mcp-protocol-version": "2026-07-28"})
    assert [one["result"]["structuredContent"]["topic"] for one in answer.json()] == ["cost"] * 3


@pytest.mark.parametrize("count", [0, MOST_MESSAGES + 1])
async def test_a_batch_has_bounds(workspace: Workspace, count: int) -> None:
    assert (await post(workspace, [called(1)] * count)).status_code == 400


async def test_notifications_alone_are_accepted(workspace: Workspace) -> None:
    answer = await post(workspace, [{"jsonrpc": "2.0", "method": "notifications/initialized"}] * 2)
    assert (answer.status_code, answer.content) == (202, b"")


async def test_one_bad_message_spoils_no_other(workspace: Workspace) -> None:
    answers = (await post(workspace, [called(1), {"id": 2}, "text", called(3)])).json()
    assert [("result" in one) for one in answers] == [True, False, False, True]


async def test_a_customer_is_selected_by_its_header(workspace: Workspace) -> None:
    made = (await workspace.http.post("/v1/customers", json={"name": "One"})).json()
    inside = await post(workspace, called(1, "save_to_list", list_name="Inside"), **{"service-customer": made["id"]})
    assert inside.status_code == 200
    lists = (await post(workspace, called(2, "list_lists"))).json()["result"]["structuredContent"]
    assert lists["data"] == []
    assert (await post(workspace, LIST_TOOLS, **{"service-customer": "cus_none"})).status_code == 404
