"""The official client signs in by itself: it finds the way, takes the token, refreshes it, and asks for more."""

import httpx2
from fastapi import FastAPI
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from models.base.database import Database
from tests.api.mcp.conftest import URL
from tests.api.oauth.conftest import Person, mailed
from tests.api.oauth.sdk import SigningIn


def signing_in(person: Person, database: Database, path: str, *allowed: list[str] | None) -> SigningIn:
    """A client whose person allows these scopes, one list after the other; null is whatever is asked for."""
    turns = list(allowed)

    async def visit(address: str) -> str:
        began = await person.open(address)
        assert began.status_code == 200, began.text
        await person.send(began, email=person.email)
        page = await person.open(await mailed(database, person.workspace_id))
        scopes = turns.pop(0)
        chosen = {} if scopes is None else {"scope": scopes}
        return str((await person.send(page, decision="allow", **chosen)).headers["location"])

    return SigningIn(f"{URL}{path}", visit)


async def test_it_signs_in_at_either_path_and_refreshes(app: FastAPI, person: Person, database: Database) -> None:
    for path in ("/mcp", "/api/mcp"):
        agent = signing_in(person, database, path, None)
        provider, transport = agent.provider(), httpx2.ASGITransport(app=app)
        async with (
            httpx2.AsyncClient(transport=transport, auth=provider) as http,
            Client(streamable_http_client(agent.address, http_client=http)) as client,
        ):
            assert (await client.list_tools()).tools
            assert agent.memory.tokens is not None
            first = agent.memory.tokens
            provider.context.token_expiry_time = 1
            assert (await client.list_prompts()).prompts
        assert {first.access_token, first.refresh_token}.isdisjoint(
            {agent.memory.tokens.access_token, agent.memory.tokens.refresh_token}
        )
        assert len(agent.visits) == 1


async def test_it_asks_for_what_a_call_turns_out_to_need(app: FastAPI, person: Person, database: Database) -> None:
    agent = signing_in(person, database, "/mcp", ["sourcing:read"], None)
    async with (
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), auth=agent.provider()) as http,
        Client(streamable_http_client(agent.address, http_client=http)) as client,
    ):
        result = await client.call_tool("list_outreach_accounts", {})
    assert not result.is_error, result
    assert len(agent.visits) == 2
    assert agent.memory.tokens is not None
    assert "outreach:read" in str(agent.memory.tokens.scope)
