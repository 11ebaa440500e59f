"""Intents, plans, runs, candidates and the slots of upstream calls, as they are stored."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import ColumnElement, exists, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base import outbox
from models.base.database import Statements, service_time
from models.base.errors import Conflict, InvalidRequest, NotFound
from models.base.ids import new_id
from models.base.paging import By, Page, Slice, fetch, newest_first
from models.base.statuses import RunStatus
from models.base.steps import Subject
from models.base.tables import Payload
from models.base.tenants import Tenant
from models.billing.rules import prices
from models.people.store import suppressions
from models.sourcing.rules.plans import SearchPlanValue
from models.sourcing.rules.runs import EXTENDABLE, FINAL, MOST
from models.sourcing.rules.runs import LIFE as RUN_LIFE
from models.sourcing.tables import Candidate, IntentRow, QueryTotal, Run, SearchPlan


@dataclass(frozen=True, slots=True)
class WrittenIntent:
    """What an intent's row holds: the intent, and what reading and checking it gave."""

    content: Payload
    reading: Payload


async def add_intent(session: AsyncSession, tenant: Tenant, written: WrittenIntent) -> IntentRow:
    """Add an intent."""
    now = await service_time(session)
    row = IntentRow(
        id=new_id("int", now),
        workspace_id=tenant.workspace_id,
        tenant_id=tenant.id,
        content=written.content,
        reading=written.reading,
        created_at=now,
        updated_at=now,
    )
    session.add(row)
    await session.flush()
    return row


async def load_intent(session: AsyncSession, tenant: Tenant, intent_id: str, *, lock: bool = False) -> IntentRow:
    """Return the tenant's intent. Raises `NotFound`."""
    query = select(IntentRow).where(col(IntentRow.id) == intent_id, col(IntentRow.tenant_id) == tenant.id)
    row = (await session.scalars(query.with_for_update() if lock else query)).one_or_none()
    if row is None:
        raise NotFound("There is no such intent.")
    return row


async def write_intent(session: AsyncSession, row: IntentRow, written: WrittenIntent) -> IntentRow:
    """Replace what a locked intent holds."""
    row.content = written.content
    row.reading = written.reading
    row.updated_at = await service_time(session)
    await session.flush()
    return row


async def page_of_intents(session: AsyncSession, tenant: Tenant, page: Page) -> Slice[IntentRow]:
    """Return the tenant's intents, newest first."""
    created_at = col(IntentRow.created_at)
    query = select(IntentRow).where(col(IntentRow.tenant_id) == tenant.id)
    return await fetch(session, query, page, order=newest_first(created_at, col(IntentRow.id)), created_at=created_at)


# Search plans: kept as shown, never changed, each in one tenant.


async def add_plan(session: AsyncSession, tenant: Tenant, plan: SearchPlanValue, *, intent_id: str) -> SearchPlan:
    """Add a plan of a stored intent."""
    now = await service_time(session)
    row = SearchPlan(
        id=new_id("plan", now),
        workspace_id=tenant.workspace_id,
        tenant_id=tenant.id,
        intent_id=intent_id,
        content=plan.model_dump(mode="json"),
        created_at=now,
    )
    session.add(row)
    await session.flush()
    return row


async def load_plan(session: AsyncSession, tenant: Tenant, plan_id: str) -> SearchPlan:
    """Return the tenant's plan. Raises `NotFound`."""
    query = select(SearchPlan).where(col(SearchPlan.id) == plan_id, col(SearchPlan.tenant_id) == tenant.id)
    row = (await session.scalars(query)).one_or_none()
    if row is None:
        raise NotFound("There is no such search plan.")
    return row


async def page_of_plans(
    session: AsyncSession, tenant: Tenant, page: Page, *, unconfirmed: bool | None = None
) -> Slice[SearchPlan]:
    """Return the tenant's plans, newest first; `unconfirmed` only those that were never run, or were."""
    created_at = col(SearchPlan.created_at)
    query = select(SearchPlan).where(col(SearchPlan.tenant_id) == tenant.id)
    if unconfirmed is not None:
        run = exists().where(col(Run.tenant_id) == col(SearchPlan.tenant_id), col(Run.plan_id) == col(SearchPlan.id))
        query = query.where(~run if unconfirmed else run)
    return await fetch(session, query, page, order=newest_first(created_at, col(SearchPlan.id)), created_at=created_at)


# Query totals: how many people a search matched when a source was last asked, remembered for 30 days.


LIFE = timedelta(days=30)
FRESH = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class RememberedTotals:
    """People by query key; `fresh` are the keys of those counted within the last day."""

    people: Mapping[str, int]
    fresh: frozenset[str]


async def remembered_totals(session: AsyncSession, query_keys: Collection[str]) -> RememberedTotals:
    """Return the remembered totals of these queries; those never asked, or too long ago, are missing."""
    now = await service_time(session)
    rows = await session.scalars(
        select(QueryTotal).where(
            col(QueryTotal.query_key).in_(list(query_keys)), col(QueryTotal.created_at) > now - LIFE
        )
    )
    found = {row.query_key: row for row in rows}
    fresh = frozenset(key for key, row in found.items() if row.created_at > now - FRESH)
    return RememberedTotals({key: row.total for key, row in found.items()}, fresh)


@dataclass(frozen=True, slots=True)
class RunBudget:
    """What a run may spend: credits, upstream pages, live profiles. Null means no bound of its own."""

    max_credits: int | None = None
    max_pages: int | None = None
    max_profile_fetches: int | None = None


def run_subject(run_id: str) -> Subject:
    """Return the run as a waiting row."""
    return Subject("run", run_id)


async def add_run(
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
    """Add a queued run and wake it: it starts when the transaction has committed."""
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


async def load_run(session: AsyncSession, tenant: Tenant, run_id: str, *, lock: bool = False) -> Run:
    """Return the tenant's run. Raises `NotFound`."""
    query = select(Run).where(col(Run.id) == run_id, col(Run.tenant_id) == tenant.id)
    run = (await session.scalars(query.with_for_update() if lock else query)).one_or_none()
    if run is None:
        raise NotFound("There is no such run.")
    return run


async def show_run(statements: Statements, tenant: Tenant, run_id: str) -> Run:
    """Return the tenant's run for reading alone, in one round trip. Raises `NotFound`."""
    run = await statements.one(Run, SHOWN, run_id, tenant.id)
    if run is None:
        raise NotFound("There is no such run.")
    return run


async def page_of_runs(
    session: AsyncSession, tenant: Tenant, page: Page, *, status: RunStatus | None = None
) -> Slice[Run]:
    """Return the tenant's runs, newest first."""
    created_at = col(Run.created_at)
    query = select(Run).where(col(Run.tenant_id) == tenant.id)
    if status is not None:
        query = query.where(col(Run.status) == status)
    return await fetch(session, query, page, order=newest_first(created_at, col(Run.id)), created_at=created_at)


async def newest_run_of_plan(session: AsyncSession, plan: SearchPlan) -> Run | None:
    """Return the first run that the plan was started as, null when there is none."""
    query = select(Run).where(
        col(Run.tenant_id) == plan.tenant_id,
        col(Run.plan_id) == plan.id,
        col(Run.created_at) >= plan.created_at,  # lets the tenant's index by time be read from there
    )
    return (await session.scalars(query.order_by(col(Run.created_at), col(Run.id)).limit(1))).one_or_none()


async def raise_bounds(
    session: AsyncSession, tenant: Tenant, run_id: str, *, api_key_id: str, add_target: int, add_budget: RunBudget
) -> Run:
    """Let a finished run go on from its checkpoints, under the key that asks.

    Raises `NotFound`, `Conflict`, and `InvalidRequest` for a bound that would become larger than any budget.
    """
    run = await load_run(session, tenant, run_id, lock=True)
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
    run.deadline_at = now + RUN_LIFE
    run.failures = 0
    await session.flush()
    await outbox.wake(session, run_subject(run.id))
    return run


def _more(name: str, bound: int, added: int) -> int:
    if bound + added > MOST:
        raise InvalidRequest(f"With the {bound} of the run this is more than {MOST}.", field=f"add_budget.{name}")
    return bound + added


async def request_cancellation(session: AsyncSession, tenant: Tenant, run_id: str) -> Run:
    """Ask a run to stop after its current step; asking again changes nothing. Raises `NotFound`, `Conflict`."""
    run = await load_run(session, tenant, run_id, lock=True)
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


async def page_of_candidates(
    session: AsyncSession, tenant: Tenant, run_id: str, filters: CandidateFilters, page: Page
) -> Slice[Candidate]:
    """Return a page of a run's candidates. The caller has checked that the run is the tenant's."""
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


_SECONDS = "make_interval(secs => cast(:seconds as double precision))"
_MINE = "slot = :slot and fence = :fence and holder is not null"

_ENSURE = text(
    "insert into upstream_slots (slot, fence, working)"
    " select slot, 0, false from generate_series(1, cast(:slots as integer)) as slot"
    " where slot not in (select slot from upstream_slots) on conflict do nothing"
)
"""Only missing rows are inserted: `on conflict` would wait for a process that has a row locked and may be frozen."""
_TAKE = text(
    "update upstream_slots"  # noqa: S608 - built from constants
    f" set holder = :holder, fence = fence + 1, working = false, busy_until = clock_timestamp() + {_SECONDS}"
    " where slot = (select slot from upstream_slots"
    "  where slot <= :slots and (busy_until is null or busy_until < clock_timestamp())"
    "  order by slot limit 1 for update skip locked)"
    " returning slot, fence"
)
_KEEP = text(
    "update upstream_slots as held"  # noqa: S608 - constants
    f" set busy_until = greatest(busy_until, clock_timestamp() + {_SECONDS})"
    " from unnest(cast(:slots as integer[]), cast(:fences as bigint[])) as mine (slot, fence)"
    " where held.slot = mine.slot and held.fence = mine.fence and held.holder is not null"
    " returning held.slot, held.fence"
)
_BEGIN = text(
    f"update upstream_slots set working = true, busy_until = clock_timestamp() + {_SECONDS}"  # noqa: S608 - constants
    f" where {_MINE} returning slot"
)
_END = text(
    f"update upstream_slots set working = false, busy_until = clock_timestamp() + {_SECONDS}"  # noqa: S608 - constants
    f" where {_MINE} returning slot"
)
_FREE = text(
    f"update upstream_slots set holder = null, busy_until = null, working = false where {_MINE}"  # noqa: S608 - constants
)


@dataclass(frozen=True, slots=True)
class SlotLease:
    """A taken row: it is held as long as its fence still has this number."""

    slot: int
    fence: int


async def ensure_slots(session: AsyncSession, *, slots: int) -> None:
    """Create the missing rows 1 to `slots`; rows above stay and are no longer taken."""
    await session.execute(_ENSURE, {"slots": slots})


async def take_slot(session: AsyncSession, *, holder: str, slots: int, seconds: float) -> SlotLease | None:
    """Take one free or abandoned row of 1 to `slots` for so long; null when all are held."""
    row = (await session.execute(_TAKE, {"holder": holder, "slots": slots, "seconds": seconds})).one_or_none()
    return SlotLease(slot=row.slot, fence=row.fence) if row else None


async def keep_slots(session: AsyncSession, holds: Collection[SlotLease], *, seconds: float) -> frozenset[SlotLease]:
    """Renew leases, never shortening one; return those still held, expired ones included."""
    asked = {"slots": [h.slot for h in holds], "fences": [h.fence for h in holds], "seconds": seconds}
    return frozenset(SlotLease(slot=row.slot, fence=row.fence) for row in await session.execute(_KEEP, asked))


async def begin_slot_call(session: AsyncSession, hold: SlotLease, *, seconds: float) -> bool:
    """Say that a call begins which ends within so long; false when another process has the row by now."""
    asked = {"slot": hold.slot, "fence": hold.fence, "seconds": seconds}
    return (await session.execute(_BEGIN, asked)).one_or_none() is not None


async def end_slot_call(session: AsyncSession, hold: SlotLease, *, seconds: float) -> bool:
    """Say that the call is over and the row is kept idle for so long; false when it was lost meanwhile."""
    asked = {"slot": hold.slot, "fence": hold.fence, "seconds": seconds}
    return (await session.execute(_END, asked)).one_or_none() is not None


async def free_slot(session: AsyncSession, hold: SlotLease) -> None:
    """Give the row back; nothing happens when it was lost meanwhile."""
    await session.execute(_FREE, {"slot": hold.slot, "fence": hold.fence})
