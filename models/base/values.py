"""Kinds of values that requests, plans, answers and stored rows share (contract, section 1)."""

from datetime import datetime
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from models.base.errors import rfc3339

Time = Annotated[
    datetime,
    PlainSerializer(rfc3339, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A moment as JSON shows it: RFC 3339, UTC, milliseconds, `Z`."""


class Kept(BaseModel):
    """What is kept sealed in the row of a call."""

    model_config = ConfigDict(frozen=True)


def _said(text: str) -> str:
    if not any(character.isalnum() for character in text):
        raise ValueError("must hold a letter or a digit")  # a source finds no word to search for in it
    return text


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), AfterValidator(_said)]
LocationId = Annotated[str, StringConstraints(pattern=r"^loc_[0-9]{1,12}$")]
CompanyId = Annotated[str, StringConstraints(pattern=r"^co_[0-9a-z]{1,40}$")]
SchoolId = Annotated[str, StringConstraints(pattern=r"^sch_[0-9a-z]{1,40}$")]
ProfileId = Annotated[str, StringConstraints(pattern=r"^prof_[0-9a-z]{26}$")]
CountryCode = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]


class Strict(BaseModel):
    """A value that refuses unknown fields and never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Range(Strict):
    """An inclusive range of whole numbers; an open end is null."""

    min: Annotated[int, Field(ge=0)] | None = None
    max: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _ordered(self) -> "Range":
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min must not be above max")
        return self

    @property
    def empty(self) -> bool:
        """Whether neither end is given."""
        return self.min is None and self.max is None
