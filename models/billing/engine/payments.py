"""The steps of a payment, and auto-refill, which buys a pack when the balance is low.

A call is noted before it is made. One that was noted and not answered (its worker died, or the provider did not
answer) is never made again: its result is read back, later each time; a payment that the provider does not know after
the last look was not made.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.access.tables import Workspace
from models.base import outbox
from models.base.database import service_time
from models.base.outbox import wake
from models.base.steps import Call, Decision, Do, Queue, Subject
from models.billing.rules.payments import (
    ASK_FOR,
    CALL_SECONDS,
    LOOK_AFTER,
    LOOK_EVERY,
    READ_AFTER,
    UNASKED,
    PaymentKind,
    PaymentStatus,
    RefillDecision,
    Refilling,
    ask_again_after,
    decide_refill,
    refill_retry_after,
)
from models.billing.rules.prices import PACK
from models.billing.store import credits, payments
from models.billing.tables import AutoRefill, Payment

LEASE = timedelta(minutes=2)
"""A call that has not ended after this (service time) is picked up by the dispatcher."""


PAYMENT_CALL = "payment.call"
PAYMENT_END_PLANS = "payment.end_plans"
CALL_LIMIT_SECONDS = 3 * CALL_SECONDS
"""For making the customer, the purchase itself, and the transactions around them."""
WAITS_FOR = {
    PaymentStatus.OPEN: "waits for the customer to pay",
    PaymentStatus.PROCESSING: "waits for the payment provider's callback",
    PaymentStatus.CALLING: "reads the result back later",
}


@dataclass(frozen=True, slots=True)
class PaymentOrder:
    """A call to the provider. `repeated`: it was made before, and only its result is read back.

    `customer_id` is the provider's id of the workspace, `method_id` the payment method to charge, null for a checkout.
    """

    payment_id: str
    kind: PaymentKind
    status: PaymentStatus
    workspace_id: str
    workspace_name: str
    email: str
    item: str
    amount_cents: int
    success_url: str
    cancel_url: str
    customer_id: str | None
    method_id: str | None
    repeated: bool


async def decide_payment(session: AsyncSession, payment_id: str) -> Decision:
    """Return what is due, and mark every wake up to now as answered."""
    payment = await _locked(session, payment_id)
    now = await service_time(session)
    payment.answered = payment.rings
    if payment.status == PaymentStatus.OPEN and payment.expires_at is not None and payment.expires_at <= now:
        await end_unpaid(session, payment, PaymentStatus.EXPIRED, None, now=now)
    status = PaymentStatus(payment.status)
    step, summary = "", ""
    match status:
        case PaymentStatus.PENDING:
            step, summary = PAYMENT_CALL, "asks the payment provider"
        case PaymentStatus.CALLING | PaymentStatus.PROCESSING:
            step, summary = PAYMENT_CALL, "reads the result back"
        case PaymentStatus.PAID if await payments.plans_to_end(session, payment):
            step, summary = PAYMENT_END_PLANS, "ends the plan that was replaced"
        case PaymentStatus.OPEN:
            pass
        case _:
            payment.wake_at = None
            return Decision(Do.DONE, now, details=f"**{status}**")
    if not step or (payment.wake_at is not None and payment.wake_at > now):
        reason = WAITS_FOR.get(status, "asks the payment provider again")
        return Decision(Do.WAIT, now, until=payment.wake_at, reason=reason, details=f"**{status}**: {reason}")
    call = Call(
        step=step,
        number=payment.call_number + 1,
        queue=Queue.PAYMENTS,
        summary=summary,
        limit_seconds=CALL_LIMIT_SECONDS,
        fairness_key=payment.workspace_id,
    )
    return Decision(Do.ACT, now, call, details=f"**{status}**")


async def begin_payment_call(session: AsyncSession, payment_id: str, number: int) -> PaymentOrder | None:
    """Note that the provider is about to be called; return null when the call is outdated or no longer wanted."""
    payment = await _locked(session, payment_id)
    repeated = payment.status != PaymentStatus.PENDING
    if repeated and payment.status not in (PaymentStatus.CALLING, PaymentStatus.PROCESSING):
        return None
    # An activity that runs again brings its old number, which the row has by now: its call is repeated.
    if number not in (payment.call_number, payment.call_number + 1):
        return None
    now = await service_time(session)
    workspace = (await session.scalars(select(Workspace).where(col(Workspace.id) == payment.workspace_id))).one()
    if not repeated and not await _is_wanted(session, payment, workspace, now):
        # Not a decline: the provider was not called, and the next refill need not wait.
        payment.status, payment.reason, payment.wake_at = PaymentStatus.FAILED, "not_wanted", None
        return None
    payment.call_number = number
    if not repeated:
        payment.status, payment.wake_at, payment.unclear = PaymentStatus.CALLING, now + LEASE, False
    kind = PaymentKind(payment.kind)
    return PaymentOrder(
        payment_id=payment.id,
        kind=kind,
        status=PaymentStatus(payment.status),
        workspace_id=workspace.id,
        workspace_name=workspace.name,
        email=workspace.email,
        item=payment.item,
        amount_cents=payment.amount_cents,
        success_url=payment.success_url or "",
        cancel_url=payment.cancel_url or "",
        customer_id=await payments.provider_customer(session, workspace.id),
        method_id=await payments.payment_method(session, workspace.id) if kind is PaymentKind.REFILL else None,
        repeated=repeated,
    )


async def _is_wanted(session: AsyncSession, payment: Payment, workspace: Workspace, now: datetime) -> bool:
    """Return whether a refill is still wanted: the owner may have turned it off or lowered the cap."""
    if payment.kind != PaymentKind.REFILL:
        return True
    wanted = await refill_settings(session, workspace.id)
    spent = await payments.spent_on_refills(session, workspace.id, now)
    return wanted.enabled and spent <= wanted.monthly_cap_cents and workspace.suspended_at is None


@dataclass(frozen=True, slots=True)
class CheckoutPage:
    """The page on which a person can pay until `expires_at`."""

    session_id: str
    url: str
    expires_at: datetime


async def note_opened(session: AsyncSession, payment_id: str, opened: CheckoutPage) -> None:
    """Note the provider's page for the payment. A state that a callback has set meanwhile stays."""
    payment = await _locked(session, payment_id)
    payment.session_id, payment.checkout_url, payment.expires_at = opened.session_id, opened.url, opened.expires_at
    if payment.status == PaymentStatus.CALLING:
        payment.status, payment.wake_at, payment.unclear = PaymentStatus.OPEN, opened.expires_at, False


async def note_taken(session: AsyncSession, payment_id: str, charge_id: str) -> None:
    """Note that the provider has taken the charge. Its callback brings the credits; until then the charge is read."""
    payment = await _locked(session, payment_id)
    now = await service_time(session)
    payment.charge_id, payment.unclear = charge_id, False
    if payment.status == PaymentStatus.CALLING:
        payment.status, payment.wake_at = PaymentStatus.PROCESSING, now + LOOK_AFTER
    elif payment.status == PaymentStatus.PROCESSING:
        payment.wake_at = now + LOOK_EVERY


async def note_ended(session: AsyncSession, payment_id: str, status: PaymentStatus, reason: str | None) -> None:
    """Note that the provider has refused the payment."""
    payment = await _locked(session, payment_id)
    await end_unpaid(session, payment, status, reason, now=await service_time(session))


async def note_busy(session: AsyncSession, payment_id: str) -> None:
    """Note that the provider certainly did nothing: call it again later, for `ASK_FOR`."""
    payment = await _locked(session, payment_id)
    now = await service_time(session)
    if payment.status != PaymentStatus.CALLING:
        return
    if now >= payment.created_at + ASK_FOR:
        await end_unpaid(session, payment, PaymentStatus.FAILED, "provider_unavailable", now=now)
        return
    payment.status, payment.wake_at = PaymentStatus.PENDING, now + ask_again_after(payment.call_number)


async def note_unclear(session: AsyncSession, payment_id: str) -> None:
    """Note that a call was not answered, or its result could not be read: read it later."""
    payment = await _locked(session, payment_id)
    now = await service_time(session)
    if payment.status == PaymentStatus.CALLING:
        payment.unclear = True
        payment.wake_at = now + READ_AFTER[min(payment.looks, len(READ_AFTER) - 1)]
    elif payment.status == PaymentStatus.PROCESSING:
        payment.wake_at = now + LOOK_AFTER


async def note_absent(session: AsyncSession, payment_id: str) -> None:
    """Note that the provider does not know the payment: read again, it may be late; after the last it was not made."""
    payment = await _locked(session, payment_id)
    now = await service_time(session)
    payment.looks += 1
    if payment.status in UNASKED and payment.looks < len(READ_AFTER):
        payment.unclear, payment.wake_at = True, now + READ_AFTER[payment.looks]
        return
    await end_unpaid(session, payment, PaymentStatus.FAILED, "not_made", now=now)


async def note_later(session: AsyncSession, payment_id: str) -> None:
    """Note that a call that may be repeated failed: make it again after `LOOK_AFTER`."""
    payment = await _locked(session, payment_id)
    payment.wake_at = await service_time(session) + LOOK_AFTER


async def _locked(session: AsyncSession, payment_id: str) -> Payment:
    payment = await payments.find_payment(session, payment_id, lock=True)
    if payment is None:
        raise LookupError("there is no payment of this id")
    return payment


REFILL_KIND = "refill"


@dataclass(frozen=True, slots=True)
class RefillSettings:
    """The auto-refill settings of an owner."""

    enabled: bool
    threshold_credits: int
    monthly_cap_cents: int


NO_REFILL = RefillSettings(enabled=False, threshold_credits=0, monthly_cap_cents=0)


def refill_subject(workspace_id: str) -> Subject:
    """Return the waiting row of a workspace's auto-refill."""
    return Subject(REFILL_KIND, workspace_id)


async def refill_settings(session: AsyncSession, workspace_id: str) -> RefillSettings:
    """Return a workspace's auto-refill settings, `NO_REFILL` where none were saved."""
    row = await _find_refill(session, workspace_id)
    return RefillSettings(row.enabled, row.threshold_credits, row.monthly_cap_cents) if row else NO_REFILL


async def save_refill_settings(
    session: AsyncSession, workspace_id: str, wanted: RefillSettings, *, now: datetime
) -> None:
    """Save the settings and forget declines, since the owner has looked at them. The caller wakes the auto-refill."""
    settings = {
        "enabled": wanted.enabled,
        "threshold_credits": wanted.threshold_credits,
        "monthly_cap_cents": wanted.monthly_cap_cents,
        "failures": 0,
        "retry_at": None,
        "updated_at": now,
    }
    made = {"id": workspace_id, "workspace_id": workspace_id, "rings": 0, "answered": 0}
    await session.execute(
        insert(AutoRefill).values(**made, **settings).on_conflict_do_update(index_elements=["id"], set_=settings)
    )


async def refill_standing(session: AsyncSession, workspace_id: str, *, now: datetime, configured: bool) -> Refilling:
    """Return everything that decides about a workspace's refill; `configured`: there is a payment provider."""
    row = await _find_refill(session, workspace_id)
    workspace = (await session.scalars(select(Workspace).where(col(Workspace.id) == workspace_id))).one()
    method = await payments.payment_method(session, workspace_id) if configured else None
    return Refilling(
        enabled=row is not None and row.enabled,
        can_be_charged=method is not None and workspace.suspended_at is None,
        balance_credits=await credits.balance(session, workspace_id),
        threshold_credits=row.threshold_credits if row else 0,
        monthly_cap_cents=row.monthly_cap_cents if row else 0,
        spent_cents=await payments.spent_on_refills(session, workspace_id, now),
        in_flight=await payments.refill_in_flight(session, workspace_id),
        failures=row.failures if row else 0,
        retry_at=row.retry_at if row else None,
        now=now,
    )


async def decide_auto_refill(
    session: AsyncSession, workspace_id: str, *, configured: bool
) -> tuple[RefillDecision, datetime]:
    """Return whether to buy a pack now, and if so add the payment and wake it. Marks every wake as answered."""
    query = select(AutoRefill).where(col(AutoRefill.id) == workspace_id).with_for_update()
    row = (await session.scalars(query)).one()
    now = await service_time(session)
    verdict = decide_refill(await refill_standing(session, workspace_id, now=now, configured=configured))
    row.answered, row.wake_at = row.rings, verdict.until
    if verdict.buy:
        payment = payments.add_payment(session, workspace_id, PaymentKind.REFILL, PACK, now=now)
        await session.flush()
        await outbox.wake(session, payments.payment_subject(payment.id))
    return verdict, now


async def wake_refill(session: AsyncSession, workspace_id: str) -> None:
    """Wake a workspace's auto-refill, if it has one."""
    await outbox.wake(session, refill_subject(workspace_id))


async def forget_declines(session: AsyncSession, workspace_id: str) -> None:
    """Forget declines, because of another payment method or a success."""
    await session.execute(
        text("update auto_refills set failures = 0, retry_at = null where id = :id"), {"id": workspace_id}
    )


async def note_decline(session: AsyncSession, workspace_id: str, now: datetime) -> None:
    """Note a declined refill: the next one waits longer each time."""
    query = select(AutoRefill).where(col(AutoRefill.id) == workspace_id).with_for_update()
    row = (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()
    if row is None:
        return
    row.failures += 1
    after = refill_retry_after(row.failures)
    row.retry_at = now + after if after else None
    await session.flush()


async def _find_refill(session: AsyncSession, workspace_id: str) -> AutoRefill | None:
    query = select(AutoRefill).where(col(AutoRefill.id) == workspace_id).execution_options(populate_existing=True)
    return (await session.scalars(query)).one_or_none()


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


async def end_unpaid(
    session: AsyncSession, payment: Payment, status: PaymentStatus, reason: str | None, *, now: datetime
) -> None:
    """End a locked payment without money, unless it is over already."""
    if payment.status in OVER:
        return
    payment.status, payment.reason, payment.wake_at, payment.unclear = status, reason, None, False
    await session.flush()
    if payment.kind == PaymentKind.REFILL:
        await note_decline(session, payment.workspace_id, now)
        await wake_refill(session, payment.workspace_id)
    await wake(session, payments.payment_subject(payment.id))
