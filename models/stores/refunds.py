"""Giving credits back: of a charge to the grants it was paid from, and of a purchase that was refunded."""

from datetime import UTC, datetime

from sqlalchemy import text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from models.clock import service_time
from models.ids import new_id
from models.stores import credits
from models.tables import LedgerEntry

LOCK = text(
    """
    select g.id from grants g
     where g.workspace_id = :workspace
       and g.id in (select grant_id from ledger_entries
                     where workspace_id = :workspace and reference = :reference and kind = 'charge')
     order by g.expires_at, g.id for update
    """
)

CHARGED = text(
    """
    select l.grant_id, -l.credits as credits, l.reason, l.subject_id, l.api_key_id, l.customer_id, l.created_at
      from ledger_entries l join grants g on g.id = l.grant_id
     where l.workspace_id = :workspace and l.reference = :reference and l.kind = 'charge' and g.expires_at > :now
       and not exists (select from ledger_entries r
                        where r.workspace_id = :workspace and r.reference = :refund and r.grant_id = l.grant_id)
     order by g.expires_at, g.id
    """
)

GIVE = text("update grants set remaining_credits = remaining_credits + :credits where id = :id")

UNCOUNT = text(
    """
    update daily_spends set credits = greatest(0, credits - :credits)
     where day = :day and subject_id = any(cast(:subjects as text[]))
    """
)


async def refund(session: AsyncSession, workspace_id: str, reference: str) -> int:
    """Give the credits of a charge back to the grants that paid it, once. Returns how many.

    A grant that has expired since gets nothing: its credits would be gone by now. What was spent today counts less
    towards the daily caps.
    """
    refund_reference = f"refund:{reference}"
    asked = {"workspace": workspace_id, "reference": reference, "refund": refund_reference}
    await session.execute(LOCK, asked)
    now = await service_time(session)
    rows = (await session.execute(CHARGED, asked | {"now": now})).all()
    for row in rows:
        await session.execute(GIVE, {"credits": row.credits, "id": row.grant_id})
        await session.execute(
            insert(LedgerEntry).values(
                id=new_id("led", now),
                workspace_id=workspace_id,
                customer_id=row.customer_id,
                kind="refund",
                credits=row.credits,
                grant_id=row.grant_id,
                reference=refund_reference,
                reason=row.reason,
                subject_id=row.subject_id,
                api_key_id=row.api_key_id,
                created_at=now,
            )
        )
        if _day(row.created_at) == _day(now):
            subjects = sorted({workspace_id, row.api_key_id, row.customer_id} - {None})
            await session.execute(UNCOUNT, {"credits": row.credits, "day": now.date(), "subjects": subjects})
    return sum(row.credits for row in rows)


def _day(at: datetime) -> object:
    return at.astimezone(UTC).date()


TAKE = text(
    """
    with taken as materialized (
      select id, remaining_credits, expires_at > service_now() as alive from grants
       where workspace_id = :workspace and reference = :reference and remaining_credits > 0 for update
    ), emptied as (
      update grants g set remaining_credits = 0 from taken where g.id = taken.id returning g.id
    )
    select taken.id, taken.remaining_credits, taken.alive from taken join emptied using (id)
    """
)


async def take_back(session: AsyncSession, workspace_id: str, reference: str) -> int:
    """Take away what is left of a purchase whose money was given back. Returns how many credits.

    What follows when the balance falls below a threshold follows here too.
    """
    row = (await session.execute(TAKE, {"workspace": workspace_id, "reference": reference})).one_or_none()
    if row is None:
        return 0
    grant_id, remaining, alive = row
    now = await service_time(session)
    session.add(
        LedgerEntry(
            id=new_id("led", now),
            workspace_id=workspace_id,
            kind="adjustment",
            credits=-remaining,
            grant_id=grant_id,
            reference=f"refunded:{reference}",
            reason="payment_refunded",
            created_at=now,
        )
    )
    await session.flush()
    if alive:
        left = await credits.balance(session, workspace_id)
        await credits.note_fall(session, workspace_id, before=left + remaining, after=left)
    return int(remaining)
