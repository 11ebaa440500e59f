"""Runs: created, read, extended and cancelled by operations; their steps live in `run_steps`."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base import outbox
from models.base.clock import service_time
from models.base.database import Statements
from models.base.errors import Conflict, InvalidRequest, NotFound
from models.base.ids import new_id
from models.base.paging import By, Page, Slice, fetch, newest_first
from models.base.statuses import RunStatus
from models.base.subjects import Subject
from models.base.tenants import Tenant
from models.billing.rules import prices
from models.people.store import suppressions
from models.sourcing.rules.runs import EXTENDABLE, FINAL, LIFE, MOST
from models.sourcing.tables import Candidate, Run, SearchPlan


@dataclass(frozen=True, slots=True)
class RunBudget:
    """What a run may spend: credits, upstream pages, live profiles. Null means no bound of its own."""

    max_credits: int | None = None
    max_pages: int | None = None
    max_profile_fetches: int | None = None


def run_subject(run_id: str) -> Subject:
    """The run as a waiting row."""
    return Subject("run", run_id)


async def create_run(
    session: AsyncSession,
    tenant: Tenant,
    *,
    api_key_id: str,
    plan_id: str,
    intent_id: str,
    tiers: int,
    target: int,
    budget: RunBudget,
    default_max_credits: int,
    mark_seen: bool,
) -> Run:
    """A queued run, rung once: it starts when the transaction has committed."""
    now = await service_time(session)
    run = Run(
        id=new_id("run", now),
        workspace_id=tenant.workspace_id,
        tenant_id=tenant.id,
        api_key_id=api_key_id,
        plan_id=plan_id,
        intent_id=intent_id,
        tiers=tiers,
        target=target,
        max_credits=default_max_credits if budget.max_credits is None else budget.max_credits,
        max_pages=budget.max_pages,
        max_profile_fetches=budget.max_profile_fetches,
        mark_seen=mark_seen,
        created_at=now,
    )
    session.add(run)
    await session.flush()
    await outbox.wake(session, run_subject(run.id))
    return run


SHOWN = "select * from runs where id = $1 and tenant_id = $2"


async def get_run(session: AsyncSession, tenant: Tenant, run_id: str, *, lock: bool = False) -> Run:
    """The tenant's run. Raises `NotFound`."""
    query = select(Run).where(col(Run.id) == run_id, col(Run.tenant_id) == tenant.id)
    run = (await session.scalars(query.with_for_update() if lock else query)).one_or_none()
    if run is None:
        raise NotFound("There is no such run.")
    return run


async def show_run(statements: Statements, tenant: Tenant, run_id: str) -> Run:
    """The tenant's run to look at, in one round trip. Raises `NotFound`."""
    run = await statements.one(Run, SHOWN, run_id, tenant.id)
    if run is None:
        raise NotFound("There is no such run.")
    return run


async def list_runs(
    session: AsyncSession, tenant: Tenant, page: Page, *, status: RunStatus | None = None
) -> Slice[Run]:
    """The tenant's runs, newest first."""
    created_at = col(Run.created_at)
    query = select(Run).where(col(Run.tenant_id) == tenant.id)
    if status is not None:
        query = query.where(col(Run.status) == status)
    return await fetch(session, query, page, order=newest_first(created_at, col(Run.id)), created_at=created_at)


async def of_plan(session: AsyncSession, plan: SearchPlan) -> Run | None:
    """The first run that the plan was started as, null when there is none."""
    query = select(Run).where(
        col(Run.tenant_id) == plan.tenant_id,
        col(Run.plan_id) == plan.id,
        col(Run.created_at) >= plan.created_at,  # lets the tenant's index by time be read from there
    )
    return (await session.scalars(query.order_by(col(Run.created_at), col(Run.id)).limit(1))).one_or_none()


async def extend(
    session: AsyncSession, tenant: Tenant, run_id: str, *, api_key_id: str, add_target: int, add_budget: RunBudget
) -> Run:
    """Let a finished run go on from its checkpoints, under the key that asks.

    Raises `NotFound`, `Conflict`, and `InvalidRequest` for a bound that would become larger than any budget.
    """
    run = await get_run(session, tenant, run_id, lock=True)
    if run.status not in EXTENDABLE:
        raise Conflict(f"A run that is {run.status} cannot be extended.", status=run.status)
    now = await service_time(session)
    run.api_key_id = api_key_id
    run.target += add_target
    credits = prices.MOST_PER_PERSON * add_target if add_budget.max_credits is None else add_budget.max_credits
    run.max_credits = _more("max_credits", run.max_credits, credits)
    if run.max_pages is not None:
        run.max_pages = _more("max_pages", run.max_pages, add_budget.max_pages or 0)
    if run.max_profile_fetches is not None:
        fetches = add_budget.max_profile_fetches or 0
        run.max_profile_fetches = _more("max_profile_fetches", run.max_profile_fetches, fetches)
    run.status = RunStatus.QUEUED
    run.stop_reason = run.finish_detail = run.failure_code = None
    run.retry_at = run.cancel_requested_at = run.finished_at = None
    run.deadline_at = now + LIFE
    run.failures = 0
    await session.flush()
    await outbox.wake(session, run_subject(run.id))
    return run


def _more(name: str, bound: int, added: int) -> int:
    if bound + added > MOST:
        raise InvalidRequest(f"With the {bound} of the run this is more than {MOST}.", field=f"add_budget.{name}")
    return bound + added


async def cancel_run(session: AsyncSession, tenant: Tenant, run_id: str) -> Run:
    """Ask a run to stop after its current step; asking again changes nothing. Raises `NotFound`, `Conflict`."""
    run = await get_run(session, tenant, run_id, lock=True)
    if run.status == RunStatus.ABORTED or (run.status not in FINAL and run.cancel_requested_at is not None):
        return run
    if run.status in FINAL:
        raise Conflict(f"A run that is {run.status} cannot be cancelled.", status=run.status)
    run.cancel_requested_at = await service_time(session)
    await session.flush()
    await outbox.wake(session, run_subject(run.id))
    return run


# Candidates as they are read: in delivery order, filtered before paging, without people suppressed since.


ORDER = (By(col(Candidate.position)),)


@dataclass(frozen=True, slots=True)
class CandidateFilters:
    """What a caller wants to see; a bound drops people whose value is not known. Tiers count from 1."""

    min_years: int | None = None
    max_years: int | None = None
    max_distance_km: float | None = None
    tier: int | None = None


async def list_candidates(
    session: AsyncSession, tenant: Tenant, run_id: str, filters: CandidateFilters, page: Page
) -> Slice[Candidate]:
    """A page of a run's candidates. The caller has checked that the run is the tenant's."""
    query = select(Candidate).where(
        col(Candidate.run_id) == run_id,
        col(Candidate.tenant_id) == tenant.id,
        *_wanted(filters),
        ~suppressions.is_suppressed_for(tenant, col(Candidate.profile_id)),
    )
    return await fetch(session, query, page, order=ORDER, created_at=col(Candidate.created_at))


def _wanted(filters: CandidateFilters) -> list[ColumnElement[bool]]:
    bounds: list[ColumnElement[bool]] = []
    if filters.min_years is not None:
        bounds.append(col(Candidate.experience_years) >= filters.min_years)
    if filters.max_years is not None:
        bounds.append(col(Candidate.experience_years) <= filters.max_years)
    if filters.max_distance_km is not None:
        bounds.append(col(Candidate.distance_km) <= filters.max_distance_km)
    if filters.tier is not None:
        bounds.append(col(Candidate.tier) == filters.tier)
    return bounds
