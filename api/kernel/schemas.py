"""The kinds of values that requests and answers share (contract, section 1)."""

import re
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Generic, Literal, TypeVar

from email_validator import EmailNotValidError, validate_email
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)

MAX_INTEGER = 2_147_483_647
"""The largest value of an `integer` column."""


class Ask(BaseModel):
    """A request body: unknown fields are refused, and JSON types are not converted."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Answer(BaseModel):
    """An answer, or a part of one."""

    model_config = ConfigDict(frozen=True)


_DATE = re.compile(r"^\d{4}-\d{2}-\d{2}")


def _moment(value: object) -> datetime:
    """Parse an ISO 8601 date or time; refuse numbers, which pydantic would read as seconds since 1970."""
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str) or not _DATE.match(value):
        raise ValueError("must be an ISO 8601 date and time")
    try:
        read = datetime.fromisoformat(value)
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError("must be an ISO 8601 date and time") from error


Moment = Annotated[datetime, BeforeValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})]
"""A moment in requests: ISO 8601; without an offset it is UTC."""


def _address(value: str) -> str:
    try:
        return validate_email(value, check_deliverability=False, test_environment=True).normalized
    except EmailNotValidError as error:
        raise ValueError("is not a valid e-mail address") from error


Email = Annotated[
    str, Field(max_length=254), AfterValidator(_address), WithJsonSchema({"type": "string", "format": "email"})
]
"""An e-mail address, of which only the form is checked."""

Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")
]
"""A non-empty line of text."""

Id = Annotated[str, Field(min_length=1, max_length=100)]
"""An id of the service; an id that does not exist is not found."""

Credits = Annotated[int, Field(ge=0, le=MAX_INTEGER)]

# Lists (specification, "Pagination and sizes").


T = TypeVar("T")


class PageAsk(Ask):
    """The query of a list. A list with filters adds them as fields of a subclass."""

    free: ClassVar[frozenset[str]] = frozenset({"cursor", "limit"})
    """Fields that may change while paging; a cursor is refused if any other field has changed."""

    cursor: Annotated[str, Field(max_length=2000)] | None = Field(
        default=None, description="`next_cursor` of the previous page of this list with these filters."
    )
    limit: int = Field(default=25, ge=1, le=100)
    created_after: Moment | None = Field(default=None, description="ISO 8601, exclusive.")
    created_before: Moment | None = Field(default=None, description="ISO 8601, exclusive.")


class Listing(Answer, Generic[T]):
    """A page of a list."""

    object: Literal["list"] = "list"
    data: list[T]
    next_cursor: str | None = None
    has_more: bool = False
