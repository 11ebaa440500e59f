"""What third parties wrote stands in fields called `untrusted_text`, and nowhere else, whatever tool shows it."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from mcp_types import TextContent, TextResourceContents

from api.mcp.tools import TOOLS
from models.base.database import Database
from tests.api.mcp.conftest import Agent, new_workspace
from tests.api.mcp.twins import SAMPLES
from tests.api.mcp.worlds import POISON, World, furnish

FIELD = "untrusted_text"
WRITTEN = (POISON, "Headline of ")
SHOWN_BY = {
    ("get_search_results", "full"): "(job)",
    ("lookup_people", "full"): "Headline of ",
    ("list_replies", None): "(reply)",
    ("get_conversation", None): "(reply)",
}
"""Tools that show such text, by the view it takes, and some of what they show."""


def texts(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every text of an answer, keys too, with the names of the fields that it is in."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield path, name
            yield from texts(inner, (*path, name))
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner, path)
    elif isinstance(value, str):
        yield path, value


def untrusted(value: Any) -> list[tuple[tuple[str, ...], str]]:
    """Where third parties' words stand."""
    return [(path, text) for path, text in texts(value) if any(words in text for words in WRITTEN)]


@pytest.fixture(scope="module")
async def world(app: FastAPI, database: Database) -> AsyncIterator[World]:
    workspace = await new_workspace(app)
    made = World(workspace, Agent(app, workspace.api_key, {}), database)
    await furnish(made)
    yield made
    await workspace.http.aclose()


def calls(world: World) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every sample, and each once more with the whole profile where there is a choice; what shows comes first."""
    for name in sorted(TOOLS, key=lambda name: name == "add_suppression"):
        for given in SAMPLES[name](world):
            yield name, given
            if "view" in TOOLS[name].input_schema["properties"]:
                yield name, given | {"view": "full"}


async def test_no_other_field_of_any_tool_holds_it(world: World) -> None:
    found: dict[tuple[str, str | None], list[str]] = {}
    async with world.agent.client() as mcp:
        for name, given in calls(world):
            result = await mcp.call_tool(name, given)
            (content,) = result.content
            assert isinstance(content, TextContent)
            for path, text in untrusted(json.loads(content.text)):
                assert FIELD in path, f"{name} {given} shows {text!r} at {path}"
                assert not result.is_error
                found.setdefault((name, given.get("view")), []).append(text)
    for shown_by, text in SHOWN_BY.items():
        assert any(text in one for one in found.get(shown_by, [])), shown_by


async def test_no_resource_and_no_prompt_holds_it(world: World) -> None:
    async with world.agent.client() as mcp:
        for kind, name in (("runs", "run_id"), ("lists", "list_id")):
            (content,) = (await mcp.read_resource(f"recruitmcp://{kind}/{world.has[name]}")).contents
            assert isinstance(content, TextResourceContents)
            assert all(FIELD in path for path, _ in untrusted(json.loads(content.text)))
        for name in ("daily_reply_triage", "pipeline_review"):
            made = await mcp.get_prompt(name, {})
            assert POISON not in made.model_dump_json()


async def test_progress_contains_counts_and_no_names(world: World) -> None:
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        heard.append(message)

    asked = {"run_id": world.has["open_run_id"], "wait_seconds": 1}
    async with world.agent.client() as mcp:
        await mcp.call_tool("get_search_results", asked, progress_callback=hear)
    assert heard == ["queued: 0 of 30 people"]
