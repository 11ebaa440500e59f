"""Moments as JSON shows them everywhere (contract, section 1)."""

from datetime import datetime
from typing import Annotated

from pydantic import PlainSerializer, WithJsonSchema

from models.errors import rfc3339

Time = Annotated[
    datetime,
    PlainSerializer(rfc3339, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""RFC 3339, UTC, milliseconds, `Z`."""
