"""Charging for outreach accounts: what is due, and bringing the payment provider's side to it."""

from collections.abc import Awaitable, Callable

import structlog
from sqlalchemy.ext.asyncio import AsyncSession
from temporalio import activity

from activities.payments import CALL_LIMIT_SECONDS
from activities.upstream.payments import (
    OutreachAsk,
    Payments,
    PaymentsBusy,
    PaymentsDeclined,
    PaymentsRefused,
    PaymentsUnclear,
)
from models.database import Database
from models.rules.outreach_plans import Due
from models.stores.payments import outreach
from models.stores.payments.outreach import Decision, Order
from workflows import names
from workflows.contracts import Call, Do, NextStep, Queue, Step

SUMMARY_OF = {Due.CHANGE: "changes how many accounts are charged", Due.LOOK: "reads what is charged"}
REASON_OF = {Due.METHOD: "there is no payment method", Due.TIME: "waits for the next look, or for another try"}

Note = Callable[[AsyncSession], Awaitable[None]]
log = structlog.get_logger(__name__)


class OutreachPlanSteps:
    """What a workspace's outreach plan asks of the database and of the provider; `configured`: there is one."""

    def __init__(self, database: Database, payments: Payments, *, configured: bool) -> None:
        self._database = database
        self._payments = payments
        self._configured = configured

    @activity.defn(name=names.OUTREACH_PLAN_NEXT)
    async def next(self, step: Step) -> NextStep:
        """Say whether the provider is to be asked, or what is waited for."""
        decision = await self._database.run(
            lambda session: outreach.decide(session, step.id, configured=self._configured)
        )
        return _answer(decision, step.id)

    @activity.defn(name=names.OUTREACH_PLAN_CALL)
    async def call(self, step: Step) -> NextStep:
        """Bring the provider's side to the change that is open, or look at it, and write what is known then."""
        order = await self._database.run(lambda session: outreach.begin(session, step.id, step.number))
        await self._database.run(await self._ask(order))
        return await self.next(step)

    async def _ask(self, order: Order) -> Note:
        try:
            return await self._hold(order)
        except PaymentsDeclined as error:
            return _refused(order, str(error), declined=True)
        except PaymentsRefused as error:
            return _refused(order, str(error), declined=False)
        except (PaymentsBusy, PaymentsUnclear) as error:
            unclear = isinstance(error, PaymentsUnclear)
            log.warning("outreach_plan.no_answer", workspace_id=order.workspace_id, error=type(error).__name__)
            return lambda session: outreach.note_unanswered(
                session, order.workspace_id, order.change_id, unclear=unclear
            )

    async def _hold(self, order: Order) -> Note:
        if order.customer_id is None:
            raise PaymentsRefused("no_customer")
        if order.change_id is None:
            held = await self._payments.find_outreach(order.workspace_id, order.customer_id)
        else:
            held = await self._payments.hold_outreach(
                OutreachAsk(order.change_id, order.workspace_id, order.customer_id, order.method_id, order.accounts)
            )
        return lambda session: outreach.note_held(session, order.workspace_id, order.change_id, held)


def _refused(order: Order, reason: str, *, declined: bool) -> Note:
    log.warning("outreach_plan.refused", workspace_id=order.workspace_id, code=reason, declined=declined)
    change_id = order.change_id
    if change_id is None:
        return lambda session: outreach.note_unanswered(session, order.workspace_id, None, unclear=False)
    return lambda session: outreach.note_refused(session, order.workspace_id, change_id, reason, declined=declined)


def _answer(decision: Decision, workspace_id: str) -> NextStep:
    details = f"**{decision.accounts} accounts**"
    if decision.due is Due.NOTHING:
        return NextStep(do=Do.DONE, details=details)
    if decision.due in REASON_OF:
        wait = (decision.until - decision.now).total_seconds() if decision.until else None
        reason = REASON_OF[decision.due]
        return NextStep(do=Do.WAIT, wait_seconds=wait, reason=reason, details=f"{details}: {reason}")
    call = Call(
        step=names.OUTREACH_PLAN_CALL,
        number=decision.number,
        queue=Queue.PAYMENTS,
        summary=SUMMARY_OF[decision.due],
        limit_seconds=CALL_LIMIT_SECONDS,
        fairness_key=workspace_id,
    )
    return NextStep(do=Do.ACT, call=call, details=details)
