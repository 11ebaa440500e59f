"""What every table shares: naming, column types, the columns of a row that waits."""

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import BigInteger, DateTime, Index, MetaData, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TEXT
from sqlmodel import Field, SQLModel

SQLModel.metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

TIME = DateTime(timezone=True)
JSON = JSONB(none_as_null=True)
TEXTS = ARRAY(TEXT)


class Row(SQLModel):
    """A row. Rows never leave the API: answers are models of their own."""


class OwnedRow(Row):
    """A row that lives in exactly one tenant: `tenant_id` is the customer's id, or the workspace's for the account."""

    workspace_id: str = Field(index=False)
    tenant_id: str


class WaitingRow(Row):
    """A row whose next step happens later: `rings` is the outbox, `answered` what the last step had read of it.

    A row needs attention when `rings > answered`, or when `wake_at` (service time) has passed.
    """

    rings: int = Field(default=0, sa_type=BigInteger)
    answered: int = Field(default=0, sa_type=BigInteger)
    wake_at: datetime | None = Field(default=None, sa_type=TIME)


def waiting_indexes(table: str) -> tuple[Index, Index]:
    """The partial indexes by which the dispatcher finds rows that need attention."""
    return (
        Index(f"ix_{table}_rung", "id", postgresql_where=text("rings > answered")),
        Index(f"ix_{table}_wake_at", "wake_at", postgresql_where=text("wake_at is not null")),
    )


Payload = dict[str, Any]
TableArgs = ClassVar[tuple[Any, ...]]
