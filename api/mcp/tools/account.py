"""The tools of the account: what there is to spend, how it is refilled, and the guides."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from api.mcp import guides
from api.mcp.answers import AccountOverview, Guide
from api.mcp.invocation import Invocation
from api.mcp.tool import Arguments, Tool, simple
from api.mcp.toolsets import Toolset
from api.operations import billing, purchases, workspaces
from api.operations.outreach import accounts, limits
from api.schemas.outreach.accounts import ListAccounts
from api.schemas.outreach.limits import LimitsView
from api.schemas.purchases import AutoRefillView, SetAutoRefill
from models.rules.access import Scope
from models.rules.outreach.states import AccountStatus

MOST_ACCOUNTS = 25
CONNECTED = frozenset({AccountStatus.ACTIVE, AccountStatus.PAUSED})

Topic = StrEnum("Topic", {name.upper(): name for name in guides.TOPICS})  # type: ignore[misc]


class Nothing(Arguments):
    """No arguments."""


async def _overview(call: Invocation, _: Nothing) -> AccountOverview:
    return AccountOverview(
        workspace=await call.read(workspaces.get_workspace, None),
        balance=await call.read(billing.get_balance, None),
        outreach_limits=await _limits(call),
    )


async def _limits(call: Invocation) -> list[LimitsView] | None:
    caller = call.call.caller
    if caller is None or not caller.allows(Scope.OUTREACH_READ):
        return None
    listed = await call.read(accounts.list_accounts, ListAccounts(limit=MOST_ACCOUNTS))
    connected = [account.id for account in listed.data if account.status in CONNECTED]
    return [await call.read(limits.get_limits, account_id) for account_id in connected]


class SetRefill(SetAutoRefill, Arguments):
    """When to buy a pack, and how much a month may cost."""


class GetGuide(Arguments):
    """Which guide to read."""

    topic: Topic = Field(default=Topic(guides.FIRST), description=f"By default {guides.FIRST}: begin there.")


async def _guide(_: Invocation, asked: GetGuide) -> Guide:
    return Guide(topic=asked.topic.value, text=guides.text(asked.topic.value))


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="get_account_overview",
        title="Get the account overview",
        toolset=Toolset.SOURCING,
        description="The workspace, its balance of credits and when they expire, and today's limits of each connected"
        " outreach account. Read it before something expensive. Free.",
        arguments=Nothing,
        answers=AccountOverview,
        run=_overview,
        operation=workspaces.get_workspace,
    ),
    Tool(
        name="get_auto_refill",
        title="Get auto-refill",
        toolset=Toolset.SOURCING,
        description="When a pack of credits is bought by itself, and what was spent on it this month. Free.",
        arguments=Nothing,
        answers=AutoRefillView,
        run=simple(purchases.get_auto_refill, lambda _: None),
        operation=purchases.get_auto_refill,
    ),
    Tool(
        name="set_auto_refill",
        title="Set auto-refill",
        toolset=Toolset.SOURCING,
        description="Buy a pack (7,500 credits for 99 EUR) whenever the balance falls below threshold_credits, for at"
        " most monthly_cap_cents a month. It spends money: only do it when a person has said so. enabled=false stops.",
        arguments=SetRefill,
        answers=AutoRefillView,
        run=simple(purchases.set_auto_refill, lambda asked: asked.narrowed(SetAutoRefill)),
        operation=purchases.set_auto_refill,
        open_world=True,
    ),
    Tool(
        name="get_guide",
        title="Get a guide",
        toolset=Toolset.SOURCING,
        description="How to use this service: start with topic overview. Free.",
        arguments=GetGuide,
        answers=Guide,
        run=_guide,
        operation=None,
    ),
)
