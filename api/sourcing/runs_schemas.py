"""Runs as they are started, extended and shown (contract, section 5)."""

from typing import Annotated, Literal

from pydantic import Field

from api.kernel.schemas import MAX_INTEGER, Answer, Ask, PageAsk
from api.sourcing.intents_schemas import Description, GivenIntent
from api.sourcing.plans_schemas import PlanView, Target
from models.base.statuses import RunStatus, StopReason
from models.base.tenants import customer_of
from models.base.times import Time
from models.sourcing import store as sourcing_store
from models.sourcing.rules.plans import Estimate
from models.sourcing.rules.runs import DEFAULT_ADD_TARGET, FAILURE_MESSAGES, MAX_ADD_TARGET, FailureCode, FinishDetail
from models.sourcing.tables import Run

Bound = Annotated[int, Field(ge=0, le=MAX_INTEGER)]


class Budget(Ask):
    """What a run may spend; every bound is optional."""

    max_credits: Bound | None = Field(default=None, description="By default the estimate's `credits_max`.")
    max_pages: Bound | None = None
    max_profile_fetches: Bound | None = None

    def bounds(self) -> sourcing_store.RunBudget:
        """The same, as the store takes it."""
        return sourcing_store.RunBudget(self.max_credits, self.max_pages, self.max_profile_fetches)


class StartRun(Ask):
    """Exactly one source: a plan, an intent, or a description and/or an intent in words and fields."""

    plan_id: str | None = None
    intent_id: str | None = None
    job_description: Description | None = None
    intent: GivenIntent | None = None
    target: Target | None = Field(default=None, description="People wanted; by default the plan's, else 30.")
    budget: Budget | None = None
    mark_seen: bool = True


class ExtendRun(Ask):
    """How much further a finished run goes."""

    add_target: Annotated[int, Field(ge=1, le=MAX_ADD_TARGET)] = DEFAULT_ADD_TARGET
    add_budget: Budget | None = Field(
        default=None, description="What is added to the budget; by default 3 credits for each person more."
    )


class ListRuns(PageAsk):
    """The runs of the tenant, newest first."""

    status: RunStatus | None = None


class BudgetView(Answer):
    """The bounds of a run; null where there is none."""

    max_credits: int
    max_pages: int | None
    max_profile_fetches: int | None


class RunFailure(Answer):
    """Why a run failed."""

    code: FailureCode
    message: str


class Progress(Answer):
    """How far a run is; `tier` is null before it starts."""

    tier: int | None
    people_looked_at: int
    duplicates_skipped: int
    candidates_delivered: int
    target: int


class Spent(Answer):
    """What a run has spent."""

    credits: int
    pages: int
    profile_fetches: int


class RunOmitted(Answer):
    """People left out because they opted out or are suppressed."""

    suppressed: int


class RunView(Answer):
    """A run."""

    id: str
    object: Literal["run"] = "run"
    status: RunStatus
    stop_reason: StopReason | None
    finish_detail: FinishDetail | None
    failure: RunFailure | None
    retry_at: Time | None
    plan_id: str
    intent_id: str
    customer_id: str | None
    target: int
    budget: BudgetView
    mark_seen: bool
    progress: Progress
    spent: Spent
    omitted: RunOmitted
    query_key: str | None
    cancel_requested_at: Time | None
    created_at: Time
    started_at: Time | None
    finished_at: Time | None

    @classmethod
    def of(cls, row: Run) -> "RunView":
        """The row as shown."""
        return cls(
            id=row.id,
            status=RunStatus(row.status),
            stop_reason=StopReason(row.stop_reason) if row.stop_reason else None,
            finish_detail=FinishDetail(row.finish_detail) if row.finish_detail else None,
            failure=_failure(row.failure_code),
            retry_at=row.retry_at,
            plan_id=row.plan_id,
            intent_id=row.intent_id,
            customer_id=customer_of(row.tenant_id),
            target=row.target,
            budget=BudgetView(
                max_credits=row.max_credits,
                max_pages=row.max_pages,
                max_profile_fetches=row.max_profile_fetches,
            ),
            mark_seen=row.mark_seen,
            progress=Progress(
                tier=min(row.tier + 1, row.tiers) if row.started_at else None,
                people_looked_at=row.people_looked_at,
                duplicates_skipped=row.duplicates_skipped,
                candidates_delivered=row.candidates_delivered,
                target=row.target,
            ),
            spent=Spent(credits=row.spent_credits, pages=row.spent_pages, profile_fetches=row.spent_profile_fetches),
            omitted=RunOmitted(suppressed=row.omitted_suppressed),
            query_key=row.query_key,
            cancel_requested_at=row.cancel_requested_at,
            created_at=row.created_at,
            started_at=row.started_at,
            finished_at=row.finished_at,
        )


def _failure(code: str | None) -> RunFailure | None:
    return RunFailure(code=FailureCode(code), message=FAILURE_MESSAGES[FailureCode(code)]) if code else None


class WouldFail(Answer):
    """The error that executing would give now."""

    code: str


class Affordability(Answer):
    """Whether a call could be paid now: `required_credits` at least, against the balance and the daily caps."""

    required_credits: int
    balance_credits: int
    would_fail: WouldFail | None
    next_available_at: Time | None


class RunStarted(Answer):
    """A run that has started, and its plan."""

    run: RunView
    plan: PlanView


class RunOfPlan(Answer):
    """The run that a plan was first started as, null when it never was; `summary` is the plan's."""

    run: RunView | None
    summary: str


class RunPreview(Affordability):
    """What a run would do and cost; nothing is stored."""

    plan: PlanView
    estimate: Estimate
    budget: BudgetView


class ExtensionPreview(Affordability):
    """The run as the extension would leave it; nothing is stored."""

    run: RunView
    credits_min: int
    credits_max: int
