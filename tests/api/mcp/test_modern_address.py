"""The MCP address in the era without a handshake, whose headers repeat what the message says."""

from typing import Any

import httpx
import pytest

from tests.api.conftest import Workspace

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}


async def post(workspace: Workspace, method: str, params: dict[str, Any], **headers: str) -> httpx.Response:
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {"_meta": META, **params}}
    told = {"mcp-protocol-version": VERSION, "mcp-method": method} | headers
    return await workspace.http.post("/mcp", json=body, headers=told)


@pytest.mark.parametrize("accept", ["application/json, text/event-stream", "application/json", "*/*"])
async def test_what_would_be_a_stream_and_is_not_served_is_no_method(workspace: Workspace, accept: str) -> None:
    answer = await post(workspace, "subscriptions/listen", {"notifications": {"toolsListChanged": True}}, accept=accept)
    assert answer.status_code == 404
    assert answer.json()["id"] == 7
    assert answer.json()["error"]["code"] == -32601


@pytest.mark.parametrize("name", ["get_guide", "get_guide ", " \tget_guide\t "])
async def test_blanks_around_a_header_are_no_part_of_it(workspace: Workspace, name: str) -> None:
    answer = await post(workspace, "tools/call", {"name": "get_guide", "arguments": {}}, **{"mcp-name": name})
    assert answer.status_code == 200
    assert answer.json()["result"]["structuredContent"]["object"] == "guide"


async def test_a_header_that_says_something_else_is_refused(workspace: Workspace) -> None:
    answer = await post(workspace, "tools/call", {"name": "get_guide", "arguments": {}}, **{"mcp-name": "get guide"})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32020
