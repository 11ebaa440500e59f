"""Who is let in: keys in every state, scopes, customers, suspended workspaces, and what comes before what."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from models.access.rules.keys import Scope
from models.base.database import Database
from tests.api import spending
from tests.api.conftest import Workspace, application, client, error_of, run_sql

KeyOf = Callable[..., Awaitable[httpx.AsyncClient]]
SignUp = Callable[[], Awaitable[Workspace]]


@pytest.fixture(scope="module")
async def app(module_database_url: str) -> AsyncIterator[FastAPI]:
    async with application(module_database_url) as made:
        spending.add_to(made)
        yield made


@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer ", "Basic dXNlcg==", "svc_live_x", "Bearer svc_live_unknown", "Bearer " + "x" * 5000],
)
async def test_without_a_working_key_everything_is_unauthorized(http: httpx.AsyncClient, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}
    for method, path in (
        ("GET", "/v1/workspace"),
        ("POST", "/v1/api-keys"),
        ("GET", "/v1/nothing"),
        ("PUT", "/v1/runs"),
    ):
        answer = await http.request(method, path, headers=headers, content=b"not json")
        error_of(answer, 401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"
        assert "ratelimit-remaining" in answer.headers


async def test_the_scheme_is_read_in_any_case(workspace: Workspace, http: httpx.AsyncClient) -> None:
    answer = await http.get("/v1/workspace", headers={"Authorization": f"bearer {workspace.api_key}"})
    assert answer.json()["id"] == workspace.id


async def test_public_paths_need_no_key(http: httpx.AsyncClient) -> None:
    for path in ("/health", "/v1/billing/plans", "/docs", "/openapi.json", "/verify?token=x"):
        assert (await http.get(path)).status_code == 200, path
        wrong = await http.get(path, headers={"Authorization": "Bearer svc_live_wrong"})
        assert wrong.status_code == 200, path


@pytest.mark.parametrize(
    "change",
    [
        "revoked_at = clock_timestamp()",
        "expires_at = clock_timestamp() - interval '1 s'",
        "secret_hash = sha256('other'::bytea)",
    ],
)
async def test_a_key_that_ended_is_refused_from_the_next_request_on(
    workspace: Workspace, database: Database, change: str
) -> None:
    assert (await workspace.http.get("/v1/workspace")).status_code == 200
    await run_sql(database, f"update api_keys set {change} where workspace_id = :id", id=workspace.id)
    error_of(await workspace.http.get("/v1/workspace"), 401, "unauthorized")


async def test_keys_with_the_older_prefix_still_work(workspace: Workspace, app: FastAPI, database: Database) -> None:
    await run_sql(
        database,
        "update api_keys set secret_hash = sha256('old_live_abc'::bytea), prefix = 'old_live_'"
        " where workspace_id = :id",
        id=workspace.id,
    )
    async with client(app, api_key="old_live_abc") as old:
        assert (await old.get("/v1/workspace")).json()["id"] == workspace.id


async def test_a_suspended_workspace_is_forbidden_everything(workspace: Workspace, database: Database) -> None:
    await run_sql(database, "update workspaces set suspended_at = clock_timestamp() where id = :id", id=workspace.id)
    for method, path in (("GET", "/v1/workspace"), ("GET", "/v1/nothing"), ("POST", "/v1/api-keys")):
        error_of(await workspace.http.request(method, path), 403, "forbidden")


async def test_last_use_is_noted(workspace: Workspace) -> None:
    keys = (await workspace.http.get("/v1/api-keys")).json()["data"]
    assert keys[0]["last_used_at"] is not None


SCOPED: list[tuple[str, str, Scope, Any]] = [
    ("GET", "/v1/workspace", Scope.ACCOUNT_READ, None),
    ("PATCH", "/v1/workspace", Scope.ACCOUNT_WRITE, {}),
    ("GET", "/v1/api-keys", Scope.ACCOUNT_READ, None),
    ("POST", "/v1/api-keys", Scope.ACCOUNT_WRITE, {}),
    ("GET", "/v1/billing/balance", Scope.ACCOUNT_READ, None),
    ("GET", "/v1/billing/ledger", Scope.ACCOUNT_READ, None),
    ("GET", "/v1/audit-entries", Scope.ACCOUNT_READ, None),
    ("POST", "/v1/tests/spend", Scope.SOURCING_SPEND, {}),
    ("POST", "/v1/tests/spend?dry_run=true", Scope.SOURCING_READ, {}),
]


@pytest.mark.parametrize(("method", "path", "needed", "body"), SCOPED, ids=str)
async def test_a_call_needs_exactly_its_scope(
    workspace: Workspace, key_of: KeyOf, method: str, path: str, needed: Scope, body: Any
) -> None:
    async with await key_of(workspace, scopes=sorted(set(Scope) - {needed})) as lacking:
        error = error_of(await lacking.request(method, path, json=body), 403, "insufficient_scope")
        assert error["details"] == {"required_scope": needed}
    async with await key_of(workspace, scopes=[needed]) as having:
        answer = await having.request(method, path, json=body)
        assert answer.status_code not in (401, 403), answer.text


async def test_the_scope_is_checked_before_the_input(workspace: Workspace, key_of: KeyOf) -> None:
    async with await key_of(workspace, scopes=["sourcing:read"]) as lacking:
        error_of(await lacking.post("/v1/api-keys", content=b"{"), 403, "insufficient_scope")


async def customer_of(workspace: Workspace) -> str:
    made = await workspace.http.post("/v1/customers", json={"name": "One"})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def test_a_customer_that_does_not_exist_is_not_found(workspace: Workspace, sign_up: SignUp) -> None:
    foreign = await customer_of(await sign_up())
    for unknown in ("cus_00000000000000000000000000", foreign, "", "nonsense", "a b", "x" * 500):
        answer = await workspace.http.get("/v1/workspace", headers={"Service-Customer": unknown})
        error_of(answer, 404, "not_found")


async def test_a_disabled_customer_is_forbidden_for_its_keys_and_for_the_header(
    workspace: Workspace, key_of: KeyOf
) -> None:
    customer = await customer_of(workspace)
    header = {"Service-Customer": customer}
    async with await key_of(workspace, scopes=["sourcing:read"], customer_id=customer) as bound:
        assert (await bound.post("/v1/tests/spend?dry_run=true", json={})).status_code == 200
        assert (await workspace.http.get("/v1/workspace", headers=header)).status_code == 200
        await workspace.http.patch(f"/v1/customers/{customer}", json={"status": "disabled"})
        error_of(await bound.post("/v1/tests/spend?dry_run=true", json={}), 403, "forbidden")
        error_of(await workspace.http.get("/v1/workspace", headers=header), 403, "forbidden")
        await workspace.http.patch(f"/v1/customers/{customer}", json={"status": "active"})
        assert (await bound.post("/v1/tests/spend?dry_run=true", json={})).status_code == 200


async def test_a_bound_key_may_name_its_own_customer_and_no_other(workspace: Workspace, key_of: KeyOf) -> None:
    own, other = await customer_of(workspace), await customer_of(workspace)
    async with await key_of(workspace, scopes=["sourcing:read"], customer_id=own) as bound:
        path = "/v1/tests/spend?dry_run=true"
        assert (await bound.post(path, json={}, headers={"Service-Customer": own})).status_code == 200
        for wrong in (other, "cus_00000000000000000000000000"):
            error_of(await bound.post(path, json={}, headers={"Service-Customer": wrong}), 403, "forbidden")


async def test_a_bound_key_cannot_use_account_routes(workspace: Workspace, key_of: KeyOf) -> None:
    customer = await customer_of(workspace)
    async with await key_of(workspace, scopes=sorted(Scope), customer_id=customer) as bound:
        for method, path, needed, _ in SCOPED:
            if needed.family == "account":
                error_of(await bound.request(method, path), 403, "forbidden")


async def test_an_unknown_version_is_refused_after_the_key(workspace: Workspace, http: httpx.AsyncClient) -> None:
    wrong = {"Service-Version": "2020-01-01"}
    for caller, path in ((workspace.http, "/v1/workspace"), (http, "/v1/billing/plans")):
        for value in ("2020-01-01", "newest", "", "2026-11-01 "):
            error = error_of(await caller.get(path, headers={"Service-Version": value}), 400, "unsupported_version")
            assert error["details"] == {"supported": ["2026-11-01", "2026-10-13"]}
    error_of(await http.get("/v1/workspace", headers=wrong), 401, "unauthorized")


async def test_a_key_pins_the_version_it_was_made_with_and_the_header_overrides_it(
    app: FastAPI, workspace: Workspace
) -> None:
    old = {"Service-Version": "2026-10-13"}
    body = {"name": "Old", "scopes": ["account:read"]}
    made = (await workspace.http.post("/v1/api-keys", json=body, headers=old)).json()
    assert made["version"] == "2026-10-13"
    async with client(app, api_key=made["secret"]) as pinned:
        assert (await pinned.get("/v1/workspace")).headers["service-version"] == "2026-10-13"
        newest = await pinned.get("/v1/workspace", headers={"Service-Version": "2026-11-01"})
        assert newest.headers["service-version"] == "2026-11-01"
    assert (await workspace.http.get("/v1/workspace")).headers["service-version"] == "2026-11-01"
