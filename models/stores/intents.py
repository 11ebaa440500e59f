"""Intents: kept, changed, read and listed, each in one tenant."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.errors import NotFound
from models.ids import new_id
from models.stores.paging import Page, Slice, fetch, newest_first
from models.tables import IntentRow
from models.tables.base import Payload
from models.tenancy import Tenant


@dataclass(frozen=True, slots=True)
class Written:
    """What an intent's row holds: the intent, and what reading and checking it gave."""

    content: Payload
    reading: Payload


async def create(session: AsyncSession, tenant: Tenant, written: Written) -> IntentRow:
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


async def get(session: AsyncSession, tenant: Tenant, intent_id: str, *, lock: bool = False) -> IntentRow:
    """The tenant's intent. Raises `NotFound`."""
    query = select(IntentRow).where(col(IntentRow.id) == intent_id, col(IntentRow.tenant_id) == tenant.id)
    row = (await session.scalars(query.with_for_update() if lock else query)).one_or_none()
    if row is None:
        raise NotFound("There is no such intent.")
    return row


async def change(session: AsyncSession, row: IntentRow, written: Written) -> IntentRow:
    """Replace what a locked intent holds."""
    row.content = written.content
    row.reading = written.reading
    row.updated_at = await service_time(session)
    await session.flush()
    return row


async def listed(session: AsyncSession, tenant: Tenant, page: Page) -> Slice[IntentRow]:
    """The tenant's intents, newest first."""
    created_at = col(IntentRow.created_at)
    query = select(IntentRow).where(col(IntentRow.tenant_id) == tenant.id)
    return await fetch(session, query, page, order=newest_first(created_at, col(IntentRow.id)), created_at=created_at)
