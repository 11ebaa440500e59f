"""Webhook deliveries: when an attempt is due, and the attempt itself."""

import time

from temporalio import activity

from activities.upstream.guard import Guard
from models.database import Database
from models.rules.deliveries import ANSWER_SECONDS, RETRY_AFTER, signature
from models.secrets import Vault
from models.stores import deliveries, webhook_endpoints
from models.stores.deliveries import Decision, Need, Outcome, Parcel
from workflows import names
from workflows.contracts import Call, Do, NextStep, Queue, Step

CALL_SECONDS = ANSWER_SECONDS + 10
"""For the attempt with its two transactions; after that its worker counts as dead and the attempt is made again."""
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
        return _answer(await self._database.run(lambda session: deliveries.decide(session, step.id)))

    @activity.defn(name=names.DELIVERY_ATTEMPT)
    async def attempt(self, step: Step) -> NextStep:
        """POST the signed event once and write what came of it."""
        async with self._database.reading() as session:
            parcel = await deliveries.parcel(session, step.id, step.number)
        if parcel is None:
            return await self.next(step)
        outcome = await self._post(step, parcel)
        return _answer(
            await self._database.run(lambda session: deliveries.note(session, step.id, step.number, outcome))
        )

    async def _post(self, step: Step, parcel: Parcel) -> Outcome:
        if self._guard is None:
            raise RuntimeError("this worker serves no webhooks queue")
        body = parcel.event.body()
        secret = self._vault.open(webhook_endpoints.SECRET_PURPOSE, parcel.sealed_secret).decode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": AGENT,
            "X-Service-Signature": signature(secret, at=int(time.time()), body=body),
            "X-Service-Event": parcel.event.type,
            "X-Service-Event-Id": parcel.event.id,
            "X-Service-Delivery": step.id,
        }
        posted = await self._guard.post(parcel.url, body, headers)
        return Outcome(parcel.at, posted.duration_ms, posted.status_code, posted.error)


def _answer(decision: Decision) -> NextStep:
    match decision.need:
        case Need.NOTHING:
            return NextStep(do=Do.DONE, details=f"**{decision.status}** after {_attempts(decision.made)}")
        case Need.TIME:
            until = decision.until or decision.now
            reason = f"{_coming(decision)} at {until:%d %b %H:%M:%S} UTC"
            wait = (until - decision.now).total_seconds()
            return NextStep(do=Do.WAIT, wait_seconds=wait, reason=reason, details=f"**{decision.status}**: {reason}")
        case Need.TURN:
            reason = f"{_coming(decision)} when earlier attempts at the endpoint have ended"
            return NextStep(do=Do.WAIT, reason=reason, details=f"**{decision.status}**: {reason}")
        case Need.ATTEMPT:
            call = Call(
                step=names.DELIVERY_ATTEMPT,
                number=decision.made + 1,
                queue=Queue.WEBHOOKS,
                summary=_coming(decision),
                limit_seconds=CALL_SECONDS,
                fairness_key=decision.endpoint_id,
            )
            return NextStep(do=Do.ACT, call=call)


def _coming(decision: Decision) -> str:
    """The attempt that comes next, as an operator counts: the first, then `retry 1 of 5`."""
    if decision.made == 0:
        return "first attempt"
    if decision.made > len(RETRY_AFTER):
        return "a retry asked for by hand"
    return f"retry {decision.made} of {len(RETRY_AFTER)}"


def _attempts(made: int) -> str:
    return "1 attempt" if made == 1 else f"{made} attempts"
