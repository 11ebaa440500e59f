"""What the provider's callbacks do to rows: in any order, any number of times, each payment grants its credits once.

A grant's reference is the payment, or the invoice of the month: that is what makes a repetition harmless. What is over
in another way is paid after all when the provider says so; only what was refunded stays refunded.
"""

from datetime import datetime

import structlog
from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.rules.months import add_months, cycle_end
from models.rules.offers import OFFER_OF
from models.rules.payments import (
    ChargePaid,
    CheckoutPaid,
    CyclePaid,
    Happening,
    MethodAttached,
    MethodDetached,
    NotPaid,
    OutreachTold,
    PaymentKind,
    PaymentStatus,
    PlanChanged,
    PlanStatus,
    Refunded,
)
from models.stores import credits, refills, refunds
from models.stores.doorbells import ring
from models.stores.payments import outreach, rows
from models.tables import BillingAccount, Payment, PaymentMethod, Plan

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


async def apply(session: AsyncSession, happening: Happening, *, now: datetime) -> None:
    """Do what follows from a callback. What names nothing of ours changes nothing."""
    match happening:
        case MethodAttached() | MethodDetached():
            await _note_method(session, happening)
        case OutreachTold():
            await outreach.hear(session, happening, now=now)
        case _:
            await _to_payment(session, happening, now)


async def _to_payment(session: AsyncSession, happening: OfPayment, now: datetime) -> None:
    payment = await rows.find(session, happening.payment_id, lock=True)
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
    await ring(session, rows.subject(payment.id))
    await refills.ring(session, payment.workspace_id)


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
        await refills.ring(session, payment.workspace_id)
    await ring(session, rows.subject(payment.id))


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
    await refills.ring(session, plan.workspace_id)


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
    await refunds.take_back(session, payment.workspace_id, payment.id)
    await ring(session, rows.subject(payment.id))
    await refills.ring(session, payment.workspace_id)


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
    await refills.ring(session, workspace_id)
    await outreach.new_card(session, workspace_id)
