"""Answers of the search tools, which put together what several operations say."""

from typing import Any, Literal

from pydantic import Field

from api.kernel.schemas import Answer, Listing
from api.mcp.invocation import REFUSED
from api.sourcing.plans_schemas import PlanView
from api.sourcing.runs_schemas import (
    BudgetView,
    CandidateRow,
    FullCandidate,
    Progress,
    RunFailure,
    RunOmitted,
    RunPreview,
    RunView,
    Spent,
    WouldFail,
)
from models.base.statuses import RunStatus, StopReason
from models.base.values import Time
from models.sourcing.rules.plans import Anchor, AppliedFilter, Estimate, Suggestion, TargetRange
from models.sourcing.rules.runs import FinishDetail

CONFIRM_SEARCH = "Free so far. Call start_search with this search_id and confirm=true to run it, or refine_search."
READ_RESULTS = "Call get_search_results with this run_id and wait_seconds=25, again and again, until done is true."
STARTED_BEFORE = (
    "This search was started before; its run is shown, and nothing was started now. To run it once more, call again"
    " with a new idempotency_key."
)


class TierBrief(Answer):
    """One tier of the plan in words; plan_search shows its filters."""

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
    suggestions: tuple[Suggestion, ...]
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
            **_parts(
                plan, "intent_id summary target target_range anchor applied_filters ignored_fields warnings suggestions"
            ),
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
    suggestions: tuple[Suggestion, ...]
    data: list[FullCandidate | CandidateRow]
    next_cursor: str | None
    has_more: bool
    next_step: str

    @classmethod
    def of(cls, run: RunView, page: Listing[CandidateRow], *, done: bool) -> "SearchResults":
        """A page of a run."""
        told = f"Nothing more will come. Keep people with save_to_list; {_how_to_find_more(run)}"
        if not done:
            told = f"Call again with {'cursor=next_cursor' if page.has_more else 'wait_seconds=25'}."
        return cls(
            run_id=run.id,
            done=done,
            next_step=told,
            **_parts(run, "status stop_reason finish_detail failure retry_at progress spent omitted suggestions"),
            **_parts(page, "data next_cursor has_more"),
        )


def _how_to_find_more(run: RunView) -> str:
    """Say how to find more people: by going on, where there is more, else by another search."""
    exhausted = run.finish_detail is FinishDetail.LADDER_EXHAUSTED or run.status is RunStatus.COMPLETED_NO_AUDIENCE
    if not exhausted:
        return "extend_search finds more."
    if run.suggestions:
        return "every search is exhausted: call refine_search with a patch of suggestions as intent to find more."
    return "every search is exhausted: call refine_search with fewer demands or a larger area to find more."


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


def _parts(whole: object, names: str) -> dict[str, Any]:
    return {name: getattr(whole, name) for name in names.split()}
