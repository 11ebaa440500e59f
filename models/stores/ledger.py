"""The ledger as it is read: entries of an account, newest first."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.stores.paging import Page, Slice, fetch, newest_first
from models.tables import LedgerEntry


async def entries(session: AsyncSession, workspace_id: str, page: Page) -> Slice[LedgerEntry]:
    """Every movement of the account's credits, those of its customers included."""
    return await fetch(
        session,
        select(LedgerEntry).where(col(LedgerEntry.workspace_id) == workspace_id),
        page,
        order=newest_first(col(LedgerEntry.created_at), col(LedgerEntry.id)),
        created_at=col(LedgerEntry.created_at),
    )
