"""Payments: what is due, asking the provider, working its callbacks in, and auto-refill."""

from collections.abc import Awaitable, Callable
from functools import partial

import structlog
from sqlalchemy.ext.asyncio import AsyncSession
from temporalio import activity

from activities.upstream.payments import (
    Buyer,
    Charge,
    ChargeAsk,
    Checkout,
    CheckoutAsk,
    Payments,
    PaymentsBusy,
    PaymentsRefused,
    PaymentsUnclear,
)
from models.clock import service_time
from models.database import Database
from models.rules.offers import OFFER_OF
from models.rules.payments import CALL_SECONDS, Happening, PaymentKind, PaymentStatus
from models.secrets import Vault
from models.stores import callbacks, refills
from models.stores.payments import applying, rows, steps
from models.stores.payments.steps import Decision, Need, Opened, Order
from workflows import names
from workflows.contracts import Call, Do, NextStep, Queue, Step

CALL_LIMIT_SECONDS = 3 * CALL_SECONDS
"""For the customer, the purchase itself, and the transactions around them."""
STEP_OF = {
    Need.CALL: names.PAYMENT_CALL,
    Need.LOOK: names.PAYMENT_CALL,
    Need.END_PLANS: names.PAYMENT_END_PLANS,
}
SUMMARY_OF = {
    Need.CALL: "asks the payment provider",
    Need.LOOK: "looks up what became of it",
    Need.END_PLANS: "ends the plan that was replaced",
}

log = structlog.get_logger(__name__)


class PaymentSteps:
    """What a payment asks of the database and of the provider."""

    def __init__(self, database: Database, payments: Payments) -> None:
        self._database = database
        self._payments = payments

    @activity.defn(name=names.PAYMENT_NEXT)
    async def next(self, step: Step) -> NextStep:
        """Say whether the provider is to be asked, or what is waited for."""
        return _answer(await self._database.run(lambda session: steps.decide(session, step.id)))

    @activity.defn(name=names.PAYMENT_CALL)
    async def call(self, step: Step) -> NextStep:
        """Ask the provider once, or look up what became of an earlier call, and write what is known then."""
        order = await self._database.run(lambda session: steps.begin(session, step.id, step.number))
        if order is not None:
            note = await self._ask(order)
            await self._database.run(note)
        return await self.next(step)

    @activity.defn(name=names.PAYMENT_END_PLANS)
    async def end_plans(self, step: Step) -> NextStep:
        """Have the provider end the plans that the one just bought takes the place of."""
        async with self._database.reading() as session:
            payment = await rows.find(session, step.id)
            plans = await rows.plans_to_end(session, payment) if payment is not None else []
        for plan_id in plans:
            try:
                await self._payments.end_plan(plan_id)
            except (PaymentsBusy, PaymentsUnclear, PaymentsRefused) as error:
                log.warning("payment.plan_not_ended", payment_id=step.id, error=type(error).__name__)
                await self._database.run(lambda session: steps.note_later(session, step.id))
                break
            await self._database.run(partial(rows.note_replaced, plan_id=plan_id))
        return await self.next(step)

    async def _ask(self, order: Order) -> Callable[[AsyncSession], Awaitable[None]]:
        """Ask, and say what is to be written about it."""
        try:
            customer = order.customer_id or await self._introduce(order)
            if order.repeated:
                return await self._look(order, customer)
            return await self._buy(order, customer)
        except PaymentsRefused as error:
            reason = str(error)
            log.warning("payment.refused", payment_id=order.payment_id, code=reason)
            return lambda session: steps.note_ended(session, order.payment_id, PaymentStatus.FAILED, reason)
        except PaymentsBusy as error:
            log.warning("payment.provider_busy", payment_id=order.payment_id, error=type(error).__name__)
            if order.repeated:
                return lambda session: steps.note_unclear(session, order.payment_id)
            return lambda session: steps.note_busy(session, order.payment_id)
        except PaymentsUnclear:
            log.warning("payment.unclear", payment_id=order.payment_id)
            return lambda session: steps.note_unclear(session, order.payment_id)

    async def _introduce(self, order: Order) -> str:
        """Make the workspace known to the provider. Without an answer nothing was bought: that is asked again."""
        try:
            customer = await self._payments.customer(Buyer(order.workspace_id, order.workspace_name, order.email))
        except PaymentsUnclear as error:
            raise PaymentsBusy("no customer yet") from error

        async def remember(session: AsyncSession) -> None:
            now = await service_time(session)
            await rows.remember_customer(session, order.workspace_id, customer, now=now)

        await self._database.run(remember)
        return customer

    async def _buy(self, order: Order, customer: str) -> Callable[[AsyncSession], Awaitable[None]]:
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

    async def _look(self, order: Order, customer: str) -> Callable[[AsyncSession], Awaitable[None]]:
        if order.kind is PaymentKind.CHECKOUT:
            checkout = await self._payments.find_checkout(order.payment_id, customer)
            return _absent(order) if checkout is None else _opened(order, checkout)
        charge = await self._payments.find_charge(order.payment_id, customer)
        if order.status is PaymentStatus.PROCESSING:
            log.warning("payment.callback_missing", payment_id=order.payment_id)
        return _absent(order) if charge is None else _charged(order, charge)


def _opened(order: Order, checkout: Checkout) -> Callable[[AsyncSession], Awaitable[None]]:
    opened = Opened(checkout.session_id, checkout.url, checkout.expires_at)
    return lambda session: steps.note_opened(session, order.payment_id, opened)


def _charged(order: Order, charge: Charge) -> Callable[[AsyncSession], Awaitable[None]]:
    if charge.declined is not None or charge.charge_id is None:
        return _declined(order, charge.declined)
    charge_id = charge.charge_id
    return lambda session: steps.note_taken(session, order.payment_id, charge_id)


def _declined(order: Order, reason: str | None) -> Callable[[AsyncSession], Awaitable[None]]:
    return lambda session: steps.note_ended(session, order.payment_id, PaymentStatus.DECLINED, reason)


def _absent(order: Order) -> Callable[[AsyncSession], Awaitable[None]]:
    return lambda session: steps.note_absent(session, order.payment_id)


def _answer(decision: Decision) -> NextStep:
    details = f"**{decision.status}**"
    if decision.need is Need.NOTHING:
        return NextStep(do=Do.DONE, details=details)
    if decision.need is Need.TIME:
        wait = (decision.until - decision.now).total_seconds() if decision.until else None
        reason = REASON_OF.get(decision.status, "asks the payment provider again")
        return NextStep(do=Do.WAIT, wait_seconds=wait, reason=reason, details=f"{details}: {reason}")
    call = Call(
        step=STEP_OF[decision.need],
        number=decision.number,
        queue=Queue.PAYMENTS,
        summary=SUMMARY_OF[decision.need],
        limit_seconds=CALL_LIMIT_SECONDS,
        fairness_key=decision.workspace_id,
    )
    return NextStep(do=Do.ACT, call=call, details=details)


REASON_OF = {
    PaymentStatus.OPEN: "waits for somebody to pay",
    PaymentStatus.PROCESSING: "waits for the payment provider's callback",
    PaymentStatus.CALLING: "looks up later what became of it",
}


class CallbackSteps:
    """What a callback asks of the database."""

    def __init__(self, database: Database, vault: Vault, payments: Payments) -> None:
        self._database = database
        self._vault = vault
        self._payments = payments

    @activity.defn(name=names.CALLBACK_NEXT)
    async def next(self, step: Step) -> NextStep:
        """Work the callback in, and empty it, in one transaction."""

        async def work(session: AsyncSession) -> None:
            row = await callbacks.waiting(session, step.id)
            if row is None or row.body is None:
                return
            body = self._vault.open(callbacks.BODY_PURPOSE, row.body)
            now = await service_time(session)
            for happening in self._read(step.id, body):
                await applying.apply(session, happening, now=now)
            row.body, row.processed_at = None, now

        await self._database.run(work)
        return NextStep(do=Do.DONE)

    def _read(self, event_id: str, body: bytes) -> tuple[Happening, ...]:
        try:
            return self._payments.read_callback(body)
        except ValueError:
            log.warning("callback.unreadable", event_id=event_id)
            return ()


class RefillSteps:
    """What a workspace's auto-refill asks of the database; `configured`: there is a payment provider."""

    def __init__(self, database: Database, *, configured: bool) -> None:
        self._database = database
        self._configured = configured

    @activity.defn(name=names.REFILL_NEXT)
    async def next(self, step: Step) -> NextStep:
        """Buy a pack when it is time, or say what is waited for."""
        configured = self._configured
        verdict, now = await self._database.run(lambda session: refills.decide(session, step.id, configured=configured))
        if verdict.over:
            return NextStep(do=Do.DONE, details=verdict.reason)
        wait = (verdict.until - now).total_seconds() if verdict.until else None
        reason = "waits for the purchase" if verdict.buy else verdict.reason
        return NextStep(do=Do.WAIT, wait_seconds=wait, reason=reason, details=reason)
