"""Payments, plans and outreach plans, added and found; the provider's ids of workspaces and payment methods."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.access.tables import Workspace
from models.base import outbox
from models.base.database import Statements
from models.base.errors import Conflict, IdempotencyKeyReused
from models.base.idempotency import REPLAY_HOURS, Use
from models.base.ids import new_id
from models.base.steps import Subject
from models.billing.rules.payments import IN_FLIGHT, PaymentKind, PaymentStatus, PlanStatus, month_start
from models.billing.rules.prices import OFFER_OF, Offer
from models.billing.tables import BillingAccount, OutreachPlan, Payment, PaymentMethod, Plan

KIND = "payment"
LIVE = (PlanStatus.ACTIVE, PlanStatus.PAST_DUE)


def payment_subject(payment_id: str) -> Subject:
    """Return the waiting row of a payment."""
    return Subject(KIND, payment_id)


@dataclass(frozen=True, slots=True)
class ReturnUrls:
    """Where the browser goes after paying, and after leaving without paying."""

    success_url: str
    cancel_url: str


def add_payment(
    session: AsyncSession,
    workspace_id: str,
    kind: PaymentKind,
    offer: Offer,
    *,
    now: datetime,
    use: Use | None = None,
    back: ReturnUrls | None = None,
) -> Payment:
    """Add a payment that the provider does not know yet. The caller flushes and wakes it."""
    payment = Payment(
        id=new_id("pay", now),
        workspace_id=workspace_id,
        kind=kind,
        item=offer.id,
        credits=offer.credits,
        amount_cents=offer.price_cents,
        status=PaymentStatus.PENDING,
        success_url=back.success_url if back else None,
        cancel_url=back.cancel_url if back else None,
        use_key=_use_key(use) if use else None,
        use_fingerprint=use.fingerprint if use else None,
        created_at=now,
    )
    session.add(payment)
    return payment


async def find_open_payment(session: AsyncSession, use: Use, *, now: datetime) -> Payment | None:
    """Return the payment that an earlier request with the same Idempotency-Key made, unless it has failed.

    Raises `IdempotencyKeyReused` when the key made it for another request.
    """
    found = await session.scalars(
        select(Payment)
        .where(
            col(Payment.workspace_id) == use.tenant.workspace_id,
            col(Payment.use_key) == _use_key(use),
            col(Payment.created_at) > now - timedelta(hours=REPLAY_HOURS),
            col(Payment.status) != PaymentStatus.FAILED,
        )
        .order_by(col(Payment.id).desc())
        .limit(1)
    )
    payment = found.one_or_none()
    if payment is not None and payment.use_fingerprint != use.fingerprint:
        raise IdempotencyKeyReused
    return payment


def _use_key(use: Use) -> str:
    """Return the key with its tenant: the account, or the customer that the request selected."""
    return f"{use.tenant.id}/{use.key}"


async def find_payment(session: AsyncSession, payment_id: str, *, lock: bool = False) -> Payment | None:
    """Return a payment, null when there is none; locking reads it again."""
    query = select(Payment).where(col(Payment.id) == payment_id)
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    return (await session.scalars(query)).one_or_none()


async def workspace_exists(session: AsyncSession, workspace_id: str) -> bool:
    """Return whether there is such a workspace."""
    return await session.scalar(select(col(Workspace.id)).where(col(Workspace.id) == workspace_id)) is not None


async def restore_payment(
    session: AsyncSession, payment_id: str, workspace_id: str, kind: PaymentKind, item: str, *, now: datetime
) -> bool:
    """Add a payment that the provider knows and a restored database does not; return whether it was missing.

    It is expired until the provider's events are applied: a person with its page open has to open another.
    """
    offer = OFFER_OF.get(item)
    if offer is None or await find_payment(session, payment_id) is not None:
        return False
    made = add_payment(session, workspace_id, kind, offer, now=now)
    made.id, made.status = payment_id, PaymentStatus.EXPIRED
    await session.flush()
    return True


class _StatusRow:
    status: str


async def payment_status_of(statements: Statements, payment_id: str) -> PaymentStatus | None:
    """Return a payment's status, read outside of any transaction."""
    row = await statements.one(_StatusRow, "select status from payments where id = $1", payment_id)
    return PaymentStatus(row.status) if row else None


async def refuse_second_plan(session: AsyncSession, workspace_id: str, offer: Offer) -> None:
    """Raise `Conflict` when the workspace has this plan already."""
    if not offer.monthly:
        return
    has = select(col(Plan.id)).where(
        col(Plan.workspace_id) == workspace_id, col(Plan.item) == offer.id, col(Plan.status).in_(LIVE)
    )
    if (await session.scalars(has)).first() is not None:
        raise Conflict("This workspace has this plan already.", field="item", item=offer.id)


async def provider_customer(session: AsyncSession, workspace_id: str) -> str | None:
    """Return the provider's customer id of the workspace; null before its first purchase."""
    return await session.scalar(
        select(col(BillingAccount.provider_customer_id)).where(col(BillingAccount.workspace_id) == workspace_id)
    )


async def remember_customer(session: AsyncSession, workspace_id: str, customer_id: str, *, now: datetime) -> None:
    """Keep the provider's customer id of the workspace; a known one stays."""
    made = {"workspace_id": workspace_id, "provider_customer_id": customer_id, "created_at": now}
    await session.execute(insert(BillingAccount).values(**made).on_conflict_do_nothing())


async def payment_method(session: AsyncSession, workspace_id: str) -> str | None:
    """Return the payment method that was attached last and was not removed; null without one."""
    found = await session.scalars(
        select(col(PaymentMethod.id))
        .where(
            col(PaymentMethod.workspace_id) == workspace_id,
            col(PaymentMethod.attached_at).is_not(None),
            col(PaymentMethod.detached_at).is_(None),
        )
        .order_by(col(PaymentMethod.attached_at).desc(), col(PaymentMethod.id).desc())
        .limit(1)
    )
    return found.one_or_none()


async def spent_on_refills(session: AsyncSession, workspace_id: str, now: datetime) -> int:
    """Return the euro cents spent on refills in this UTC month, the purchase in flight included."""
    spent = await session.scalar(
        select(func.coalesce(func.sum(col(Payment.amount_cents)), 0)).where(
            col(Payment.workspace_id) == workspace_id,
            col(Payment.kind) == PaymentKind.REFILL,
            col(Payment.status).in_([*IN_FLIGHT, PaymentStatus.PAID]),
            col(Payment.created_at) >= month_start(now),
        )
    )
    return int(spent or 0)


async def refill_in_flight(session: AsyncSession, workspace_id: str) -> bool:
    """Return whether a refill may still cost money."""
    found = select(col(Payment.id)).where(
        col(Payment.workspace_id) == workspace_id,
        col(Payment.kind) == PaymentKind.REFILL,
        col(Payment.status).in_(IN_FLIGHT),
    )
    return (await session.scalars(found)).first() is not None


async def plans_to_end(session: AsyncSession, payment: Payment) -> list[str]:
    """Return the older plans that the one just paid for replaces; a pack replaces none."""
    if not OFFER_OF[payment.item].monthly:
        return []
    found = await session.scalars(
        select(col(Plan.id))
        .where(
            col(Plan.workspace_id) == payment.workspace_id,
            col(Plan.payment_id) < payment.id,
            col(Plan.status).in_(LIVE),
            ~col(Plan.replaced),
        )
        .order_by(col(Plan.id))
    )
    return list(found)


async def note_replaced(session: AsyncSession, plan_id: str) -> None:
    """Note that the provider ends this plan with its present month."""
    await session.execute(text("update plans set replaced = true where id = :id"), {"id": plan_id})


# Outreach plans: the subscription of a workspace's outreach accounts.


COUNT_ACCOUNTS = text(
    "select count(*) from outreach_accounts"
    " where workspace_id = :workspace and connected_at is not null and status <> 'removed'"
)
ADD_OR_WAKE = text(
    """
    insert into outreach_plans (id, workspace_id, rings, answered, charged, past_due, failures, created_at)
    values (:workspace, :workspace, 1, 0, 0, false, 0, service_now())
    on conflict (id) do update set rings = outreach_plans.rings + 1
    """
)


async def find_outreach_plan(session: AsyncSession, workspace_id: str, *, lock: bool = False) -> OutreachPlan | None:
    """Return the workspace's outreach plan, read again; null when it never had an account."""
    query = select(OutreachPlan).where(col(OutreachPlan.id) == workspace_id)
    if lock:
        query = query.with_for_update()
    return (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()


async def wake_outreach_plan(session: AsyncSession, workspace_id: str) -> None:
    """Wake the workspace's outreach plan, added when there is none: accounts or the payment method have changed."""
    await session.flush()
    await session.execute(ADD_OR_WAKE, {"workspace": workspace_id})
    await outbox.notify(session)


async def count_accounts(session: AsyncSession, workspace_id: str) -> int:
    """Return how many accounts of the workspace and its customers are to be paid for."""
    return int(await session.scalar(COUNT_ACCOUNTS, {"workspace": workspace_id}) or 0)
