"""Callbacks of the payment provider: kept as they came, worked in once, then emptied."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.rules.subjects import Subject
from models.tables import PaymentCallback

BODY_PURPOSE = "payment-callback"
KIND = "callback"


async def keep(session: AsyncSession, event_id: str, sealed_body: bytes, *, now: datetime) -> Subject | None:
    """Keep a callback; null when its event is known already. The caller rings."""
    kept = await session.execute(
        insert(PaymentCallback)
        .values(id=event_id, body=sealed_body, received_at=now, rings=0, answered=0)
        .on_conflict_do_nothing()
        .returning(col(PaymentCallback.id))
    )
    return Subject(KIND, event_id) if kept.scalar_one_or_none() is not None else None


async def waiting(session: AsyncSession, event_id: str) -> PaymentCallback | None:
    """A callback that is not worked in, locked; null when it is. Answers the rings up to now."""
    query = select(PaymentCallback).where(col(PaymentCallback.id) == event_id).with_for_update()
    row = (await session.scalars(query)).one()
    row.answered = row.rings
    return row if row.body is not None else None
