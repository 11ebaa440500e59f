"""Webhook deliveries: when an attempt is due, and the attempt itself."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from activities.steps import steps
from activities.upstream.guard import Guard
from models.base.database import Database
from models.base.secrets import Vault
from models.base.steps import Decision, NextStep, Queue, Step, served_step
from models.events.rules.deliveries import DELIVERY_ATTEMPT, signature
from models.events.store import deliveries
from models.events.store.deliveries import AttemptOutcome, DeliveryContent

AGENT = "sourcing-and-outreach-webhooks/1"


@steps
class DeliverySteps:
    """The steps of a delivery."""

    def __init__(self, database: Database, vault: Vault, guard: Guard) -> None:
        self._database = database
        self._vault = vault
        self._guard = guard

    @served_step("delivery.next")
    async def next(self, step: Step) -> NextStep:
        """Return whether an attempt is due now, later, when its turn comes, or no more."""
        decision = await self._database.run(lambda session: deliveries.decide_delivery(session, step.id))
        return decision.next_step

    @served_step(DELIVERY_ATTEMPT, Queue.WEBHOOKS)
    async def attempt(self, step: Step) -> NextStep:
        """Take the turn, POST the signed event once and write the result; without a turn return what is next."""
        decision, request = await self._database.run(lambda session: self._begin(session, step))
        if request is None:
            return decision.next_step
        posted = await self._guard.post(request.url, request.body, request.headers)
        outcome = AttemptOutcome(request.at, posted.duration_ms, posted.status_code, posted.error)
        decision = await self._database.run(
            lambda session: deliveries.record_attempt(session, step.id, step.number, outcome)
        )
        return decision.next_step

    async def _begin(self, session: AsyncSession, step: Step) -> tuple[Decision, "_Request | None"]:
        """Sign within the transaction: a rotation waits for it, so that the old secret signs nothing afterwards."""
        decision, content = await deliveries.begin_attempt(session, step.id, step.number)
        return decision, None if content is None else self._signed(step.id, content)

    def _signed(self, delivery_id: str, content: DeliveryContent) -> "_Request":
        body = content.event.body()
        secret = self._vault.open(deliveries.SECRET_PURPOSE, content.sealed_secret).decode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": AGENT,
            "X-Service-Signature": signature(secret, at=int(time.time()), body=body),
            "X-Service-Event": content.event.type,
            "X-Service-Event-Id": content.event.id,
            "X-Service-Delivery": delivery_id,
        }
        return _Request(content.url, body, headers, content.at)


@dataclass(frozen=True, slots=True)
class _Request:
    """What is posted, signed."""

    url: str
    body: bytes
    headers: Mapping[str, str]
    at: datetime
