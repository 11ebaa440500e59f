"""The tools of the account: what there is to spend, how it is refilled, and the guides."""

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from api.access import workspaces
from api.access.schemas import BalanceView, WorkspaceView
from api.billing import credits, purchases
from api.billing.schemas import AutoRefillView, SetAutoRefill
from api.kernel.schemas import Answer
from api.mcp import guides
from api.mcp.invocation import PREVIEWED, Invocation, Json
from api.mcp.tool import Arguments, Confirming, Tool, simple
from api.mcp.toolsets import Toolset
from api.outreach import accounts
from api.outreach.accounts_schemas import LimitsView, ListAccounts
from models.access.rules.keys import Scope
from models.billing.rules.prices import PACK
from models.outreach.rules.states import AccountStatus

MOST_ACCOUNTS = 25
CONNECTED = frozenset({AccountStatus.ACTIVE, AccountStatus.PAUSED})

Topic = StrEnum("Topic", {name.upper(): name for name in guides.TOPICS})  # type: ignore[misc] # mypy wants literal members


class Nothing(Arguments):
    """No arguments."""


class AccountOverview(Answer):
    """The workspace, its credits, and today's limits of each connected outreach account."""

    object: Literal["account_overview"] = "account_overview"
    workspace: WorkspaceView
    balance: BalanceView
    outreach_limits: list[LimitsView] | None = Field(description="Null when the key may not read outreach.")


class AutoRefillPreview(AutoRefillView):
    """Auto-refill as it would be set, what one purchase is, and whether the first would be made at once."""

    dry_run: Literal[True] = True
    pack_credits: int = PACK.credits
    pack_price_cents: int = PACK.price_cents
    balance_credits: int
    buys_at_once: bool = Field(description="The balance is below the threshold already: a pack is bought right away.")
    next_step: str


class Guide(Answer):
    """A guide in Markdown."""

    object: Literal["guide"] = "guide"
    topic: str
    text: str


async def _overview(call: Invocation, _: Nothing) -> AccountOverview:
    return AccountOverview(
        workspace=await call.read(workspaces.get_workspace, None),
        balance=await call.read(credits.get_balance, None),
        outreach_limits=await _limits(call),
    )


async def _limits(call: Invocation) -> list[LimitsView] | None:
    caller = call.call.caller
    if caller is None or not caller.allows(Scope.OUTREACH_READ):
        return None
    listed = await call.read(accounts.list_accounts, ListAccounts(limit=MOST_ACCOUNTS))
    connected = [account.id for account in listed.data if account.status in CONNECTED]
    return [await call.read(accounts.get_limits, account_id) for account_id in connected]


class SetRefill(SetAutoRefill, Confirming):
    """When to buy a pack, and how much a month may cost."""

    confirm: bool = Field(
        default=False,
        description="Needed with enabled=true, which lets money be spent; without it that is a preview. Stopping"
        " (enabled=false) needs none.",
    )


async def _set_refill(call: Invocation, asked: SetRefill) -> Json | AutoRefillPreview:
    """Whatever leaves it enabled can buy: a higher bound, an earlier threshold, or a decline that is forgotten."""
    wished = asked.narrowed(SetAutoRefill)
    if call.confirmed or not asked.enabled:
        return await call.invoke(purchases.set_auto_refill, wished)
    shown = await call.preview(purchases.set_auto_refill, wished)
    balance = await call.read(credits.get_balance, None)
    return AutoRefillPreview(
        **AutoRefillView.model_validate({name: shown[name] for name in AutoRefillView.model_fields}).model_dump(),
        balance_credits=balance.balance_credits,
        buys_at_once=balance.balance_credits < asked.threshold_credits,
        next_step=PREVIEWED,
    )


class GetGuide(Arguments):
    """Which guide to read."""

    topic: Topic = Field(default=Topic(guides.FIRST), description=f"By default {guides.FIRST}: begin there.")


async def _guide(_: Invocation, asked: GetGuide) -> Guide:
    return Guide(topic=asked.topic.value, text=guides.guide_text(asked.topic.value))


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
        description="Have a pack ({pack.credits} credits for {pack.price}) bought whenever the balance falls below"
        " threshold_credits,"
        " for at most monthly_cap_cents a month. With enabled=true it is a preview until confirm=true; from then on"
        " money is spent without asking again, so confirm only figures that a person has named. enabled=false stops it"
        " at once.",
        arguments=SetRefill,
        answers=AutoRefillView | AutoRefillPreview,
        run=_set_refill,
        operation=purchases.set_auto_refill,
        open_world=True,
    ),
    Tool(
        name="get_guide",
        title="Get a guide",
        toolset=Toolset.SOURCING,
        description="How to use this service, in Markdown. Read topic overview before anything else, and"
        f" {', '.join(topic for topic in guides.TOPICS if topic != guides.FIRST)} when you need them. Free.",
        arguments=GetGuide,
        answers=Guide,
        run=_guide,
        operation=None,
    ),
)
