"""Doorbells: ringing a waiting row inside the transaction that changes it, and finding rows that need attention."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Table, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from models.rules.subjects import Subject
from models.tables import WAITING

CHANNEL = "doorbell"
OVERDUE_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Due:
    """A row that needs a ring, whose it is (null for the installation's own), and the state that needs it.

    `sequence_id` and `account_id` (of outreach) are null for rows that have none.
    """

    subject: Subject
    workspace_id: str | None
    tenant_id: str | None
    sequence_id: str | None
    account_id: str | None
    rings: int
    wake_at: datetime | None


def _table(kind: str) -> Table:
    table: Any = WAITING[kind]
    found: Table = table.__table__
    return found


async def ring(session: AsyncSession, subject: Subject) -> None:
    """Count one more ring on the row and wake the dispatchers when this transaction commits."""
    table = _table(subject.kind)
    await session.execute(update(table).where(table.c.id == subject.id).values(rings=table.c.rings + 1))
    await session.execute(text(f"notify {CHANNEL}"))


WHOSE = ("workspace_id", "tenant_id", "sequence_id", "account_id")


def _select(kind: str) -> str:
    table = _table(kind)
    whose = ", ".join(name if name in table.c else f"null as {name}" for name in WHOSE)
    return f"select '{kind}' as kind, id, {whose}, rings, wake_at from {table.name}"  # noqa: S608 - names from our own tables


DUE = " union all ".join(
    f"({_select(kind)} where rings > answered limit :limit)"
    f" union all ({_select(kind)} where wake_at < service_now() - make_interval(secs => :overdue)"
    " order by wake_at limit :limit)"
    for kind in WAITING
)


async def due(session: AsyncSession, *, limit: int, overdue_seconds: float = OVERDUE_SECONDS) -> list[Due]:
    """Rows that were rung and not answered, or should have woken more than `overdue_seconds` ago."""
    rows = await session.execute(text(DUE), {"limit": limit, "overdue": overdue_seconds})
    found = (Due(Subject(kind, row_id), *whose_and_state) for kind, row_id, *whose_and_state in rows)
    return list({row.subject: row for row in found}.values())
