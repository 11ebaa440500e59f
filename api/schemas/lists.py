"""Lists: what every list takes and how every list answers (specification, "Pagination and sizes")."""

from typing import Annotated, ClassVar, Generic, Literal, TypeVar

from pydantic import Field

from api.schemas.values import Answer, Ask, Moment

T = TypeVar("T")


class PageAsk(Ask):
    """The query of a list. A list with filters adds them as fields of a subclass."""

    free: ClassVar[frozenset[str]] = frozenset({"cursor", "limit"})
    """Fields that may change while paging; a change of any other starts over."""

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
