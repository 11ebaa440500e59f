"""Events as they are read (specification, "Events")."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from api.schemas.lists import PageAsk
from api.schemas.values import Answer
from models.errors import InvalidRequest
from models.rules.events import EventType
from models.rules.times import Time
from models.tables import Event
from models.tenancy import customer_of


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
