"""Doorbells: ringing a waiting row inside the transaction that changes it, and finding rows that need attention."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Table, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from models.tables import WAITING

CHANNEL = "doorbell"
OVERDUE_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Subject:
    """A waiting row: its kind and id; `kind/id` is its workflow's id."""

    kind: str
    id: str

    @property
    def workflow_id(self) -> str:
        """The id of the workflow that owns this row's time."""
        return f"{self.kind}/{self.id}"


def _table(kind: str) -> Table:
    table: Any = WAITING[kind]
    found: Table = table.__table__
    return found


async def ring(session: AsyncSession, subject: Subject) -> None:
    """Count one more ring on the row and wake the dispatchers when this transaction commits."""
    table = _table(subject.kind)
    await session.execute(update(table).where(table.c.id == subject.id).values(rings=table.c.rings + 1))
    await session.execute(text(f"notify {CHANNEL}"))


DUE = " union all ".join(
    f"(select '{kind}' as kind, id from {_table(kind).name} where rings > answered limit :limit)"  # noqa: S608
    f" union all (select '{kind}' as kind, id from {_table(kind).name}"
    f" where wake_at < service_now() - make_interval(secs => :overdue) order by wake_at limit :limit)"
    for kind in WAITING
)


async def due(session: AsyncSession, *, limit: int, overdue_seconds: float = OVERDUE_SECONDS) -> list[Subject]:
    """Rows that were rung and not answered, or should have woken more than `overdue_seconds` ago."""
    rows = await session.execute(text(DUE), {"limit": limit, "overdue": overdue_seconds})
    return list(dict.fromkeys(Subject(kind, row_id) for kind, row_id in rows))
