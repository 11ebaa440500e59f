"""The authorization request: whom the person is told about, and what the client is told by redirect."""

from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from models.access.rules.keys import Scope
from models.base.database import Database
from tests.api.mcp.conftest import URL
from tests.api.oauth.conftest import CALLBACK, Form, Person, Program, Programs, consent, told


@pytest.mark.parametrize(
    "changed",
    [
        {"client_id": None},
        {"client_id": "client_unknown"},
        {"client_id": "client_unknown\x00"},
        {"client_id": "x" * 5000},
        {"client_id": ["a", "b"]},
        {"redirect_uri": "https://evil.example/callback"},
        {"redirect_uri": "javascript:alert(1)"},
        {"redirect_uri": f"{CALLBACK}/"},
        {"redirect_uri": f"{CALLBACK}?x=1"},
        {"redirect_uri": f"{CALLBACK}#x"},
        {"redirect_uri": "http://127.0.0.1:33418@evil.example/callback"},
        {"redirect_uri": "http://127.0.0.1:33418.evil.example/callback"},
        {"redirect_uri": "http://localhost:33418/callback"},
        {"redirect_uri": "https://127.0.0.1:33418/callback"},
        {"redirect_uri": "http://127.0.0.1:x/callback"},
        {"redirect_uri": [CALLBACK, "https://evil.example/"]},
    ],
)
async def test_no_browser_is_sent_to_an_address_that_is_not_the_clients(
    http: httpx.AsyncClient, program: Program, changed: dict[str, Any]
) -> None:
    answer = await http.get("/authorize", params=program.asked(**changed))
    assert 400 <= answer.status_code < 500
    assert "location" not in answer.headers
    assert answer.headers["content-type"].startswith("text/html")
    assert "evil.example" not in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("port", ["", ":1", ":65535"])
async def test_a_loopback_address_may_have_any_port(http: httpx.AsyncClient, program: Program, port: str) -> None:
    asked = f"http://127.0.0.1{port}/callback"
    answer = await http.get("/authorize", params=program.asked(redirect_uri=asked))
    assert answer.status_code == 200


async def test_other_addresses_have_their_port(http: httpx.AsyncClient, program_of: Programs) -> None:
    program = await program_of(redirect_uris=["https://agent.example/callback"])
    asked = program.asked(redirect_uri="https://agent.example:444/callback")
    assert (await http.get("/authorize", params=asked)).status_code == 400


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge": "x" * 42 + "="}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": "s256"}, "invalid_request"),
        ({"scope": "everything"}, "invalid_scope"),
        ({"scope": "sourcing:read\tadmin"}, "invalid_scope"),
        ({"resource": "https://evil.example/mcp"}, "invalid_target"),
        ({"resource": URL}, "invalid_target"),
        ({"resource": f"{URL}/v1"}, "invalid_target"),
        ({"resource": f"{URL}/mcp/other"}, "invalid_target"),
        ({"resource": f"{URL}.evil.example/mcp"}, "invalid_target"),
        ({"resource": "http://user@api.test/mcp"}, "invalid_target"),
        ({"resource": f"{URL}/mcp#x"}, "invalid_target"),
        ({"resource": "http://api.test:x/mcp"}, "invalid_target"),
        ({"resource": [f"{URL}/mcp", f"{URL}/api/mcp"]}, "invalid_target"),
        ({"scope": ["sourcing:read", "account:read"]}, "invalid_request"),
        ({"request": "a.b.c"}, "request_not_supported"),
        ({"request_uri": "https://evil.example/"}, "request_uri_not_supported"),
        ({"prompt": "none"}, "login_required"),
    ],
)
async def test_other_mistakes_are_reported_to_the_client(
    http: httpx.AsyncClient, program: Program, changed: dict[str, Any], error: str
) -> None:
    answer = await http.get("/authorize", params=program.asked(**changed))
    assert answer.headers["location"].startswith(f"{CALLBACK}?")
    back = told(answer)
    assert (back["error"], back["state"], back["iss"]) == (error, program.state, URL)
    assert "code" not in back
    assert answer.headers["cache-control"] == "no-store"


async def test_a_state_is_reported_as_it_came_and_an_overlong_one_not_at_all(
    http: httpx.AsyncClient, program: Program
) -> None:
    state = 'a b&c=d\r\n%00"<script>é'
    answer = await http.get("/authorize", params=program.asked(state=state, scope="x"))
    assert told(answer)["state"] == state
    assert "\r" not in answer.headers["location"]
    assert "state" not in told(await http.get("/authorize", params=program.asked(state="x" * 3000)))


async def test_the_query_of_a_redirect_address_is_kept(http: httpx.AsyncClient, program_of: Programs) -> None:
    program = await program_of(redirect_uris=["https://agent.example/callback?tenant=1"])
    answer = await http.get("/authorize", params=program.asked(scope="x"))
    assert urlsplit(answer.headers["location"]).query.startswith("tenant=1&error=invalid_scope&")


@pytest.mark.parametrize(
    "asked", [f"{URL}/mcp/", "HTTP://API.TEST/mcp", "http://api.test:80/mcp", f"{URL}/mcp?toolsets=all", None]
)
async def test_spellings_of_the_resource(
    person: Person, program: Program, database: Database, asked: str | None
) -> None:
    page = await consent(person, program, database, resource=asked)
    code = told(await person.send(page, decision="allow"))["code"]
    assert (await program.exchange(code, resource=f"{URL}/mcp")).status_code == 200


async def test_who_names_no_scope_is_asked_about_the_usual_ones(
    person: Person, program: Program, program_of: Programs, database: Database
) -> None:
    page = await consent(person, program, database, scope=None)
    assert Form(page.text).filled()["scope"] == [scope for scope in Scope if scope != "account:write"]
    narrow = await program_of(scope="sourcing:read offline_access")
    page = await consent(person, narrow, database, scope=None)
    assert Form(page.text).filled()["scope"] == ["sourcing:read"]
    page = await consent(person, program, database, scope="offline_access account:read")
    assert Form(page.text).filled()["scope"] == ["account:read"]


async def test_the_one_registered_address_need_not_be_repeated(http: httpx.AsyncClient, program: Program) -> None:
    assert (await http.get("/authorize", params=program.asked(redirect_uri=None))).status_code == 200
