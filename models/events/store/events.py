"""Events: emitted by the transaction that changes something, written as its last statement, and read.

`emit` only notes the event on the session. Right before the commit `Database.transaction` writes all noted events: one
statement for each workspace stamps them by the event clock, inserts them, and inserts and wakes a delivery for every
endpoint that wants them. The event therefore exists if and only if the change does, and the clock's lock is never held
during other work. Stamps are given under that lock, which is held until the commit is visible: a poller that continues
from the newest `created_at` it has seen misses none.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.database import before_commit, service_time
from models.base.errors import NotFound
from models.base.ids import new_id
from models.base.outbox import CHANNEL
from models.base.paging import Page, Slice, fetch, newest_first
from models.base.tables import Payload
from models.base.tenants import Tenant
from models.events.rules.catalogue import KEPT, EventData, EventType, Pinged
from models.events.rules.deliveries import ENDPOINTS
from models.events.tables import Event, WebhookEndpoint

NOTED = "events"
ACCOUNT_ONLY = "none"
"""The value of the filter `customer_id` that selects events of no customer."""


@dataclass(frozen=True, slots=True)
class _Noted:
    """An event to be written, with an id for each possible delivery. `only`: the one endpoint that gets it."""

    id: str
    tenant: Tenant
    type: EventType
    data: EventData
    delivery_ids: tuple[str, ...]
    only: str | None = None

    def serialized(self, place: int) -> Payload:
        return {
            "id": self.id,
            "tenant_id": self.tenant.id,
            "type": self.type,
            "data": self.data.model_dump(mode="json"),
            "delivery_ids": self.delivery_ids,
            "only_for": self.only,
            "place": place,
        }


def emit(session: AsyncSession, tenant: Tenant, type: EventType, data: EventData, *, now: datetime) -> str:
    """Publish an event if this transaction commits. Return the event's id.

    `now` is service time; the event's `created_at` is set when it is written. Raises `TypeError` when `data` is not of
    the type's own class.
    """
    if not isinstance(data, type.data):
        raise TypeError(f"{type} carries {type.data.__name__}")
    ids = tuple(new_id("dlv", now) for _ in range(ENDPOINTS))
    return _note(session, _Noted(new_id("evt", now), tenant, type, data, ids))


def emit_ping(session: AsyncSession, endpoint: WebhookEndpoint, *, now: datetime) -> tuple[str, str]:
    """Send a test event to one endpoint, with one attempt at once. Return the ids of event and delivery."""
    delivery_id = new_id("dlv", now)
    tenant = Tenant(endpoint.workspace_id, endpoint.customer_id)
    data = Pinged(endpoint_id=endpoint.id)
    noted = _Noted(new_id("evt", now), tenant, EventType.PING, data, (delivery_id,), only=endpoint.id)
    return _note(session, noted), delivery_id


def _note(session: AsyncSession, event: _Noted) -> str:
    if NOTED not in session.info:
        before_commit(session, _write)
        session.info[NOTED] = []
    session.info[NOTED].append(event)
    return event.id


WRITE = text(
    """
    with clock as (
      insert into event_clocks as c (workspace_id, last) values (cast(:workspace as text), service_now())
      on conflict (workspace_id) do update
        set last = greatest(service_now(), c.last + cast(:count as int) * interval '1 millisecond')
      returning last
    ), noted as (
      select * from jsonb_to_recordset(cast(:events as jsonb))
        as (id text, tenant_id text, type text, data jsonb, delivery_ids jsonb, only_for text, place int)
    ), written as (
      insert into events (id, workspace_id, tenant_id, type, data, created_at)
      select n.id, cast(:workspace as text), n.tenant_id, n.type, n.data,
             clock.last - (cast(:count as int) - n.place) * interval '1 millisecond'
        from noted n, clock
      returning id, workspace_id, tenant_id, type, created_at
    ), queued as (
      insert into deliveries (id, workspace_id, tenant_id, event_id, event_type, endpoint_id, generation, status,
                              single, turn, made, attempts, due_at, created_at, rings, answered)
      select n.delivery_ids ->> cast(row_number() over (partition by e.id) as int) - 1, e.workspace_id, e.tenant_id,
             e.id, e.type, w.id, w.generation, 'pending', n.only_for is not null,
             case when n.only_for is not null then 'given' end, 0, '[]', e.created_at, e.created_at, 1, 0
        from written e join noted n using (id)
        join webhook_endpoints w on w.workspace_id = e.workspace_id and case
          when n.only_for is not null then w.id = n.only_for
          else w.status = 'enabled' and (w.customer_id is null or w.customer_id = e.tenant_id)
               and (e.type = any (w.events) or '*' = any (w.events)) end
      returning id
    )
    select pg_notify(:channel, '') from queued limit 1
    """
)


async def _write(session: AsyncSession) -> None:
    """Stamp, insert and queue all noted events. Workspaces come in order, because their clocks are locked."""
    noted: Sequence[_Noted] = session.info[NOTED]
    for workspace_id in sorted({event.tenant.workspace_id for event in noted}):
        own = [event for event in noted if event.tenant.workspace_id == workspace_id]
        noted_json = json.dumps([event.serialized(place) for place, event in enumerate(own, start=1)])
        asked = {"workspace": workspace_id, "count": len(own), "events": noted_json, "channel": CHANNEL}
        await session.execute(WRITE, asked)


async def load_event(session: AsyncSession, tenant: Tenant, event_id: str) -> Event:
    """Return an event that the tenant may see: the account sees its customers' too. Raises `NotFound`."""
    query = select(Event).where(col(Event.id) == event_id, *_visible(tenant, await service_time(session)))
    event = (await session.scalars(query)).one_or_none()
    if event is None:
        raise NotFound("There is no such event.")
    return event


async def page_of_events(
    session: AsyncSession,
    tenant: Tenant,
    page: Page,
    *,
    types: Sequence[EventType] = (),
    customer_id: str | None = None,
) -> Slice[Event]:
    """Return the events of the last 30 days, newest first. No types means all; `customer_id` may be `ACCOUNT_ONLY`."""
    query = select(Event).where(*_visible(tenant, await service_time(session)))
    if types:
        query = query.where(col(Event.type).in_(types))
    if customer_id is not None:
        whose = tenant.workspace_id if customer_id == ACCOUNT_ONLY else customer_id
        query = query.where(col(Event.tenant_id) == whose)
    created_at = col(Event.created_at)
    return await fetch(session, query, page, order=newest_first(created_at, col(Event.id)), created_at=created_at)


def _visible(tenant: Tenant, now: datetime) -> list[ColumnElement[bool]]:
    kept = [col(Event.workspace_id) == tenant.workspace_id, col(Event.created_at) > now - KEPT]
    return kept if tenant.customer_id is None else [*kept, col(Event.tenant_id) == tenant.id]
