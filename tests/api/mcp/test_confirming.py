"""What tools never do on their own: spend money, approve unseen texts, write only a part of what was asked."""

from typing import Any

import pytest

from api.mcp.tools import TOOLS
from models.base.database import Database
from models.base.errors import Conflict
from models.sourcing import store as sourcing_store
from tests.api.conftest import Workspace, run_sql
from tests.api.mcp.conftest import Agent
from tests.api.mcp.test_calls import call
from tests.api.mcp.twins import Refused
from tests.api.sourcing.sourcing import ADVERTISEMENT, DATA_ENGINEER, fund

REFILL: dict[str, Any] = {"enabled": True, "threshold_credits": 100, "monthly_cap_cents": 9900}


async def refused(agent: Agent, name: str, **given: Any) -> dict[str, Any]:
    async with agent.client() as mcp:
        with pytest.raises(Refused) as found:
            await call(mcp, name, **given)
    return found.value.error


async def test_auto_refill_is_shown_before_it_is_set(agent: Agent, workspace: Workspace) -> None:
    async with agent.client() as mcp:
        shown = await call(mcp, "set_auto_refill", **REFILL)
        assert (shown["dry_run"], shown["enabled"], shown["pack_price_cents"]) == (True, True, 9900)
        assert shown["buys_at_once"] is (shown["balance_credits"] < 100)
        assert (await workspace.http.get("/v1/billing/auto-refill")).json()["enabled"] is False
        assert (await workspace.http.get("/v1/audit-entries")).json()["data"] == []
        done = await call(mcp, "set_auto_refill", **REFILL, confirm=True)
        assert done == (await workspace.http.get("/v1/billing/auto-refill")).json()
        assert done["enabled"] is True


@pytest.mark.parametrize(
    "raised", [{"monthly_cap_cents": 19800}, {"threshold_credits": 5000}, {"monthly_cap_cents": 1}]
)
async def test_whatever_leaves_auto_refill_enabled_needs_a_yes(
    agent: Agent, workspace: Workspace, raised: dict[str, int]
) -> None:
    async with agent.client() as mcp:
        before = await call(mcp, "set_auto_refill", **REFILL, confirm=True)
        assert (await call(mcp, "set_auto_refill", **REFILL | raised))["dry_run"] is True
    assert (await workspace.http.get("/v1/billing/auto-refill")).json() == before


async def test_auto_refill_is_stopped_without_asking(agent: Agent, workspace: Workspace) -> None:
    async with agent.client() as mcp:
        await call(mcp, "set_auto_refill", **REFILL, confirm=True)
        await call(mcp, "set_auto_refill", **REFILL | {"enabled": False})
    assert (await workspace.http.get("/v1/billing/auto-refill")).json()["status"] == "off"


async def test_only_what_was_shown_is_approved(agent: Agent) -> None:
    error = await refused(agent, "approve_message", action_id="act_" + "0" * 26, confirm=True)
    assert (error["code"], error["details"]["field"]) == ("invalid_request", "preview_hash")
    assert error["fix"]


@pytest.mark.parametrize(
    "people", [{"profile_ids": ["prof_" + "0" * 26]}, {"profile_urls": ["https://example.com/in/x"]}, {}]
)
async def test_a_refused_saving_leaves_no_list(agent: Agent, workspace: Workspace, people: dict[str, Any]) -> None:
    await refused(agent, "save_to_list", list_name="Half", **people)
    assert (await workspace.http.get("/v1/lists")).json()["data"] == []


async def test_a_refused_refinement_changes_nothing(
    agent: Agent, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with agent.client() as mcp:
        shown = await call(mcp, "start_search", intent=DATA_ENGINEER)
    path = f"/v1/intents/{shown['intent_id']}"
    before = (await workspace.http.get(path)).json()

    async def fails(*_: object, **__: object) -> None:
        raise Conflict("Not now.")

    monkeypatch.setattr(sourcing_store, "add_plan", fails)
    error = await refused(agent, "refine_search", search_id=shown["search_id"], intent={"skills": ["sql"]})
    assert error["code"] == "conflict"
    assert (await workspace.http.get(path)).json() == before


async def test_a_preview_that_would_fail_does_not_advise_to_confirm(
    agent: Agent, database: Database, workspace: Workspace
) -> None:
    await run_sql(database, "update grants set remaining_credits = 0 where workspace_id = :w", w=workspace.id)
    async with agent.client() as mcp:
        shown = await call(mcp, "start_search", job_description=ADVERTISEMENT)
        assert shown["would_fail"]["code"] == "insufficient_credits"
        assert "would_fail" in shown["next_step"]
        assert "confirm=true" not in shown["next_step"]
        await fund(database, workspace)
        again = await call(mcp, "start_search", search_id=shown["search_id"])
    assert again["would_fail"] is None
    assert "confirm=true" in again["next_step"]


async def test_errors_speak_of_a_tools_own_arguments(agent: Agent) -> None:
    plan_id = "plan_" + "0" * 26
    error = await refused(agent, "start_search", search_id=plan_id, job_description="x")
    assert "search_id" in error["message"]
    assert "plan_id" not in error["message"]
    error = await refused(agent, "resolve_companies", domain="no domain", live=True)
    assert (error["details"]["field"], error["message"][:7]) == ("domain", "domain:")


@pytest.mark.parametrize("name", sorted(name for name, tool in TOOLS.items() if tool.executes))
def test_what_previews_says_so_and_is_not_called_reading(name: str) -> None:
    listed = TOOLS[name].listed
    assert "confirm" in (listed.description or "")
    assert listed.annotations is not None
    assert listed.annotations.read_only_hint is False
    assert {"dry_run", "next_step"} <= TOOLS[name].output_schema["properties"].keys()
