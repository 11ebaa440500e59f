"""Payments, the provider's callbacks, auto-refill, and charging for outreach accounts."""

from collections.abc import Awaitable, Callable
from functools import partial

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from activities.steps import steps
from activities.upstream.payments import (
    Buyer,
    ChargeAsk,
    Checkout,
    CheckoutAsk,
    OutreachAsk,
    Payments,
    PaymentsBusy,
    PaymentsDeclined,
    PaymentsRefused,
    PaymentsUnclear,
    ProviderCharge,
)
from models.base.database import Database, service_time
from models.base.secrets import Vault
from models.base.steps import Do, NextStep, Queue, Step, served_step
from models.billing.engine import callbacks, outreach_plans
from models.billing.engine.outreach_plans import OutreachPlanOrder
from models.billing.engine.payments import (
    PAYMENT_CALL,
    PAYMENT_END_PLANS,
    CheckoutPage,
    PaymentOrder,
    begin_payment_call,
    decide_auto_refill,
    decide_payment,
    note_absent,
    note_busy,
    note_ended,
    note_later,
    note_opened,
    note_taken,
    note_unclear,
)
from models.billing.rules.payments import PaymentEvent, PaymentKind, PaymentStatus
from models.billing.rules.prices import OFFER_OF
from models.billing.store.payments import find_payment, note_replaced, plans_to_end, remember_customer

Note = Callable[[AsyncSession], Awaitable[None]]
"""How to write what the provider answered."""

log = structlog.get_logger(__name__)


@steps
class PaymentSteps:
    """The steps of a payment. A method that calls the provider returns how to write the result."""

    def __init__(self, database: Database, payments: Payments) -> None:
        self._database = database
        self._payments = payments

    @served_step("payment.next")
    async def next(self, step: Step) -> NextStep:
        """Return whether to call the provider, or what to wait for."""
        decision = await self._database.run(lambda session: decide_payment(session, step.id))
        return decision.next_step

    @served_step(PAYMENT_CALL, Queue.PAYMENTS)
    async def call(self, step: Step) -> NextStep:
        """Call the provider once, or read back the result of an earlier call, and write the result."""
        order = await self._database.run(lambda session: begin_payment_call(session, step.id, step.number))
        if order is not None:
            note = await self._ask(order)
            await self._database.run(note)
        return await self.next(step)

    @served_step(PAYMENT_END_PLANS, Queue.PAYMENTS)
    async def end_plans(self, step: Step) -> NextStep:
        """Have the provider end the plans that the one just bought replaces."""
        async with self._database.reading() as session:
            payment = await find_payment(session, step.id)
            plans = await plans_to_end(session, payment) if payment is not None else []
        for plan_id in plans:
            try:
                await self._payments.end_plan(plan_id)
            except (PaymentsBusy, PaymentsUnclear, PaymentsRefused) as error:
                log.warning("payment.plan_not_ended", payment_id=step.id, error=type(error).__name__)
                await self._database.run(lambda session: note_later(session, step.id))
                break
            await self._database.run(partial(note_replaced, plan_id=plan_id))
        return await self.next(step)

    async def _ask(self, order: PaymentOrder) -> Note:
        """Call the provider and return how to write its answer, or that there was none."""
        try:
            customer = order.customer_id or await self._introduce(order)
            if order.repeated:
                return await self._look(order, customer)
            return await self._buy(order, customer)
        except PaymentsRefused as error:
            reason = str(error)
            log.warning("payment.refused", payment_id=order.payment_id, code=reason)
            return lambda session: note_ended(session, order.payment_id, PaymentStatus.FAILED, reason)
        except PaymentsBusy as error:
            log.warning("payment.provider_busy", payment_id=order.payment_id, error=type(error).__name__)
            if order.repeated:
                return lambda session: note_unclear(session, order.payment_id)
            return lambda session: note_busy(session, order.payment_id)
        except PaymentsUnclear:
            log.warning("payment.unclear", payment_id=order.payment_id)
            return lambda session: note_unclear(session, order.payment_id)

    async def _introduce(self, order: PaymentOrder) -> str:
        """Add the workspace as the provider's customer. Without an answer nothing was bought, so it is repeated."""
        try:
            customer = await self._payments.customer(Buyer(order.workspace_id, order.workspace_name, order.email))
        except PaymentsUnclear as error:
            raise PaymentsBusy("no customer yet") from error

        async def remember(session: AsyncSession) -> None:
            now = await service_time(session)
            await remember_customer(session, order.workspace_id, customer, now=now)

        await self._database.run(remember)
        return customer

    async def _buy(self, order: PaymentOrder, customer: str) -> Note:
        offer = OFFER_OF[order.item]
        if order.kind is PaymentKind.CHECKOUT:
            page = CheckoutAsk(
                order.payment_id, order.workspace_id, customer, offer, order.success_url, order.cancel_url
            )
            return _opened(order, await self._payments.open_checkout(page))
        if order.method_id is None:
            return _declined(order, "no_payment_method")
        asked = ChargeAsk(order.payment_id, order.workspace_id, customer, order.method_id, offer)
        return _charged(order, await self._payments.charge(asked))

    async def _look(self, order: PaymentOrder, customer: str) -> Note:
        if order.kind is PaymentKind.CHECKOUT:
            checkout = await self._payments.find_checkout(order.payment_id, customer)
            return _absent(order) if checkout is None else _opened(order, checkout)
        charge = await self._payments.find_charge(order.payment_id, customer)
        if order.status is PaymentStatus.PROCESSING:
            log.warning("payment.callback_missing", payment_id=order.payment_id)
        return _absent(order) if charge is None else _charged(order, charge)


def _opened(order: PaymentOrder, checkout: Checkout) -> Note:
    opened = CheckoutPage(checkout.session_id, checkout.url, checkout.expires_at)
    return lambda session: note_opened(session, order.payment_id, opened)


def _charged(order: PaymentOrder, charge: ProviderCharge) -> Note:
    if charge.declined is not None or charge.charge_id is None:
        return _declined(order, charge.declined)
    charge_id = charge.charge_id
    return lambda session: note_taken(session, order.payment_id, charge_id)


def _declined(order: PaymentOrder, reason: str | None) -> Note:
    return lambda session: note_ended(session, order.payment_id, PaymentStatus.DECLINED, reason)


def _absent(order: PaymentOrder) -> Note:
    return lambda session: note_absent(session, order.payment_id)


@steps
class CallbackSteps:
    """The step of a callback."""

    def __init__(self, database: Database, vault: Vault, payments: Payments) -> None:
        self._database = database
        self._vault = vault
        self._payments = payments

    @served_step("callback.next")
    async def next(self, step: Step) -> NextStep:
        """Apply the callback and empty it in one transaction."""

        async def work(session: AsyncSession) -> None:
            row = await callbacks.lock_waiting_callback(session, step.id)
            if row is None or row.body is None:
                return
            body = self._vault.open(callbacks.BODY_PURPOSE, row.body)
            now = await service_time(session)
            for event in self._read(step.id, body):
                await callbacks.apply_payment_event(session, event, now=now)
            row.body, row.processed_at = None, now

        await self._database.run(work)
        return NextStep(do=Do.DONE)

    def _read(self, event_id: str, body: bytes) -> tuple[PaymentEvent, ...]:
        try:
            return self._payments.read_callback(body)
        except ValueError:
            log.warning("callback.unreadable", event_id=event_id)
            return ()


@steps
class RefillSteps:
    """The step of a workspace's auto-refill; `sells`: there is a payment provider."""

    def __init__(self, database: Database, *, sells: bool) -> None:
        self._database = database
        self._sells = sells

    @served_step("refill.next")
    async def next(self, step: Step) -> NextStep:
        """Buy a pack when it is time, or return what to wait for."""
        sells = self._sells
        verdict, now = await self._database.run(lambda session: decide_auto_refill(session, step.id, configured=sells))
        if verdict.over:
            return NextStep(do=Do.DONE, details=verdict.reason)
        wait = (verdict.until - now).total_seconds() if verdict.until else None
        reason = "waits for the purchase" if verdict.buy else verdict.reason
        return NextStep(do=Do.WAIT, wait_seconds=wait, reason=reason, details=reason)


@steps
class OutreachPlanSteps:
    """The steps of a workspace's outreach plan; `sells`: there is a payment provider."""

    def __init__(self, database: Database, payments: Payments, *, sells: bool) -> None:
        self._database = database
        self._payments = payments
        self._sells = sells

    @served_step("outreach_plan.next")
    async def next(self, step: Step) -> NextStep:
        """Return whether to call the provider, or what to wait for."""
        decision = await self._database.run(
            lambda session: outreach_plans.decide_outreach_plan(session, step.id, configured=self._sells)
        )
        return decision.next_step

    @served_step(outreach_plans.OUTREACH_PLAN_CALL, Queue.PAYMENTS)
    async def call(self, step: Step) -> NextStep:
        """Bring the provider's subscription to the open change, or read it, and write the result."""
        order = await self._database.run(lambda session: outreach_plans.begin_plan_call(session, step.id, step.number))
        await self._database.run(await self._ask(order))
        return await self.next(step)

    async def _ask(self, order: OutreachPlanOrder) -> Note:
        try:
            return await self._hold(order)
        except PaymentsDeclined as error:
            return _refused(order, str(error), declined=True)
        except PaymentsRefused as error:
            return _refused(order, str(error), declined=False)
        except (PaymentsBusy, PaymentsUnclear) as error:
            unclear = isinstance(error, PaymentsUnclear)
            log.warning("outreach_plan.no_answer", workspace_id=order.workspace_id, error=type(error).__name__)
            return lambda session: outreach_plans.note_unanswered(
                session, order.workspace_id, order.change_id, unclear=unclear
            )

    async def _hold(self, order: OutreachPlanOrder) -> Note:
        if order.customer_id is None:
            raise PaymentsRefused("no_customer")
        if order.change_id is None:
            held = await self._payments.find_outreach(order.workspace_id, order.customer_id)
        else:
            held = await self._payments.hold_outreach(
                OutreachAsk(order.change_id, order.workspace_id, order.customer_id, order.method_id, order.accounts)
            )
        return lambda session: outreach_plans.note_held(session, order.workspace_id, order.change_id, held)


def _refused(order: OutreachPlanOrder, reason: str, *, declined: bool) -> Note:
    log.warning("outreach_plan.refused", workspace_id=order.workspace_id, code=reason, declined=declined)
    change_id = order.change_id
    if change_id is None:
        return lambda session: outreach_plans.note_unanswered(session, order.workspace_id, None, unclear=False)
    return lambda session: outreach_plans.note_refused(
        session, order.workspace_id, change_id, reason, declined=declined
    )
