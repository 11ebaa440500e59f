"""What is charged for outreach accounts, as rows: how many there are, each change of it, and what the provider holds.

A change is a row before the provider hears of it. It says how many accounts are charged, not how many more, and its id
is the idempotency key, so that one whose answer was lost is asked for again under the same id.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base import outbox
from models.base.clock import service_time
from models.base.errors import Conflict
from models.base.ids import new_id
from models.base.steps import Call, Decision, Do, Queue
from models.base.subjects import Subject
from models.billing.rules.outreach_plans import (
    LOOK_EVERY,
    Charging,
    DueChange,
    OutreachPaying,
    ProviderSubscription,
    due_change,
    paying,
    plan_retry_after,
)
from models.billing.rules.payments import (
    CALL_SECONDS,
    READ_AFTER,
    OutreachSubscriptionChanged,
    PlanStatus,
    ask_again_after,
)
from models.billing.rules.prices import outreach_price_cents
from models.billing.store import payments
from models.billing.tables import OutreachChange, OutreachPlan

KIND = "outreach_plan"
OUTREACH_PLAN_CALL = "outreach_plan.call"
CALL_LIMIT_SECONDS = 3 * CALL_SECONDS
WAITS_FOR = {
    DueChange.METHOD: "there is no payment method",
    DueChange.TIME: "waits for the next look, or for another try",
}
LEASE = timedelta(minutes=2)
"""A call that has not ended after this (service time) is made again."""
REFUSED_AGAIN = timedelta(days=1)
"""When a change that the provider refused for what it says is tried again: an operator has to look."""
UNCLEAR_AT_MOST = len(READ_AFTER)
"""After so many calls without an answer the change ends, and another id takes its place: the provider is looked at
first, and some providers repeat an error under the same id."""

COUNT = text(
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


def outreach_plan_subject(workspace_id: str) -> Subject:
    """Return the workspace's outreach plan as a waiting row."""
    return Subject(KIND, workspace_id)


async def wake_outreach_plan(session: AsyncSession, workspace_id: str) -> None:
    """Have what the workspace is charged compared with what it has; when an account came or went, or a card."""
    await session.flush()
    await session.execute(ADD_OR_WAKE, {"workspace": workspace_id})
    await outbox.notify(session)


async def accounts(session: AsyncSession, workspace_id: str) -> int:
    """How many accounts of the workspace and its customers are to be paid for."""
    return int(await session.scalar(COUNT, {"workspace": workspace_id}) or 0)


@dataclass(frozen=True, slots=True)
class OutreachPlanStanding:
    """What a workspace pays for outreach and how that stands; holds begin at `holds_at`."""

    accounts: int
    paying: OutreachPaying
    unpaid_since: datetime | None


async def outreach_plan_standing(
    session: AsyncSession, workspace_id: str, *, now: datetime, configured: bool
) -> OutreachPlanStanding:
    """How paying for outreach stands; off where there is no payment provider."""
    wanted = await accounts(session, workspace_id)
    plan = await _find(session, workspace_id)
    if not configured:
        return OutreachPlanStanding(wanted, OutreachPaying.OFF, None)
    unpaid_since = plan.unpaid_since if plan else None
    charged = plan.charged if plan else 0
    return OutreachPlanStanding(
        wanted, paying(wanted=wanted, charged=charged, unpaid_since=unpaid_since, now=now), unpaid_since
    )


async def check_can_connect(session: AsyncSession, workspace_id: str, *, configured: bool) -> None:
    """Raise `Conflict` where payments are configured and an account more could not be paid."""
    if not configured:
        return
    if await payments.payment_method(session, workspace_id) is None:
        raise Conflict(
            "Connecting an outreach account needs a payment method.",
            reason="payment_method_missing",
            fix="Buy something with POST /v1/billing/checkout: the card is kept for what follows.",
        )
    plan = await _find(session, workspace_id)
    if plan is not None and plan.unpaid_since is not None:
        raise Conflict(
            "The outreach accounts that are there are unpaid.",
            reason="outreach_unpaid",
            fix="Pay with another card at POST /v1/billing/checkout: it is charged from then on.",
        )


async def _find(session: AsyncSession, workspace_id: str, *, lock: bool = False) -> OutreachPlan | None:
    query = select(OutreachPlan).where(col(OutreachPlan.id) == workspace_id)
    if lock:
        query = query.with_for_update()
    return (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()


async def _locked(session: AsyncSession, workspace_id: str) -> OutreachPlan:
    plan = await _find(session, workspace_id, lock=True)
    if plan is None:
        raise LookupError("an outreach plan's workflow has no row")
    return plan


async def _open_change(session: AsyncSession, workspace_id: str) -> OutreachChange | None:
    query = select(OutreachChange).where(
        col(OutreachChange.workspace_id) == workspace_id, col(OutreachChange.status).in_(["pending", "calling"])
    )
    return (await session.scalars(query)).one_or_none()


async def decide_outreach_plan(session: AsyncSession, workspace_id: str, *, configured: bool) -> Decision:
    """Say what is due, and answer the wakes up to now; a change that is due is added."""
    plan = await _locked(session, workspace_id)
    now = await service_time(session)
    plan.answered = plan.rings
    wanted = await accounts(session, workspace_id)
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
                status="pending",
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
    """What the provider is to hold; null `change_id`: it is only looked at."""

    change_id: str | None
    workspace_id: str
    customer_id: str | None
    method_id: str | None
    accounts: int


async def begin_plan_call(session: AsyncSession, workspace_id: str, number: int) -> OutreachPlanOrder:
    """Note that the provider is about to be asked. A call that was overtaken only looks."""
    plan = await _locked(session, workspace_id)
    customer_id = await payments.provider_customer(session, workspace_id)
    change = await _open_change(session, workspace_id)
    # An activity that runs again brings the number it was given, which is the row's by now: its call is repeated.
    if change is None or number not in (change.call_number, change.call_number + 1):
        return OutreachPlanOrder(None, workspace_id, customer_id, plan.method_id, plan.charged)
    change.status, change.call_number, change.unclear = "calling", number, False
    plan.wake_at = await service_time(session) + LEASE
    return OutreachPlanOrder(change.id, workspace_id, customer_id, change.method_id, change.accounts)


async def note_held(
    session: AsyncSession, workspace_id: str, change_id: str | None, held: ProviderSubscription
) -> None:
    """Write down what the provider holds: a change is done, or it was looked at while none was open."""
    plan = await _locked(session, workspace_id)
    now = await service_time(session)
    change = await _open_change(session, workspace_id)
    if (change.id if change else None) != change_id:
        return
    if change is not None:
        change.status, change.unclear, change.reason, change.ended_at = "done", False, None, now
        plan.failures, plan.retry_at = 0, None
    plan.subscription_id, plan.charged, plan.method_id = held.subscription_id, held.accounts, held.method_id
    plan.looked_at, plan.wake_at = now, None
    _take_status(plan, held.status, now)


def _take_status(plan: OutreachPlan, status: PlanStatus, now: datetime) -> None:
    plan.past_due = status is PlanStatus.PAST_DUE
    if plan.past_due:
        plan.unpaid_since = plan.unpaid_since or now


async def note_refused(
    session: AsyncSession, workspace_id: str, change_id: str, reason: str, *, declined: bool
) -> None:
    """The card was declined, or the provider will not do it: nothing is charged anew, and it is tried again later."""
    plan = await _locked(session, workspace_id)
    now = await service_time(session)
    change = await _open_change(session, workspace_id)
    if change is None or change.id != change_id:
        return
    change.status, change.reason, change.ended_at = "declined" if declined else "failed", reason, now
    plan.wake_at = None
    plan.failures += 1
    plan.retry_at = now + (plan_retry_after(plan.failures) if declined else REFUSED_AGAIN)
    plan.unpaid_since = plan.unpaid_since or now


async def note_unanswered(session: AsyncSession, workspace_id: str, change_id: str | None, *, unclear: bool) -> None:
    """The provider was not reached, or was asked and has not answered: ask again under the same id, later each time."""
    plan = await _locked(session, workspace_id)
    now = await service_time(session)
    change = await _open_change(session, workspace_id)
    if change is None or change.id != change_id:
        plan.looked_at = now  # the look of the day is left out
        return
    if unclear and change.call_number >= UNCLEAR_AT_MOST:
        change.status, change.reason, change.ended_at, plan.wake_at = "failed", "no_answer", now, None
        return
    again = READ_AFTER[change.call_number - 1] if unclear else ask_again_after(change.call_number)
    change.unclear, plan.wake_at = True, now + again


async def hear(session: AsyncSession, told: OutreachSubscriptionChanged, *, now: datetime) -> None:
    """The provider tells how the subscription stands. One that is not the plan's, or was heard of later, is nothing."""
    plan = await _find(session, told.workspace_id, lock=True)
    if plan is None or plan.subscription_id != told.subscription_id:
        return
    if plan.changed_at is not None and plan.changed_at > told.at and told.status is not PlanStatus.ENDED:
        return
    plan.changed_at = told.at
    if told.status is PlanStatus.ENDED:
        plan.subscription_id, plan.charged, plan.method_id, plan.past_due = None, 0, None, False
        plan.looked_at = None
        if await accounts(session, plan.workspace_id):
            plan.unpaid_since = plan.unpaid_since or now
    else:
        _take_status(plan, told.status, now)
    await session.flush()
    await wake_outreach_plan(session, plan.workspace_id)


async def new_card(session: AsyncSession, workspace_id: str) -> None:
    """Another payment method, or one less: what was declined is tried again at once."""
    await session.execute(
        text("update outreach_plans set failures = 0, retry_at = null where id = :id"), {"id": workspace_id}
    )
    await wake_outreach_plan(session, workspace_id)


async def look_again(session: AsyncSession, *, before: timedelta) -> None:
    """Have every workspace's outreach plan read at the provider again, as if the last look were so long ago."""
    await session.execute(
        text("update outreach_plans set looked_at = looked_at - cast(:before as interval), rings = rings + 1"),
        {"before": before},
    )
    await outbox.notify(session)
