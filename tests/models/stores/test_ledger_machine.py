"""The ledger beside a model of it that fits on a page: after every step both say the same, grant by grant."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.clock import service_time
from models.database import Database
from models.rules.grants import Charge
from models.stores import credits, refunds
from tests import machines
from tests.models.stores.conftest import join

T = TypeVar("T")
CAP = 60
"""Of the key, a day; far above what one step spends."""
NOON = (
    "update service_clock set shift = shift + (date_trunc('day', service_now()) + interval '36 hours' - service_now())"
)
"""Hours pass in whole numbers: from noon on no day ends, and no grant expires, in the middle of a step."""


@dataclass
class Block:
    """A grant as the model has it."""

    left: int
    expires_at: datetime


class Ledger(RuleBasedStateMachine):
    """Grants, charges, refunds, expiry and repeats of each, at one workspace."""

    charges = Bundle("charges")

    def __init__(self, runner: asyncio.Runner, database: Database) -> None:
        super().__init__()
        self._runner = runner
        self._database = database
        self.member = self.do(database.run(lambda session: join(session, granted=0)))
        self.do(self._sql("update api_keys set daily_cap_credits = :cap where id = :key", cap=CAP))
        self.do(self._sql(NOON))
        self.now: datetime = self.do(database.run(service_time))
        self.blocks: dict[str, Block] = {}
        self.paid: dict[str, list[tuple[str, int]]] = {}
        self.refunded: set[str] = set()
        self.days: dict[str, int] = {}

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    async def _sql(self, statement: str, **values: Any) -> list[Any]:
        known = {"key": self.member.api_key_id, "w": self.member.tenant.workspace_id, **values}
        used = {name: value for name, value in known.items() if f":{name}" in statement}
        async with self._database.transaction() as session:
            done = await session.execute(text(statement), used)
            return list(done.all()) if done.returns_rows else []  # type: ignore[attr-defined]

    def _open(self) -> list[tuple[str, Block]]:
        blocks = [(name, block) for name, block in self.blocks.items() if block.left and block.expires_at > self.now]
        return sorted(blocks, key=lambda one: one[1].expires_at)

    def _day(self) -> str:
        return self.now.date().isoformat()

    @rule(number=st.integers(1, 4), amount=st.integers(1, 40), days=st.integers(1, 5))
    def grant(self, number: int, amount: int, days: int) -> None:
        """The same reference grants once."""
        reference = f"pay_{number}"
        expires_at = self.now + timedelta(days=days, minutes=30, seconds=len(self.blocks))

        async def work(session: AsyncSession) -> int:
            return await credits.grant(
                session,
                workspace_id=self.member.tenant.workspace_id,
                source="top_up",
                reference=reference,
                credits=amount,
                expires_at=expires_at,
            )

        added = self.do(self._database.run(work))
        assert added == (0 if reference in self.blocks else amount)
        self.blocks.setdefault(reference, Block(amount, expires_at))

    @rule(target=charges, amount=st.integers(1, 25))
    def spend(self, amount: int) -> str:
        """As much as balance and cap allow, soonest expiry first."""
        reference = f"charge_{len(self.paid)}"

        async def work(session: AsyncSession) -> int:
            purse = await credits.open_purse(session, self.member.payer)
            paid = min(amount, purse.available)
            await purse.spend([Charge(reference, "lead", "run_1", paid)])
            return paid

        paid = self.do(self._database.run(work))
        room = CAP - self.days.get(self._day(), 0)
        assert paid == min(amount, room, sum(block.left for _, block in self._open()))
        self.days[self._day()] = self.days.get(self._day(), 0) + paid
        self.paid[reference] = []
        for name, block in self._open():
            share = min(paid, block.left)
            block.left, paid = block.left - share, paid - share
            self.paid[reference] += [(name, share)] if share else []
        return reference

    @rule(reference=charges)
    def refund(self, reference: str) -> None:
        """Once, and only to grants that live."""
        workspace_id = self.member.tenant.workspace_id
        given = self.do(self._database.run(lambda session: refunds.refund(session, workspace_id, reference)))
        alive = [(name, share) for name, share in self.paid[reference] if self.blocks[name].expires_at > self.now]
        alive = [] if reference in self.refunded else alive
        assert given == sum(share for _, share in alive)
        for name, share in alive:
            self.blocks[name].left += share
        if alive:
            self.refunded.add(reference)
            day = self._day_of(reference)
            if day == self._day():
                self.days[day] -= given

    def _day_of(self, reference: str) -> str:
        (row,) = self.do(
            self._sql(
                "select min(created_at) as at from ledger_entries"
                " where workspace_id = :w and reference = :reference and kind = 'charge'",
                reference=reference,
            )
        )
        return str(row.at.date().isoformat())

    @rule(number=st.integers(1, 4))
    def take_back(self, number: int) -> None:
        """What is left of a purchase whose money was given back."""
        reference = f"pay_{number}"
        workspace_id = self.member.tenant.workspace_id
        taken = self.do(self._database.run(lambda session: refunds.take_back(session, workspace_id, reference)))
        block = self.blocks.get(reference)
        assert taken == (block.left if block else 0)
        if block:
            block.left = 0

    @rule(hours=st.sampled_from([1, 12, 30]))
    def pass_time(self, hours: int) -> None:
        self.do(self._sql("update service_clock set shift = shift + make_interval(hours => :hours)", hours=hours))
        self.now = self.do(self._database.run(service_time))

    @rule()
    def expire(self) -> None:
        """Empties what is past its time, with an entry for each."""
        self.do(self._database.run(credits.expire))
        for block in self.blocks.values():
            if block.expires_at <= self.now:
                block.left = 0

    @invariant()
    def both_say_the_same(self) -> None:
        rows = self.do(
            self._sql(
                "select g.reference, g.remaining_credits as left, sum(l.credits)::int as entries from grants g"
                " join ledger_entries l on l.grant_id = g.id where g.workspace_id = :w group by g.id"
            )
        )
        assert {row.reference: row.left for row in rows} == {name: block.left for name, block in self.blocks.items()}
        assert all(row.entries == row.left for row in rows)


def test_the_ledger_and_its_model_agree_whatever_happens(database_url: str) -> None:
    machines.run(Ledger, database_url)
