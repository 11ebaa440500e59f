"""A tool is a row: with the same arguments, it answers, refuses, writes and charges as its REST twin does."""

import json
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest
from fastapi import FastAPI
from mcp import Client
from mcp_types import CallToolResult, TextContent

from api.mcp.tools import TOOLS
from models.access.rules.keys import Scope
from models.base.database import Database
from tests.api.conftest import Workspace, client
from tests.api.mcp.conftest import Agent, new_workspace
from tests.api.mcp.twins import SAMPLES, WITHOUT, Given, Refused, Rest, twin
from tests.api.mcp.worlds import World, furnish

TOLD_BESIDES = {"next_step", "replayed"}
"""What tools say besides."""
PAIRED = sorted(TOOLS.keys() - WITHOUT)


async def made(app: FastAPI, database: Database) -> World:
    workspace = await new_workspace(app)
    world = World(workspace, Agent(app, workspace.api_key, {}), database)
    await furnish(world)
    return world


@asynccontextmanager
async def pair(app: FastAPI, database: Database) -> AsyncIterator[tuple[World, World]]:
    both = (await made(app, database), await made(app, database))
    yield both
    for world in both:
        await world.workspace.http.aclose()


@pytest.fixture(scope="module")
async def worlds(app: FastAPI, database: Database) -> AsyncIterator[tuple[World, World]]:
    """Where tools are called, and where REST is."""
    async with pair(app, database) as both:
        yield both


@pytest.fixture(scope="module")
async def others(app: FastAPI, database: Database) -> AsyncIterator[tuple[World, World]]:
    """The same, where calls are only made to see who may make them."""
    async with pair(app, database) as both:
        yield both


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def by_tool(mcp: Client, name: str, given: Given) -> Any:
    """The tool's answer, under a key of its own as a REST call has. Raises `Refused` as REST calls do."""
    takes_key = "idempotency_key" in TOOLS[name].input_schema["properties"]
    key = {"idempotency_key": uuid4().hex} if given.get("confirm") and takes_key else {}
    result = await mcp.call_tool(name, given | key)
    if result.is_error:
        assert result.structured_content is None
        raise Refused(0, json.loads(text_of(result))["error"])
    assert json.loads(text_of(result)) == result.structured_content
    jsonschema.validate(result.structured_content, TOOLS[name].output_schema)
    return result.structured_content


Told = tuple[Any, Any, Any, Any]


async def outcome(work: Awaitable[Any]) -> tuple[Any, Told | None]:
    """The answer, or what an error says: code, field, scope and advice."""
    try:
        return await work, None
    except Refused as refused:
        error = refused.error
        details = error.get("details", {})
        return None, (error["code"], details.get("field"), details.get("required_scope"), error.get("fix"))


def renamed(told: Told | None, names: Mapping[str, str], *, inside: bool) -> Told | None:
    """The error of REST as a tool says it."""
    if told is None or told[1] is None:
        return told
    field = f"intent.{told[1]}" if inside and told[0] == "invalid_request" else names.get(told[1], told[1])
    return told[0], field, *told[2:]


def test_every_tool_is_tried() -> None:
    assert SAMPLES.keys() == TOOLS.keys()


@pytest.mark.parametrize("name", PAIRED)
async def test_a_tool_does_what_its_twin_does(app: FastAPI, worlds: tuple[World, World], name: str) -> None:
    here, there = worlds
    rest = Rest(app, there.workspace.http)
    refusals = 0
    async with here.agent.client() as mcp:
        for ours, theirs in zip(SAMPLES[name](here), SAMPLES[name](there), strict=True):
            assert await here.state() == await there.state()
            expected, refused = await outcome(twin(rest, name, theirs))
            answer, error = await outcome(by_tool(mcp, name, ours))
            assert error == renamed(refused, TOOLS[name].names, inside=name in OF_INTENTS), ours
            if answer is not None:
                shown = {each: value for each, value in answer.items() if each not in TOLD_BESIDES}
                assert here.plain(shown) == there.plain(expected), ours
                assert (answer.get("replayed") is False) is executed(name, ours), ours
            refusals += answer is None
            assert await here.state() == await there.state(), ours
    assert refusals < len(SAMPLES[name](here)) or name in UNREACHABLE


OF_INTENTS = {"refine_search", "update_intent"}
"""Tools that take as an argument what REST takes as the body."""
UNREACHABLE = {"connect_outreach_account", "match_person"}
"""Tools that only get as far as a provider, which is not there in these tests."""


def executed(name: str, given: Given) -> bool:
    """Whether the call is one of an operation that spends or sends."""
    operation = TOOLS[name].called(given)
    return operation is not None and operation.executes and given.get("confirm", False)


@pytest.mark.parametrize("name", PAIRED)
async def test_a_tool_needs_the_scopes_that_its_twin_needs(
    app: FastAPI, others: tuple[World, World], keys: dict[Scope, tuple[Workspace, Workspace]], name: str
) -> None:
    here, there = others
    needed = set()
    for scope, (ours, theirs) in keys.items():
        rest = Rest(app, theirs.http)
        async with Agent(app, ours.api_key, {}).client() as mcp:
            for given, same in zip(SAMPLES[name](here), SAMPLES[name](there), strict=True):
                lacking = [await lacks(by_tool(mcp, name, given)), await lacks(twin(rest, name, same))]
                assert lacking[0] == lacking[1], f"{scope}: {given}"
                needed.add(lacking[0])
    assert needed - {None}, "a key of any scope may call it"


async def lacks(work: Awaitable[Any]) -> str | None:
    """The scope that the call would need."""
    _, error = await outcome(work)
    return error[2] if error is not None and error[0] == "insufficient_scope" else None


@pytest.fixture(scope="module")
async def keys(app: FastAPI, others: tuple[World, World]) -> dict[Scope, tuple[Workspace, Workspace]]:
    """A key of each scope alone, in each world."""

    async def key(world: World, scope: Scope) -> Workspace:
        body = {"name": scope, "scopes": [scope]}
        made = (await world.workspace.http.post("/v1/api-keys", json=body)).json()
        return Workspace(world.workspace.id, made["secret"], client(app, api_key=made["secret"]))

    return {scope: (await key(others[0], scope), await key(others[1], scope)) for scope in Scope}


@pytest.mark.parametrize("name", sorted(TOOLS))
async def test_unknown_arguments_are_refused_and_nothing_is_written(worlds: tuple[World, World], name: str) -> None:
    here, _ = worlds
    before = await here.state()
    async with here.agent.client() as mcp:
        with pytest.raises(Refused) as refused:
            await by_tool(mcp, name, SAMPLES[name](here)[0] | {"dryrun": True})
    assert refused.value.error["code"] == "invalid_request"
    assert refused.value.error["details"]["field"] == "dryrun"
    assert await here.state() == before
