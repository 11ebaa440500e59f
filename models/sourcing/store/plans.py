"""Intents: kept, changed, read and listed, each in one tenant."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import exists, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.clock import service_time
from models.base.errors import NotFound
from models.base.ids import new_id
from models.base.paging import Page, Slice, fetch, newest_first
from models.base.tables import Payload
from models.base.tenants import Tenant
from models.sourcing.rules.plans import SearchPlanValue
from models.sourcing.tables import IntentRow, QueryTotal, Run, SearchPlan


@dataclass(frozen=True, slots=True)
class WrittenIntent:
    """What an intent's row holds: the intent, and what reading and checking it gave."""

    content: Payload
    reading: Payload


async def create_intent(session: AsyncSession, tenant: Tenant, written: WrittenIntent) -> IntentRow:
    """A new intent."""
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


async def get_intent(session: AsyncSession, tenant: Tenant, intent_id: str, *, lock: bool = False) -> IntentRow:
    """The tenant's intent. Raises `NotFound`."""
    query = select(IntentRow).where(col(IntentRow.id) == intent_id, col(IntentRow.tenant_id) == tenant.id)
    row = (await session.scalars(query.with_for_update() if lock else query)).one_or_none()
    if row is None:
        raise NotFound("There is no such intent.")
    return row


async def change(session: AsyncSession, row: IntentRow, written: WrittenIntent) -> IntentRow:
    """Replace what a locked intent holds."""
    row.content = written.content
    row.reading = written.reading
    row.updated_at = await service_time(session)
    await session.flush()
    return row


async def list_intents(session: AsyncSession, tenant: Tenant, page: Page) -> Slice[IntentRow]:
    """The tenant's intents, newest first."""
    created_at = col(IntentRow.created_at)
    query = select(IntentRow).where(col(IntentRow.tenant_id) == tenant.id)
    return await fetch(session, query, page, order=newest_first(created_at, col(IntentRow.id)), created_at=created_at)


# Search plans: kept as shown, never changed, each in one tenant.


async def create_plan(session: AsyncSession, tenant: Tenant, plan: SearchPlanValue, *, intent_id: str) -> SearchPlan:
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


async def get_plan(session: AsyncSession, tenant: Tenant, plan_id: str) -> SearchPlan:
    """The tenant's plan. Raises `NotFound`."""
    query = select(SearchPlan).where(col(SearchPlan.id) == plan_id, col(SearchPlan.tenant_id) == tenant.id)
    row = (await session.scalars(query)).one_or_none()
    if row is None:
        raise NotFound("There is no such search plan.")
    return row


async def list_plans(
    session: AsyncSession, tenant: Tenant, page: Page, *, unconfirmed: bool | None = None
) -> Slice[SearchPlan]:
    """The tenant's plans, newest first; `unconfirmed` only those that were never run, or were."""
    created_at = col(SearchPlan.created_at)
    query = select(SearchPlan).where(col(SearchPlan.tenant_id) == tenant.id)
    if unconfirmed is not None:
        run = exists().where(col(Run.tenant_id) == col(SearchPlan.tenant_id), col(Run.plan_id) == col(SearchPlan.id))
        query = query.where(~run if unconfirmed else run)
    return await fetch(session, query, page, order=newest_first(created_at, col(SearchPlan.id)), created_at=created_at)


# Query totals: how many people a search matched when a source was last asked, remembered for 30 days.


LIFE = timedelta(days=30)


async def totals(session: AsyncSession, query_keys: Collection[str]) -> dict[str, int]:
    """The remembered totals of these queries; those never asked, or too long ago, are missing."""
    now = await service_time(session)
    rows = await session.scalars(
        select(QueryTotal).where(
            col(QueryTotal.query_key).in_(list(query_keys)), col(QueryTotal.created_at) > now - LIFE
        )
    )
    return {row.query_key: row.total for row in rows}
