"""Callbacks of the payment provider: kept as they came, applied once, then emptied.

The provider's events come in any order and any number of times; each payment grants its credits once.
"""

from datetime import datetime

import structlog
from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.database import service_time
from models.base.ids import new_id
from models.base.outbox import wake
from models.base.steps import Subject
from models.billing.engine.payments import end_unpaid, forget_declines, wake_refill
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
    add_months,
    cycle_end,
)
from models.billing.rules.prices import OFFER_OF, GrantSource, LedgerKind
from models.billing.store import credits, payments
from models.billing.tables import BillingAccount, LedgerEntry, Payment, PaymentCallback, PaymentMethod, Plan

BODY_PURPOSE = "payment-callback"
KIND = "callback"


async def keep_payment_callback(
    session: AsyncSession, event_id: str, sealed_body: bytes, *, now: datetime
) -> Subject | None:
    """Keep a callback and return its subject, which the caller wakes; null when its event is known already."""
    kept = await session.execute(
        insert(PaymentCallback)
        .values(id=event_id, body=sealed_body, received_at=now, rings=0, answered=0)
        .on_conflict_do_nothing()
        .returning(col(PaymentCallback.id))
    )
    return Subject(KIND, event_id) if kept.scalar_one_or_none() is not None else None


async def lock_waiting_callback(session: AsyncSession, event_id: str) -> PaymentCallback | None:
    """Lock a callback and mark its wakes as answered; return null when it was applied already."""
    query = select(PaymentCallback).where(col(PaymentCallback.id) == event_id).with_for_update()
    row = (await session.scalars(query)).one()
    row.answered = row.rings
    return row if row.body is not None else None


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


async def take_back_purchase(session: AsyncSession, workspace_id: str, reference: str) -> int:
    """Remove the credits left of a refunded purchase. Return how many.

    A balance that falls below a threshold has its usual consequences (`credits.note_balance_fell`).
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
            kind=LedgerKind.ADJUSTMENT,
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
        await credits.note_balance_fell(session, workspace_id, before=left + remaining, after=left)
    return int(remaining)


EventOfPayment = CheckoutPaid | ChargePaid | NotPaid | CyclePaid | PlanChanged | Refunded

log = structlog.get_logger(__name__)


async def apply_payment_event(session: AsyncSession, event: PaymentEvent, *, now: datetime) -> None:
    """Apply an event of the payment provider. An event about nothing of ours changes nothing."""
    match event:
        case MethodAttached() | MethodDetached():
            await _note_method(session, event)
        case OutreachSubscriptionChanged():
            await _subscription_changed(session, event, now)
        case _:
            await _apply_to_payment(session, event, now)


async def _apply_to_payment(session: AsyncSession, event: EventOfPayment, now: datetime) -> None:
    payment = await payments.find_payment(session, event.payment_id, lock=True)
    if payment is None:
        log.warning("payment.unknown", happening=type(event).__name__)
        return
    match event:
        case CheckoutPaid():
            payment.charge_id = event.charge_id or payment.charge_id
            if event.subscription_id is not None:
                await _know_plan(session, payment, event.subscription_id, now)
            await _paid(session, payment, now)
        case ChargePaid():
            payment.charge_id = event.charge_id
            await _paid(session, payment, now)
        case NotPaid():
            await end_unpaid(session, payment, event.status, event.reason, now=now)
        case CyclePaid():
            await _cycle_paid(session, payment, event, now)
        case PlanChanged():
            await _plan_changed(session, payment, event, now)
        case Refunded():
            await _refunded(session, payment)


async def _paid(session: AsyncSession, payment: Payment, now: datetime) -> None:
    """Note that a payment is paid. A pack's credits are granted now, a plan's with each invoice."""
    if payment.status in (PaymentStatus.PAID, PaymentStatus.REFUNDED):
        return
    payment.status, payment.paid_at, payment.reason, payment.wake_at = PaymentStatus.PAID, now, None, None
    offer = OFFER_OF[payment.item]
    await session.flush()
    if not offer.monthly:
        await credits.grant_credits(
            session,
            workspace_id=payment.workspace_id,
            source=GrantSource.TOP_UP,
            reference=payment.id,
            credits=payment.credits,
            expires_at=add_months(now, offer.valid_months),
        )
    if payment.kind == PaymentKind.REFILL:
        await forget_declines(session, payment.workspace_id)
    await wake(session, payments.payment_subject(payment.id))
    await wake_refill(session, payment.workspace_id)


async def _cycle_paid(session: AsyncSession, payment: Payment, paid: CyclePaid, now: datetime) -> None:
    plan = await _know_plan(session, payment, paid.subscription_id, now)
    offer = OFFER_OF[plan.item]
    await credits.grant_credits(
        session,
        workspace_id=plan.workspace_id,
        source=GrantSource.PLAN,
        reference=f"invoice:{paid.invoice_id}",
        credits=payment.credits,
        expires_at=cycle_end(
            anchor=plan.anchored_at or paid.starts_at, starts_at=paid.starts_at, cycles=offer.valid_months
        ),
    )
    await _paid(session, payment, now)
    await wake_refill(session, plan.workspace_id)


async def _plan_changed(session: AsyncSession, payment: Payment, change: PlanChanged, now: datetime) -> None:
    plan = await _know_plan(session, payment, change.subscription_id, now)
    plan.anchored_at = change.anchored_at
    if plan.changed_at is not None and plan.changed_at > change.at:
        return  # an event out of order: a later state is known
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
    await take_back_purchase(session, payment.workspace_id, payment.id)
    await wake(session, payments.payment_subject(payment.id))
    await wake_refill(session, payment.workspace_id)


async def _note_method(session: AsyncSession, event: MethodAttached | MethodDetached) -> None:
    """Keep when a method was attached and when it was removed, in any order: it counts while only the first is set."""
    query = select(col(PaymentMethod.workspace_id)).where(col(PaymentMethod.id) == event.method_id)
    if event.customer_id is not None:
        query = select(col(BillingAccount.workspace_id)).where(
            col(BillingAccount.provider_customer_id) == event.customer_id
        )
    workspace_id = await session.scalar(query)
    if workspace_id is None:
        return
    moment = {"attached_at" if isinstance(event, MethodAttached) else "detached_at": event.at}
    await session.execute(
        insert(PaymentMethod)
        .values(id=event.method_id, workspace_id=workspace_id, **moment)
        .on_conflict_do_update(index_elements=["id"], set_=moment)
    )
    if isinstance(event, MethodAttached):
        await forget_declines(session, workspace_id)
    await wake_refill(session, workspace_id)
    # Another card may be accepted: a declined change of the outreach plan is tried again at once.
    await session.execute(
        text("update outreach_plans set failures = 0, retry_at = null where id = :id"), {"id": workspace_id}
    )
    await payments.wake_outreach_plan(session, workspace_id)


async def _subscription_changed(session: AsyncSession, event: OutreachSubscriptionChanged, now: datetime) -> None:
    """Note the state of the subscription. An event about another subscription, or an outdated one, changes nothing."""
    plan = await payments.find_outreach_plan(session, event.workspace_id, lock=True)
    if plan is None or plan.subscription_id != event.subscription_id:
        return
    if plan.changed_at is not None and plan.changed_at > event.at and event.status is not PlanStatus.ENDED:
        return
    plan.changed_at = event.at
    if event.status is PlanStatus.ENDED:
        plan.subscription_id, plan.charged, plan.method_id, plan.past_due = None, 0, None, False
        plan.looked_at = None
        if await payments.count_accounts(session, plan.workspace_id):
            plan.unpaid_since = plan.unpaid_since or now
    else:
        plan.past_due = event.status is PlanStatus.PAST_DUE
        if plan.past_due:
            plan.unpaid_since = plan.unpaid_since or now
    await session.flush()
    await payments.wake_outreach_plan(session, plan.workspace_id)
