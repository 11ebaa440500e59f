"""Whatever happens in whatever order, the ledger adds up: random histories of everything that moves credits."""

import asyncio
import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database
from models.billing.rules.payments import (
    ChargePaid,
    CheckoutPaid,
    CyclePaid,
    NotPaid,
    PaymentEvent,
    PaymentStatus,
    PlanChanged,
    PlanStatus,
    Refunded,
    add_months,
)
from models.billing.rules.prices import CreditCharge
from models.billing.store import credits
from tests.models.billing.paying import Till
from tests.models.conftest import Member

STEPS = 40
PER_GRANT = """
select g.id, g.source, g.reference, g.granted_credits, g.remaining_credits, sum(l.credits)::int as entries,
       sum(l.credits) filter (where l.kind = 'grant')::int as granted
  from grants g join ledger_entries l on l.grant_id = g.id group by g.id
"""


BY_KIND = "select kind, sum(credits)::int as credits from ledger_entries group by kind"


class History:
    """Does random things, and knows what must have come of them."""

    def __init__(self, till: Till, seed: int) -> None:
        self.till = till
        self.luck = random.Random(seed)
        self.charges = 0
        self.spent = 0
        self.unheard: list[PaymentEvent] = []
        self.paid: Counter[str] = Counter()
        self.plans: dict[str, Any] = {}

    async def step(self) -> None:
        does = [self.spend, self.spend, self.pass_time, self.expire, self.buy, self.subscribe, self.hear]
        await self.luck.choice([*does, self.hear, self.hear])()

    async def spend(self) -> None:
        """Several at once, each as much as it may."""
        wanted = [self.luck.randint(1, 900) for _ in range(self.luck.randint(1, 5))]
        references = [f"lead:{self.charges + place}" for place in range(len(wanted))]
        paid = await asyncio.gather(*(self._spend(*each) for each in zip(references, wanted, strict=True)))
        self.spent += sum(paid)
        self.charges += len(references)

    async def _spend(self, reference: str, amount: int) -> int:
        async def work(session: AsyncSession) -> int:
            purse = await credits.open_spending_limit(session, self.till.member.payer)
            able = min(amount, purse.available)
            await purse.spend([CreditCharge(reference, "lead", "run_1", able)])
            return able

        return await self.till.database.run(work)

    async def pass_time(self) -> None:
        await self.till.pass_time(timedelta(days=self.luck.choice([0, 1, 9, 40])))

    async def expire(self) -> None:
        await self.till.database.run(credits.expire_grants)

    async def buy(self) -> None:
        """A pack, of which the provider tells in any order, more than once, and not always to the end."""
        payment_id = await self.till.checkout()
        intent = f"pi_{payment_id}"
        told: list[PaymentEvent] = [CheckoutPaid(payment_id, intent, None), ChargePaid(payment_id, intent)]
        told += self.luck.choice([[], [], [Refunded(payment_id)]])
        outcomes: list[list[PaymentEvent]] = [told, told, [NotPaid(payment_id, PaymentStatus.EXPIRED)]]
        self._tell(self.luck.choice(outcomes))

    async def subscribe(self) -> None:
        """A plan, with the invoices of its months."""
        payment_id = await self.till.checkout("starter")
        subscription, anchor = f"sub_{payment_id}", await self.till.now()
        changed = PlanChanged(subscription, payment_id, PlanStatus.ACTIVE, anchor, anchor)
        months = [
            CyclePaid(f"in_{payment_id}_{month}", payment_id, subscription, add_months(anchor, month))
            for month in range(self.luck.randint(1, 3))
        ]
        self._tell([CheckoutPaid(payment_id, None, subscription), changed, *months])

    def _tell(self, told: list[PaymentEvent]) -> None:
        self.unheard += told * self.luck.randint(1, 2)
        self.luck.shuffle(self.unheard)

    async def hear(self) -> None:
        """Some of what was told arrives, the same thing perhaps twice at once."""
        for _ in range(self.luck.randint(0, 3)):
            if self.unheard:
                event = self.unheard.pop()
                await asyncio.gather(*(self.till.hear(event) for _ in range(self.luck.randint(1, 2))))


async def check(till: Till, history: History) -> None:
    async with till.database.transaction() as session:
        grants = (await session.execute(text(PER_GRANT))).all()
        told = (await session.execute(text(BY_KIND))).all()
        kinds: dict[str, int] = {row.kind: row.credits for row in told}
        balance = await credits.balance(session, till.workspace_id)
        expired = await session.scalar(
            text("select coalesce(sum(remaining_credits), 0)::int from grants where expires_at <= service_now()")
        )
    for grant in grants:
        assert grant.granted == grant.granted_credits
        assert grant.entries == grant.remaining_credits
        assert 0 <= grant.remaining_credits <= grant.granted_credits
    assert len({grant.reference for grant in grants}) == len(grants)
    assert -kinds.get("charge", 0) == history.spent
    assert balance + (expired or 0) == sum(kinds.values())


@pytest.mark.parametrize("seed", range(6))
async def test_the_ledger_adds_up_after_every_step(database: Database, member: Member, seed: int) -> None:
    till = Till(database, member)
    history = History(till, seed)
    for _ in range(STEPS):
        await history.step()
        await check(till, history)
    while history.unheard:
        await history.hear()
    await check(till, history)
    await _check_purchases(till)


async def _check_purchases(till: Till) -> None:
    """Each pack that was paid has granted once, each that was not, or was given back, leaves nothing."""
    async with till.database.transaction() as session:
        rows = await session.execute(
            text(
                "select p.status, coalesce(sum(g.remaining_credits), 0), count(g.id) as grants from payments p"
                " left join grants g on g.reference = p.id where p.item = 'pack' group by p.id"
            )
        )
        for status, left, grants in rows:
            assert status != "refunded" or left == 0
            assert grants in {"paid": {1}, "refunded": {0, 1}, "expired": {0}, "open": {0}}[status]


async def test_the_same_callbacks_in_every_order_end_in_the_same_grants(database: Database, member: Member) -> None:
    till = Till(database, member)
    seen = set()
    for turn in range(12):
        payment_id = await till.checkout("starter")
        anchor = await till.now()
        told: list[PaymentEvent] = [
            CheckoutPaid(payment_id, None, f"sub_{turn}"),
            PlanChanged(f"sub_{turn}", payment_id, PlanStatus.ACTIVE, anchor, anchor),
            CyclePaid(f"in_{turn}", payment_id, f"sub_{turn}", anchor),
            CyclePaid(f"in_{turn}", payment_id, f"sub_{turn}", anchor),
            PlanChanged(f"sub_{turn}", payment_id, PlanStatus.ENDED, anchor, anchor + timedelta(days=1)),
        ]
        random.Random(turn).shuffle(told)
        for event in told:
            await till.hear(event)
        async with database.transaction() as session:
            row = (
                await session.execute(
                    text(
                        "select p.status, count(*), min(g.granted_credits), min(l.status) from payments p"
                        " join plans l on l.payment_id = p.id join grants g on g.reference = :invoice"
                        " where p.id = :id group by p.id"
                    ),
                    {"id": payment_id, "invoice": f"invoice:in_{turn}"},
                )
            ).one()
            expires = await session.scalar(
                text("select expires_at from grants where reference = :r"), {"r": f"invoice:in_{turn}"}
            )
        assert expires == add_months(anchor, 3)
        seen.add(tuple(row))
    assert seen == {("paid", 1, 5000, "ended")}
