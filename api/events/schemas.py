"""Events as they are read (specification, "Events")."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue
from pydantic.json_schema import SkipJsonSchema

from api.kernel.schemas import Answer, Ask, PageAsk
from models.base.errors import InvalidRequest
from models.base.outbound import MAX_URL
from models.base.tenants import customer_of
from models.base.values import Time
from models.events.rules.catalogue import EventType
from models.events.rules.deliveries import EVERY_TYPE, AttemptError, DeliveryStatus, EndpointStatus
from models.events.tables import Delivery, Event, WebhookEndpoint


class ListEvents(PageAsk):
    """Events of the last 30 days, newest first."""

    types: Annotated[str, Field(min_length=1, max_length=1000)] | None = Field(
        default=None, description="Event types, comma separated."
    )
    customer_id: Annotated[str, Field(min_length=1, max_length=64)] | None = Field(
        default=None, description="Events inside this customer; `none` selects those outside of any."
    )

    def wanted_types(self) -> list[EventType]:
        """The types named. Raises `InvalidRequest` for one that does not exist."""
        names = [name.strip() for name in self.types.split(",")] if self.types else []
        try:
            return [EventType(name) for name in names]
        except ValueError as error:
            known = ", ".join(EventType)
            raise InvalidRequest(
                "types names an event type that does not exist.", field="types", fix=f"Known: {known}"
            ) from error


class EventView(Answer):
    """Something that happened, as it is delivered to webhooks: ids, statuses and counts."""

    id: str
    object: Literal["event"] = "event"
    type: EventType
    created_at: Time
    customer_id: str | None
    data: dict[str, JsonValue]

    @classmethod
    def of(cls, event: Event) -> "EventView":
        """The event as it is shown."""
        return cls(
            id=event.id,
            type=EventType(event.type),
            created_at=event.created_at,
            customer_id=customer_of(event.tenant_id),
            data=event.data,
        )


# Webhook endpoints and deliveries as they are asked for and shown (specification, "Webhook endpoint").


Url = Annotated[
    str,
    Field(min_length=1, max_length=MAX_URL, description="Public HTTPS on port 443, without credentials or fragment."),
]
Events = Annotated[
    list[EventType | Literal["*"]],
    Field(min_length=1, max_length=100, description="Event types wanted; `*` is every type."),
]
Description = Annotated[str, Field(max_length=500)]


class CreateEndpoint(Ask):
    """A new endpoint. `customer_id` restricts it to that customer's events."""

    url: Url
    events: Events = Field(default_factory=lambda: [EVERY_TYPE], validate_default=True)
    customer_id: Annotated[str, Field(max_length=64)] | None = None
    description: Description | None = None


class ChangeEndpoint(Ask):
    """What may change on an endpoint; a field that is left out stays, `null` takes the description away."""

    url: Url | SkipJsonSchema[None] = None
    events: Events | SkipJsonSchema[None] = None
    description: Description | None = None
    status: EndpointStatus | SkipJsonSchema[None] = None


class EndpointView(Answer):
    """A webhook endpoint without its secret."""

    id: str
    object: Literal["webhook_endpoint"] = "webhook_endpoint"
    url: str
    events: list[str]
    customer_id: str | None
    description: str | None
    status: EndpointStatus
    secret_hint: str
    created_at: Time

    @classmethod
    def of(cls, row: WebhookEndpoint) -> "EndpointView":
        """The endpoint as it is shown."""
        return cls.model_validate(row.model_dump(include=set(EndpointView.model_fields)))


class EndpointSecret(EndpointView):
    """A webhook endpoint with its secret, shown this once."""

    secret: str


class EndpointTested(Answer):
    """What an endpoint answered to a `ping`."""

    object: Literal["webhook_test"] = "webhook_test"
    event_id: str
    status_code: int | None
    error: AttemptError | None
    duration_ms: int


class AttemptView(Answer):
    """One attempt: the status code that it was answered with, or why there is none."""

    at: Time
    status_code: int | None = None
    error: AttemptError | None = None
    duration_ms: int


class DeliveryQuery(PageAsk):
    """The deliveries of one endpoint, newest first."""

    status: DeliveryStatus | None = None


class ListDeliveries(DeliveryQuery):
    """The same, of this endpoint."""

    endpoint_id: str


class DeliveryView(Answer):
    """One event on its way to one endpoint."""

    id: str
    object: Literal["delivery"] = "delivery"
    event_id: str
    event_type: str
    status: DeliveryStatus
    attempts: list[AttemptView]
    next_attempt_at: Time | None
    created_at: Time

    @classmethod
    def of(cls, row: Delivery) -> "DeliveryView":
        """The delivery as it is shown."""
        return cls(
            id=row.id,
            event_id=row.event_id,
            event_type=row.event_type,
            status=DeliveryStatus(row.status),
            attempts=[AttemptView.model_validate(attempt) for attempt in row.attempts],
            next_attempt_at=row.due_at,
            created_at=row.created_at,
        )
