"""Payments and auto-refill: rows before calls, one purchase in flight, declines that wait, what was refunded."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database, service_time
from models.base.errors import Conflict, IdempotencyKeyReused
from models.base.idempotency import Use
from models.base.steps import Do
from models.base.tenants import Tenant
from models.billing.engine import outreach_plans, payments
from models.billing.engine.payments import PAYMENT_CALL
from models.billing.rules.payments import (
    BACK_OFF,
    ChargePaid,
    CheckoutPaid,
    CyclePaid,
    MethodAttached,
    MethodDetached,
    NotPaid,
    PaymentEvent,
    PaymentKind,
    PaymentStatus,
    PlanChanged,
    PlanStatus,
    RefillStatus,
    Refunded,
    add_months,
)
from models.billing.rules.prices import OFFER_OF, PACK, CreditCharge
from models.billing.store import credits
from models.billing.store import payments as store_payments
from tests.models.billing.paying import Till
from tests.models.conftest import Member


@pytest.fixture
def till(database: Database, member: Member) -> Till:
    return Till(database, member)


async def balance(till: Till) -> int:
    async with till.database.transaction() as session:
        return await credits.balance(session, till.workspace_id)


async def status_of_refill(till: Till) -> RefillStatus:
    async with till.database.transaction() as session:
        now = await service_time(session)
        found = await payments.refill_standing(session, till.workspace_id, now=now, configured=True)
    return found.status


async def test_a_pack_lasts_twelve_months_and_comes_once_however_often_it_is_reported(till: Till) -> None:
    payment_id = await till.checkout()
    assert await balance(till) == 1250
    await asyncio.gather(*(till.pay(payment_id) for _ in range(5)))
    await till.hear(ChargePaid(payment_id, "pi_1"))
    assert await balance(till) == 1250 + PACK.credits
    payment = await till.payment(payment_id)
    assert payment.paid_at is not None
    async with till.database.transaction() as session:
        expires = await session.scalar(text("select expires_at from grants where source = 'top_up'"))
    assert expires == add_months(payment.paid_at, 12)


async def test_a_page_that_expired_or_was_declined_is_paid_after_all_when_the_provider_says_so(till: Till) -> None:
    for status in (PaymentStatus.EXPIRED, PaymentStatus.DECLINED):
        before = await balance(till)
        payment_id = await till.checkout()
        await till.hear(NotPaid(payment_id, status))
        assert await till.status(payment_id) is status
        assert await balance(till) == before
        await till.pay(payment_id)
        await till.hear(NotPaid(payment_id, status))
        assert await till.status(payment_id) is PaymentStatus.PAID
        assert await balance(till) == before + PACK.credits


async def test_what_was_refunded_first_grants_nothing_later(till: Till) -> None:
    payment_id = await till.checkout()
    await till.hear(Refunded(payment_id))
    await till.pay(payment_id)
    assert await balance(till) == 1250
    assert await till.status(payment_id) is PaymentStatus.REFUNDED


async def test_a_refund_takes_what_is_left_and_says_so_in_the_ledger(till: Till) -> None:
    payment_id = await till.checkout()
    await till.pay(payment_id)
    await till.hear(Refunded(payment_id))
    await till.hear(Refunded(payment_id))
    assert await balance(till) == 1250
    async with till.database.transaction() as session:
        entries = (
            await session.execute(text("select credits, reason from ledger_entries where kind = 'adjustment'"))
        ).all()
    assert [tuple(entry) for entry in entries] == [(-PACK.credits, "payment_refunded")]


async def test_a_callback_about_another_payment_changes_nothing(till: Till) -> None:
    await till.hear(CheckoutPaid("pay_unknown", "pi_1", None))
    await till.hear(CyclePaid("in_1", "pay_unknown", "sub_1", await till.now()))
    await till.hear(MethodAttached("pm_1", "cus_unknown", await till.now()))
    assert await balance(till) == 1250


async def test_three_months_of_a_plan_roll_over_and_the_first_expires_as_the_fourth_comes(till: Till) -> None:
    payment_id = await till.checkout("starter")
    anchor = await till.now()
    seen = []
    for month in range(5):
        await till.move_to(add_months(anchor, month))
        await till.hear(CyclePaid(f"in_{month}", payment_id, "sub_1", add_months(anchor, month)))
        await till.database.run(credits.expire_grants)
        async with till.database.transaction() as session:
            grants = await credits.open_grants(session, till.workspace_id)
        seen.append(sum(grant.remaining_credits for grant in grants if grant.source == "plan"))
    assert seen == [5000, 10000, 15000, 15000, 15000]


async def test_another_plan_takes_the_place_of_the_first_and_a_pack_of_none(till: Till) -> None:
    now = await till.now()
    first = await till.checkout("starter")
    await till.hear(CyclePaid("in_1", first, "sub_1", now))
    pack = await till.checkout()
    await till.pay(pack)
    second = await till.checkout("growth")
    await till.hear(CyclePaid("in_2", second, "sub_2", now))
    ended = {}
    for payment_id in (first, pack, second):
        payment = await till.payment(payment_id)
        async with till.database.transaction() as session:
            ended[payment_id] = await store_payments.plans_to_end(session, payment)
    assert ended == {first: [], pack: [], second: ["sub_1"]}


async def test_the_same_plan_is_not_sold_twice_and_again_once_it_has_ended(till: Till) -> None:
    now = await till.now()
    payment_id = await till.checkout("starter")
    await till.hear(CyclePaid("in_1", payment_id, "sub_1", now))
    async with till.database.transaction() as session:
        with pytest.raises(Conflict):
            await store_payments.refuse_second_plan(session, till.workspace_id, OFFER_OF["starter"])
        await store_payments.refuse_second_plan(session, till.workspace_id, OFFER_OF["growth"])
        await store_payments.refuse_second_plan(session, till.workspace_id, PACK)
    await till.hear(PlanChanged("sub_1", payment_id, PlanStatus.ENDED, now, now))
    await till.hear(PlanChanged("sub_1", payment_id, PlanStatus.ACTIVE, now, now - timedelta(seconds=1)))
    async with till.database.transaction() as session:
        await store_payments.refuse_second_plan(session, till.workspace_id, OFFER_OF["starter"])


async def test_a_repeated_request_finds_its_payment_and_another_request_does_not(till: Till) -> None:
    use = Use(till.member.tenant, "key", b"one")

    async def add(session: AsyncSession) -> str:
        now = await service_time(session)
        return store_payments.add_payment(session, till.workspace_id, PaymentKind.CHECKOUT, PACK, now=now, use=use).id

    payment_id = await till.database.run(add)

    async def attached(asked: Use) -> str | None:
        async with till.database.transaction() as session:
            found = await store_payments.find_open_payment(session, asked, now=await service_time(session))
            return found.id if found else None

    assert await attached(use) == payment_id
    assert await attached(Use(till.member.tenant, "other", b"one")) is None
    assert await attached(Use(Tenant(till.workspace_id, "cus_1"), "key", b"one")) is None
    with pytest.raises(IdempotencyKeyReused):
        await attached(Use(till.member.tenant, "key", b"two"))
    await till.pass_time(timedelta(hours=25))
    assert await attached(use) is None


@pytest.mark.parametrize("first", ["attached", "detached"])
async def test_a_payment_method_counts_until_it_is_taken_away_whichever_is_heard_first(till: Till, first: str) -> None:
    await till.get_card("pm_0")
    at = await till.now()
    customer = f"cus_{till.workspace_id}"
    told: list[PaymentEvent] = [
        MethodAttached("pm_1", customer, at),
        MethodDetached("pm_1", customer, at + timedelta(seconds=1)),
    ]
    for event in told if first == "attached" else reversed(told):
        await till.hear(event)
    async with till.database.transaction() as session:
        assert await store_payments.payment_method(session, till.workspace_id) == "pm_0"
    await till.hear(MethodDetached("pm_0", None, at))
    async with till.database.transaction() as session:
        assert await store_payments.payment_method(session, till.workspace_id) is None
        with pytest.raises(Conflict):
            await outreach_plans.check_can_connect(session, till.workspace_id, configured=True)
        await outreach_plans.check_can_connect(session, till.workspace_id, configured=False)


async def test_one_refill_is_in_flight_however_many_look_at_once(till: Till) -> None:
    await till.get_card()
    await till.set_refill(threshold=2000, cap_cents=10 * PACK.price_cents)
    bought = await asyncio.gather(*(till.refill() for _ in range(8)))
    assert sum(bought) == 1
    assert len(await till.purchases()) == 1
    assert await status_of_refill(till) is RefillStatus.READY


async def test_a_paid_refill_makes_room_for_the_next_up_to_the_months_cap(till: Till) -> None:
    await till.get_card()
    await till.set_refill(threshold=100_000, cap_cents=2 * PACK.price_cents + 1)
    await till.move_to(datetime(2027, 1, 31, 23, 0, tzinfo=UTC))
    for _ in range(2):
        assert await till.refill()
        await till.hear(ChargePaid((await till.purchases())[-1][0], "pi_1"))
    assert not await till.refill()
    assert await status_of_refill(till) is RefillStatus.CAP_REACHED
    await till.move_to(datetime(2027, 2, 1, 0, 0, tzinfo=UTC))
    assert await till.refill()


async def test_a_refill_in_flight_over_the_end_of_a_month_counts_where_it_began(till: Till) -> None:
    await till.get_card()
    await till.set_refill(threshold=100_000, cap_cents=PACK.price_cents)
    await till.move_to(datetime(2027, 1, 31, 23, 59, tzinfo=UTC))
    assert await till.refill()
    await till.move_to(datetime(2027, 2, 1, 0, 1, tzinfo=UTC))
    assert not await till.refill()
    await till.hear(ChargePaid((await till.purchases())[-1][0], "pi_1"))
    assert await till.refill()


async def test_each_decline_waits_longer_and_another_card_restarts(till: Till) -> None:
    await till.get_card()
    await till.set_refill(threshold=2000, cap_cents=100 * PACK.price_cents)
    for wait in BACK_OFF:
        assert await till.refill()
        await till.hear(NotPaid((await till.purchases())[-1][0], PaymentStatus.DECLINED, "card_declined"))
        await till.pass_time(wait - timedelta(seconds=5))
        assert not await till.refill()
        assert await status_of_refill(till) is RefillStatus.PAYMENT_FAILED
        await till.pass_time(timedelta(seconds=6))
    assert await till.refill()
    await till.hear(NotPaid((await till.purchases())[-1][0], PaymentStatus.DECLINED, "card_declined"))
    await till.pass_time(timedelta(days=300))
    assert not await till.refill()
    await till.get_card("pm_2")
    assert await till.refill()


async def test_a_decline_that_is_reported_twice_counts_once(till: Till) -> None:
    await till.get_card()
    await till.set_refill(threshold=2000, cap_cents=100 * PACK.price_cents)
    await till.refill()
    payment_id = (await till.purchases())[0][0]
    for _ in range(3):
        await till.hear(NotPaid(payment_id, PaymentStatus.DECLINED, "card_declined"))
    await till.pass_time(BACK_OFF[0])
    assert await till.refill()


@pytest.mark.parametrize("changed", ["off", "cap", "suspended"])
async def test_a_refill_that_was_not_asked_for_yet_is_not_made_once_it_is_unwanted(till: Till, changed: str) -> None:
    await till.get_card()
    await till.set_refill(threshold=2000, cap_cents=PACK.price_cents)
    assert await till.refill()
    payment_id = (await till.purchases())[0][0]
    if changed == "suspended":
        await till.suspend(suspended=True)
    else:
        await till.set_refill(threshold=2000, cap_cents=PACK.price_cents - (changed == "cap"), enabled=changed != "off")
    assert await till.database.run(lambda session: payments.begin_payment_call(session, payment_id, 1)) is None
    assert await till.status(payment_id) is PaymentStatus.FAILED
    decision = await till.database.run(lambda session: payments.decide_payment(session, payment_id))
    assert decision.do is Do.DONE
    if changed == "suspended":
        await till.suspend(suspended=False)
    await till.set_refill(threshold=2000, cap_cents=PACK.price_cents)
    assert await till.refill(), "it was no decline, and nothing is in flight"


async def test_a_refill_that_was_asked_for_is_looked_up_whatever_is_set_meanwhile(till: Till) -> None:
    await till.get_card()
    await till.set_refill(threshold=2000, cap_cents=PACK.price_cents)
    assert await till.refill()
    payment_id = (await till.purchases())[0][0]
    assert await till.database.run(lambda session: payments.begin_payment_call(session, payment_id, 1)) is not None
    await till.set_refill(threshold=2000, cap_cents=0, enabled=False)
    order = await till.database.run(lambda session: payments.begin_payment_call(session, payment_id, 1))
    assert order is not None
    assert order.repeated


async def test_falling_below_the_threshold_wakes_the_refill_once(till: Till) -> None:
    await till.set_refill(threshold=1000, cap_cents=0)

    async def wakes() -> int:
        async with till.database.transaction() as session:
            return int(await session.scalar(text("select rings from auto_refills")) or 0)

    async def spend(reference: str, amount: int) -> None:
        async def work(session: AsyncSession) -> None:
            purse = await credits.open_spending_limit(session, till.member.payer)
            await purse.spend([CreditCharge(reference, "lead", "run_1", amount)])

        await till.database.run(work)

    await spend("a", 250)
    assert await wakes() == 0
    await spend("b", 1)
    assert await wakes() == 1
    await spend("c", 100)
    assert await wakes() == 1


async def begun(till: Till, number: int) -> tuple[str, payments.PaymentOrder | None]:
    """Return a payment of which the provider is about to be asked."""

    async def add(session: AsyncSession) -> str:
        return store_payments.add_payment(
            session, till.workspace_id, PaymentKind.CHECKOUT, PACK, now=await service_time(session)
        ).id

    payment_id = await till.database.run(add)
    return payment_id, await till.database.run(lambda session: payments.begin_payment_call(session, payment_id, number))


async def test_a_call_that_runs_again_is_a_look_up(till: Till) -> None:
    payment_id, order = await begun(till, 1)
    assert order is not None
    assert not order.repeated
    again = await till.database.run(lambda session: payments.begin_payment_call(session, payment_id, 1))
    assert again is not None
    assert again.repeated


async def test_what_the_provider_does_not_know_after_the_last_look_was_not_made(till: Till) -> None:
    payment_id, _ = await begun(till, 1)
    await till.database.run(lambda session: payments.note_unclear(session, payment_id))
    looks = 0
    while True:
        decision = await till.database.run(lambda session: payments.decide_payment(session, payment_id))
        if decision.do is Do.DONE:
            break
        if decision.do is Do.WAIT:
            assert decision.until is not None
            await till.move_to(decision.until)
            continue
        assert decision.need == PAYMENT_CALL
        looks += 1
        await till.database.run(lambda session: payments.note_absent(session, payment_id))
    assert looks == 4
    assert await till.status(payment_id) is PaymentStatus.FAILED


async def test_a_callback_that_overtakes_the_answer_of_the_call_stands(till: Till) -> None:
    payment_id, _ = await begun(till, 1)
    await till.pay(payment_id)
    opened = payments.CheckoutPage("cs_1", "https://pay.example/", await till.now() + timedelta(days=1))
    await till.database.run(lambda session: payments.note_opened(session, payment_id, opened))
    await till.database.run(lambda session: payments.note_unclear(session, payment_id))
    assert await till.status(payment_id) is PaymentStatus.PAID
    decision = await till.database.run(lambda session: payments.decide_payment(session, payment_id))
    assert decision.do is Do.DONE


async def test_a_provider_out_of_reach_is_asked_again_for_half_an_hour(till: Till) -> None:
    payment_id, _ = await begun(till, 1)
    calls = 1
    while True:
        await till.database.run(lambda session: payments.note_busy(session, payment_id))
        decision = await till.database.run(lambda session: payments.decide_payment(session, payment_id))
        if decision.do is Do.DONE:
            break
        assert decision.until is not None
        await till.move_to(decision.until)
        decision = await till.database.run(lambda session: payments.decide_payment(session, payment_id))
        assert decision.need == PAYMENT_CALL
        begin = partial(payments.begin_payment_call, payment_id=payment_id, number=decision.number)
        order = await till.database.run(begin)
        assert order is not None
        assert not order.repeated
        calls += 1
    assert 20 < calls < 60
    assert (await till.payment(payment_id)).reason == "provider_unavailable"


async def test_what_can_be_asked_for_at_any_time_is_asked_for_again_in_ten_minutes(till: Till) -> None:
    payment_id = await till.checkout()
    await till.database.run(lambda session: payments.note_later(session, payment_id))
    wake_at = (await till.payment(payment_id)).wake_at
    assert wake_at is not None
    assert timedelta(minutes=9) < wake_at - await till.now() <= timedelta(minutes=10)


async def test_a_plan_is_replaced_when_the_provider_was_told_and_no_other_plan_is(till: Till) -> None:
    now = await till.now()
    for number, item in enumerate(("starter", "growth"), start=1):
        payment_id = await till.checkout(item)
        await till.hear(CyclePaid(f"in_{number}", payment_id, f"sub_{number}", now))
    await till.database.run(lambda session: store_payments.note_replaced(session, "sub_1"))
    async with till.database.transaction() as session:
        told = await session.execute(text("select id, replaced from plans order by id"))
        assert [tuple(row) for row in told] == [("sub_1", True), ("sub_2", False)]
