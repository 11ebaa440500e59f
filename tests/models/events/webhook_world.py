"""An account with endpoints, deliveries to them, and a driver that makes their attempts under a moved clock."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database, service_time
from models.base.ids import new_id
from models.base.steps import Decision, Do
from models.events.rules.catalogue import CreditsLow, EventType
from models.events.rules.deliveries import DELIVERY_ATTEMPT
from models.events.store import deliveries, events
from models.events.store.deliveries import AttemptOutcome
from models.events.tables import Delivery, WebhookEndpoint
from tests.models.conftest import Member

LOW = CreditsLow(grant_id="grt_1", balance_credits=1, threshold_credits=2)


async def endpoint(session: AsyncSession, workspace_id: str, **given: Any) -> str:
    """Create an endpoint of the account, by default for every type."""
    now = await service_time(session)
    values: dict[str, Any] = {
        "id": new_id("whe", now),
        "workspace_id": workspace_id,
        "url": "https://hooks.example.com/",
        "events": ["*"],
        "secret": b"sealed",
        "secret_hint": "hint",
        "created_at": now,
    }
    row = WebhookEndpoint(**values | given)
    session.add(row)
    await session.flush()
    return row.id


@dataclass
class World:
    """An account with endpoints; `posted` are the attempts made: delivery, number, service time."""

    database: Database
    member: Member
    posted: list[tuple[str, int, datetime]] = field(default_factory=list)

    async def endpoint(self, **given: Any) -> str:
        return await self.database.run(lambda session: endpoint(session, self.member.tenant.workspace_id, **given))

    async def emit(self, count: int = 1) -> None:
        async with self.database.transaction() as session:
            now = await service_time(session)
            for _ in range(count):
                events.emit(session, self.member.tenant, EventType.CREDITS_LOW, LOW, now=now)

    async def of(self, endpoint_id: str) -> list[Delivery]:
        """Return the endpoint's deliveries, oldest first."""
        async with self.database.transaction() as session:
            rows = await session.execute(
                text("select id from deliveries where endpoint_id = :id order by created_at, id"), {"id": endpoint_id}
            )
            return [await session.get_one(Delivery, row.id) for row in rows]

    async def one(self, endpoint_id: str) -> Delivery:
        (only,) = await self.of(endpoint_id)
        return only

    async def decide(self, delivery_id: str) -> Decision:
        return await self.database.run(lambda session: deliveries.decide_delivery(session, delivery_id))

    async def post(self, delivery_id: str, number: int, status_code: int) -> Decision:
        """Make an attempt that gets this answer."""
        _, parcel = await self.database.run(lambda session: deliveries.begin_attempt(session, delivery_id, number))
        assert parcel is not None
        self.posted.append((delivery_id, number, parcel.at))
        outcome = AttemptOutcome(parcel.at, 3, status_code)
        return await self.database.run(lambda session: deliveries.record_attempt(session, delivery_id, number, outcome))

    async def drive(self, delivery_id: str, answer: Callable[[int], int]) -> Delivery:
        """Drive a delivery to its end, moving the clock to each time for which it waits."""
        decision = await self.decide(delivery_id)
        while decision.do is not Do.DONE:
            if decision.need == DELIVERY_ATTEMPT:
                decision = await self.post(delivery_id, decision.number, answer(decision.number))
                continue
            assert decision.until is not None
            await self.advance(decision.until - decision.now)
            decision = await self.decide(delivery_id)
        async with self.database.transaction() as session:
            return await session.get_one(Delivery, delivery_id)

    async def advance(self, by: timedelta) -> None:
        async with self.database.transaction() as session:
            await session.execute(text("update service_clock set shift = shift + :by"), {"by": by})

    async def change(self, endpoint_id: str, **given: Any) -> None:
        async with self.database.transaction() as session:
            row = await session.get_one(WebhookEndpoint, endpoint_id)
            for name, value in given.items():
                setattr(row, name, value)

    async def disable(self, endpoint_id: str) -> None:
        async with self.database.transaction() as session:
            workspace_id = self.member.tenant.workspace_id
            row = await deliveries.load_endpoint(session, workspace_id, endpoint_id, lock=True)
            await deliveries.disable_endpoint(session, row)

    async def retry(self, endpoint_id: str, delivery_id: str) -> None:
        async with self.database.transaction() as session:
            workspace_id = self.member.tenant.workspace_id
            row = await deliveries.load_endpoint(session, workspace_id, endpoint_id, lock=True)
            await deliveries.retry_now(session, row, delivery_id)
