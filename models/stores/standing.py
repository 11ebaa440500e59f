"""Whether work in the background may go on: the key that started it, its workspace and its customer."""

from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.rules.run_states import FailureCode
from models.tenancy import Tenant

STANDING = text(
    """
    select k.revoked_at is null and (k.expires_at is null or k.expires_at > :now) as key_valid,
           w.suspended_at is not null as suspended,
           coalesce((select c.status = 'disabled' from customers c where c.id = cast(:customer as text)), false)
             as disabled
      from api_keys k join workspaces w on w.id = k.workspace_id where k.id = :key
    """
)


async def forbidden(session: AsyncSession, tenant: Tenant, *, api_key_id: str, now: datetime) -> FailureCode | None:
    """Why the work may not go on, null when it may."""
    row = (await session.execute(STANDING, {"key": api_key_id, "customer": tenant.customer_id, "now": now})).one()
    if row.suspended:
        return FailureCode.WORKSPACE_SUSPENDED
    if row.disabled:
        return FailureCode.CUSTOMER_DISABLED
    return None if row.key_valid else FailureCode.KEY_REVOKED
