"""What the installation holds towards its people sources: the slots that bound how many calls run at once."""

from datetime import datetime

from sqlalchemy import BigInteger, false, text
from sqlmodel import Field

from models.tables.base import TIME, Row


class UpstreamSlot(Row, table=True):
    """The right to one upstream call at a time; as many rows as calls may run in the whole installation.

    `busy_until` is wall time: a row whose time has passed may be taken over. `fence` rises with every taking, so that
    a former holder notices that it lost the row. `working` is true while a call runs, false while the holder only
    waits for work.
    """

    __tablename__ = "upstream_slots"

    slot: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    holder: str | None = None
    fence: int = Field(default=0, sa_type=BigInteger, sa_column_kwargs={"server_default": text("0")})
    busy_until: datetime | None = Field(default=None, sa_type=TIME)
    working: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
