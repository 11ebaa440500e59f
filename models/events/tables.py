"""Events, the clock that stamps them, webhook endpoints and deliveries."""

from datetime import datetime

from sqlalchemy import Index, LargeBinary, UniqueConstraint, text
from sqlmodel import Field

from models.base.tables import JSON, TEXTS, TIME, OwnedRow, Payload, Row, WaitingRow, one_of, waiting, waiting_indexes
from models.events.rules.deliveries import DeliveryStatus, EndpointStatus, Turn


class Event(OwnedRow, table=True):
    """Something that happened. `created_at` is unique in a workspace and follows the order of commits."""

    __tablename__ = "events"
    __table_args__ = (
        UniqueConstraint("workspace_id", "created_at"),
        Index("ix_events_tenant_id_created_at", "tenant_id", "created_at"),
        Index("ix_events_workspace_id_type_created_at", "workspace_id", "type", "created_at", "id"),
        Index("ix_events_created_at", "created_at"),
    )

    id: str = Field(primary_key=True)
    type: str
    data: Payload = Field(sa_type=JSON)
    created_at: datetime = Field(sa_type=TIME)


class EventClock(Row, table=True):
    """The stamp of a workspace's newest event; its lock is the last one that a transaction takes."""

    __tablename__ = "event_clocks"

    workspace_id: str = Field(primary_key=True)
    last: datetime = Field(sa_type=TIME)


class WebhookEndpoint(Row, table=True):
    """An address to which an account wants its events sent.

    `generation` rises whenever the endpoint is disabled: deliveries of an earlier one are dropped, also those that are
    being written at that moment. `secret` is encrypted.
    """

    __tablename__ = "webhook_endpoints"
    __table_args__ = (
        Index("ix_webhook_endpoints_workspace_id_created_at_id", "workspace_id", "created_at", "id"),
        one_of("status", EndpointStatus),
    )

    id: str = Field(primary_key=True)
    workspace_id: str = Field(foreign_key="workspaces.id")
    customer_id: str | None = Field(default=None, foreign_key="customers.id")
    url: str
    events: list[str] = Field(sa_type=TEXTS)
    description: str | None = None
    status: str = "enabled"
    generation: int = 0
    secret: bytes = Field(sa_type=LargeBinary)
    secret_hint: str
    created_at: datetime = Field(sa_type=TIME)


@waiting("delivery")
class Delivery(OwnedRow, WaitingRow, table=True):
    """One event on its way to one endpoint. It has no foreign keys: deleting an endpoint must not fail an emit.

    `made` counts the attempts listed in `attempts`; `due_at` is when the next one may start, `turn` its place among
    the attempts at the endpoint. `single`: the next attempt is the last.
    """

    __tablename__ = "deliveries"
    __table_args__ = (
        *waiting_indexes("deliveries"),
        Index("ix_deliveries_endpoint_id_created_at_id", "endpoint_id", "created_at", "id"),
        Index("ix_deliveries_endpoint_id_status_created_at_id", "endpoint_id", "status", "created_at", "id"),
        Index("ix_deliveries_turn", "endpoint_id", "due_at", "id", postgresql_where=text("turn is not null")),
        Index("ix_deliveries_pending", "endpoint_id", postgresql_where=text("status = 'pending'")),
        Index("ix_deliveries_pending_created_at", "created_at", postgresql_where=text("status = 'pending'")),
        Index("ix_deliveries_created_at", "created_at"),
        one_of("status", DeliveryStatus),
        one_of("turn", Turn),
    )

    id: str = Field(primary_key=True)
    event_id: str
    event_type: str
    endpoint_id: str
    generation: int
    status: str = "pending"
    single: bool = False
    turn: str | None = None
    made: int = 0
    attempts: list[Payload] = Field(default_factory=list, sa_type=JSON)
    due_at: datetime | None = Field(default=None, sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)
