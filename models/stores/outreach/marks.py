"""Marks: people contacted, in the seen register. The caller holds them."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.tenancy import Tenant

CONTACTED = text(
    """
    insert into seen_entries as e (workspace_id, tenant_id, profile_id, status, do_not_contact, tags, first_seen_at,
                                   contacted_at, last_contacted_at, run_ids, created_at)
    select :workspace, :tenant, id, 'contacted', false, '{}', :now, :now, :now, '{}', :now
      from unnest(cast(:ids as text[])) as id order by id
    on conflict (tenant_id, profile_id) do update set
      status = case when e.status in ('seen', 'shortlisted') then 'contacted' else e.status end,
      first_seen_at = coalesce(e.first_seen_at, excluded.first_seen_at),
      contacted_at = coalesce(e.contacted_at, excluded.contacted_at),
      last_contacted_at = excluded.last_contacted_at
    """
)


async def contacted(session: AsyncSession, tenant: Tenant, profile_ids: Collection[str], now: datetime) -> None:
    """Mark people contacted; what the caller noted since (rejected, hired, …) stays."""
    if not profile_ids:
        return
    named = {"workspace": tenant.workspace_id, "tenant": tenant.id, "ids": sorted(profile_ids), "now": now}
    await session.execute(CONTACTED, named)


REPLIED = text(
    """
    insert into seen_entries as e (workspace_id, tenant_id, profile_id, status, do_not_contact, tags, first_seen_at,
                                   run_ids, created_at)
    values (:workspace, :tenant, :id, 'replied', false, '{}', :now, '{}', :now)
    on conflict (tenant_id, profile_id) do update set
      status = case when e.status in ('seen', 'shortlisted', 'contacted') then 'replied' else e.status end,
      first_seen_at = coalesce(e.first_seen_at, excluded.first_seen_at)
    """
)


async def replied(session: AsyncSession, tenant: Tenant, profile_id: str, now: datetime) -> None:
    """Mark that a person wrote; what the caller noted since (rejected, interested, hired, …) stays."""
    named = {"workspace": tenant.workspace_id, "tenant": tenant.id, "id": profile_id, "now": now}
    await session.execute(REPLIED, named)
