"""What operations on runs and their candidates ask and answer."""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from api.kernel.facts import filled
from api.kernel.schemas import MAX_INTEGER, Answer, Ask, PageAsk
from api.sourcing.plans_schemas import Description, GivenIntent, PlanView, Target
from models.base.statuses import RunStatus, StopReason
from models.base.values import Time
from models.people.rules.profiles import Profile
from models.sourcing.rules.plans import MAX_YEARS, Estimate, Suggestion
from models.sourcing.rules.runs import DEFAULT_ADD_TARGET, MAX_ADD_TARGET, FailureCode, FinishDetail
from models.sourcing.store import CandidateFilters
from models.sourcing.tables import Candidate

Bound = Annotated[int, Field(ge=0, le=MAX_INTEGER)]


class Budget(Ask):
    """What a run may spend; every bound is optional."""

    max_credits: Bound | None = Field(default=None, description="By default the estimate's `credits_max`.")
    max_pages: Bound | None = None
    max_profile_fetches: Bound | None = None


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
        default=None,
        description=filled("What is added to the budget; by default {price.person} credits for each person more."),
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
    suggestions: tuple[Suggestion, ...] = Field(
        description="Once every search is exhausted below the target: the demands that keep most people out, with the"
        " change of the intent that gives each one up."
    )
    cancel_requested_at: Time | None
    created_at: Time
    started_at: Time | None
    finished_at: Time | None


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


MAX_KM = 20_040
"""Half way around the world."""
MAX_TIER = 100

Years = Annotated[int, Field(ge=0, le=MAX_YEARS)]


class CandidateShape(StrEnum):
    """`compact` is one flat row; `full` adds the profile."""

    COMPACT = "compact"
    FULL = "full"


class CandidateQuery(PageAsk):
    """Which candidates to show, in delivery order. A bound drops people whose value is not known."""

    free: ClassVar[frozenset[str]] = PageAsk.free | {"view"}

    min_years: Years | None = None
    max_years: Years | None = None
    max_distance_km: Annotated[float, Field(ge=0, le=MAX_KM)] | None = None
    tier: Annotated[int, Field(ge=1, le=MAX_TIER)] | None = None
    view: CandidateShape = CandidateShape.FULL


class ListCandidates(CandidateQuery):
    """The candidates of one run."""

    run_id: str

    def filters(self) -> CandidateFilters:
        """The same, as the store takes it."""
        return CandidateFilters(
            min_years=self.min_years, max_years=self.max_years, max_distance_km=self.max_distance_km, tier=self.tier
        )


class CandidateRow(Answer):
    """A candidate in one flat row; what the profile does not say is null."""

    id: str
    object: Literal["candidate"] = "candidate"
    profile_id: str
    tier: int
    full_name: str | None
    title: str | None
    company: str | None
    location: str | None
    distance_km: float | None
    experience_years: int | None
    tenure_months: int | None
    profile_url: str | None

    @classmethod
    def of(cls, row: Candidate) -> "CandidateRow":
        """The row as shown."""
        return cls.model_validate(_facts(row, Profile.model_validate(row.content)))


class FullCandidate(CandidateRow):
    """A candidate with the whole profile, as it was when delivered."""

    profile: Profile
    nice_met: tuple[str, ...] | None = Field(
        description="What of the plan's `nice` block the profile says; null when it asks for nothing of the kind."
    )

    @classmethod
    def of(cls, row: Candidate) -> "FullCandidate":
        """The row as shown."""
        profile = Profile.model_validate(row.content)
        return cls.model_validate({**_facts(row, profile), "profile": profile, "nice_met": row.nice_met})


COMPACT_COLUMNS = tuple(name for name in CandidateRow.model_fields if name not in {"id", "object"})

VIEWS: dict[CandidateShape, Callable[[Candidate], CandidateRow]] = {
    CandidateShape.COMPACT: CandidateRow.of,
    CandidateShape.FULL: FullCandidate.of,
}


def _facts(row: Candidate, profile: Profile) -> dict[str, object]:
    current = profile.current
    return {
        "id": row.id,
        "profile_id": row.profile_id,
        "tier": row.tier,
        "full_name": profile.full_name,
        "title": current.title if current else None,
        "company": current.company if current else None,
        "location": profile.location.label,
        "distance_km": row.distance_km,
        "experience_years": row.experience_years,
        "tenure_months": row.tenure_months,
        "profile_url": profile.profile_url,
    }
