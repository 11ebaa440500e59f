"""What a client of either era sees: who the service is, its tools by toolset, prompts, resources, progress."""

import json
import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, TextContent, TextResourceContents

from api.mcp import guides, words
from api.mcp.resources import ADDRESSED
from api.mcp.schemas import NULL, NULL_MEANS
from api.mcp.tools import TOOLS
from api.mcp.toolsets import Toolset
from tests.api.conftest import Workspace
from tests.api.mcp.conftest import Agent, Era
from tests.api.sourcing.sourcing import start

ERAS: tuple[Era, ...] = ("auto", "legacy")

SPECIFIED = {
    Toolset.SOURCING: """start_search, refine_search, get_search_results, list_searches, extend_search, cancel_search,
        lookup_people, get_people_job, find_contact_details, save_to_list, list_lists, get_list, set_candidate_status,
        check_candidates, get_account_overview, get_auto_refill, set_auto_refill, get_guide""",
    Toolset.OUTREACH: """connect_outreach_account, list_outreach_accounts, get_outreach_limits, list_sequences,
        save_sequence, enroll_candidates, list_enrollments, update_enrollment, approve_message, list_replies,
        get_conversation, send_reply, send_outreach_action, get_outreach_activity""",
    Toolset.ADVANCED: """resolve_location, resolve_area, resolve_companies, list_filter_values, draft_intent,
        update_intent, plan_search, search_people_raw, match_person, add_suppression, list_events""",
}


def named(*toolsets: Toolset) -> list[str]:
    return [name.strip() for toolset in toolsets for name in SPECIFIED[toolset].split(",")]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/api/mcp", "/api/mcp/"])
async def test_every_address_serves_every_era(agent: Agent, path: str, era: Era) -> None:
    async with agent.client(None, era=era, path=path) as client:
        found = await client.call_tool("get_guide", {"topic": "cost"})
        assert not found.is_error
        assert found.structured_content is not None
        assert found.structured_content["topic"] == "cost"


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        (None, [Toolset.SOURCING, Toolset.OUTREACH]),
        ("sourcing", [Toolset.SOURCING]),
        ("sourcing,advanced", [Toolset.SOURCING, Toolset.ADVANCED]),
        ("all", list(Toolset)),
    ],
)
async def test_the_address_chooses_the_tools(agent: Agent, asked: str | None, served: list[Toolset]) -> None:
    async with agent.client(asked) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == named(*served)


async def test_every_tool_tells_what_it_is(agent: Agent) -> None:
    async with agent.client() as client:
        told = await client.list_tools()
    for tool in told.tools:
        assert tool.title
        assert tool.description
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is not None
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
    assert len(told.tools) == len(TOOLS) == 43


def described(schema: Any) -> Iterator[tuple[str, Any]]:
    """Every field of a schema, at any depth."""
    if isinstance(schema, dict):
        for name, node in schema.items():
            if name in ("properties", "$defs"):
                for field, inner in node.items():
                    if name == "properties":
                        yield field, inner
                    yield from described(inner)
            else:
                yield from described(node)
    if isinstance(schema, list):
        for node in schema:
            yield from described(node)


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_argument_is_described(name: str) -> None:
    for field, schema in described(TOOLS[name].input_schema):
        assert schema.get("description", "").strip(), field


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_null_is_offered_only_where_it_says_something(name: str) -> None:
    schema = TOOLS[name].input_schema
    assert '"default": null' not in json.dumps(schema)
    for part, shown in {name: schema, **schema.get("$defs", {})}.items():
        offered = {field for field, one in shown.get("properties", {}).items() if NULL in one.get("anyOf", [])}
        assert not offered or part in NULL_MEANS, (part, offered)


def test_no_description_is_of_an_argument_that_is_not_there() -> None:
    places: dict[str, set[str]] = {}
    for tool in TOOLS.values():
        parts = tool.input_schema.get("$defs", {})
        for name, schema in {tool.name: tool.input_schema, **parts}.items():
            places.setdefault(name, set()).update(schema.get("properties", {}))
    for name, fields in words.HERE.items():
        assert fields.keys() <= places[name], name
    assert words.ANYWHERE.keys() <= set().union(*places.values())


@pytest.mark.parametrize("era", ERAS)
async def test_the_server_says_what_untrusted_text_is(agent: Agent, era: Era) -> None:
    async with agent.client(era=era) as client:
        assert "untrusted_text" in (client.instructions or "")


@pytest.mark.parametrize("era", ERAS)
async def test_prompts_are_filled_in(agent: Agent, era: Era) -> None:
    async with agent.client(era=era) as client:
        listed = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in listed] == PROMPTS
        assert all(prompt.description and prompt.title for prompt in listed)
        made = await client.get_prompt(PROMPTS[0], {"job_description": "A {baker} in Ghent", "budget_credits": "50"})
        assert isinstance(made.messages[0].content, TextContent)
        assert "A {baker} in Ghent" in made.messages[0].content.text
        assert "50 credits" in made.messages[0].content.text
        for name in PROMPTS[1:]:
            assert (await client.get_prompt(name, {})).messages


PROMPTS = ["source_from_job_description", "daily_reply_triage", "pipeline_review"]


@pytest.mark.parametrize(
    ("name", "given"),
    [(PROMPTS[0], {}), (PROMPTS[0], {"job_description": " "}), (PROMPTS[1], {"x": "y"}), ("unknown", {})],
)
async def test_a_prompt_that_does_not_fit_is_an_error(agent: Agent, name: str, given: dict[str, str]) -> None:
    async with agent.client() as client:
        with pytest.raises(MCPError) as refused:
            await client.get_prompt(name, given)
    assert refused.value.error.code == INVALID_PARAMS


@pytest.mark.parametrize("era", ERAS)
async def test_guides_can_be_read_as_resources_and_by_tool(agent: Agent, era: Era) -> None:
    async with agent.client(era=era) as client:
        listed = (await client.list_resources()).resources
        assert [str(one.uri) for one in listed] == [f"recruitmcp://{name}" for name in ADDRESSED]
        for name, topic in ADDRESSED.items():
            (content,) = (await client.read_resource(f"recruitmcp://{name}")).contents
            by_tool = (await client.call_tool("get_guide", {"topic": topic})).structured_content
            assert isinstance(content, TextResourceContents)
            assert by_tool is not None
            assert content.text == by_tool["text"]
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == ["recruitmcp://runs/{run_id}", "recruitmcp://lists/{list_id}"]


async def test_runs_and_lists_can_be_read_as_resources(agent: Agent, workspace: Workspace) -> None:
    made = (await workspace.http.post("/v1/lists", json={"name": "Mine"})).json()
    run = (await start(workspace.http)).json()["run"]
    async with agent.client() as client:
        (content,) = (await client.read_resource(f"recruitmcp://lists/{made['id']}")).contents
        assert isinstance(content, TextResourceContents)
        assert json.loads(content.text)["list"] == made
        (content,) = (await client.read_resource(f"recruitmcp://runs/{run['id']}")).contents
        assert isinstance(content, TextResourceContents)
        assert json.loads(content.text) == (await workspace.http.get(f"/v1/runs/{run['id']}")).json()


@pytest.mark.parametrize("uri", ["runs/run_1", "lists/../guide", "runs/", "nothing", "runs/" + "x" * 200])
async def test_what_is_no_resource_is_an_error(agent: Agent, uri: str) -> None:
    async with agent.client() as client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(f"recruitmcp://{uri}")
    assert refused.value.error.code == INVALID_PARAMS


async def test_a_resource_of_another_workspace_is_not_found(
    agent: Agent, sign_up: Callable[[], Awaitable[Workspace]]
) -> None:
    made = (await (await sign_up()).http.post("/v1/lists", json={"name": "Theirs"})).json()
    async with agent.client() as client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(f"recruitmcp://lists/{made['id']}")
    assert json.loads(refused.value.error.data["body"])["error"]["code"] == "not_found"


@pytest.mark.parametrize("topic", sorted(guides.TOPICS))
def test_a_guide_names_only_tools_that_there_are(topic: str) -> None:
    text = guides.guide_text(topic)
    assert len(text) > 1000
    named = set(re.findall(r"`((?:[a-z]+_)+[a-z]+)\(", text))
    assert named <= TOOLS.keys()


@pytest.mark.parametrize("topic", sorted(guides.TOPICS))
def test_a_guide_writes_no_price_or_cap_as_a_figure(topic: str) -> None:
    written = guides.source(topic)
    priced = re.findall(r"(?:^|[^`\w.=])\d[\d,.]* (?:credits?|EUR|seconds apart|people;)|\| \d[\d,]*[;|]? ", written)
    assert [each for each in priced if not each.startswith(("| 0", "|  0"))] == []
    assert "{" not in re.sub(r"`[^`]*`|```.*?```", "", guides.guide_text(topic), flags=re.DOTALL)
