"""What the installation holds towards its people sources: slots, synchronous calls, and scrolls of raw searches."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKeyConstraint, Index, LargeBinary, false, text
from sqlmodel import Field

from models.tables.base import JSON, TEXTS, TIME, OwnedRow, Payload, Row


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


class UpstreamCall(OwnedRow, table=True):
    """A synchronous call to the people source, which a standalone activity `call/<id>` makes.

    `ask` and `result` are sealed and emptied once the answer is handed over or the call has failed. `until` is wall
    time: while the call waits, how long somebody waits for it; while it runs, when it counts as lost.
    """

    __tablename__ = "upstream_calls"
    __table_args__ = (
        Index(
            "ix_upstream_calls_open",
            "tenant_id",
            "idempotency_key",
            unique=True,
            postgresql_where=text("status in ('waiting', 'running', 'done')"),
        ),
        Index("ix_upstream_calls_waiting", "workspace_id", postgresql_where=text("status = 'waiting'")),
        Index("ix_upstream_calls_created_at", "created_at"),
        Index(
            "ix_upstream_calls_about",
            "about",
            postgresql_using="gin",
            postgresql_where=text("status in ('waiting', 'running', 'done')"),
        ),
        CheckConstraint("kind in ('search', 'fetch', 'match', 'companies')", name="kind"),
        CheckConstraint("status in ('waiting', 'running', 'done', 'collected', 'failed')", name="status"),
    )

    id: str = Field(primary_key=True)
    api_key_id: str
    idempotency_key: str
    fingerprint: bytes = Field(sa_type=LargeBinary)
    """Of the request: what the same key must come with again."""
    kind: str
    status: str
    ask: bytes | None = Field(default=None, sa_type=LargeBinary)
    result: bytes | None = Field(default=None, sa_type=LargeBinary)
    about: list[str] = Field(default_factory=list, sa_type=TEXTS)
    """Marks of the people whom `ask` or `result` names (`people.marks`), by which an erasure finds the row."""
    failure: Payload | None = Field(default=None, sa_type=JSON)
    until: datetime = Field(sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)


class ScrollPage(OwnedRow, table=True):
    """A page of a raw search: the source's token of the page behind it, null on the last."""

    __tablename__ = "scroll_pages"
    __table_args__ = (Index("ix_scroll_pages_created_at", "created_at"),)

    scroll_id: str = Field(primary_key=True)
    number: int = Field(primary_key=True)
    next_token: str | None = None
    created_at: datetime = Field(sa_type=TIME)


class ScrollPerson(OwnedRow, table=True):
    """Somebody who was on a page of a raw search, and is not shown again on a later one."""

    __tablename__ = "scroll_people"
    __table_args__ = (
        Index("ix_scroll_people_profile_id", "profile_id"),
        ForeignKeyConstraint(
            ["scroll_id", "number"], ["scroll_pages.scroll_id", "scroll_pages.number"], ondelete="CASCADE"
        ),
    )

    scroll_id: str = Field(primary_key=True)
    number: int = Field(primary_key=True)
    profile_id: str = Field(primary_key=True)
