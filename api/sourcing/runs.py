"""Runs: started from a plan, an intent or a description, read, extended and cancelled."""

from dataclasses import dataclass
from datetime import datetime

from api.kernel.operation import Context, Effect, Noun, Sheet, operation
from api.kernel.schemas import Listing
from api.sourcing.plans import IntentDraft, new_draft, stored_draft, stored_intent, stored_plan
from api.sourcing.plans_schemas import PlanView
from api.sourcing.runs_schemas import (
    COMPACT_COLUMNS,
    VIEWS,
    Budget,
    BudgetView,
    CandidateRow,
    CandidateShape,
    ExtendRun,
    ExtensionPreview,
    FullCandidate,
    ListCandidates,
    ListRuns,
    Progress,
    RunFailure,
    RunOfPlan,
    RunOmitted,
    RunPreview,
    RunStarted,
    RunView,
    Spent,
    StartRun,
    WouldFail,
)
from models.access.rules.keys import Scope
from models.base.errors import DailyCreditCapReached, InsufficientCredits, InvalidRequest, NotFound, ServiceError
from models.base.statuses import RunStatus, StopReason
from models.base.tenants import customer_of
from models.billing.rules import prices
from models.billing.store import credits
from models.billing.store.credits import caps_reset_at
from models.sourcing import store as sourcing_store
from models.sourcing.rules.planning import retargeted
from models.sourcing.rules.plans import SearchPlanValue, Suggestion
from models.sourcing.rules.runs import DEFAULT_TARGET, FAILURE_MESSAGES, FailureCode, FinishDetail
from models.sourcing.store import RunBudget
from models.sourcing.tables import Run, SearchPlan

RUNS = Noun("Runs", "Working a plan until enough candidates are delivered.")

SOURCES = ("plan_id", "intent_id", "job_description", "intent")


@dataclass(frozen=True, slots=True)
class RunExtension:
    """How much further one run goes."""

    run_id: str
    more: ExtendRun


@dataclass(frozen=True, slots=True)
class _Sourced:
    """What a run works through: a stored plan, or a draft whose plan (and intent, unless stored) is still to store."""

    plan: SearchPlanValue
    row: SearchPlan | None = None
    draft: IntentDraft | None = None
    intent_id: str | None = None


@dataclass(frozen=True, slots=True)
class _Funds:
    """What a call needs at least, what there is, and the error that executing it would give."""

    required: int
    balance: int
    error: ServiceError | None = None
    next_available_at: datetime | None = None

    @property
    def would_fail(self) -> WouldFail | None:
        """The error as a preview reports it."""
        return WouldFail(code=self.error.code) if self.error else None


@operation(
    "runs.start",
    scope=Scope.SOURCING_SPEND,
    effect=Effect.SPEND,
    route=RUNS.post("/runs", status=202, location="/runs/{answer.run.id}"),
)
async def start_run(ctx: Context, ask: StartRun) -> RunStarted | RunPreview:
    """Start a run, or preview its plan and price with `?dry_run=true`."""
    source = await _source(ctx, ask)
    estimate = source.plan.estimate
    budget = _bounds(ask.budget)
    most = estimate.credits_max if budget.max_credits is None else budget.max_credits
    funds = await _funds(ctx, required=min(estimate.credits_min, most))
    if ctx.dry_run:
        return RunPreview(
            plan=PlanView.preview(source.plan, row=source.row, intent_id=source.intent_id),
            estimate=estimate,
            budget=BudgetView(
                max_credits=most, max_pages=budget.max_pages, max_profile_fetches=budget.max_profile_fetches
            ),
            required_credits=funds.required,
            balance_credits=funds.balance,
            would_fail=funds.would_fail,
            next_available_at=funds.next_available_at,
        )
    if funds.error:
        raise funds.error
    row = source.row or await _store(ctx, source)
    run = await sourcing_store.add_run(
        ctx.session,
        ctx.tenant,
        api_key_id=ctx.caller.api_key_id,
        plan_id=row.id,
        intent_id=row.intent_id,
        tiers=len(source.plan.tiers),
        target=source.plan.target,
        budget=budget,
        default_max_credits=estimate.credits_max,
        mark_seen=ask.mark_seen,
    )
    ctx.woken.append(sourcing_store.run_subject(run.id))
    return RunStarted(run=_shown(run), plan=PlanView.of(row))


@operation("runs.of_plan", scope=Scope.SOURCING_SPEND, effect=Effect.READ)
async def run_of_plan(ctx: Context, plan_id: str) -> RunOfPlan:
    """Find the run of a plan, so that a caller starts at most one. REST does not serve it."""
    row = await _plan_row(ctx, plan_id)
    run = await sourcing_store.newest_run_of_plan(ctx.session, row)
    return RunOfPlan(run=_shown(run) if run else None, summary=stored_plan(row).summary)


@operation("runs.get", scope=Scope.SOURCING_READ, effect=Effect.READ, route=RUNS.get("/runs/{run_id:id}"))
async def get_run(ctx: Context, run_id: str) -> RunView:
    """One run: its state, progress and spending."""
    return _shown(await sourcing_store.show_run(ctx.statements, ctx.tenant, run_id))


@operation("runs.list", scope=Scope.SOURCING_READ, effect=Effect.READ, route=RUNS.get("/runs"))
async def list_runs(ctx: Context, ask: ListRuns) -> Listing[RunView]:
    """Every run, newest first."""
    paging = ctx.paging(ask)
    return paging.listing(
        await sourcing_store.page_of_runs(ctx.session, ctx.tenant, paging.page, status=ask.status), _shown
    )


@operation(
    "runs.extend",
    scope=Scope.SOURCING_SPEND,
    effect=Effect.SPEND,
    route=RUNS.post("/runs/{run_id:id}/extend", status=202, location="/runs/{answer.id}"),
)
async def extend_run(ctx: Context, ask: RunExtension) -> RunView | ExtensionPreview:
    """Let a finished run go on; pages already read are not paid again. Preview with `?dry_run=true`."""
    added = _bounds(ask.more.add_budget)
    most = prices.MOST_PER_PERSON * ask.more.add_target if added.max_credits is None else added.max_credits
    run = await sourcing_store.raise_bounds(
        ctx.session,
        ctx.tenant,
        ask.run_id,
        api_key_id=ctx.caller.api_key_id,
        add_target=ask.more.add_target,
        add_budget=added,
    )
    least = prices.LEAD * ask.more.add_target
    funds = await _funds(ctx, required=min(least, most))
    if ctx.dry_run:
        return ExtensionPreview(
            run=_shown(run),
            credits_min=least,
            credits_max=most,
            required_credits=funds.required,
            balance_credits=funds.balance,
            would_fail=funds.would_fail,
            next_available_at=funds.next_available_at,
        )
    if funds.error:
        raise funds.error
    ctx.woken.append(sourcing_store.run_subject(run.id))
    return _shown(run)


@operation("runs.cancel", scope=Scope.SOURCING_WRITE, effect=Effect.WRITE, route=RUNS.post("/runs/{run_id:id}/cancel"))
async def cancel_run(ctx: Context, run_id: str) -> RunView:
    """Stop a run after its current step. Delivered candidates stay."""
    run = await sourcing_store.request_cancellation(ctx.session, ctx.tenant, run_id)
    ctx.woken.append(sourcing_store.run_subject(run.id))
    return _shown(run)


def _bounds(budget: Budget | None) -> RunBudget:
    return RunBudget() if budget is None else RunBudget(**budget.model_dump())


async def _source(ctx: Context, ask: StartRun) -> _Sourced:
    given = [name for name in SOURCES if getattr(ask, name) is not None]
    if ask.plan_id is not None and len(given) == 1:
        return await _of_plan(ctx, ask.plan_id, ask.target)
    target = ask.target or DEFAULT_TARGET
    if ask.intent_id is not None and len(given) == 1:
        draft = stored_draft(ctx, await stored_intent(ctx, ask.intent_id))
        return _Sourced(await draft.priced(ctx, target=target), draft=draft, intent_id=ask.intent_id)
    if ask.plan_id is not None or ask.intent_id is not None:
        raise InvalidRequest(
            "Give exactly one source: a plan_id, an intent_id, or a job_description and/or an intent.", field=given[1]
        )
    draft = await new_draft(ctx, job_description=ask.job_description, intent=ask.intent)
    return _Sourced(await draft.priced(ctx, target=target), draft=draft)


async def _plan_row(ctx: Context, plan_id: str) -> SearchPlan:
    try:
        return await sourcing_store.load_plan(ctx.session, ctx.tenant, plan_id)
    except NotFound as error:
        error.details["field"] = "plan_id"
        raise


async def _of_plan(ctx: Context, plan_id: str, target: int | None) -> _Sourced:
    row = await _plan_row(ctx, plan_id)
    plan = stored_plan(row)
    stale = ctx.now - row.created_at > sourcing_store.FRESH
    if stale or (target is not None and target != plan.target):
        plan = retargeted(plan, target or plan.target, stale=stale)
    return _Sourced(plan, row=row, intent_id=row.intent_id)


async def _store(ctx: Context, source: _Sourced) -> SearchPlan:
    """Keep the plan, and the intent when it is new."""
    intent_id = source.intent_id
    if intent_id is None and source.draft is not None:
        intent_id = (await sourcing_store.add_intent(ctx.session, ctx.tenant, source.draft.written())).id
    if intent_id is None:
        raise AssertionError("a plan has a stored intent or a draft of one")
    return await sourcing_store.add_plan(ctx.session, ctx.tenant, source.plan, intent_id=intent_id)


async def _funds(ctx: Context, *, required: int) -> _Funds:
    balance = await credits.balance(ctx.session, ctx.tenant.workspace_id)
    if balance < required:
        return _Funds(required, balance, InsufficientCredits(required_credits=required, balance_credits=balance))
    spent = next((cap for cap in await credits.caps(ctx.session, ctx.payer) if cap.remaining <= 0), None)
    if spent is not None:
        midnight = caps_reset_at(ctx.now)
        return _Funds(required, balance, DailyCreditCapReached(cap=spent.kind, resets_at=midnight), midnight)
    return _Funds(required, balance)


def _shown(row: Run) -> RunView:
    failure = FailureCode(row.failure_code) if row.failure_code else None
    return RunView(
        id=row.id,
        status=RunStatus(row.status),
        stop_reason=StopReason(row.stop_reason) if row.stop_reason else None,
        finish_detail=FinishDetail(row.finish_detail) if row.finish_detail else None,
        failure=RunFailure(code=failure, message=FAILURE_MESSAGES[failure]) if failure else None,
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
        suggestions=tuple(map(Suggestion.model_validate, row.suggestions or ())),
        cancel_requested_at=row.cancel_requested_at,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


# Candidates, in delivery order.


@operation(
    "candidates.list",
    scope=Scope.SOURCING_READ,
    effect=Effect.READ,
    route=RUNS.get(
        "/runs/{run_id:id}/candidates", sheet=Sheet(COMPACT_COLUMNS, asked={"view": CandidateShape.COMPACT})
    ),
)
async def list_candidates(ctx: Context, ask: ListCandidates) -> Listing[FullCandidate | CandidateRow]:
    """A run's candidates in delivery order; with `Accept: text/csv` a spreadsheet of every one that matches."""
    await sourcing_store.load_run(ctx.session, ctx.tenant, ask.run_id)
    paging = ctx.paging(ask, within=ask.run_id)
    found = await sourcing_store.page_of_candidates(ctx.session, ctx.tenant, ask.run_id, ask.filters(), paging.page)
    return paging.listing(found, VIEWS[ask.view])
