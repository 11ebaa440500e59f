"""The ledger beside a model of it that fits on a page: after every step both say the same, grant by grant.

Grants, purchases, months of a plan, charges, refunded packs, expiry: each of them twice, late, and some at once.
"""

import asyncio
import itertools
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.access.tables import Customer
from models.base.database import Database, service_time
from models.base.ids import new_id
from models.billing.engine import callbacks
from models.billing.engine import payments as engine_payments
from models.billing.engine.payments import RefillSettings
from models.billing.rules.payments import CheckoutPaid, CyclePaid, PaymentKind, Refunded
from models.billing.rules.prices import OFFER_OF, CreditCharge
from models.billing.store import credits as store_credits
from models.billing.store import payments
from models.billing.store.credits import Payer
from tests import machines
from tests.machines import Machine
from tests.models.billing.ledger_reference import LOW, REFILL, LedgerReference, Payment
from tests.models.conftest import join

T = TypeVar("T")
KEY_CAP, CUSTOMER_CAP = 60, 30
"""Credits a day; far above what one step spends."""
NOON = (
    "update service_clock set shift = shift + (date_trunc('day', service_now()) + interval '36 hours' - service_now())"
)
"""Hours pass in whole numbers: from noon on no day ends, and no grant expires, in the middle of a step."""
GRANTS = "select reference, remaining_credits as left, expires_at from grants where workspace_id = :w"
ENTRIES = """
select l.kind, g.reference as grant, l.credits, case when l.kind = 'charge' then l.reference else '' end as about
  from ledger_entries l join grants g on g.id = l.grant_id where l.workspace_id = :w
"""
SPENT = "select subject_id, day, credits from daily_spends where workspace_id = :w and credits <> 0"
TOLD = "select type, count(*)::int as many from events where workspace_id = :w and type like 'credits.%' group by type"
PACKS = "select id, status from payments where workspace_id = :w and item = 'pack'"
RUNG = "select rings > answered from auto_refills where id = :w"
CHARGES = st.lists(st.integers(1, 25), min_size=1, max_size=3)


@dataclass(frozen=True)
class Event:
    """What one transaction does, and what the model say that it answers (null: they do not care)."""

    work: Callable[[AsyncSession], Awaitable[Any]]
    apply_to: Callable[[LedgerReference], Any]
    dies: bool = False


class Ledger(Machine):
    """One workspace that pays by one key, for itself and for a customer."""

    def __init__(self, runner: asyncio.Runner, database: Database) -> None:
        super().__init__(runner, database)
        self.member = self.do(database.run(partial(join, granted=0)))
        self.workspace_id = self.member.tenant.workspace_id
        self.numbers = itertools.count(1)
        self.customer_id, self.plan, packs = self.do(database.run(self._prepare))
        self.do(self._sql(NOON))
        caps = {self.member.api_key_id: KEY_CAP, self.customer_id: CUSTOMER_CAP}
        self.model = LedgerReference(caps, self.do(database.run(service_time)), packs=packs)

    async def _sql(self, statement: str, **values: Any) -> Sequence[Any]:
        async with self._database.transaction() as session:
            done = await session.execute(text(statement), values)
            return done.all() if done.returns_rows else []  # type: ignore[attr-defined]  # a cursor result has it

    async def _prepare(self, session: AsyncSession) -> tuple[str, str, dict[str, Payment]]:
        """Caps and thresholds; a customer; purchases that were begun: a plan, and two packs."""
        now = await service_time(session)
        customer = Customer(
            id=new_id("cus", now),
            workspace_id=self.workspace_id,
            name="One",
            created_at=now,
            daily_cap_credits=CUSTOMER_CAP,
        )
        session.add(customer)
        made = [
            payments.add_payment(session, self.workspace_id, PaymentKind.CHECKOUT, OFFER_OF[item], now=now)
            for item in ("starter", "pack", "pack")
        ]
        for payment in made:
            payment.credits = 30
        await engine_payments.save_refill_settings(
            session,
            self.workspace_id,
            RefillSettings(enabled=True, threshold_credits=REFILL, monthly_cap_cents=100_000),
            now=now,
        )
        key = {"cap": KEY_CAP, "id": self.member.api_key_id}
        await session.execute(text("update api_keys set daily_cap_credits = :cap where id = :id"), key)
        low = {"low": LOW, "id": self.workspace_id}
        await session.execute(text("update workspaces set low_balance_credits = :low where id = :id"), low)
        return customer.id, made[0].id, {one.id: Payment(one.credits) for one in made[1:]}

    def happen(self, *events: Event) -> None:
        """At once, and as if one after another: in some order the model come to the rows and to the same answers."""
        self.model.now = self.do(self._database.run(service_time))
        answers = self.do(self.together(events))
        shown = self.do(self._database.run(self.shown))
        for order in itertools.permutations(range(len(events))):
            model = deepcopy(self.model)
            said = {place: events[place].apply_to(model) for place in order}
            if all(said[place] in (None, answer) for place, answer in enumerate(answers)):
                if len(events) > 1 and shown != written(model):
                    continue
                self.model = model
                return
        raise AssertionError(f"in no order: {answers}, {shown}")

    async def shown(self, session: AsyncSession) -> dict[str, Any]:
        """Return what the rows say."""

        async def found(statement: str) -> Sequence[Any]:
            return (await session.execute(text(statement), {"w": self.workspace_id})).all()

        entries: Counter[Any] = Counter()
        for row in await found(ENTRIES):
            entries[row.kind, row.grant, row.credits, row.about] += 1
        return {
            "left": {row.reference: row.left for row in await found(GRANTS)},
            "entries": entries,
            "spent": {(row.subject_id, row.day): row.credits for row in await found(SPENT)},
            "told": {row.type: row.many for row in await found(TOLD)},
            "packs": {row.id: row.status for row in await found(PACKS)},
            "rung": await session.scalar(text(RUNG), {"w": self.workspace_id}),
        }

    # What happens.

    @initialize(amounts=st.tuples(st.integers(1, 30), st.integers(1, 30)))
    def something_is_granted(self, amounts: tuple[int, int]) -> None:
        for number, amount in enumerate(amounts, start=1):
            self.is_granted(number, amount, days=3 - number)

    @rule(number=st.integers(1, 4), amount=st.integers(1, 40), days=st.integers(1, 12), twice=st.booleans())
    def is_granted(self, number: int, amount: int, days: int, *, twice: bool = False) -> None:
        """The same reference grants once, also at the same moment."""
        reference = f"pay_{number}"
        expires_at = self.moment() + timedelta(days=days, minutes=30)

        async def work(session: AsyncSession) -> int:
            return await store_credits.grant_credits(
                session,
                workspace_id=self.workspace_id,
                source="top_up",
                reference=reference,
                credits=amount,
                expires_at=expires_at,
            )

        event = Event(work, lambda model: model.grant(reference, amount, expires_at))
        self.happen(*[event] * (2 if twice else 1))

    def moment(self) -> datetime:
        """Now, a little different for each grant: none expire at the same moment."""
        return self.do(self._database.run(service_time)) + timedelta(seconds=next(self.numbers))

    @rule(amounts=CHARGES, of_customer=st.booleans())
    def is_spent(self, amounts: list[int], *, of_customer: bool) -> None:
        self.happen(self.spends(amounts, of_customer=of_customer))

    @rule(both=st.tuples(CHARGES, CHARGES), of_customer=st.booleans())
    def is_spent_twice_at_once(self, both: tuple[list[int], list[int]], *, of_customer: bool) -> None:
        self.happen(self.spends(both[0], of_customer=of_customer), self.spends(both[1], of_customer=True))

    def spends(self, amounts: list[int], *, of_customer: bool) -> Event:
        """As much of each charge as balance and caps allow, soonest expiry first."""
        charges = [(f"charge_{next(self.numbers)}", amount) for amount in amounts]
        payer = Payer(self.workspace_id, self.member.api_key_id, self.customer_id if of_customer else None)
        subjects = [self.workspace_id, self.member.api_key_id, *([self.customer_id] if of_customer else [])]

        async def work(session: AsyncSession) -> list[int]:
            purse = await store_credits.open_spending_limit(session, payer)
            left, paid = purse.available, []
            for _, amount in charges:
                paid.append(min(amount, left))
                left -= paid[-1]
            due = zip(charges, paid, strict=True)
            await purse.spend([CreditCharge(reference, "lead", "run_1", credits) for (reference, _), credits in due])
            return paid

        return Event(work, lambda model: model.spend(charges, subjects))

    @rule(number=st.integers(1, 4), amounts=CHARGES)
    def is_taken_back_while_it_is_spent(self, number: int, amounts: list[int]) -> None:
        taken = Event(
            lambda session: callbacks.take_back_purchase(session, self.workspace_id, f"pay_{number}"),
            lambda model: model.take_back(f"pay_{number}"),
        )
        self.happen(taken, self.spends(amounts, of_customer=False))

    @rule(invoice=st.integers(1, 3))
    def a_month_of_a_plan_is_paid(self, invoice: int) -> None:
        """Its credits can be spent in this month and in two more."""
        starts_at = self.moment()
        paid = CyclePaid(f"in_{invoice}_{self.plan}", self.plan, f"sub_{self.plan}", starts_at)

        async def work(session: AsyncSession) -> None:
            await callbacks.apply_payment_event(session, paid, now=await service_time(session))

        self.happen(Event(work, lambda model: model.month_paid(paid.invoice_id, 30, starts_at)))

    @rule(number=st.integers(0, 1), refunded=st.sampled_from([False, False, True]))
    def a_pack_is_paid_or_refunded(self, number: int, *, refunded: bool) -> None:
        """In whichever order, and however often, that is heard."""
        name = list(self.model.packs)[number]
        heard = Refunded(name) if refunded else CheckoutPaid(name, "ch_1", None)

        async def work(session: AsyncSession) -> None:
            await callbacks.apply_payment_event(session, heard, now=await service_time(session))

        self.happen(Event(work, lambda model: (model.pack_refunded if refunded else model.pack_paid)(name)))

    @rule(hours=st.sampled_from([1, 12, 30, 31 * 24, 62 * 24]))
    def time_passes(self, hours: int) -> None:
        self.do(self._sql("update service_clock set shift = shift + make_interval(hours => :hours)", hours=hours))

    @rule(and_spent=st.one_of(st.none(), CHARGES))
    def what_is_past_its_time_expires(self, and_spent: list[int] | None) -> None:
        async def work(session: AsyncSession) -> None:
            await store_credits.expire_grants(session)

        events = [Event(work, lambda model: model.expire())]
        self.happen(*events, *([] if and_spent is None else [self.spends(and_spent, of_customer=False)]))

    @rule()
    def what_expires_soon_is_reported(self) -> None:
        async def work(session: AsyncSession) -> None:
            await store_credits.emit_expiring(session)

        self.happen(Event(work, lambda model: model.tell_expiring()))

    @rule()
    def refilling_is_looked_at(self) -> None:
        self.do(self._sql("update auto_refills set answered = rings where id = :w", w=self.workspace_id))
        self.model.woken = False

    @invariant()
    def both_say_the_same(self) -> None:
        shown = self.do(self._database.run(self.shown))
        assert shown == written(self.model)
        left: Counter[str] = Counter()
        for (_, grant, many, _), times in shown["entries"].items():
            left[grant] += many * times
        assert all(left[grant] == many >= 0 for grant, many in shown["left"].items())

    @invariant()
    def what_can_be_spent_is_what_is_left(self) -> None:
        self.model.now = self.do(self._database.run(service_time))
        assert self.do(self._database.run(lambda session: store_credits.balance(session, self.workspace_id))) == (
            self.model.balance()
        )

    def teardown(self) -> None:
        """In the end all is gone. Then a grant, a plan's month and a pack have their whole lives."""
        self.both_say_the_same()
        self.time_passes(400 * 24)
        self.what_is_past_its_time_expires(None)
        self.is_granted(5, 25, days=1)
        for amount in (6, 11):  # low, then lower still under the same grant
            self.what_expires_soon_is_reported()
            self.is_spent([amount], of_customer=True)
            self.refilling_is_looked_at()
        self.a_month_of_a_plan_is_paid(4)
        self.is_spent([9, 9], of_customer=False)
        self.time_passes(30)
        for number, refunded in ((0, False), (0, True), (0, False), (1, True), (1, False)):
            self.a_pack_is_paid_or_refunded(number, refunded=refunded)
        for hours in (0, 62 * 24, 31 * 24, 0):
            self.time_passes(hours)
            self.what_expires_soon_is_reported()
            self.what_is_past_its_time_expires(None)
            self.is_spent([1], of_customer=False)
            self.both_say_the_same()
            self.what_can_be_spent_is_what_is_left()


def written(model: LedgerReference) -> dict[str, Any]:
    """Return the model as `shown` puts the rows."""
    return {
        "left": {name: block.left for name, block in model.blocks.items()},
        "entries": +model.entries,
        "spent": dict(+model.spent),
        "told": dict(+model.told),
        "packs": {name: pack.status for name, pack in model.packs.items()},
        "rung": model.woken,
    }


def test_the_ledger_and_its_model_agree_whatever_happens(database_url: str) -> None:
    machines.run(Ledger, database_url, pool_size=4, examples=5, steps=12)
