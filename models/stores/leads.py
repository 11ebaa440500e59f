"""The lead register: people whom an account has paid for once, with all its customers."""

from collections.abc import Collection, Iterable

from sqlalchemy import delete, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.tables import Lead

TAKE = text(
    """
    insert into leads (workspace_id, profile_id, created_at)
    select :workspace, id, :now from unnest(cast(:ids as text[])) as id order by id
    on conflict do nothing returning profile_id
    """
)


async def take(session: AsyncSession, workspace_id: str, profile_ids: Iterable[str]) -> set[str]:
    """Write these people into the workspace's lead register; returns those that are new, and so are to be paid."""
    now = await service_time(session)
    rows = await session.execute(TAKE, {"workspace": workspace_id, "ids": sorted(profile_ids), "now": now})
    return {row[0] for row in rows}


async def give_back(session: AsyncSession, workspace_id: str, profile_ids: Collection[str]) -> None:
    """Take back leads written in this transaction that are not paid after all."""
    if profile_ids:
        await session.execute(
            delete(Lead).where(col(Lead.workspace_id) == workspace_id, col(Lead.profile_id).in_(list(profile_ids)))
        )
