"""What belongs to the installation: the clock's offset and housekeeping."""

from datetime import timedelta

from sqlalchemy import CheckConstraint, Interval
from sqlmodel import Field

from models.tables.base import Row, WaitingRow, waiting_indexes


class ServiceClock(Row, table=True):
    """One row: what virtual time adds to the wall clock. Zero in production."""

    __tablename__ = "service_clock"
    __table_args__ = (CheckConstraint("id = 1", name="one_row"),)

    id: int = Field(primary_key=True)
    shift: timedelta = Field(sa_type=Interval)


class Housekeeping(WaitingRow, table=True):
    """A recurring duty of the installation; `id` is its name."""

    __tablename__ = "housekeeping"
    __table_args__ = waiting_indexes("housekeeping")

    id: str = Field(primary_key=True)
