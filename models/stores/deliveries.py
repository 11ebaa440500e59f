"""The steps of a delivery as transactions: what is due, what to send, what came of it.

Whoever changes a delivery's place among the attempts at an endpoint holds the endpoint's lock, so that no more than
`IN_FLIGHT` are under way at once. A turn is given back by the transaction that writes the attempt's outcome, and handed
to the delivery that has waited longest, which is rung. A holder whose process died keeps its turn: its workflow, or the
dispatcher once `wake_at` is past, makes the attempt again.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.database import Statements
from models.errors import Conflict, NotFound, rfc3339
from models.rules.deliveries import (
    IN_FLIGHT,
    AttemptError,
    DeliveryStatus,
    EndpointStatus,
    Turn,
    accepted,
    retry_after,
)
from models.rules.events import Envelope
from models.rules.subjects import Subject
from models.stores.doorbells import CHANNEL
from models.stores.paging import Page, Slice, fetch, newest_first
from models.tables import Delivery, WebhookEndpoint
from models.tenancy import customer_of

LEASE = timedelta(minutes=1)
"""An attempt that has not ended after this (service time) is looked after by the dispatcher."""


class Need(StrEnum):
    """What a delivery needs next."""

    ATTEMPT = "attempt"
    TIME = "time"
    TURN = "turn"
    NOTHING = "nothing"


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

    def written(self) -> dict[str, str | int | None]:
        """As the delivery log shows it."""
        result = {"status_code": self.status_code} if self.error is None else {"error": self.error.value}
        return {"at": rfc3339(self.at), **result, "duration_ms": self.duration_ms}


def subject(delivery_id: str) -> Subject:
    """The delivery as a waiting row."""
    return Subject("delivery", delivery_id)


async def decide(session: AsyncSession, delivery_id: str) -> Decision:
    """Say what the delivery needs next; answers every ring up to now and sets `wake_at`.

    One that is no longer kept needs nothing.
    """
    endpoint, delivery, now = await _locked(session, delivery_id)
    if delivery is None:
        return Decision(Need.NOTHING, "", DeliveryStatus.DROPPED, 0, now)
    return await _decide(session, endpoint, delivery, now)


async def _locked(session: AsyncSession, delivery_id: str) -> tuple[WebhookEndpoint | None, Delivery | None, datetime]:
    """The endpoint and the delivery, locked in this order, each null when it was deleted; and service time."""
    owner = select(col(Delivery.endpoint_id)).where(col(Delivery.id) == delivery_id).scalar_subquery()
    find = select(WebhookEndpoint).where(col(WebhookEndpoint.id) == owner).with_for_update(key_share=True)
    endpoint = (await session.scalars(find)).one_or_none()
    query = select(Delivery).where(col(Delivery.id) == delivery_id).with_for_update()
    delivery = (await session.scalars(query)).one_or_none()
    return endpoint, delivery, await service_time(session)


async def _decide(
    session: AsyncSession, endpoint: WebhookEndpoint | None, delivery: Delivery, now: datetime
) -> Decision:
    delivery.answered = delivery.rings
    if delivery.status == DeliveryStatus.PENDING and not _open(endpoint, delivery):
        _close(delivery, DeliveryStatus.DROPPED)
        await _hand_over(session, delivery.endpoint_id, now)
    if delivery.status != DeliveryStatus.PENDING or delivery.due_at is None:
        return _decision(Need.NOTHING, delivery, now)
    if delivery.due_at > now:
        delivery.wake_at = delivery.due_at
        return _decision(Need.TIME, delivery, now, until=delivery.due_at)
    if delivery.turn != Turn.GIVEN and await _free(session, delivery.endpoint_id) <= 0:
        delivery.turn, delivery.wake_at = Turn.ASKED, None
        return _decision(Need.TURN, delivery, now)
    delivery.turn, delivery.wake_at = Turn.GIVEN, now + LEASE
    return _decision(Need.ATTEMPT, delivery, now)


def _open(endpoint: WebhookEndpoint | None, delivery: Delivery) -> bool:
    return (
        endpoint is not None
        and endpoint.status == EndpointStatus.ENABLED
        and endpoint.generation == delivery.generation
    )


def _close(delivery: Delivery, status: DeliveryStatus) -> None:
    delivery.status = status
    delivery.turn = delivery.due_at = delivery.wake_at = None


def _decision(need: Need, delivery: Delivery, now: datetime, *, until: datetime | None = None) -> Decision:
    status = DeliveryStatus(delivery.status)
    return Decision(need, delivery.endpoint_id, status, delivery.made, now, until)


GIVEN = text("select count(*) from deliveries where endpoint_id = :endpoint and turn = 'given'")


async def _free(session: AsyncSession, endpoint_id: str) -> int:
    await session.flush()
    return IN_FLIGHT - int(await session.scalar(GIVEN, {"endpoint": endpoint_id}) or 0)


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


async def _hand_over(session: AsyncSession, endpoint_id: str, now: datetime) -> None:
    """Give the free turns of the endpoint, which is locked, to those that have waited longest."""
    free = await _free(session, endpoint_id)
    if free > 0:
        asked = {"endpoint": endpoint_id, "free": free, "wake_at": now + LEASE, "channel": CHANNEL}
        await session.execute(HAND_OVER, asked)


PARCEL = text(
    """
    select w.url, w.secret, e.id, e.type, e.created_at, e.tenant_id, e.data, service_now() as at
      from deliveries d
      join events e on e.id = d.event_id
      join webhook_endpoints w on w.id = d.endpoint_id and w.status = 'enabled' and w.generation = d.generation
     where d.id = :id and d.made = :made and d.status = 'pending'
    """
)


async def parcel(session: AsyncSession, delivery_id: str, number: int) -> Parcel | None:
    """What attempt `number` (from 1) sends; null when it is no longer wanted or was made already."""
    row = (await session.execute(PARCEL, {"id": delivery_id, "made": number - 1})).one_or_none()
    if row is None:
        return None
    event = Envelope(
        id=row.id,
        type=row.type,
        created_at=row.created_at,
        customer_id=customer_of(row.tenant_id),
        data=row.data,
    )
    return Parcel(row.url, row.secret, event, row.at)


async def note(session: AsyncSession, delivery_id: str, number: int, outcome: Outcome) -> Decision:
    """Write what came of attempt `number`, once, and say what is next."""
    endpoint, delivery, now = await _locked(session, delivery_id)
    if delivery is None or delivery.made != number - 1:
        return await decide(session, delivery_id)
    delivery.made = number
    delivery.attempts = [*delivery.attempts, outcome.written()]
    if delivery.status == DeliveryStatus.PENDING:
        _settle(delivery, outcome, now)
        await _hand_over(session, delivery.endpoint_id, now)
    return await _decide(session, endpoint, delivery, now)


def _settle(delivery: Delivery, outcome: Outcome, now: datetime) -> None:
    wait = None if delivery.single else retry_after(delivery.made)
    if accepted(outcome.status_code):
        _close(delivery, DeliveryStatus.DELIVERED)
    elif wait is None:
        _close(delivery, DeliveryStatus.FAILED)
    else:
        delivery.turn, delivery.due_at = None, now + wait


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
    _, delivery, _ = await _locked(session, delivery_id)
    if delivery is not None and delivery.status == DeliveryStatus.PENDING:
        _close(delivery, DeliveryStatus.DROPPED)


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
