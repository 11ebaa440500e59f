"""Query totals: how many people a search matched when a source was last asked, remembered for 30 days."""

from collections.abc import Collection
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.tables import QueryTotal

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
