"""Sign-in to a running installation: the official client over HTTP, real mail, a client with a metadata document."""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.api.oauth.conftest import CALLBACK, Form
from tests.api.oauth.sdk import SigningIn
from tests.services import Facts

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

LINK = re.compile(r"https?://[\w.:-]+/(?:verify|authorize/link)\?token=[\w-]+")
PATIENCE = 60
"""Seconds for one answer on a busy machine."""
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


async def link_to(facts: Facts, email: str, *, number: int) -> str:
    """Return the link in the mail with this number to an address."""
    deadline = time.monotonic() + 60
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as http:
        while True:
            found = await http.get(f"{facts['sandbox_url']}/_control/mail", params={"to": email})
            mails = found.json()["data"]
            if len(mails) >= number:
                return str(LINK.findall(json.dumps(mails[number - 1]))[0])
            assert time.monotonic() < deadline, "no mail came"
            await asyncio.sleep(0.1)


async def owner(facts: Facts, browser: httpx.AsyncClient) -> str:
    """Create a confirmed workspace and return its owner's address."""
    email = f"{uuid4().hex}@example.com"
    made = await browser.post("/v1/workspaces", json={"name": "Journey", "email": email})
    assert made.status_code == 201, made.text
    shown = await browser.get(await link_to(facts, email, number=1))
    form = Form(shown.text)
    assert (await browser.post(form.action, data=form.filled())).status_code == 200
    return email


@pytest.fixture
async def browser(running_stack: Facts) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=str(running_stack["api_url"]), trust_env=False, timeout=PATIENCE) as made:
        yield made


async def test_the_official_client_signs_in_over_http_with_real_mail(
    running_stack: Facts, browser: httpx.AsyncClient
) -> None:
    email = await owner(running_stack, browser)

    async def visit(address: str) -> str:
        began = await browser.get(address)
        form = Form(began.text)
        sent = await browser.post(form.action, data=form.filled(email=email))
        assert sent.status_code == 200
        page = await browser.get(await link_to(running_stack, email, number=2))
        consent = Form(page.text)
        decided = await browser.post(consent.action, data=consent.filled(decision="allow"))
        return str(decided.headers["location"])

    agent = SigningIn(str(running_stack["mcp_url"]), visit)
    async with (
        httpx2.AsyncClient(auth=agent.provider(), trust_env=False, timeout=PATIENCE) as http,
        Client(streamable_http_client(agent.address, http_client=http)) as client,
    ):
        assert (await client.list_tools()).tools
        guide = await client.call_tool("get_guide", {})
        assert not guide.is_error
    assert len(agent.visits) == 1


@asynccontextmanager
async def described() -> AsyncIterator[str]:
    """Serve a client's metadata document and return its URL, which is the client id."""
    where: list[str] = []

    async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        told = {"client_id": where[0], "client_name": "Self-described", "redirect_uris": [CALLBACK]}
        body = json.dumps(told).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answered, "127.0.0.1", 0)
    where.append(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/client.json")
    async with server:
        yield where[0]


async def test_a_worker_reads_the_metadata_document_of_a_client(
    running_stack: Facts, browser: httpx.AsyncClient
) -> None:
    async with described() as client_id:
        asked = {"response_type": "code", "code_challenge": CHALLENGE, "code_challenge_method": "S256"}
        asked |= {"client_id": client_id, "redirect_uri": CALLBACK}
        answer = await browser.get("/authorize", params=asked)
        assert answer.status_code == 200, answer.text
        assert "Self-described" in answer.text
        foreign = await browser.get("/authorize", params=asked | {"redirect_uri": "https://evil.example/"})
        assert foreign.status_code == 400
    gone = await browser.get("/authorize", params=asked | {"client_id": client_id.replace(".json", "")})
    assert gone.status_code == 502
    assert "cannot be read" in gone.text
