"""Payments for tests: created as an operation creates them, and the provider's callbacks about them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database, service_time
from models.billing.engine import callbacks
from models.billing.engine import payments as engine_payments
from models.billing.engine.payments import CheckoutPage, RefillSettings
from models.billing.rules.payments import CheckoutPaid, MethodAttached, PaymentEvent, PaymentKind, PaymentStatus
from models.billing.rules.prices import OFFER_OF
from models.billing.store import payments
from models.billing.tables import Payment
from tests.models.conftest import Member


@dataclass(frozen=True, slots=True)
class Till:
    """One workspace that buys."""

    database: Database
    member: Member

    @property
    def workspace_id(self) -> str:
        return self.member.tenant.workspace_id

    async def checkout(self, item: str = "pack") -> str:
        """Open a payment page."""

        async def add(session: AsyncSession) -> str:
            now = await service_time(session)
            payment = payments.add_payment(session, self.workspace_id, PaymentKind.CHECKOUT, OFFER_OF[item], now=now)
            await session.flush()
            return payment.id

        payment_id = await self.database.run(add)
        await self.database.run(lambda session: engine_payments.begin_payment_call(session, payment_id, 1))
        opened = CheckoutPage(f"cs_{payment_id}", "https://pay.example/", await self.now() + timedelta(days=1))
        await self.database.run(lambda session: engine_payments.note_opened(session, payment_id, opened))
        return payment_id

    async def hear(self, event: PaymentEvent) -> None:
        """Apply a callback."""

        async def work(session: AsyncSession) -> None:
            await callbacks.apply_payment_event(session, event, now=await service_time(session))

        await self.database.run(work)

    async def pay(self, payment_id: str) -> None:
        """Receive the provider's callback of a payment."""
        await self.hear(CheckoutPaid(payment_id, f"pi_{payment_id}", None))

    async def get_card(self, name: str = "pm_1") -> None:
        """Store a card, so that the workspace can be charged."""

        async def work(session: AsyncSession) -> None:
            now = await service_time(session)
            await payments.remember_customer(session, self.workspace_id, f"cus_{self.workspace_id}", now=now)
            await callbacks.apply_payment_event(session, MethodAttached(name, f"cus_{self.workspace_id}", now), now=now)

        await self.database.run(work)

    async def set_refill(self, *, threshold: int, cap_cents: int, enabled: bool = True) -> None:
        async def work(session: AsyncSession) -> None:
            wished = RefillSettings(enabled, threshold, cap_cents)
            await engine_payments.save_refill_settings(
                session, self.workspace_id, wished, now=await service_time(session)
            )

        await self.database.run(work)

    async def suspend(self, *, suspended: bool) -> None:
        """Set whether the workspace is suspended."""
        async with self.database.transaction() as session:
            await session.execute(
                text("update workspaces set suspended_at = case when :suspended then service_now() end where id = :id"),
                {"suspended": suspended, "id": self.workspace_id},
            )

    async def refill(self) -> bool:
        """Run one step of the refill workflow; return whether it bought."""
        verdict, _ = await self.database.run(
            lambda session: engine_payments.decide_auto_refill(session, self.workspace_id, configured=True)
        )
        return verdict.buy

    async def purchases(self) -> list[tuple[str, str]]:
        """Return id and status of every refill, oldest first."""
        async with self.database.transaction() as session:
            found = await session.execute(text("select id, status from payments where kind = 'refill' order by id"))
            return [(payment_id, status) for payment_id, status in found]

    async def payment(self, payment_id: str) -> Payment:
        async with self.database.transaction() as session:
            found = await payments.find_payment(session, payment_id)
        assert found is not None
        return found

    async def status(self, payment_id: str) -> PaymentStatus:
        return PaymentStatus((await self.payment(payment_id)).status)

    async def now(self) -> datetime:
        async with self.database.transaction() as session:
            return await service_time(session)

    async def pass_time(self, by: timedelta) -> None:
        async with self.database.transaction() as session:
            await session.execute(text("update service_clock set shift = shift + :by"), {"by": by})

    async def move_to(self, moment: datetime) -> None:
        await self.pass_time(moment - await self.now())
