"""What every table shares: naming, column types, the columns of a row that waits."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    DateTime,
    ForeignKeyConstraint,
    Index,
    Interval,
    LargeBinary,
    MetaData,
    text,
)
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
    """A row whose next step happens later. It counts its wakes, and as `answered` those that its last step has seen.

    A row needs attention while a wake is not answered, and when `wake_at` (service time) has passed.
    """

    rings: int = Field(default=0, sa_type=BigInteger)
    answered: int = Field(default=0, sa_type=BigInteger)
    wake_at: datetime | None = Field(default=None, sa_type=TIME)


WAITING: dict[str, type[WaitingRow]] = {}
"""The table of each kind of waiting row. `models.tables` imports every one."""

OPEN_WHEN: dict[str, str] = {}
"""The SQL condition of each kind's rows that are not over even while they have no time to wake at."""

W = TypeVar("W", bound=type[WaitingRow])


def waiting(kind: str, *, open_when: str = "false") -> Callable[[W], W]:
    """Register a table of waiting rows; `kind` is the first part of its rows' workflow ids.

    After a restore the rows are woken that have a time to wake at, or for which `open_when` holds. The default is for a
    kind whose row has such a time whenever it is not over, also while a call is under way.
    """

    def register(table: W) -> W:
        WAITING[kind], OPEN_WHEN[kind] = table, open_when
        return table

    return register


def waiting_indexes(table: str) -> tuple[Index, Index]:
    """The partial indexes by which the dispatcher finds rows that need attention."""
    return (
        Index(f"ix_{table}_rung", "id", postgresql_where=text("rings > answered")),
        Index(f"ix_{table}_wake_at", "wake_at", postgresql_where=text("wake_at is not null")),
    )


def one_of(column: str, words: Iterable[str]) -> CheckConstraint:
    """Return the CHECK that a column holds one of these words, usually those of an enum, or null."""
    listed = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} in ({listed})", name=column)


Payload = dict[str, Any]

# Tables of the installation.


class ServiceClock(Row, table=True):
    """One row: what virtual time adds to the wall clock. Zero in production."""

    __tablename__ = "service_clock"
    __table_args__ = (CheckConstraint("id = 1", name="one_row"),)

    id: int = Field(primary_key=True)
    shift: timedelta = Field(sa_type=Interval)


@waiting("housekeeping", open_when="true")
class Housekeeping(WaitingRow, table=True):
    """A recurring duty of the installation; `id` is its name."""

    __tablename__ = "housekeeping"
    __table_args__ = waiting_indexes("housekeeping")

    id: str = Field(primary_key=True)


class IdempotencyRecord(Row, table=True):
    """One use of an Idempotency-Key in a tenant.

    While running, `lock` fences the holder and `locked_until` (wall clock) is its lease. A finished record holds the
    encrypted answer until `expires_at` (service time), without `body` once a person it names may no longer be shown.
    """

    __tablename__ = "idempotency_records"
    __table_args__ = (Index("ix_idempotency_records_expires_at", "expires_at"),)

    tenant_id: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    workspace_id: str
    fingerprint: bytes = Field(sa_type=LargeBinary)
    lock: str
    locked_until: datetime = Field(sa_type=TIME)
    status: int | None = None
    headers: Payload | None = Field(default=None, sa_type=JSON)
    body: bytes | None = Field(default=None, sa_type=LargeBinary)
    subject_id: str | None = None
    expires_at: datetime = Field(sa_type=TIME)


class IdempotencyMark(OwnedRow, table=True):
    """A person whom the kept body of an idempotency record names, as a mark (`models.people.store.suppressions`)."""

    __tablename__ = "idempotency_marks"
    __table_args__ = (
        Index("ix_idempotency_marks_mark", "mark"),
        ForeignKeyConstraint(
            ["tenant_id", "key"], ["idempotency_records.tenant_id", "idempotency_records.key"], ondelete="CASCADE"
        ),
    )

    tenant_id: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    mark: str = Field(primary_key=True)
