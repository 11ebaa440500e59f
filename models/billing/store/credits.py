"""The ledger: grants, balances, charges paid soonest expiry first, and the lead register (specification, "Credits")."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.access.tables import DailySpend
from models.base import outbox
from models.base.database import service_time
from models.base.ids import new_id
from models.base.paging import Page, Slice, fetch, newest_first
from models.base.tenants import Tenant
from models.billing.rules.prices import CreditBlock, CreditCharge, LedgerKind, allocate
from models.billing.tables import Grant, Lead, LedgerEntry
from models.events.rules.catalogue import EXPIRY_NOTICE, CreditsExpiring, CreditsLow, EventType
from models.events.store import events


@dataclass(frozen=True, slots=True)
class Payer:
    """Who pays: the account, with the key and the customer whose daily caps apply."""

    workspace_id: str
    api_key_id: str
    customer_id: str | None = None


@dataclass(frozen=True, slots=True)
class DailyCap:
    """The credits that a daily cap leaves today. `kind` is `key` or `customer`."""

    kind: str
    remaining: int


async def grant_credits(
    session: AsyncSession, *, workspace_id: str, source: str, reference: str, credits: int, expires_at: datetime
) -> int:
    """Add a block of credits, once for each reference. Return the credits added: all of them or 0."""
    now = await service_time(session)
    grant_id = new_id("grt", now)
    added = await session.execute(
        insert(Grant)
        .values(
            id=grant_id,
            workspace_id=workspace_id,
            source=source,
            reference=reference,
            granted_credits=credits,
            remaining_credits=credits,
            expires_at=expires_at,
            created_at=now,
        )
        .on_conflict_do_nothing(index_elements=["workspace_id", "reference"])
        .returning(col(Grant.id))
    )
    if added.scalar_one_or_none() is None:
        return 0
    session.add(
        LedgerEntry(
            id=new_id("led", now),
            workspace_id=workspace_id,
            kind=LedgerKind.GRANT,
            credits=credits,
            grant_id=grant_id,
            reference=reference,
            reason=source,
            created_at=now,
        )
    )
    await session.flush()
    return credits


async def open_grants(session: AsyncSession, workspace_id: str) -> Sequence[Grant]:
    """Return the grants with credits left that have not expired, soonest expiry first."""
    now = await service_time(session)
    rows = await session.scalars(
        select(Grant)
        .where(col(Grant.workspace_id) == workspace_id, col(Grant.remaining_credits) > 0, col(Grant.expires_at) > now)
        .order_by(col(Grant.expires_at), col(Grant.id))
    )
    return rows.all()


async def balance(session: AsyncSession, workspace_id: str) -> int:
    """Return the credits that have not expired."""
    now = await service_time(session)
    total = await session.scalar(
        select(func.coalesce(func.sum(col(Grant.remaining_credits)), 0)).where(
            col(Grant.workspace_id) == workspace_id, col(Grant.expires_at) > now
        )
    )
    return int(total or 0)


SPENDABLE = text(
    """
    select least(
      (select coalesce(sum(remaining_credits), 0) from grants
        where workspace_id = :workspace and expires_at > (select service_now())),
      (select k.daily_cap_credits - coalesce(d.credits, 0) from api_keys k
         left join daily_spends d on d.subject_id = k.id and d.day = (service_now() at time zone 'UTC')::date
        where k.id = :key),
      (select c.daily_cap_credits - coalesce(d.credits, 0) from customers c
         left join daily_spends d on d.subject_id = c.id and d.day = (service_now() at time zone 'UTC')::date
        where c.id = cast(:customer as text)))
    """
)


async def spendable(session: AsyncSession, payer: Payer) -> int:
    """Return the credits that balance and daily caps allow now, without a lock: for planning, not for spending."""
    asked = {"workspace": payer.workspace_id, "key": payer.api_key_id, "customer": payer.customer_id}
    return max(0, int(await session.scalar(SPENDABLE, asked) or 0))


async def spent_today(session: AsyncSession, subject_id: str) -> int:
    """Return the credits spent on this UTC day by a key, a customer or a workspace."""
    now = await service_time(session)
    spent = await session.scalar(
        select(col(DailySpend.credits)).where(
            col(DailySpend.subject_id) == subject_id, col(DailySpend.day) == now.date()
        )
    )
    return int(spent or 0)


CAPS = text(
    """
    with clock as materialized (select service_now() as now, (service_now() at time zone 'UTC')::date as day)
    select clock.now,
           (select k.daily_cap_credits - coalesce(d.credits, 0) from api_keys k
              left join daily_spends d on d.subject_id = k.id and d.day = clock.day where k.id = :key) as key,
           (select c.daily_cap_credits - coalesce(d.credits, 0) from customers c
              left join daily_spends d on d.subject_id = c.id and d.day = clock.day
             where c.id = cast(:customer as text)) as customer,
           array(select w.low_balance_credits from workspaces w where w.id = :workspace union all
                 select r.threshold_credits from auto_refills r where r.id = :workspace and r.enabled) as thresholds
      from clock
    """
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """A payer's daily caps, and the thresholds of the balance that have consequences."""

    caps: tuple[DailyCap, ...]
    thresholds: tuple[int, ...]
    now: datetime


async def caps(session: AsyncSession, payer: Payer) -> tuple[DailyCap, ...]:
    """Return the daily caps of this payer, with what each leaves today (never below 0)."""
    return (await _bounds(session, payer)).caps


async def _bounds(session: AsyncSession, payer: Payer) -> Bounds:
    asked = {"workspace": payer.workspace_id, "key": payer.api_key_id, "customer": payer.customer_id}
    row = (await session.execute(CAPS, asked)).one()
    left = (("key", row.key), ("customer", row.customer))
    bounds = tuple(DailyCap(kind, max(0, remaining)) for kind, remaining in left if remaining is not None)
    return Bounds(bounds, tuple(row.thresholds), row.now)


def caps_reset_at(now: datetime) -> datetime:
    """Return the next UTC midnight, when daily caps start again."""
    return datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), tzinfo=now.tzinfo)


# The caller has locked the grants, so their order here does not matter; counters are locked in order.
PAY = text(
    """
    with payments as materialized (
      select * from unnest(cast(:ids as text[]), cast(:grants as text[]), cast(:credits as int[]),
                           cast(:references as text[]), cast(:reasons as text[]), cast(:about as text[]))
                 as p (id, grant_id, credits, reference, reason, subject_id)
    ), paid as (
      update grants g set remaining_credits = g.remaining_credits - p.credits
        from (select grant_id, sum(credits)::int as credits from payments group by grant_id) p
       where g.id = p.grant_id
    ), counted as (
      insert into daily_spends as d (subject_id, day, workspace_id, credits)
      select subject, :day, :workspace, :spent from unnest(cast(:subjects as text[])) as subject order by subject
      on conflict (subject_id, day) do update set credits = d.credits + excluded.credits
    )
    insert into ledger_entries (id, workspace_id, customer_id, kind, credits, grant_id, reference, reason, subject_id,
                                api_key_id, created_at)
    select id, :workspace, cast(:customer as text), 'charge', -credits, grant_id, reference, reason, subject_id, :key,
           :now
      from payments
    """
)


class SpendingLimit:
    """What a payer can spend: its grants, locked until the transaction ends, and its daily caps.

    It counts for the day on which it was opened.
    """

    def __init__(self, session: AsyncSession, payer: Payer, blocks: tuple[CreditBlock, ...], bounds: Bounds) -> None:
        self._session = session
        self._payer = payer
        self._blocks = blocks
        self._bounds = bounds
        self.caps = bounds.caps
        self.balance = sum(block.remaining for block in blocks)

    @property
    def available(self) -> int:
        """The credits that balance and daily caps allow now."""
        return min([self.balance, *(cap.remaining for cap in self.caps)])

    async def spend(self, charges: Sequence[CreditCharge]) -> None:
        """Pay the charges and write their entries. Raises `ValueError` for more than the balance: check `available`."""
        charges = [charge for charge in charges if charge.credits > 0]
        if not charges:
            return
        payments = allocate(self._blocks, charges)
        payer, now = self._payer, self._bounds.now
        spent = sum(payment.credits for payment in payments)
        await self._session.execute(
            PAY,
            {
                "ids": [new_id("led", now) for _ in payments],
                "grants": [payment.block_id for payment in payments],
                "credits": [payment.credits for payment in payments],
                "references": [payment.charge.reference for payment in payments],
                "reasons": [payment.charge.reason for payment in payments],
                "about": [payment.charge.subject_id for payment in payments],
                "workspace": payer.workspace_id,
                "customer": payer.customer_id,
                "key": payer.api_key_id,
                "subjects": [payer.workspace_id, payer.api_key_id, *([payer.customer_id] if payer.customer_id else [])],
                "day": now.date(),
                "now": now,
                "spent": spent,
            },
        )
        left = self.balance - spent
        if any(left < threshold <= self.balance for threshold in self._bounds.thresholds):
            await note_balance_fell(self._session, payer.workspace_id, before=self.balance, after=left)


FALL = text(
    """
    with low as (
      update grants set low_told = true
        from workspaces w
       where w.id = :workspace and w.low_balance_credits > cast(:after as bigint)
         and w.low_balance_credits <= cast(:before as bigint)
         and not low_told
         and grants.id = (select id from grants where workspace_id = :workspace
                           order by created_at desc, id desc limit 1)
      returning grants.id, w.low_balance_credits
    ), woken as (
      update auto_refills set rings = rings + 1
       where id = :workspace and enabled and threshold_credits > cast(:after as bigint)
         and threshold_credits <= cast(:before as bigint)
      returning 1
    )
    select low.id, low.low_balance_credits, service_now(), exists (select from woken)
      from (select) as always left join low on true
    """
)


async def note_balance_fell(session: AsyncSession, workspace_id: str, *, before: int, after: int) -> None:
    """Act on a balance that fell below a threshold.

    Emit `credits.low` at the workspace's threshold, once for each newest grant; wake auto-refill at its own.
    """
    fallen = await session.execute(FALL, {"workspace": workspace_id, "before": before, "after": after})
    grant_id, threshold, now, woken = fallen.one()
    if woken:
        await outbox.notify(session)
    if grant_id is not None:
        low = CreditsLow(grant_id=grant_id, balance_credits=after, threshold_credits=threshold)
        events.emit(session, Tenant(workspace_id), EventType.CREDITS_LOW, low, now=now)


LOCK = text(
    """
    select id, remaining_credits, expires_at from grants
     where workspace_id = :workspace and remaining_credits > 0 and expires_at > (select service_now())
     order by expires_at, id for update
    """
)


async def open_spending_limit(session: AsyncSession, payer: Payer) -> SpendingLimit:
    """Lock the payer's grants in order and return what can be spent."""
    rows = (await session.execute(LOCK, {"workspace": payer.workspace_id})).all()
    blocks = tuple(CreditBlock(*row) for row in rows)
    return SpendingLimit(session, payer, blocks, await _bounds(session, payer))


async def next_expiry(session: AsyncSession) -> datetime | None:
    """Return when the next grant of the installation with credits left expires."""
    return await session.scalar(select(func.min(col(Grant.expires_at))).where(col(Grant.remaining_credits) > 0))


EXPIRE = text(
    """
    with gone as (
      select id, workspace_id, remaining_credits from grants
       where remaining_credits > 0 and expires_at <= (select service_now())
       order by expires_at, id for update skip locked limit :limit
    ), emptied as (
      update grants g set remaining_credits = 0 from gone where g.id = gone.id returning g.id
    )
    select gone.id, gone.workspace_id, gone.remaining_credits from gone join emptied using (id)
    """
)


async def expire_grants(session: AsyncSession, *, limit: int = 500) -> int:
    """Empty grants past their expiry and write the ledger entries. Return how many."""
    rows = (await session.execute(EXPIRE, {"limit": limit})).all()
    if not rows:
        return 0
    now = await service_time(session)
    await session.execute(
        insert(LedgerEntry),
        [
            {
                "id": new_id("led", now),
                "workspace_id": workspace_id,
                "kind": LedgerKind.EXPIRY,
                "credits": -remaining,
                "grant_id": grant_id,
                "reference": f"expiry:{grant_id}",
                "reason": "expired",
                "created_at": now,
            }
            for grant_id, workspace_id, remaining in rows
        ],
    )
    lost: Counter[str] = Counter()
    for _, workspace_id, remaining in rows:
        lost[workspace_id] += remaining
    for workspace_id, credits in sorted(lost.items()):
        left = await balance(session, workspace_id)
        await note_balance_fell(session, workspace_id, before=left + credits, after=left)
    return len(rows)


EXPIRING = text(
    """
    with soon as (
      select id from grants
       where remaining_credits > 0 and not expiry_told
         and expires_at > (select service_now()) and expires_at <= (select service_now()) + :notice
       order by expires_at, id for update skip locked limit :limit
    )
    update grants g set expiry_told = true from soon where g.id = soon.id
    returning g.id, g.workspace_id, g.remaining_credits, g.expires_at, service_now()
    """
)


async def emit_expiring(session: AsyncSession, *, limit: int = 500) -> int:
    """Emit `credits.expiring` for grants that expire within `EXPIRY_NOTICE`, once for each. Return how many."""
    rows = (await session.execute(EXPIRING, {"notice": EXPIRY_NOTICE, "limit": limit})).all()
    for grant_id, workspace_id, left, expires_at, now in rows:
        expiring = CreditsExpiring(grant_id=grant_id, credits=left, expires_at=expires_at)
        events.emit(session, Tenant(workspace_id), EventType.CREDITS_EXPIRING, expiring, now=now)
    return len(rows)


TAKE = text(
    """
    insert into leads (workspace_id, profile_id, created_at)
    select :workspace, id, :now from unnest(cast(:ids as text[])) as id order by id
    on conflict do nothing returning profile_id
    """
)


async def take_leads(session: AsyncSession, workspace_id: str, profile_ids: Iterable[str]) -> set[str]:
    """Add these people to the account's lead register; return the new ones, who are to be paid."""
    now = await service_time(session)
    rows = await session.execute(TAKE, {"workspace": workspace_id, "ids": sorted(profile_ids), "now": now})
    return {row[0] for row in rows}


async def release_leads(session: AsyncSession, workspace_id: str, profile_ids: Collection[str]) -> None:
    """Remove leads added in this transaction that are not paid after all."""
    if profile_ids:
        await session.execute(
            delete(Lead).where(col(Lead.workspace_id) == workspace_id, col(Lead.profile_id).in_(list(profile_ids)))
        )


async def page_of_ledger_entries(session: AsyncSession, workspace_id: str, page: Page) -> Slice[LedgerEntry]:
    """Return the account's ledger entries, those of its customers included, newest first."""
    return await fetch(
        session,
        select(LedgerEntry).where(col(LedgerEntry.workspace_id) == workspace_id),
        page,
        order=newest_first(col(LedgerEntry.created_at), col(LedgerEntry.id)),
        created_at=col(LedgerEntry.created_at),
    )
