"""The steps of a delivery as transactions: what is due, what to send, what came of it.

Whoever changes a delivery's place among the attempts at an endpoint holds the endpoint's lock, so that no more than
`IN_FLIGHT` are under way at once. A turn is given back by the transaction that writes the attempt's outcome, and handed
to the delivery that has waited longest, which is rung. A holder whose process died keeps its turn: its workflow, or the
dispatcher once `wake_at` is past, makes the attempt again.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.database import Statements
from models.errors import Conflict, NotFound, rfc3339
from models.rules.deliveries import IN_FLIGHT, AttemptError, DeliveryStatus, EndpointStatus, Turn
from models.rules.delivery_steps import LEASE, Need, Standing, closed, decided, settled
from models.rules.events import Envelope
from models.rules.subjects import Subject
from models.stores.doorbells import CHANNEL
from models.stores.paging import Page, Slice, fetch, newest_first
from models.tables import Delivery, WebhookEndpoint
from models.tables.base import Payload
from models.tenancy import customer_of


@dataclass(frozen=True, slots=True)
class Decision:
    """What is next for a delivery, and where it stands. `until` is service time, with `Need.TIME` only."""

    need: Need
    endpoint_id: str
    status: DeliveryStatus
    made: int
    now: datetime
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Parcel:
    """What an attempt sends, and where to. The secret opens with the purpose that `webhook_endpoints` names."""

    url: str
    sealed_secret: bytes
    event: Envelope
    at: datetime


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an attempt: a status code or an error, and how long it took."""

    at: datetime
    duration_ms: int
    status_code: int | None = None
    error: AttemptError | None = None

    def written(self) -> Payload:
        """As the delivery log shows it."""
        result = {"status_code": self.status_code} if self.error is None else {"error": self.error.value}
        return {"at": rfc3339(self.at), **result, "duration_ms": self.duration_ms}


def subject(delivery_id: str) -> Subject:
    """The delivery as a waiting row."""
    return Subject("delivery", delivery_id)


LOCK_ENDPOINT = text(
    """
    select url, secret, status, generation from webhook_endpoints
     where id = (select endpoint_id from deliveries where id = :id) for no key update
    """
)
# A statement of its own, after the endpoint's lock: it sees what whoever held the lock before has written.
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
class _Held:
    """A delivery, its event and its endpoint (null when it was deleted), locked: endpoint first."""

    row: Row[Any]
    endpoint: Row[Any] | None

    @property
    def now(self) -> datetime:
        moment: datetime = self.row.now
        return moment

    @property
    def standing(self) -> Standing:
        row = self.row
        turn = None if row.turn is None else Turn(row.turn)
        return Standing(DeliveryStatus(row.status), row.made, row.single, turn, row.due_at, row.wake_at)

    @property
    def wanted(self) -> bool:
        """Whether the endpoint is there, enabled, and was not disabled since the event."""
        endpoint = self.endpoint
        return (
            endpoint is not None
            and endpoint.status == EndpointStatus.ENABLED
            and endpoint.generation == self.row.generation
        )


async def _hold(session: AsyncSession, delivery_id: str) -> _Held | None:
    """Lock the endpoint, then the delivery; null for one that is no longer kept."""
    endpoint = (await session.execute(LOCK_ENDPOINT, {"id": delivery_id})).one_or_none()
    row = (await session.execute(HOLD, {"id": delivery_id})).one_or_none()
    return None if row is None else _Held(row, endpoint)


async def decide(session: AsyncSession, delivery_id: str) -> Decision:
    """Say what the delivery needs next; answers every ring up to now, sets `wake_at`, takes the turn of an attempt.

    One that is no longer kept needs nothing.
    """
    held = await _hold(session, delivery_id)
    if held is None:
        return await _gone(session)
    return await _decide(session, held, held.standing)


async def begin(session: AsyncSession, delivery_id: str, number: int) -> tuple[Decision, Parcel | None]:
    """The same, with what attempt `number` (from 1) sends: null when it is not due, no longer wanted or made already.

    The endpoint stays locked until the transaction ends: whoever signs within it signs before any later rotation.
    """
    held = await _hold(session, delivery_id)
    if held is None:
        return await _gone(session), None
    decision = await _decide(session, held, held.standing)
    if decision.need is not Need.ATTEMPT or decision.made != number - 1 or held.endpoint is None:
        return decision, None
    row = held.row
    event = Envelope(
        id=row.event_id,
        type=row.type,
        created_at=row.happened_at,
        customer_id=customer_of(row.tenant_id),
        data=row.data,
    )
    return decision, Parcel(held.endpoint.url, held.endpoint.secret, event, held.now)


async def note(session: AsyncSession, delivery_id: str, number: int, outcome: Outcome) -> Decision:
    """Write what came of attempt `number`, once, and say what is next."""
    held = await _hold(session, delivery_id)
    if held is None:
        return await _gone(session)
    standing = held.standing
    if standing.made != number - 1:
        return await _decide(session, held, standing)
    after = settled(standing, outcome.status_code, now=held.now)
    return await _decide(session, held, after, ended=[outcome.written()])


async def _gone(session: AsyncSession) -> Decision:
    return Decision(Need.NOTHING, "", DeliveryStatus.DROPPED, 0, await service_time(session))


async def _decide(session: AsyncSession, held: _Held, standing: Standing, *, ended: Sequence[Payload] = ()) -> Decision:
    need, after = decided(standing, wanted=held.wanted, given=held.row.given, now=held.now)
    await _write(session, held, after, ended=ended)
    until = after.due_at if need is Need.TIME else None
    return Decision(need, held.row.endpoint_id, after.status, after.made, held.now, until)


async def _write(session: AsyncSession, held: _Held, standing: Standing, *, ended: Sequence[Payload] = ()) -> None:
    """Write where the delivery stands, with the attempts that have ended, and hand on the turn it does not need."""
    values = {
        "id": held.row.id,
        "status": standing.status,
        "made": standing.made,
        "turn": standing.turn,
        "due_at": standing.due_at,
        "wake_at": standing.wake_at,
        "ended": json.dumps(ended),
    }
    await session.execute(WRITE, values)
    if held.row.asked and standing.turn is None:
        await _hand_over(session, held)


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


async def _hand_over(session: AsyncSession, held: _Held) -> None:
    """Give the free turns of the endpoint, which is locked, to those that have waited longest."""
    free = IN_FLIGHT - held.row.given
    if free > 0:
        asked = {"endpoint": held.row.endpoint_id, "free": free, "wake_at": held.now + LEASE, "channel": CHANNEL}
        await session.execute(HAND_OVER, asked)


async def retry(session: AsyncSession, endpoint: WebhookEndpoint, delivery_id: str) -> Delivery:
    """Make one more attempt due now; the caller rings. `endpoint` is locked.

    A pending delivery goes on with its schedule afterwards, any other ends with this attempt. Raises `NotFound`, and
    `Conflict` for an endpoint that is disabled.
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


async def give_up(session: AsyncSession, delivery_id: str) -> None:
    """Drop a test that nobody got to in time; one whose attempt has ended stays as it is."""
    held = await _hold(session, delivery_id)
    if held is not None and held.standing.pending:
        await _write(session, held, closed(held.standing, DeliveryStatus.DROPPED))


SHOWN = "select * from deliveries where id = $1"


async def shown(statements: Statements, delivery_id: str) -> Delivery:
    """A delivery to look at, in one round trip."""
    delivery = await statements.one(Delivery, SHOWN, delivery_id)
    if delivery is None:
        raise NotFound("There is no such delivery.")
    return delivery


async def listed(
    session: AsyncSession, endpoint_id: str, page: Page, *, status: DeliveryStatus | None = None
) -> Slice[Delivery]:
    """An endpoint's deliveries, newest first."""
    created_at = col(Delivery.created_at)
    query = select(Delivery).where(col(Delivery.endpoint_id) == endpoint_id)
    if status is not None:
        query = query.where(col(Delivery.status) == status)
    return await fetch(session, query, page, order=newest_first(created_at, col(Delivery.id)), created_at=created_at)
