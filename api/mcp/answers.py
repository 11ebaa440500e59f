"""Answers of tools that put together what several operations say; all others answer as their REST twins do."""

from typing import Any, Literal

from pydantic import Field

from api.access.schemas import BalanceView, WorkspaceView
from api.billing.schemas import AutoRefillView
from api.kernel.schemas import Answer, Listing
from api.mcp.invocation import REFUSED
from api.outreach.actions_schemas import ActionView
from api.outreach.activity_schemas import ActivityView
from api.outreach.conversations_schemas import ConversationView, MessageView
from api.outreach.limits_schemas import LimitsView
from api.people.lists_schemas import ListPersonView, ListView
from api.sourcing.candidates_schemas import CandidateRow, FullCandidate
from api.sourcing.jobs_schemas import JobView
from api.sourcing.plans_schemas import PlanView
from api.sourcing.raw_schemas import FetchedPerson
from api.sourcing.runs_schemas import (
    BudgetView,
    Progress,
    RunFailure,
    RunOmitted,
    RunPreview,
    RunView,
    Spent,
    WouldFail,
)
from models.base.statuses import RunStatus, StopReason
from models.base.times import Time
from models.billing.rules.prices import PACK
from models.sourcing.rules.plans import Anchor, AppliedFilter, Estimate, TargetRange
from models.sourcing.rules.runs import FinishDetail

CONFIRM_SEARCH = "Free so far. Call start_search with this search_id and confirm=true to run it, or refine_search."
READ_RESULTS = "Call get_search_results with this run_id and wait_seconds=25, again and again, until done is true."
STARTED_BEFORE = (
    "This search was started before; its run is shown, and nothing was started now. To run it once more, call again"
    " with a new idempotency_key."
)


class TierBrief(Answer):
    """One rung of the ladder in words; plan_search shows its filters."""

    tier: int
    label: str
    estimated_people: int | None


class SearchPlanned(Answer):
    """A search as it would run: what was understood, what was ignored, and what it would cost."""

    object: Literal["search"] = "search"
    search_id: str | None
    intent_id: str | None
    summary: str
    target: int
    target_range: TargetRange
    estimate: Estimate
    tiers: list[TierBrief]
    anchor: Anchor | None
    applied_filters: tuple[AppliedFilter, ...]
    ignored_fields: tuple[str, ...]
    warnings: tuple[str, ...]
    budget: BudgetView
    required_credits: int
    balance_credits: int
    would_fail: WouldFail | None = Field(description="The error that confirming now would give.")
    next_available_at: Time | None
    dry_run: Literal[True] = True
    next_step: str

    @classmethod
    def of(cls, preview: RunPreview) -> "SearchPlanned":
        """A priced plan."""
        plan = preview.plan
        return cls(
            search_id=plan.id,
            tiers=[TierBrief.model_validate(tier, from_attributes=True) for tier in plan.tiers],
            estimate=preview.estimate,
            next_step=CONFIRM_SEARCH if preview.would_fail is None else REFUSED,
            **_parts(plan, "intent_id summary target target_range anchor applied_filters ignored_fields warnings"),
            **_parts(preview, "budget required_credits balance_credits would_fail next_available_at"),
        )


class SearchStarted(Answer):
    """A run on its way. `replayed`: it was started before, and not again."""

    object: Literal["search_started"] = "search_started"
    run_id: str
    search_id: str
    summary: str
    run: RunView
    replayed: bool
    next_step: str

    @classmethod
    def of(cls, run: RunView, summary: str, *, replayed: bool) -> "SearchStarted":
        """A run, and what it looks for."""
        told = STARTED_BEFORE if replayed else READ_RESULTS
        return cls(run_id=run.id, search_id=run.plan_id, summary=summary, run=run, replayed=replayed, next_step=told)


class SearchResults(Answer):
    """A page of a run's candidates in delivery order, and how the run stands."""

    object: Literal["search_results"] = "search_results"
    run_id: str
    status: RunStatus
    done: bool = Field(description="The run has ended and this is its last page.")
    stop_reason: StopReason | None
    finish_detail: FinishDetail | None
    failure: RunFailure | None
    retry_at: Time | None
    progress: Progress
    spent: Spent
    omitted: RunOmitted
    data: list[FullCandidate | CandidateRow]
    next_cursor: str | None
    has_more: bool
    next_step: str

    @classmethod
    def of(cls, run: RunView, page: Listing[CandidateRow], *, done: bool) -> "SearchResults":
        """A page of a run."""
        told = "Nothing more will come. Keep people with save_to_list; extend_search finds more."
        if not done:
            told = f"Call again with {'cursor=next_cursor' if page.has_more else 'wait_seconds=25'}."
        return cls(
            run_id=run.id,
            done=done,
            next_step=told,
            **_parts(run, "status stop_reason finish_detail failure retry_at progress spent omitted"),
            **_parts(page, "data next_cursor has_more"),
        )


class UnconfirmedSearch(Answer):
    """A search that was planned and never run."""

    search_id: str | None
    summary: str
    target: int
    estimate: Estimate
    created_at: Time | None

    @classmethod
    def of(cls, plan: PlanView) -> "UnconfirmedSearch":
        """The plan in short."""
        return cls(search_id=plan.id, **_parts(plan, "summary target estimate created_at"))


class Searches(Listing[RunView]):
    """A page of runs; on the first page, without a status, also the newest searches that were not confirmed."""

    unconfirmed: list[UnconfirmedSearch]


class JobWithResults(Answer):
    """A job; `results` is null until it has ended."""

    object: Literal["job_results"] = "job_results"
    job: JobView
    results: Listing[FetchedPerson] | None


class ListWithPeople(Answer):
    """A list and a page of its people, newest first."""

    object: Literal["list_people"] = "list_people"
    list: ListView
    people: Listing[ListPersonView]


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


class ConversationWithMessages(Answer):
    """A conversation and a page of its messages, newest first."""

    object: Literal["conversation_messages"] = "conversation_messages"
    conversation: ConversationView
    messages: Listing[MessageView]


class OutreachActivity(ActivityView):
    """What was done, and the messages that wait for approval, newest first."""

    awaiting_approval: Listing[ActionView]


class Guide(Answer):
    """A guide in Markdown."""

    object: Literal["guide"] = "guide"
    topic: str
    text: str


def _parts(whole: object, names: str) -> dict[str, Any]:
    return {name: getattr(whole, name) for name in names.split()}
