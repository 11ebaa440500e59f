"""Charging for outreach accounts: how many there are, each change of that number, and the provider's subscription.

A change is written before the provider is called. It says how many accounts are charged, not how many more, and its id
is the idempotency key, so that a change whose answer was lost is asked for again under the same id.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base import outbox
from models.base.database import service_time
from models.base.errors import Conflict
from models.base.ids import new_id
from models.base.steps import Call, Decision, Do, Queue
from models.billing.rules.outreach_plans import (
    LOOK_EVERY,
    ChangeStatus,
    Charging,
    DueChange,
    OutreachPaying,
    ProviderSubscription,
    due_change,
    paying,
    plan_retry_after,
)
from models.billing.rules.payments import CALL_SECONDS, READ_AFTER, PlanStatus, ask_again_after
from models.billing.rules.prices import outreach_price_cents
from models.billing.store import payments
from models.billing.tables import OutreachChange, OutreachPlan

OUTREACH_PLAN_CALL = "outreach_plan.call"
CALL_LIMIT_SECONDS = 3 * CALL_SECONDS
WAITS_FOR = {
    DueChange.METHOD: "there is no payment method",
    DueChange.TIME: "waits for the next look, or for another try",
}
OPEN_CHANGES = (ChangeStatus.PENDING, ChangeStatus.CALLING)
LEASE = timedelta(minutes=2)
"""A call that has not ended after this (service time) is made again."""
REFUSED_AGAIN = timedelta(days=1)
"""When a change that the provider refused as invalid is tried again: an operator has to look."""
UNCLEAR_AT_MOST = len(READ_AFTER)
"""After this number of calls without an answer the change ends and one with another id follows, because some providers
repeat an error under the same id. The subscription is read before."""


@dataclass(frozen=True, slots=True)
class OutreachPlanStanding:
    """How many outreach accounts a workspace pays for, whether they are paid, and since when not."""

    accounts: int
    paying: OutreachPaying
    unpaid_since: datetime | None


async def outreach_plan_standing(
    session: AsyncSession, workspace_id: str, *, now: datetime, configured: bool
) -> OutreachPlanStanding:
    """Return whether the workspace's outreach accounts are paid; off where there is no payment provider."""
    wanted = await payments.count_accounts(session, workspace_id)
    plan = await payments.find_outreach_plan(session, workspace_id)
    if not configured:
        return OutreachPlanStanding(wanted, OutreachPaying.OFF, None)
    unpaid_since = plan.unpaid_since if plan else None
    charged = plan.charged if plan else 0
    return OutreachPlanStanding(
        wanted, paying(wanted=wanted, charged=charged, unpaid_since=unpaid_since, now=now), unpaid_since
    )


async def check_can_connect(session: AsyncSession, workspace_id: str, *, configured: bool) -> None:
    """Raise `Conflict` where payments are configured and one more account could not be charged."""
    if not configured:
        return
    if await payments.payment_method(session, workspace_id) is None:
        raise Conflict(
            "Connecting an outreach account needs a payment method.",
            reason="payment_method_missing",
            fix="Buy a plan or a pack with POST /v1/billing/checkout: the card is saved for later charges.",
        )
    plan = await payments.find_outreach_plan(session, workspace_id)
    if plan is not None and plan.unpaid_since is not None:
        raise Conflict(
            "The present outreach accounts are unpaid.",
            reason="outreach_unpaid",
            fix="Pay with another card at POST /v1/billing/checkout: later charges use it.",
        )


async def _locked(session: AsyncSession, workspace_id: str) -> OutreachPlan:
    plan = await payments.find_outreach_plan(session, workspace_id, lock=True)
    if plan is None:
        raise LookupError("there is no outreach plan of this workspace")
    return plan


async def _open_change(session: AsyncSession, workspace_id: str) -> OutreachChange | None:
    query = select(OutreachChange).where(
        col(OutreachChange.workspace_id) == workspace_id, col(OutreachChange.status).in_(OPEN_CHANGES)
    )
    return (await session.scalars(query)).one_or_none()


async def decide_outreach_plan(session: AsyncSession, workspace_id: str, *, configured: bool) -> Decision:
    """Return what is due, add a change that is due, and mark every wake up to now as answered."""
    plan = await _locked(session, workspace_id)
    now = await service_time(session)
    plan.answered = plan.rings
    wanted = await payments.count_accounts(session, workspace_id)
    if not configured:
        plan.wake_at = now + LOOK_EVERY if wanted else None
        return _decision(workspace_id, DueChange.TIME if wanted else DueChange.NOTHING, wanted, now, plan.wake_at)
    change = await _open_change(session, workspace_id)
    if change is not None:
        until = plan.wake_at if plan.wake_at is not None and plan.wake_at > now else None
        due = DueChange.CHANGE if until is None else DueChange.TIME
        return _decision(workspace_id, due, wanted, now, until, number=change.call_number + 1)
    at = await _charging(session, plan, wanted, now)
    if at.settled:
        plan.unpaid_since, plan.failures, plan.retry_at = None, 0, None
    what, until = due_change(at)
    if what is DueChange.METHOD:
        plan.unpaid_since = plan.unpaid_since or now
        until = now + LOOK_EVERY
    plan.wake_at = until
    if what is DueChange.CHANGE:
        session.add(
            OutreachChange(
                id=new_id("pay", now),
                workspace_id=workspace_id,
                accounts=wanted,
                amount_cents=outreach_price_cents(wanted),
                method_id=at.method,
                status=ChangeStatus.PENDING,
                created_at=now,
            )
        )
    return _decision(workspace_id, what, wanted, now, until)


def _decision(
    workspace_id: str, due: DueChange, wanted: int, now: datetime, until: datetime | None, *, number: int = 1
) -> Decision:
    details = f"**{wanted} accounts**"
    if due is DueChange.NOTHING:
        return Decision(Do.DONE, now, details=details)
    if due in WAITS_FOR:
        reason = WAITS_FOR[due]
        return Decision(Do.WAIT, now, until=until, reason=reason, details=f"{details}: {reason}")
    call = Call(
        step=OUTREACH_PLAN_CALL,
        number=number,
        queue=Queue.PAYMENTS,
        summary="reads what is charged" if due is DueChange.LOOK else "changes how many accounts are charged",
        limit_seconds=CALL_LIMIT_SECONDS,
        fairness_key=workspace_id,
    )
    return Decision(Do.ACT, now, call, details=details)


async def _charging(session: AsyncSession, plan: OutreachPlan, wanted: int, now: datetime) -> Charging:
    return Charging(
        wanted=wanted,
        charged=plan.charged,
        method=await payments.payment_method(session, plan.workspace_id),
        charged_method=plan.method_id,
        past_due=plan.past_due,
        retry_at=plan.retry_at,
        looked_at=plan.looked_at,
        now=now,
    )


@dataclass(frozen=True, slots=True)
class OutreachPlanOrder:
    """The subscription that the provider is asked for; null `change_id`: it is only read."""

    change_id: str | None
    workspace_id: str
    customer_id: str | None
    method_id: str | None
    accounts: int


async def begin_plan_call(session: AsyncSession, workspace_id: str, number: int) -> OutreachPlanOrder:
    """Note that the provider is about to be called. An outdated call only reads the subscription."""
    plan = await _locked(session, workspace_id)
    customer_id = await payments.provider_customer(session, workspace_id)
    change = await _open_change(session, workspace_id)
    # An activity that runs again brings its old number, which the row has by now: its call is repeated.
    if change is None or number not in (change.call_number, change.call_number + 1):
        return OutreachPlanOrder(None, workspace_id, customer_id, plan.method_id, plan.charged)
    change.status, change.call_number, change.unclear = ChangeStatus.CALLING, number, False
    plan.wake_at = await service_time(session) + LEASE
    return OutreachPlanOrder(change.id, workspace_id, customer_id, change.method_id, change.accounts)


async def note_held(
    session: AsyncSession, workspace_id: str, change_id: str | None, held: ProviderSubscription
) -> None:
    """Write the provider's subscription: a change is done, or it was read while none was open."""
    plan = await _locked(session, workspace_id)
    now = await service_time(session)
    change = await _open_change(session, workspace_id)
    if (change.id if change else None) != change_id:
        return
    if change is not None:
        change.status, change.unclear, change.reason, change.ended_at = ChangeStatus.DONE, False, None, now
        plan.failures, plan.retry_at = 0, None
    plan.subscription_id, plan.charged, plan.method_id = held.subscription_id, held.accounts, held.method_id
    plan.looked_at, plan.wake_at = now, None
    plan.past_due = held.status is PlanStatus.PAST_DUE
    if plan.past_due:
        plan.unpaid_since = plan.unpaid_since or now


async def note_refused(
    session: AsyncSession, workspace_id: str, change_id: str, reason: str, *, declined: bool
) -> None:
    """Note that the card was declined or the provider refused: nothing more is charged, and it is tried again later."""
    plan = await _locked(session, workspace_id)
    now = await service_time(session)
    change = await _open_change(session, workspace_id)
    if change is None or change.id != change_id:
        return
    change.status, change.reason, change.ended_at = (
        ChangeStatus.DECLINED if declined else ChangeStatus.FAILED,
        reason,
        now,
    )
    plan.wake_at = None
    plan.failures += 1
    plan.retry_at = now + (plan_retry_after(plan.failures) if declined else REFUSED_AGAIN)
    plan.unpaid_since = plan.unpaid_since or now


async def note_unanswered(session: AsyncSession, workspace_id: str, change_id: str | None, *, unclear: bool) -> None:
    """Note that the provider was not reached or did not answer: call again under the same id, later each time."""
    plan = await _locked(session, workspace_id)
    now = await service_time(session)
    change = await _open_change(session, workspace_id)
    if change is None or change.id != change_id:
        plan.looked_at = now  # today's read is skipped
        return
    if unclear and change.call_number >= UNCLEAR_AT_MOST:
        change.status, change.reason, change.ended_at, plan.wake_at = ChangeStatus.FAILED, "no_answer", now, None
        return
    again = READ_AFTER[change.call_number - 1] if unclear else ask_again_after(change.call_number)
    change.unclear, plan.wake_at = True, now + again


async def read_all_again(session: AsyncSession, *, before: timedelta) -> None:
    """Wake every outreach plan and read its subscription again, as if the last read were `before` longer ago."""
    await session.execute(
        text("update outreach_plans set looked_at = looked_at - cast(:before as interval), rings = rings + 1"),
        {"before": before},
    )
    await outbox.notify(session)
