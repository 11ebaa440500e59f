"""Whatever is sent, the answer is the documented error, and nothing was written."""

import json
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from api.kernel.routing import Paths
from models.base.database import Database
from tests.api.conftest import Workspace, client, error_of, run_sql

SIGNUP = {"name": "Acme", "email": "somebody@example.com"}


async def workspaces(database: Database) -> int:
    return int((await run_sql(database, "select count(*) from workspaces"))[0][0])


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"email": None}, "email"),
        ({"email": "nobody"}, "email"),
        ({"email": "two@at@example.com"}, "email"),
        ({"email": "a" * 60_000 + "@example.com"}, "email"),
        ({"email": 5}, "email"),
        ({"email": ["a@example.com"]}, "email"),
        ({"name": ""}, "name"),
        ({"name": "   "}, "name"),
        ({"name": "n" * 60_000}, "name"),
        ({"name": "two\nlines"}, "name"),
        ({"name": "nul\x00"}, "name"),
        ({"name": True}, "name"),
        ({"first_name": 7}, "first_name"),
        ({"marketing_opt_in": "true"}, "marketing_opt_in"),
        ({"marketing_opt_in": 1}, "marketing_opt_in"),
        ({"marketing_optin": True}, "marketing_optin"),
        ({"attribution": {"utm_sourcE": "x"}}, "attribution.utm_sourcE"),
        ({"attribution": {"utm_source": 3}}, "attribution.utm_source"),
        ({"attribution": {"utm_source": "nul\x00"}}, "attribution.utm_source"),
        ({"attribution": {"referrer": "http://example.com"}}, "attribution.referrer"),
        ({"attribution": {"referrer": "https://example.com/?q=1"}}, "attribution.referrer"),
        ({"attribution": {"landing_path": "no-slash"}}, "attribution.landing_path"),
        ({"attribution": "spring"}, "attribution"),
    ],
)
async def test_a_refused_field_is_named_and_nothing_is_written(
    http: httpx.AsyncClient, database: Database, change: dict[str, Any], field: str
) -> None:
    before = await workspaces(database)
    error_of(await http.post("/v1/workspaces", json=SIGNUP | change), 400, "invalid_request", field)
    assert await workspaces(database) == before


@pytest.mark.parametrize("missing", ["name", "email"])
async def test_a_missing_field_is_named(http: httpx.AsyncClient, missing: str) -> None:
    body = {name: value for name, value in SIGNUP.items() if name != missing}
    error_of(await http.post("/v1/workspaces", json=body), 400, "invalid_request", missing)


@pytest.mark.parametrize(
    "body",
    [
        b'{"name": "Acme"',
        b"not json",
        b"[1, 2",
        b'{"name": NaN, "email": "a@example.com"}',
        b'{"name": "Acme\xff", "email": "a@example.com"}',
        b"\xff\xfe\x00",
        b'{"name": "A\x00cme", "email": "a@example.com"}',
        b'{"name": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"name": ' + b"9" * 10_000 + b"}",
        b"[]",
        b"null",
        b'"text"',
        b"5",
        '{"name": "Acme"}'.encode("utf-16"),
    ],
)
async def test_a_body_that_is_no_json_object_is_refused(http: httpx.AsyncClient, body: bytes) -> None:
    answer = await http.post("/v1/workspaces", content=body, headers={"Content-Type": "application/json"})
    assert answer.json()["error"]["code"] == "invalid_request"
    assert answer.status_code == 400


async def test_an_empty_body_lacks_its_first_required_field(http: httpx.AsyncClient) -> None:
    error_of(await http.post("/v1/workspaces"), 400, "invalid_request", "name")


async def test_a_field_given_twice_is_named(http: httpx.AsyncClient) -> None:
    body = b'{"name": "Acme", "email": "a@example.com", "name": "Other"}'
    error_of(await http.post("/v1/workspaces", content=body), 400, "invalid_request", "name")


@pytest.mark.timeout(60)
async def test_a_field_given_twice_is_found_among_a_hundred_thousand(http: httpx.AsyncClient) -> None:
    """If all were compared with each other, other callers would get no answer for minutes."""
    body = "{" + ",".join(f'"{number}":1' for number in range(100_000)) + ',"99999":1}'
    error_of(await http.post("/v1/workspaces", content=body), 400, "invalid_request", "99999")


@pytest.mark.parametrize("written", ['"\\u0000"', '"\\ud800"', '"a\\udfffb"'])
async def test_escaped_characters_that_no_text_has_are_refused(http: httpx.AsyncClient, written: str) -> None:
    body = f'{{"name": "Acme", "email": "a@example.com", "attribution": {{"utm_term": {written}}}}}'
    answer = await http.post("/v1/workspaces", content=body.encode())
    error_of(answer, 400, "invalid_request", "attribution.utm_term")


async def test_a_body_of_more_than_a_mebibyte_is_refused(http: httpx.AsyncClient, database: Database) -> None:
    before = await workspaces(database)
    body = json.dumps(SIGNUP).encode() + b" " * 1024 * 1024
    error_of(await http.post("/v1/workspaces", content=body), 400, "invalid_request")
    assert await workspaces(database) == before


async def test_a_body_of_one_mebibyte_is_read(http: httpx.AsyncClient) -> None:
    body = json.dumps({"name": "", "email": "a@example.com"}).encode()
    answer = await http.post("/v1/workspaces", content=body + b" " * (1024 * 1024 - len(body)))
    error_of(answer, 400, "invalid_request", "name")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=ten", "limit"),
        ("limit=", "limit"),
        ("limit=5&limit=6", "limit"),
        ("limi=5", "limi"),
        ("dry_run=true", "dry_run"),
        ("cursor=nonsense", "cursor"),
        ("cursor=" + "a" * 3000, "cursor"),
        ("cursor=%00", "cursor"),
        ("created_after=yesterday", "created_after"),
        ("created_after=1700000000", "created_after"),
        ("created_after=2026-02-30", "created_after"),
        ("created_before=9999-12-31T23:59:59-12:00", "created_before"),
        ("created_before=0001-01-01T00:00:00%2B12:00", "created_before"),
    ],
)
async def test_a_refused_query_parameter_is_named(workspace: Workspace, query: str, field: str) -> None:
    error_of(await workspace.http.get(f"/v1/api-keys?{query}"), 400, "invalid_request", field)


async def test_a_query_that_is_not_utf_8_is_refused(workspace: Workspace) -> None:
    error_of(await workspace.http.get("/v1/api-keys?cursor=%ff"), 400, "invalid_request")


@pytest.mark.parametrize("path", ["/v1/api-keys/%00", "/v1/api-keys/a%20b", "/v1/api-keys/" + "a" * 300])
async def test_an_id_that_cannot_be_one_is_not_found(workspace: Workspace, path: str) -> None:
    error_of(await workspace.http.get(path), 404, "not_found")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"scopes": ["sourcing:all"]}, "scopes.0"),
        ({"scopes": []}, "scopes"),
        ({"scopes": "sourcing:read"}, "scopes"),
        ({"daily_cap_credits": "30"}, "daily_cap_credits"),
        ({"daily_cap_credits": 30.0}, "daily_cap_credits"),
        ({"daily_cap_credits": -1}, "daily_cap_credits"),
        ({"daily_cap_credits": 2**31}, "daily_cap_credits"),
        ({"daily_cap_credits": True}, "daily_cap_credits"),
        ({"expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
        ({"expires_at": 4_000_000_000}, "expires_at"),
        ({"customer_id": "cus_00000000000000000000000000"}, "customer_id"),
        ({"customer_id": ""}, "customer_id"),
    ],
)
async def test_a_key_of_the_wrong_make_is_refused(workspace: Workspace, body: dict[str, Any], field: str) -> None:
    whole = {"name": "Another", "scopes": ["sourcing:read"]} | body
    error_of(await workspace.http.post("/v1/api-keys", json=whole), 400, "invalid_request", field)
    assert len((await workspace.http.get("/v1/api-keys")).json()["data"]) == 1


async def test_the_content_type_does_not_matter(workspace: Workspace) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        headers = {"Content-Type": kind}
        answer = await workspace.http.patch("/v1/workspace", content=b'{"name": "Other"}', headers=headers)
        assert answer.json()["name"] == "Other", answer.text


async def test_an_unknown_path_is_not_found(workspace: Workspace) -> None:
    for path in ("/", "/v1", "/v1/nothing", "/v1/workspace/", "/v2/workspace", "/v1/people:dance"):
        error_of(await workspace.http.get(path), 404, "not_found")


async def test_a_wrong_method_lists_every_method_of_the_path(app: FastAPI, workspace: Workspace) -> None:
    paths: Paths = app.state.paths
    for path in (
        "/v1/api-keys",
        "/v1/api-keys/key_1",
        "/v1/workspace",
        "/v1/workspaces",
        "/health",
        "/docs",
        "/verify",
    ):
        answer = await workspace.http.request("PUT", path)
        error_of(answer, 405, "method_not_allowed")
        assert answer.headers["allow"] == ", ".join(paths.methods(path))
    allowed = (await workspace.http.put("/v1/api-keys/key_1")).headers["allow"]
    assert allowed == "DELETE, GET, HEAD, PATCH"


async def test_options_and_head_are_answered(workspace: Workspace) -> None:
    options = await workspace.http.options("/v1/workspace")
    assert (options.status_code, options.headers["allow"]) == (204, "GET, HEAD, PATCH")
    fixed = await workspace.http.options("/v1/people/search")
    assert (fixed.status_code, fixed.headers["allow"]) == (204, "POST")  # and not what `/v1/people/{id}` takes
    error_of(await workspace.http.options("/v1/nothing"), 404, "not_found")
    head = await workspace.http.head("/v1/workspace")
    assert (head.status_code, head.content) == (200, b"")
    got = await workspace.http.get("/v1/workspace")
    assert head.headers["content-length"] == got.headers["content-length"]


async def test_a_defect_is_an_internal_error_that_says_nothing(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("somebody@example.com")

    monkeypatch.setattr("models.access.store.keys.admit_request", broken)
    async with client(app) as http:
        answer = await http.get("/v1/billing/plans")
    error_of(answer, 500, "internal")
    assert "somebody" not in answer.text


async def test_a_request_id_that_can_be_kept_is_kept(http: httpx.AsyncClient) -> None:
    kept = "Trace-1.2_3"
    assert (await http.get("/health", headers={"X-Request-Id": kept})).headers["x-request-id"] == kept
    for bad in (b"", b"a b", b"a" * 129, b"a/b", "ü".encode("latin-1")):
        answer = await http.get("/health", headers={b"X-Request-Id": bad})
        assert answer.headers["x-request-id"].startswith("req_")
