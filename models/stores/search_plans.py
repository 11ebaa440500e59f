"""Search plans: kept as shown, never changed, each in one tenant."""

from sqlalchemy import exists, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.errors import NotFound
from models.ids import new_id
from models.rules.planner import Plan
from models.stores.paging import Page, Slice, fetch, newest_first
from models.tables import Run, SearchPlan
from models.tenancy import Tenant


async def create(session: AsyncSession, tenant: Tenant, plan: Plan, *, intent_id: str) -> SearchPlan:
    """A new plan of a stored intent."""
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


async def get(session: AsyncSession, tenant: Tenant, plan_id: str) -> SearchPlan:
    """The tenant's plan. Raises `NotFound`."""
    query = select(SearchPlan).where(col(SearchPlan.id) == plan_id, col(SearchPlan.tenant_id) == tenant.id)
    row = (await session.scalars(query)).one_or_none()
    if row is None:
        raise NotFound("There is no such search plan.")
    return row


async def listed(
    session: AsyncSession, tenant: Tenant, page: Page, *, unconfirmed: bool | None = None
) -> Slice[SearchPlan]:
    """The tenant's plans, newest first; `unconfirmed` only those that were never run, or were."""
    created_at = col(SearchPlan.created_at)
    query = select(SearchPlan).where(col(SearchPlan.tenant_id) == tenant.id)
    if unconfirmed is not None:
        run = exists().where(col(Run.tenant_id) == col(SearchPlan.tenant_id), col(Run.plan_id) == col(SearchPlan.id))
        query = query.where(~run if unconfirmed else run)
    return await fetch(session, query, page, order=newest_first(created_at, col(SearchPlan.id)), created_at=created_at)
