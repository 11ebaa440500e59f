"""What a client of either era sees: who the service is, its tools by toolset, prompts, resources, progress."""

import pytest

from api.mcp.tools import TOOLS
from api.mcp.toolsets import Toolset
from tests.api.mcp.conftest import Agent, Era

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
