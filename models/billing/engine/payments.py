"""The steps of a payment as transactions: what is due, that the provider is about to be asked, what it answered.

A call is noted before it is made. One that is found noted and not answered (its worker died, or the provider did not
answer) is never made again: what became of it is read back, later each time; after the last look a payment that the
provider does not know has not been made.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.access.tables import Workspace
from models.base.clock import service_time
from models.base.steps import Call, Decision, Do, Queue
from models.billing.engine import refills
from models.billing.engine.callbacks import not_paid
from models.billing.rules.payments import (
    ASK_FOR,
    CALL_SECONDS,
    LOOK_AFTER,
    LOOK_EVERY,
    READ_AFTER,
    UNASKED,
    PaymentKind,
    PaymentStatus,
    ask_again_after,
)
from models.billing.store import payments
from models.billing.tables import Payment

LEASE = timedelta(minutes=2)
"""A call that has not ended after this (service time) is looked after by the dispatcher."""


PAYMENT_CALL = "payment.call"
PAYMENT_END_PLANS = "payment.end_plans"
CALL_LIMIT_SECONDS = 3 * CALL_SECONDS
"""For the customer, the purchase itself, and the transactions around them."""
WAITS_FOR = {
    PaymentStatus.OPEN: "waits for the customer to pay",
    PaymentStatus.PROCESSING: "waits for the payment provider's callback",
    PaymentStatus.CALLING: "looks up later what became of it",
}


@dataclass(frozen=True, slots=True)
class PaymentOrder:
    """What the provider is asked for. `repeated`: it was asked already, and is only to be looked up.

    `customer_id` is what the provider knows the workspace by, `method_id` what is charged, null for a checkout.
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
    """Say what is due, and answer the wakes up to now."""
    payment = await _locked(session, payment_id)
    now = await service_time(session)
    payment.answered = payment.rings
    if payment.status == PaymentStatus.OPEN and payment.expires_at is not None and payment.expires_at <= now:
        await not_paid(session, payment, PaymentStatus.EXPIRED, None, now=now)
    status = PaymentStatus(payment.status)
    step, summary = "", ""
    match status:
        case PaymentStatus.PENDING:
            step, summary = PAYMENT_CALL, "asks the payment provider"
        case PaymentStatus.CALLING | PaymentStatus.PROCESSING:
            step, summary = PAYMENT_CALL, "looks up what became of it"
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
    """Note that the provider is about to be asked; null when the call has been overtaken, or is no longer wanted."""
    payment = await _locked(session, payment_id)
    repeated = payment.status != PaymentStatus.PENDING
    if repeated and payment.status not in (PaymentStatus.CALLING, PaymentStatus.PROCESSING):
        return None
    # An activity that runs again brings the number it was given, which is the row's by now: its call is repeated.
    if number not in (payment.call_number, payment.call_number + 1):
        return None
    now = await service_time(session)
    workspace = (await session.scalars(select(Workspace).where(col(Workspace.id) == payment.workspace_id))).one()
    if not repeated and not await _is_wanted(session, payment, workspace, now):
        # Not a decline: nobody was asked, and what is set next begins without waiting.
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
    """Whether a refill that nobody was asked for yet may be: its owner may have switched it off or lowered the cap."""
    if payment.kind != PaymentKind.REFILL:
        return True
    wished = await refills.wishes(session, workspace.id)
    spent = await payments.spent_on_refills(session, workspace.id, now)
    return wished.enabled and spent <= wished.monthly_cap_cents and workspace.suspended_at is None


@dataclass(frozen=True, slots=True)
class CheckoutPage:
    """A person can pay at this address until `expires_at`."""

    session_id: str
    url: str
    expires_at: datetime


async def note_opened(session: AsyncSession, payment_id: str, opened: CheckoutPage) -> None:
    """The provider has a page for the payment. What a callback has told meanwhile stays."""
    payment = await _locked(session, payment_id)
    payment.session_id, payment.checkout_url, payment.expires_at = opened.session_id, opened.url, opened.expires_at
    if payment.status == PaymentStatus.CALLING:
        payment.status, payment.wake_at, payment.unclear = PaymentStatus.OPEN, opened.expires_at, False


async def note_taken(session: AsyncSession, payment_id: str, charge_id: str) -> None:
    """The provider has taken the charge: its callback brings the credits; until then it is looked at."""
    payment = await _locked(session, payment_id)
    now = await service_time(session)
    payment.charge_id, payment.unclear = charge_id, False
    if payment.status == PaymentStatus.CALLING:
        payment.status, payment.wake_at = PaymentStatus.PROCESSING, now + LOOK_AFTER
    elif payment.status == PaymentStatus.PROCESSING:
        payment.wake_at = now + LOOK_EVERY


async def note_ended(session: AsyncSession, payment_id: str, status: PaymentStatus, reason: str | None) -> None:
    """The provider has refused it."""
    payment = await _locked(session, payment_id)
    await not_paid(session, payment, status, reason, now=await service_time(session))


async def note_busy(session: AsyncSession, payment_id: str) -> None:
    """The provider certainly did nothing: ask again a little later, for half an hour."""
    payment = await _locked(session, payment_id)
    now = await service_time(session)
    if payment.status != PaymentStatus.CALLING:
        return
    if now >= payment.created_at + ASK_FOR:
        await not_paid(session, payment, PaymentStatus.FAILED, "provider_unavailable", now=now)
        return
    payment.status, payment.wake_at = PaymentStatus.PENDING, now + ask_again_after(payment.call_number)


async def note_unclear(session: AsyncSession, payment_id: str) -> None:
    """The provider was asked and has not answered, or could not be looked up: look later."""
    payment = await _locked(session, payment_id)
    now = await service_time(session)
    if payment.status == PaymentStatus.CALLING:
        payment.unclear = True
        payment.wake_at = now + READ_AFTER[min(payment.looks, len(READ_AFTER) - 1)]
    elif payment.status == PaymentStatus.PROCESSING:
        payment.wake_at = now + LOOK_AFTER


async def note_absent(session: AsyncSession, payment_id: str) -> None:
    """The provider does not know the payment: look again, in case it is late; after the last look it was not made."""
    payment = await _locked(session, payment_id)
    now = await service_time(session)
    payment.looks += 1
    if payment.status in UNASKED and payment.looks < len(READ_AFTER):
        payment.unclear, payment.wake_at = True, now + READ_AFTER[payment.looks]
        return
    await not_paid(session, payment, PaymentStatus.FAILED, "not_made", now=now)


async def note_later(session: AsyncSession, payment_id: str) -> None:
    """Something that can be asked for any number of times did not work: ask again in ten minutes."""
    payment = await _locked(session, payment_id)
    payment.wake_at = await service_time(session) + LOOK_AFTER


async def _locked(session: AsyncSession, payment_id: str) -> Payment:
    payment = await payments.find_payment(session, payment_id, lock=True)
    if payment is None:
        raise LookupError("a payment's workflow has no row")
    return payment
