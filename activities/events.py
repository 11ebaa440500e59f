"""Webhook deliveries: when an attempt is due, and the attempt itself."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession
from temporalio import activity

from activities.upstream.guard import Guard
from models.base.database import Database
from models.base.secrets import Vault
from models.events.rules.deliveries import ATTEMPT_SECONDS, RETRY_AFTER, DeliveryNeed, signature
from models.events.store import deliveries
from models.events.store.deliveries import AttemptOutcome, DeliveryContent, DeliveryDecision
from workflows import names
from workflows.contracts import Call, Do, NextStep, Queue, Step

AGENT = "sourcing-and-outreach-webhooks/1"


class DeliverySteps:
    """What a delivery asks of the database and of the receiver. Without a `guard` it makes no attempts."""

    def __init__(self, database: Database, vault: Vault, guard: Guard | None) -> None:
        self._database = database
        self._vault = vault
        self._guard = guard

    @activity.defn(name=names.DELIVERY_NEXT)
    async def next(self, step: Step) -> NextStep:
        """Say whether an attempt is due now, later, when its turn comes, or no more."""
        return _answer(await self._database.run(lambda session: deliveries.decide_delivery(session, step.id)))

    @activity.defn(name=names.DELIVERY_ATTEMPT)
    async def attempt(self, step: Step) -> NextStep:
        """Take the turn, POST the signed event once and write what came of it; without a turn say what is next."""
        decision, request = await self._database.run(lambda session: self._begin(session, step))
        if request is None:
            return _answer(decision)
        if self._guard is None:
            raise RuntimeError("this worker serves no webhooks queue")
        posted = await self._guard.post(request.url, request.body, request.headers)
        outcome = AttemptOutcome(decision.now, posted.duration_ms, posted.status_code, posted.error)
        return _answer(
            await self._database.run(lambda session: deliveries.record_attempt(session, step.id, step.number, outcome))
        )

    async def _begin(self, session: AsyncSession, step: Step) -> tuple[DeliveryDecision, "_Request | None"]:
        """Sign within the transaction: a rotation waits for it, so that the old secret signs nothing afterwards."""
        decision, parcel = await deliveries.begin_attempt(session, step.id, step.number)
        return decision, None if parcel is None else self._signed(step.id, parcel)

    def _signed(self, delivery_id: str, parcel: DeliveryContent) -> "_Request":
        body = parcel.event.body()
        secret = self._vault.open(deliveries.SECRET_PURPOSE, parcel.sealed_secret).decode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": AGENT,
            "X-Service-Signature": signature(secret, at=int(time.time()), body=body),
            "X-Service-Event": parcel.event.type,
            "X-Service-Event-Id": parcel.event.id,
            "X-Service-Delivery": delivery_id,
        }
        return _Request(parcel.url, body, headers)


@dataclass(frozen=True, slots=True)
class _Request:
    """What is posted, signed."""

    url: str
    body: bytes
    headers: Mapping[str, str]


def _answer(decision: DeliveryDecision) -> NextStep:
    match decision.need:
        case DeliveryNeed.NOTHING:
            return NextStep(do=Do.DONE, details=f"**{decision.status}** after {_attempts(decision.made)}")
        case DeliveryNeed.TIME:
            until = decision.until or decision.now
            wait = (until - decision.now).total_seconds()
            return _waiting(decision, f"{_coming(decision)} at {until:%d %b %H:%M:%S} UTC", seconds=wait)
        case DeliveryNeed.TURN:
            return _waiting(decision, f"{_coming(decision)} when earlier attempts at the endpoint have ended")
        case DeliveryNeed.ATTEMPT:
            return NextStep(do=Do.ACT, call=_call(decision))


def _waiting(decision: DeliveryDecision, reason: str, *, seconds: float | None = None) -> NextStep:
    """A wait with the attempt that follows it."""
    details = f"**{decision.status}**: {reason}"
    return NextStep(do=Do.WAIT, wait_seconds=seconds, reason=reason, details=details, after=_call(decision))


def _call(decision: DeliveryDecision) -> Call:
    return Call(
        step=names.DELIVERY_ATTEMPT,
        number=decision.made + 1,
        queue=Queue.WEBHOOKS,
        summary=_coming(decision),
        limit_seconds=ATTEMPT_SECONDS,
        fairness_key=decision.endpoint_id,
    )


def _coming(decision: DeliveryDecision) -> str:
    """The attempt that comes next, as an operator counts: the first, then `retry 1 of 5`."""
    if decision.made == 0:
        return "first attempt"
    if decision.made > len(RETRY_AFTER):
        return "a retry asked for by hand"
    return f"retry {decision.made} of {len(RETRY_AFTER)}"


def _attempts(made: int) -> str:
    return "1 attempt" if made == 1 else f"{made} attempts"
