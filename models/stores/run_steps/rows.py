"""What every step of a run starts from: its row under lock, its plan, its checkpoints, its end."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.rules.events import RUN_ENDED, RunEnded
from models.rules.filters import TierFilters
from models.rules.planner.values import Anchor
from models.rules.run_states import FINAL, RunStatus
from models.rules.run_steps import Stop
from models.stores import events
from models.stores.credits import Payer
from models.tables import Run, SearchPageRow, SearchPlan
from models.tables.base import Payload
from models.tenancy import Tenant, customer_of

CHECKPOINT_LIFE = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class PlannedTier:
    """A tier as the plan stored it."""

    filters: TierFilters
    query_key: str
    label: str


@dataclass(frozen=True, slots=True)
class PlanRead:
    """What a run follows of its plan."""

    tiers: tuple[PlannedTier, ...]
    anchor: Anchor | None


def tenant_of(run: Run) -> Tenant:
    """Whose run it is."""
    return Tenant(run.workspace_id, customer_of(run.tenant_id))


def payer_of(run: Run) -> Payer:
    """Who pays for the run."""
    return Payer(run.workspace_id, run.api_key_id, customer_of(run.tenant_id))


_PLANS: dict[str, PlanRead] = {}
_PLANS_KEPT = 256


async def plan_of(session: AsyncSession, run: Run) -> PlanRead:
    """The run's plan; plans never change, so that a process reads each one once."""
    known = _PLANS.get(run.plan_id)
    if known is None:
        if len(_PLANS) >= _PLANS_KEPT:
            _PLANS.clear()
        plan = await session.get_one(SearchPlan, run.plan_id)
        known = _PLANS[run.plan_id] = _read(plan.content)
    return known


def _read(content: Payload) -> PlanRead:
    tiers = tuple(
        PlannedTier(TierFilters.model_validate(tier["filters"]), tier["query_key"], tier["label"])
        for tier in content["tiers"]
    )
    anchor = content["anchor"]
    return PlanRead(tiers, None if anchor is None else Anchor.model_validate(anchor))


async def locked(session: AsyncSession, run_id: str) -> tuple[Run, datetime]:
    """The run, locked until the transaction ends, and service time after the lock was got."""
    run = (await session.scalars(select(Run).where(col(Run.id) == run_id).with_for_update())).one()
    return run, await service_time(session)


async def called(session: AsyncSession, run_id: str, number: int) -> tuple[Run | None, datetime]:
    """The run, locked, if this call is still the one it waits for; and service time."""
    run, now = await locked(session, run_id)
    return (run if run.call_number == number and run.status not in FINAL else None), now


async def checkpoint(
    session: AsyncSession, workspace_id: str, query_key: str, number: int, now: datetime
) -> SearchPageRow | None:
    """A page this workspace has paid for and that is not too old."""
    return (
        await session.scalars(
            select(SearchPageRow).where(
                col(SearchPageRow.workspace_id) == workspace_id,
                col(SearchPageRow.query_key) == query_key,
                col(SearchPageRow.number) == number,
                col(SearchPageRow.created_at) > now - CHECKPOINT_LIFE,
            )
        )
    ).one_or_none()


def start_call(run: Run, status: RunStatus, now: datetime) -> None:
    """Note that an upstream call left the queue."""
    run.status = status
    run.call_started_at = now
    run.retry_at = None


def end_call(run: Run) -> None:
    """Take the call's answer: what comes of it once more, or later, is out of date, and it is not begun again."""
    run.call_number += 1


def finish(session: AsyncSession, run: Run, stop: Stop, now: datetime) -> None:
    """Bring the run to a final state, give back what it had set aside, and tell of it."""
    run.status = stop.status
    run.stop_reason = stop.reason
    run.finish_detail = stop.detail
    run.failure_code = stop.failure
    run.finished_at = now
    run.retry_at = run.wake_at = None
    end_call(run)  # also of a call under way: an extension is not to hear of it
    _drop_chunk(run)
    ended = RunEnded(
        run_id=run.id,
        plan_id=run.plan_id,
        status=stop.status,
        stop_reason=stop.reason,
        candidates=run.candidates_delivered,
        spent_credits=run.spent_credits,
    )
    events.emit(session, tenant_of(run), RUN_ENDED[stop.status], ended, now=now)


def _drop_chunk(run: Run) -> None:
    run.chunk = None
    run.reserved_credits = run.reserved_fetches = 0
