"""Callbacks of the payment provider: kept as they came, worked in once, then emptied."""

from datetime import UTC, datetime

import structlog
from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.clock import service_time
from models.base.ids import new_id
from models.base.outbox import wake
from models.base.subjects import Subject
from models.base.times import add_months, cycle_end
from models.billing.engine import outreach_plans, refills
from models.billing.rules.payments import (
    ChargePaid,
    CheckoutPaid,
    CyclePaid,
    MethodAttached,
    MethodDetached,
    NotPaid,
    OutreachSubscriptionChanged,
    PaymentEvent,
    PaymentKind,
    PaymentStatus,
    PlanChanged,
    PlanStatus,
    Refunded,
)
from models.billing.rules.prices import OFFER_OF
from models.billing.store import credits, payments
from models.billing.tables import BillingAccount, LedgerEntry, Payment, PaymentCallback, PaymentMethod, Plan

BODY_PURPOSE = "payment-callback"
KIND = "callback"


async def keep_payment_callback(
    session: AsyncSession, event_id: str, sealed_body: bytes, *, now: datetime
) -> Subject | None:
    """Keep a callback; null when its event is known already. The caller rings."""
    kept = await session.execute(
        insert(PaymentCallback)
        .values(id=event_id, body=sealed_body, received_at=now, rings=0, answered=0)
        .on_conflict_do_nothing()
        .returning(col(PaymentCallback.id))
    )
    return Subject(KIND, event_id) if kept.scalar_one_or_none() is not None else None


async def lock_waiting_callback(session: AsyncSession, event_id: str) -> PaymentCallback | None:
    """A callback that is not worked in, locked; null when it is. Answers the rings up to now."""
    query = select(PaymentCallback).where(col(PaymentCallback.id) == event_id).with_for_update()
    row = (await session.scalars(query)).one()
    row.answered = row.rings
    return row if row.body is not None else None


# Giving credits back: of a charge to the grants it was paid from, and of a purchase that was refunded.


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


# What the provider's callbacks do to rows: in any order, any number of times, each payment grants its credits once.


OVER = frozenset(
    {
        PaymentStatus.PAID,
        PaymentStatus.DECLINED,
        PaymentStatus.EXPIRED,
        PaymentStatus.FAILED,
        PaymentStatus.REFUNDED,
    }
)

OfPayment = CheckoutPaid | ChargePaid | NotPaid | CyclePaid | PlanChanged | Refunded

log = structlog.get_logger(__name__)


async def apply(session: AsyncSession, happening: PaymentEvent, *, now: datetime) -> None:
    """Do what follows from a callback. What names nothing of ours changes nothing."""
    match happening:
        case MethodAttached() | MethodDetached():
            await _note_method(session, happening)
        case OutreachSubscriptionChanged():
            await outreach_plans.hear(session, happening, now=now)
        case _:
            await _to_payment(session, happening, now)


async def _to_payment(session: AsyncSession, happening: OfPayment, now: datetime) -> None:
    payment = await payments.find_payment(session, happening.payment_id, lock=True)
    if payment is None:
        log.warning("payment.unknown", happening=type(happening).__name__)
        return
    match happening:
        case CheckoutPaid():
            payment.charge_id = happening.charge_id or payment.charge_id
            if happening.subscription_id is not None:
                await _know_plan(session, payment, happening.subscription_id, now)
            await _paid(session, payment, now)
        case ChargePaid():
            payment.charge_id = happening.charge_id
            await _paid(session, payment, now)
        case NotPaid():
            await not_paid(session, payment, happening.status, happening.reason, now=now)
        case CyclePaid():
            await _cycle_paid(session, payment, happening, now)
        case PlanChanged():
            await _plan_changed(session, payment, happening, now)
        case Refunded():
            await _refunded(session, payment)


async def _paid(session: AsyncSession, payment: Payment, now: datetime) -> None:
    """The money has come. A plan's credits come with its invoices."""
    if payment.status in (PaymentStatus.PAID, PaymentStatus.REFUNDED):
        return
    payment.status, payment.paid_at, payment.reason, payment.wake_at = PaymentStatus.PAID, now, None, None
    offer = OFFER_OF[payment.item]
    await session.flush()
    if not offer.monthly:
        await credits.grant(
            session,
            workspace_id=payment.workspace_id,
            source="top_up",
            reference=payment.id,
            credits=payment.credits,
            expires_at=add_months(now, offer.valid_months),
        )
    if payment.kind == PaymentKind.REFILL:
        await refills.forget_declines(session, payment.workspace_id)
    await wake(session, payments.payment_subject(payment.id))
    await refills.wake_refill(session, payment.workspace_id)


async def not_paid(
    session: AsyncSession, payment: Payment, status: PaymentStatus, reason: str | None, *, now: datetime
) -> None:
    """A payment that is not over has come to nothing; the caller holds its lock."""
    if payment.status in OVER:
        return
    payment.status, payment.reason, payment.wake_at, payment.unclear = status, reason, None, False
    await session.flush()
    if payment.kind == PaymentKind.REFILL:
        await refills.note_decline(session, payment.workspace_id, now)
        await refills.wake_refill(session, payment.workspace_id)
    await wake(session, payments.payment_subject(payment.id))


async def _cycle_paid(session: AsyncSession, payment: Payment, paid: CyclePaid, now: datetime) -> None:
    plan = await _know_plan(session, payment, paid.subscription_id, now)
    offer = OFFER_OF[plan.item]
    await credits.grant(
        session,
        workspace_id=plan.workspace_id,
        source="plan",
        reference=f"invoice:{paid.invoice_id}",
        credits=payment.credits,
        expires_at=cycle_end(
            anchor=plan.anchored_at or paid.starts_at, starts_at=paid.starts_at, cycles=offer.valid_months
        ),
    )
    await _paid(session, payment, now)
    await refills.wake_refill(session, plan.workspace_id)


async def _plan_changed(session: AsyncSession, payment: Payment, change: PlanChanged, now: datetime) -> None:
    plan = await _know_plan(session, payment, change.subscription_id, now)
    plan.anchored_at = change.anchored_at
    if plan.changed_at is not None and plan.changed_at > change.at:
        return  # heard too late: a later state is known
    if plan.status != PlanStatus.ENDED:  # nothing comes after the end
        plan.status, plan.changed_at = change.status, change.at


async def _know_plan(session: AsyncSession, payment: Payment, subscription_id: str, now: datetime) -> Plan:
    made = {
        "id": subscription_id,
        "workspace_id": payment.workspace_id,
        "payment_id": payment.id,
        "item": payment.item,
        "status": PlanStatus.ACTIVE,
        "created_at": now,
    }
    await session.flush()
    await session.execute(insert(Plan).values(**made).on_conflict_do_nothing())
    query = select(Plan).where(col(Plan.id) == subscription_id).with_for_update()
    return (await session.scalars(query)).one()


async def _refunded(session: AsyncSession, payment: Payment) -> None:
    payment.status, payment.wake_at = PaymentStatus.REFUNDED, None
    await session.flush()
    await take_back(session, payment.workspace_id, payment.id)
    await wake(session, payments.payment_subject(payment.id))
    await refills.wake_refill(session, payment.workspace_id)


async def _note_method(session: AsyncSession, heard: MethodAttached | MethodDetached) -> None:
    """Both moments are kept, whichever is heard first: a method counts while only the first is there."""
    query = select(col(PaymentMethod.workspace_id)).where(col(PaymentMethod.id) == heard.method_id)
    if heard.customer_id is not None:
        query = select(col(BillingAccount.workspace_id)).where(
            col(BillingAccount.provider_customer_id) == heard.customer_id
        )
    workspace_id = await session.scalar(query)
    if workspace_id is None:
        return
    moment = {"attached_at" if isinstance(heard, MethodAttached) else "detached_at": heard.at}
    await session.execute(
        insert(PaymentMethod)
        .values(id=heard.method_id, workspace_id=workspace_id, **moment)
        .on_conflict_do_update(index_elements=["id"], set_=moment)
    )
    if isinstance(heard, MethodAttached):
        await refills.forget_declines(session, workspace_id)
    await refills.wake_refill(session, workspace_id)
    await outreach_plans.new_card(session, workspace_id)
