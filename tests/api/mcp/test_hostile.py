"""Requests that no client of the protocol makes: each is refused as documented, does nothing and breaks nothing."""

import json
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from api.mcp.endpoint import MOST_MESSAGES
from models.base.database import Database
from tests.api.conftest import Workspace, run_sql
from tests.api.mcp.test_address import LEGACY, LIST_TOOLS, called, post

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
VERSIONS = ["2025-11-25", "2024-11-05", MODERN]


async def raw(workspace: Workspace, content: bytes, **headers: str) -> httpx.Response:
    sent = LEGACY | {"content-type": "application/json"} | headers
    return await workspace.http.post("/mcp", content=content, headers=sent)


def documented(answer: httpx.Response) -> str:
    """The code of the documented error around which JSON-RPC is."""
    told = answer.json()
    assert told["jsonrpc"] == "2.0"
    body = told["error"]["data"]["error"]
    assert body["request_id"] == answer.headers["x-request-id"]
    return str(body["code"])


async def lists(database: Database, workspace: Workspace) -> int:
    found = await run_sql(database, "select count(*) from lists where workspace_id = :w", w=workspace.id)
    return int(found[0][0])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("number", [None, 1.5, True, {}, [], "x" * 201])
async def test_a_request_with_an_id_that_is_none_is_refused_not_dropped(
    database: Database, workspace: Workspace, version: str, number: Any
) -> None:
    people = {"profile_urls": ["https://www.linkedin.com/in/somebody-example"]}
    asked = called(1, "save_to_list", list_name="Dropped", **people) | {"id": number}
    for body in (asked, [asked]):
        answer = await post(workspace, body, **{"mcp-protocol-version": version})
        told = answer.json()[0] if isinstance(body, list) else answer.json()
        assert (told["error"]["code"], told["error"]["data"]["error"]["details"]) == (-32600, {"field": "id"})
    assert answer.status_code == 200
    assert await lists(database, workspace) == 0


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"jsonrpc": "1.0"}, "jsonrpc"),
        ({"jsonrpc": 2.0}, "jsonrpc"),
        ({"method": None}, "method"),
        ({"method": ["tools/call"]}, "method"),
        ({"params": [1]}, "params"),
        ({"params": "x"}, "params"),
    ],
)
async def test_what_is_wrong_with_a_message_is_said_without_repeating_it(
    workspace: Workspace, version: str, changed: dict[str, Any], field: str
) -> None:
    answer = await post(workspace, called(1) | {"secret": "SECRET"} | changed, **{"mcp-protocol-version": version})
    assert answer.status_code == 400
    assert documented(answer) == "invalid_request"
    assert answer.json()["error"]["data"]["error"]["details"] == {"field": field}
    assert "SECRET" not in answer.text
    assert "pydantic" not in answer.text


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("given", [[1], "x", 5])
async def test_arguments_that_are_no_object_are_refused(workspace: Workspace, version: str, given: Any) -> None:
    asked = called(1)
    asked["params"] |= {"arguments": given, "_meta": META}
    routed = {"mcp-method": "tools/call", "mcp-name": "get_guide"}
    answer = await post(workspace, asked, **routed, **{"mcp-protocol-version": version})
    assert answer.json()["error"]["code"] == -32602


@pytest.mark.parametrize("depth", [150, 250, 5000, 100_000])
async def test_deep_nesting_is_refused(workspace: Workspace, depth: int) -> None:
    nested = b"[" * depth + b"]" * depth
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"start_search","arguments":{"intent":%s}}}'
    answer = await raw(workspace, body % nested)
    told = answer.json()
    assert answer.status_code == 400 or told["result"]["isError"]
    assert '"internal"' not in answer.text


@pytest.mark.parametrize("kind", ["text/plain", "application/jsonx", "application/x-www-form-urlencoded", ""])
async def test_only_json_is_read(workspace: Workspace, kind: str) -> None:
    answer = await raw(workspace, json.dumps(LIST_TOOLS).encode(), **{"content-type": kind})
    assert answer.status_code == 400
    assert documented(answer) == "invalid_request"


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON"])
async def test_json_by_any_spelling_is_read(workspace: Workspace, kind: str) -> None:
    assert (await raw(workspace, json.dumps(LIST_TOOLS).encode(), **{"content-type": kind})).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"), [({"host": "evil.example"}, 421), ({"origin": "https://evil.example"}, 403)]
)
async def test_a_foreign_name_is_refused_in_the_documented_form(
    workspace: Workspace, headers: dict[str, str], status: int
) -> None:
    answer = await post(workspace, LIST_TOOLS, **headers)
    assert (answer.status_code, documented(answer)) == (status, "invalid_request")


@pytest.mark.parametrize("session", ["", "abc", "x" * 3000, "../../etc/passwd"])
@pytest.mark.parametrize("version", VERSIONS[:2])
async def test_sessions_mean_nothing(workspace: Workspace, session: str, version: str) -> None:
    answer = await post(workspace, LIST_TOOLS, **{"mcp-session-id": session, "mcp-protocol-version": version})
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("version", ["2029-01-01", "1999-01-01", "latest", "x" * 5000, "2026-07-28, 2025-11-25"])
async def test_an_unknown_version_is_an_error(workspace: Workspace, version: str) -> None:
    asked = called(1)
    asked["params"]["_meta"] = META | {"io.modelcontextprotocol/protocolVersion": version}
    routed = {"mcp-method": "tools/call", "mcp-name": "get_guide"}
    answer = await post(workspace, asked, **routed, **{"mcp-protocol-version": version})
    assert answer.status_code == 400
    assert "error" in answer.json()


@pytest.mark.parametrize(
    "headers", [{"mcp-name": "get_list"}, {"mcp-method": "tools/list"}, {"mcp-protocol-version": "2025-11-25"}]
)
async def test_headers_that_say_otherwise_than_the_message_do_not_choose_the_tool(
    database: Database, workspace: Workspace, headers: dict[str, str]
) -> None:
    people = {"profile_urls": ["https://www.linkedin.com/in/somebody-example"]}
    asked = called(1, "save_to_list", list_name="Other", **people)
    asked["params"]["_meta"] = META
    right = {"mcp-method": "tools/call", "mcp-name": "save_to_list", "mcp-protocol-version": MODERN}
    answer = await post(workspace, asked, **right | headers)
    made = answer.status_code == 200 and not answer.json()["result"].get("isError")
    assert await lists(database, workspace) == made
    assert made is (headers.get("mcp-protocol-version") is not None)


async def test_a_client_without_streams_gets_json_even_when_it_asks_for_progress(workspace: Workspace) -> None:
    asked = called(1)
    asked["params"]["_meta"] = {"progressToken": 1}
    for accept in ("application/json", "*/*", "text/html"):
        answer = await post(workspace, asked, accept=accept)
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["result"]["structuredContent"]["topic"] == "overview"


@pytest.mark.parametrize("token", [{}, [], 1.5, True, "x" * 10_000])
async def test_a_progress_token_may_be_anything(workspace: Workspace, token: Any) -> None:
    asked = called(1)
    asked["params"]["_meta"] = {"progressToken": token}
    answer = await post(workspace, asked)
    assert answer.status_code < 500
    assert "internal" not in answer.text


async def test_a_word_in_a_text_is_no_wish_for_progress(workspace: Workspace) -> None:
    answer = await post(workspace, called(1, "start_search", job_description='Engineer "progressToken"'))
    assert answer.headers["content-type"] == "application/json"


async def test_a_batch_of_everything_bad_is_answered_one_by_one(workspace: Workspace) -> None:
    bad: list[Any] = [None, [], [LIST_TOOLS], "x", {}, called(1) | {"id": None}, called(7, "nothing"), called(8)]
    answers = (await post(workspace, bad)).json()
    assert len(answers) == len(bad)
    assert [one.get("error", {}).get("code") for one in answers] == [*[-32600] * 6, -32602, None]


async def test_a_full_batch_of_the_largest_answers_is_bounded(workspace: Workspace) -> None:
    batch = [LIST_TOOLS | {"id": number} for number in range(MOST_MESSAGES)]
    answer = await post(workspace, batch, "/mcp?toolsets=all")
    answers = answer.json()
    assert [one["id"] for one in answers] == list(range(MOST_MESSAGES))
    assert all(one["result"] == answers[0]["result"] for one in answers)


@pytest.mark.parametrize("count", [MOST_MESSAGES + 1, 20_000])
async def test_a_longer_batch_does_nothing(database: Database, workspace: Workspace, count: int) -> None:
    answer = await raw(workspace, b"[" + b",".join([b"1"] * count) + b"]")
    assert (answer.status_code, documented(answer)) == (400, "invalid_request")


@pytest.mark.parametrize("method", ["logging/setLevel", "completion/complete", "sampling/createMessage", "x" * 9000])
async def test_methods_that_are_not_served_say_so(app: FastAPI, workspace: Workspace, method: str) -> None:
    answer = await post(workspace, {"jsonrpc": "2.0", "id": 1, "method": method, "params": {}})
    assert answer.json()["error"]["code"] in (-32601, -32602)


@pytest.mark.parametrize("uri", ["file:///etc/passwd", "recruitmcp://runs/%2e%2e", "recruitmcp://", "", "x" * 9000])
async def test_resources_that_are_not_there_say_so(workspace: Workspace, uri: str) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}
    assert (await post(workspace, asked)).json()["error"]["code"] == -32602
