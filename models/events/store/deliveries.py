"""Webhook endpoints, and the steps of a delivery as transactions: what is due, what to send, and its result."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.database import Statements, service_time
from models.base.errors import Conflict, NotFound, rfc3339
from models.base.outbox import CHANNEL
from models.base.paging import Page, Slice, fetch, newest_first
from models.base.steps import Decision, Do, Subject
from models.base.tables import Payload
from models.base.tenants import customer_of
from models.events.rules.deliveries import (
    DELIVERY_ATTEMPT,
    IN_FLIGHT,
    LEASE,
    AttemptError,
    DeliveryNeed,
    DeliveryStanding,
    DeliveryStatus,
    EndpointStatus,
    Envelope,
    Turn,
    after_attempt,
    attempt_call,
    closed,
    decided,
)
from models.events.tables import Delivery, WebhookEndpoint

SECRET_PURPOSE = "webhook"  # noqa: S105 - the vault's purpose, not a secret


async def count_endpoints(session: AsyncSession, workspace_id: str) -> int:
    """Return how many endpoints the account has, disabled ones included."""
    query = select(func.count()).where(col(WebhookEndpoint.workspace_id) == workspace_id)
    return int(await session.scalar(query) or 0)


async def load_endpoint(
    session: AsyncSession, workspace_id: str, endpoint_id: str, *, lock: bool = False
) -> WebhookEndpoint:
    """Return an endpoint of the account. Raises `NotFound`.

    `lock` keeps attempts from starting and ending; it does not block emits.
    """
    query = select(WebhookEndpoint).where(
        col(WebhookEndpoint.id) == endpoint_id, col(WebhookEndpoint.workspace_id) == workspace_id
    )
    row = (await session.scalars(query.with_for_update(key_share=True) if lock else query)).one_or_none()
    if row is None:
        raise NotFound("There is no such webhook endpoint.")
    return row


async def page_of_endpoints(session: AsyncSession, workspace_id: str, page: Page) -> Slice[WebhookEndpoint]:
    """Return the account's endpoints, disabled ones included, newest first."""
    created_at = col(WebhookEndpoint.created_at)
    query = select(WebhookEndpoint).where(col(WebhookEndpoint.workspace_id) == workspace_id)
    order = newest_first(created_at, col(WebhookEndpoint.id))
    return await fetch(session, query, page, order=order, created_at=created_at)


async def disable_endpoint(session: AsyncSession, endpoint: WebhookEndpoint) -> None:
    """Stop all deliveries and drop the pending ones. `endpoint` is locked.

    Deliveries that other transactions are queueing have the old generation, and are dropped when they are due.
    """
    endpoint.status = EndpointStatus.DISABLED
    endpoint.generation += 1
    await session.flush()
    await _drop(session, endpoint.id)


async def remove_endpoint(session: AsyncSession, endpoint: WebhookEndpoint) -> None:
    """Delete an endpoint and drop its pending deliveries. `endpoint` is locked."""
    await session.execute(delete(WebhookEndpoint).where(col(WebhookEndpoint.id) == endpoint.id))
    await _drop(session, endpoint.id)


DROP = text(
    """
    update deliveries set status = 'dropped', turn = null, due_at = null, wake_at = null, answered = rings
     where endpoint_id = :endpoint and status = 'pending'
    """
)


async def _drop(session: AsyncSession, endpoint_id: str) -> None:
    """Drop all pending deliveries in one statement. None is woken: a sleeping workflow sees it when its timer ends."""
    await session.execute(DROP, {"endpoint": endpoint_id})


@dataclass(frozen=True, slots=True)
class DeliveryContent:
    """What an attempt sends, and where to. `sealed_secret` opens with `SECRET_PURPOSE`."""

    url: str
    sealed_secret: bytes
    event: Envelope
    at: datetime


@dataclass(frozen=True, slots=True)
class AttemptOutcome:
    """The result of an attempt: a status code or an error, and how long it took."""

    at: datetime
    duration_ms: int
    status_code: int | None = None
    error: AttemptError | None = None

    def written(self) -> Payload:
        """As the delivery log shows it."""
        result = {"status_code": self.status_code} if self.error is None else {"error": self.error.value}
        return {"at": rfc3339(self.at), **result, "duration_ms": self.duration_ms}


def delivery_subject(delivery_id: str) -> Subject:
    """The delivery as a waiting row."""
    return Subject("delivery", delivery_id)


LOCK_ENDPOINT = text(
    """
    select url, secret, status, generation from webhook_endpoints
     where id = (select endpoint_id from deliveries where id = :id) for no key update
    """
)
# A separate statement after the endpoint's lock: it sees what the previous holder of the lock has written.
HOLD = text(
    """
    select d.*, e.type, e.created_at as happened_at, e.data, service_now() as now,
           (select count(*) from deliveries g
             where g.endpoint_id = d.endpoint_id and g.turn = 'given' and g.id <> d.id) as given,
           exists (select from deliveries a
                    where a.endpoint_id = d.endpoint_id and a.turn = 'asked' and a.id <> d.id) as asked
      from deliveries d left join events e on e.id = d.event_id
     where d.id = :id for no key update of d
    """
)
WRITE = text(
    """
    update deliveries set answered = rings, status = :status, made = :made, turn = :turn,
                          due_at = cast(:due_at as timestamptz), wake_at = cast(:wake_at as timestamptz),
                          attempts = attempts || cast(:ended as jsonb)
     where id = :id
    """
)


@dataclass(frozen=True, slots=True)
class _LockedDelivery:
    """A delivery, its event and its endpoint (null when it was deleted), locked: endpoint first."""

    row: Row[Any]
    endpoint: Row[Any] | None

    @property
    def now(self) -> datetime:
        moment: datetime = self.row.now
        return moment

    @property
    def standing(self) -> DeliveryStanding:
        row = self.row
        turn = None if row.turn is None else Turn(row.turn)
        return DeliveryStanding(DeliveryStatus(row.status), row.made, row.single, turn, row.due_at, row.wake_at)

    @property
    def wanted(self) -> bool:
        """Whether the endpoint is there, enabled, and was not disabled since the event."""
        endpoint = self.endpoint
        return (
            endpoint is not None
            and endpoint.status == EndpointStatus.ENABLED
            and endpoint.generation == self.row.generation
        )


async def _lock(session: AsyncSession, delivery_id: str) -> _LockedDelivery | None:
    """Lock the endpoint, then the delivery; null for one that is no longer kept."""
    endpoint = (await session.execute(LOCK_ENDPOINT, {"id": delivery_id})).one_or_none()
    row = (await session.execute(HOLD, {"id": delivery_id})).one_or_none()
    return None if row is None else _LockedDelivery(row, endpoint)


async def decide_delivery(session: AsyncSession, delivery_id: str) -> Decision:
    """Return what the delivery needs next; mark its wakes as answered, set `wake_at`, take the turn of an attempt.

    One that is no longer kept needs nothing.
    """
    locked = await _lock(session, delivery_id)
    if locked is None:
        return await _gone(session)
    return await _decide(session, locked, locked.standing)


async def begin_attempt(
    session: AsyncSession, delivery_id: str, number: int
) -> tuple[Decision, DeliveryContent | None]:
    """Return what is next, and what attempt `number` (from 1) sends: null when not due, not wanted or made already.

    The endpoint stays locked until the transaction ends: a signature made within it precedes any later rotation.
    """
    locked = await _lock(session, delivery_id)
    if locked is None:
        return await _gone(session), None
    decision = await _decide(session, locked, locked.standing)
    if decision.need != DELIVERY_ATTEMPT or decision.number != number or locked.endpoint is None:
        return decision, None
    row = locked.row
    event = Envelope(
        id=row.event_id,
        type=row.type,
        created_at=row.happened_at,
        customer_id=customer_of(row.tenant_id),
        data=row.data,
    )
    return decision, DeliveryContent(locked.endpoint.url, locked.endpoint.secret, event, locked.now)


async def record_attempt(session: AsyncSession, delivery_id: str, number: int, outcome: AttemptOutcome) -> Decision:
    """Write the result of attempt `number`, once, and return what is next."""
    locked = await _lock(session, delivery_id)
    if locked is None:
        return await _gone(session)
    standing = locked.standing
    if standing.made != number - 1:
        return await _decide(session, locked, standing)
    after = after_attempt(standing, outcome.status_code, now=locked.now)
    return await _decide(session, locked, after, ended=[outcome.written()])


async def _gone(session: AsyncSession) -> Decision:
    return Decision(Do.DONE, await service_time(session), details=f"**{DeliveryStatus.DROPPED}** after 0 attempts")


async def _decide(
    session: AsyncSession, locked: _LockedDelivery, standing: DeliveryStanding, *, ended: Sequence[Payload] = ()
) -> Decision:
    need, after = decided(standing, wanted=locked.wanted, given=locked.row.given, now=locked.now)
    await _write(session, locked, after, ended=ended)
    if need is DeliveryNeed.NOTHING:
        attempts = "1 attempt" if after.made == 1 else f"{after.made} attempts"
        return Decision(Do.DONE, locked.now, details=f"**{after.status}** after {attempts}")
    attempt = attempt_call(locked.row.endpoint_id, after.made)
    if need is DeliveryNeed.ATTEMPT:
        return Decision(Do.ACT, locked.now, attempt)
    if need is DeliveryNeed.TURN:
        until, reason = None, f"{attempt.summary} when earlier attempts at the endpoint have ended"
    else:
        until, reason = after.due_at, f"{attempt.summary} at {after.due_at or locked.now:%d %b %H:%M:%S} UTC"
    details = f"**{after.status}**: {reason}"
    return Decision(Do.WAIT, locked.now, after=attempt, until=until, reason=reason, details=details)


async def _write(
    session: AsyncSession, locked: _LockedDelivery, standing: DeliveryStanding, *, ended: Sequence[Payload] = ()
) -> None:
    """Write the state of the delivery with the attempts that have ended, and pass on a turn that it no longer needs."""
    values = {
        "id": locked.row.id,
        "status": standing.status,
        "made": standing.made,
        "turn": standing.turn,
        "due_at": standing.due_at,
        "wake_at": standing.wake_at,
        "ended": json.dumps(ended),
    }
    await session.execute(WRITE, values)
    if locked.row.asked and standing.turn is None:
        await _hand_over(session, locked)


HAND_OVER = text(
    """
    with next as (
      select id from deliveries where endpoint_id = :endpoint and turn = 'asked' order by due_at, id limit :free
    ), given as (
      update deliveries d set turn = 'given', rings = d.rings + 1, wake_at = cast(:wake_at as timestamptz)
        from next where d.id = next.id returning d.id
    )
    select pg_notify(:channel, '') from given limit 1
    """
)


async def _hand_over(session: AsyncSession, locked: _LockedDelivery) -> None:
    """Give the free turns of the locked endpoint to the deliveries that have waited longest."""
    free = IN_FLIGHT - locked.row.given
    if free > 0:
        asked = {"endpoint": locked.row.endpoint_id, "free": free, "wake_at": locked.now + LEASE, "channel": CHANNEL}
        await session.execute(HAND_OVER, asked)


async def retry_now(session: AsyncSession, endpoint: WebhookEndpoint, delivery_id: str) -> Delivery:
    """Make one more attempt due now; the caller wakes the delivery. `endpoint` is locked.

    A pending delivery then continues its schedule, any other ends with this attempt. Raises `NotFound`, and `Conflict`
    for a disabled endpoint.
    """
    query = select(Delivery).where(col(Delivery.id) == delivery_id, col(Delivery.endpoint_id) == endpoint.id)
    delivery = (await session.scalars(query.with_for_update())).one_or_none()
    if delivery is None:
        raise NotFound("There is no such delivery.")
    if endpoint.status != EndpointStatus.ENABLED:
        raise Conflict("This endpoint is disabled.", status=endpoint.status)
    now = await service_time(session)
    if delivery.status != DeliveryStatus.PENDING:
        delivery.status, delivery.single, delivery.generation = DeliveryStatus.PENDING, True, endpoint.generation
    if delivery.turn is None:
        delivery.due_at = now
    return delivery


async def give_up_delivery(session: AsyncSession, delivery_id: str) -> None:
    """Drop a test whose attempt no worker made in time; one whose attempt has ended stays as it is."""
    locked = await _lock(session, delivery_id)
    if locked is not None and locked.standing.pending:
        await _write(session, locked, closed(locked.standing, DeliveryStatus.DROPPED))


SHOWN = "select * from deliveries where id = $1"


async def show_delivery(statements: Statements, delivery_id: str) -> Delivery:
    """Return a delivery in one round trip. Raises `NotFound`."""
    delivery = await statements.one(Delivery, SHOWN, delivery_id)
    if delivery is None:
        raise NotFound("There is no such delivery.")
    return delivery


async def page_of_deliveries(
    session: AsyncSession, endpoint_id: str, page: Page, *, status: DeliveryStatus | None = None
) -> Slice[Delivery]:
    """Return an endpoint's deliveries, newest first."""
    created_at = col(Delivery.created_at)
    query = select(Delivery).where(col(Delivery.endpoint_id) == endpoint_id)
    if status is not None:
        query = query.where(col(Delivery.status) == status)
    return await fetch(session, query, page, order=newest_first(created_at, col(Delivery.id)), created_at=created_at)
