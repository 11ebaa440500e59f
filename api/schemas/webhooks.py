"""Webhook endpoints and deliveries as they are asked for and shown (specification, "Webhook endpoint")."""

from typing import Annotated, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from api.schemas.lists import PageAsk
from api.schemas.values import Answer, Ask
from models.rules.addresses import MAX_URL
from models.rules.deliveries import EVERY_TYPE, AttemptError, DeliveryStatus, EndpointStatus
from models.rules.events import EventType
from models.rules.times import Time
from models.tables import Delivery, WebhookEndpoint

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
