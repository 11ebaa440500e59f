"""A client that signs in by OAuth, and the browser and mailbox of the person who consents."""

import base64
import hashlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from fastapi import FastAPI

from models.access.store import mails
from models.base.database import Database
from tests.api.conftest import client, run_sql
from tests.api.mcp.conftest import URL, serving
from tests.api.people.people import VAULT

CALLBACK = "http://127.0.0.1:33418/callback"
LEGACY = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.fixture(scope="module")
async def app(module_database_url: str) -> AsyncIterator[FastAPI]:
    async with serving(module_database_url, email_verification=True) as made:
        yield made


class Form(HTMLParser):
    """The only form of a page: its address, and its fields as shown."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.action = ""
        self.fields: list[tuple[str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "form":
            self.action = found.get("action") or ""
        shown = found.get("type") == "hidden" or "checked" in found
        if tag == "input" and shown and found.get("name"):
            self.fields.append((str(found["name"]), found.get("value") or ""))

    def filled(self, **values: str | list[str] | None) -> dict[str, Any]:
        """Return the fields with some replaced; null removes a field."""
        kept: dict[str, Any] = {}
        for name, value in self.fields:
            kept.setdefault(name, []).append(value)
        return {name: value for name, value in (kept | values).items() if value is not None}


@dataclass
class Person:
    """The owner of a workspace, with an e-mail address and a browser with cookies."""

    workspace_id: str
    email: str
    browser: httpx.AsyncClient
    api_key: str

    async def open(self, address: str) -> httpx.Response:
        return await self.browser.get(address)

    async def send(self, page: httpx.Response, **values: str | list[str] | None) -> httpx.Response:
        form = Form(page.text)
        return await self.browser.post(form.action, data=form.filled(**values))


async def mailed(database: Database, workspace_id: str) -> str:
    """Return the link that was mailed last."""
    rows = await run_sql(
        database,
        "select secret from mails where workspace_id = :w and kind = 'sign_in' order by id desc limit 1",
        w=workspace_id,
    )
    token = VAULT.open(mails.SECRET_PURPOSE, rows[0][0]).decode()
    return f"/authorize/link?token={token}"


@dataclass
class Program:
    """A registered client, with a separate PKCE proof for each request."""

    http: httpx.AsyncClient
    client_id: str
    secret: str | None = None
    redirect_uri: str = CALLBACK
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    state: str = field(default_factory=lambda: secrets.token_urlsafe(8))

    def asked(self, **changed: Any) -> dict[str, Any]:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        told: dict[str, Any] = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            "state": self.state,
            "resource": f"{URL}/mcp",
            "scope": "sourcing:read account:read",
        }
        return {name: value for name, value in (told | changed).items() if value is not None}

    def address(self, **changed: Any) -> str:
        return str(httpx.URL(f"{URL}/authorize", params=self.asked(**changed)))

    async def exchange(self, code: str, /, **changed: Any) -> httpx.Response:
        told = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
            "resource": f"{URL}/mcp",
        }
        return await self.post("/token", told | changed)

    async def refresh(self, token: str, /, **changed: Any) -> httpx.Response:
        return await self.post("/token", {"grant_type": "refresh_token", "refresh_token": token} | changed)

    async def post(self, path: str, told: dict[str, Any]) -> httpx.Response:
        known = {"client_id": self.client_id} | ({"client_secret": self.secret} if self.secret else {})
        return await self.http.post(
            path, data={name: value for name, value in (known | told).items() if value is not None}
        )


Programs = Callable[..., Awaitable[Program]]
People = Callable[..., Awaitable[Person]]


@pytest.fixture
def program_of(http: httpx.AsyncClient) -> Programs:
    """Return a function that registers clients."""

    async def make(**told: Any) -> Program:
        body = {"client_name": "Agent", "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none", **told}
        answer = await http.post("/register", json=body)
        assert answer.status_code == 201, answer.text
        made = answer.json()
        return Program(http, made["client_id"], made.get("client_secret"), made["redirect_uris"][0])

    return make


@pytest.fixture
async def program(program_of: Programs) -> Program:
    return await program_of()


@pytest.fixture
async def person_of(app: FastAPI, database: Database) -> AsyncIterator[People]:
    """Return a function that creates owners of workspaces."""
    browsers: list[httpx.AsyncClient] = []

    async def make(*, verified: bool = True) -> Person:
        email = f"{secrets.token_hex(6)}@example.com"
        async with client(app) as visitor:
            made = (await visitor.post("/v1/workspaces", json={"name": "Acme <b>", "email": email})).json()
        if verified:
            await run_sql(database, "update workspaces set verified_at = service_now() where id = :id", id=made["id"])
        browsers.append(client(app))
        return Person(made["id"], email, browsers[-1], made["api_key"])

    yield make
    for each in browsers:
        await each.aclose()


@pytest.fixture
async def person(person_of: People) -> Person:
    return await person_of()


async def consent(person: Person, program: Program, database: Database, **changed: Any) -> httpx.Response:
    """Return the consent page of a sign-in that the client requests."""
    began = await person.open(program.address(**changed))
    assert began.status_code == 200, began.text
    assert (await person.send(began, email=person.email)).status_code == 200
    page = await person.open(await mailed(database, person.workspace_id))
    assert page.status_code == 200, page.text
    return page


def told(answer: httpx.Response) -> dict[str, str]:
    """Return the parameters that a client gets at its redirect address."""
    assert answer.status_code in (302, 303), answer.text
    return dict(parse_qsl(urlsplit(answer.headers["location"]).query))


async def code_of(person: Person, program: Program, database: Database, **changed: Any) -> str:
    page = await consent(person, program, database, **changed)
    answer = await person.send(page, decision="allow")
    assert answer.headers["location"].startswith(program.redirect_uri)
    return told(answer)["code"]


async def tokens_of(person: Person, program: Program, database: Database, **changed: Any) -> dict[str, Any]:
    code = await code_of(person, program, database, **changed)
    resource = changed.get("resource", f"{URL}/mcp")
    answer = await program.exchange(code, resource=resource)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def use(http: httpx.AsyncClient, token: str, path: str = "/mcp", body: Any = LIST_TOOLS) -> httpx.Response:
    return await http.post(path, json=body, headers=LEGACY | {"authorization": f"Bearer {token}"})


def oauth_error(answer: httpx.Response, code: str, status: int = 400) -> None:
    assert answer.status_code == status, answer.text
    assert answer.json()["error"] == code
    assert answer.json()["error_description"]
    assert answer.headers["cache-control"] == "no-store"
