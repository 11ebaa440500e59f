"""The audit trail of the account: written in the transaction of what it tells about."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.ids import new_id
from models.stores.paging import Page, Slice, fetch, newest_first
from models.tables import AuditEntry
from models.tables.base import Payload
from models.tenancy import Tenant


async def note(
    session: AsyncSession,
    tenant: Tenant,
    *,
    action: str,
    subject_id: str | None,
    api_key_id: str | None,
    now: datetime,
    data: Payload | None = None,
) -> None:
    """Write that a key did something. `data` holds ids, names of fields and numbers, never personal data."""
    session.add(
        AuditEntry(
            id=new_id("aud", now),
            workspace_id=tenant.workspace_id,
            tenant_id=tenant.id,
            api_key_id=api_key_id,
            action=action,
            subject_id=subject_id,
            data=data or {},
            created_at=now,
        )
    )
    await session.flush()


async def entries(session: AsyncSession, workspace_id: str, page: Page) -> Slice[AuditEntry]:
    """The account's entries, those of its customers included, newest first."""
    return await fetch(
        session,
        select(AuditEntry).where(col(AuditEntry.workspace_id) == workspace_id),
        page,
        order=newest_first(col(AuditEntry.created_at), col(AuditEntry.id)),
        created_at=col(AuditEntry.created_at),
    )
