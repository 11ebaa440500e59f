"""Metadata and challenges: what a client that knows nothing but the MCP address learns, exactly."""

import httpx
import pytest

from api.mcp.endpoint import PATHS
from models.access.rules.keys import Scope
from tests.api.conftest import Workspace
from tests.api.mcp.conftest import URL
from tests.api.oauth.conftest import LIST_TOOLS, use

RESOURCE = "/.well-known/oauth-protected-resource"


@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize(("path", "resource"), [("", "/mcp"), ("/mcp", "/mcp"), ("/api/mcp", "/api/mcp")])
async def test_each_path_is_a_protected_resource(http: httpx.AsyncClient, path: str, resource: str, slash: str) -> None:
    told = (await http.get(f"{RESOURCE}{path}{slash}")).json()
    assert told["resource"] == URL + resource
    assert told["authorization_servers"] == [URL]
    assert told["bearer_methods_supported"] == ["header"]
    assert set(told["scopes_supported"]) == set(Scope) - {"account:write"}


@pytest.mark.parametrize(
    "path",
    [
        *("/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/"),
        *("/.well-known/oauth-authorization-server/mcp", "/.well-known/oauth-authorization-server/api/mcp"),
        *("/.well-known/openid-configuration", "/.well-known/openid-configuration/mcp"),
        *("/mcp/.well-known/openid-configuration", "/api/mcp/.well-known/openid-configuration"),
    ],
)
async def test_the_authorization_server_describes_itself(http: httpx.AsyncClient, path: str) -> None:
    answer = await http.get(path)
    told = answer.json()
    assert told["issuer"] == URL
    assert told["code_challenge_methods_supported"] == ["S256"]
    assert told["response_types_supported"] == ["code"]
    assert "none" in told["token_endpoint_auth_methods_supported"]
    assert told["client_id_metadata_document_supported"] is True
    assert told["authorization_response_iss_parameter_supported"] is True
    assert set(told["grant_types_supported"]) == {"authorization_code", "refresh_token"}
    assert set(told["scopes_supported"]) == set(Scope)
    for name in ("authorization", "token", "registration", "revocation"):
        address = told[f"{name}_endpoint"].removeprefix(URL)
        assert (await http.post(address)).status_code not in (401, 404)
    assert answer.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("path", PATHS)
async def test_a_refused_caller_learns_where_to_sign_in(http: httpx.AsyncClient, path: str) -> None:
    document = f'resource_metadata="{URL}{RESOURCE}{path.rstrip("/")}"'
    without = await http.post(path, json=LIST_TOOLS)
    assert without.status_code == 401
    challenge = without.headers["www-authenticate"]
    assert challenge.startswith("Bearer ")
    assert document in challenge
    assert "error=" not in challenge
    assert 'scope="sourcing:read sourcing:write sourcing:spend ' in challenge
    wrong = await use(http, "svc_access_wrong", path)
    assert wrong.status_code == 401
    assert 'error="invalid_token"' in wrong.headers["www-authenticate"]
    assert document in wrong.headers["www-authenticate"]
    assert len(wrong.headers.get_list("www-authenticate")) == 1


async def test_rest_does_not_speak_of_signing_in(http: httpx.AsyncClient) -> None:
    assert (await http.get("/v1/workspace")).headers["www-authenticate"] == "Bearer"


async def test_keys_still_open_both_paths(workspace: Workspace, http: httpx.AsyncClient) -> None:
    for path in PATHS:
        assert (await use(http, workspace.api_key, path)).status_code == 200


@pytest.mark.parametrize("path", ["/token", "/register", "/revoke", "/.well-known/oauth-authorization-server"])
async def test_pages_of_other_sites_may_ask(http: httpx.AsyncClient, path: str) -> None:
    answer = await http.options(path, headers={"origin": "https://app.example"})
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers


async def test_pages_for_people_are_not_read_by_other_sites(http: httpx.AsyncClient) -> None:
    answer = await http.get("/authorize", headers={"origin": "https://app.example"})
    assert "access-control-allow-origin" not in answer.headers
