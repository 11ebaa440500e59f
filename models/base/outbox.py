"""The outbox: wake a waiting row inside the transaction that changes it, and find the rows that need attention."""

import functools
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnExpressionArgument, Table, TextClause, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.steps import Subject
from models.base.tables import WAITING

CHANNEL = "doorbell"
AGAIN = "again"
"""Payload of a notification after which rows are woken again although they were woken a moment ago."""
OVERDUE_SECONDS = 30


@dataclass(frozen=True, slots=True)
class DueRow:
    """A row whose workflow must be woken, its owner (null for the installation's own rows), and the row's state.

    `fairness_key` is the endpoint of a delivery; `sequence_id` and `account_id` are outreach's; each may be null.
    `state` changes with every counted wake and every new `wake_at`.
    """

    subject: Subject
    workspace_id: str | None
    tenant_id: str | None
    fairness_key: str | None
    sequence_id: str | None
    account_id: str | None
    state: str


def _table(kind: str) -> Table:
    table: Any = WAITING[kind]
    found: Table = table.__table__
    return found


async def wake(session: AsyncSession, subject: Subject) -> None:
    """Count one more wake on the row, and have the dispatchers look when this transaction commits."""
    await _count(session, subject.kind, _table(subject.kind).c.id == subject.id)


async def wake_many(session: AsyncSession, kind: str, ids: Collection[str]) -> None:
    """Wake these rows of one kind."""
    await _count(session, kind, text("id = any(cast(:ids as text[]))").bindparams(ids=list(ids)))


async def wake_where(session: AsyncSession, kind: str, condition: str) -> int:
    """Wake the rows of one kind for which an SQL condition holds; return how many."""
    return await _count(session, kind, text(condition))


async def _count(session: AsyncSession, kind: str, where: ColumnExpressionArgument[bool]) -> int:
    table = _table(kind)
    result = await session.execute(update(table).where(where).values(rings=table.c.rings + 1))
    await notify(session)
    counted: int = result.rowcount  # type: ignore[attr-defined] # an update's result is a cursor's
    return counted


async def notify(session: AsyncSession) -> None:
    """Have the dispatchers look when this transaction commits: for callers that have counted the wakes themselves."""
    await session.execute(text(f"notify {CHANNEL}"))


STATE = "concat_ws('/', id, rings, wake_at)"
WHOSE = {
    "workspace_id": "workspace_id",
    "tenant_id": "tenant_id",
    "endpoint_id": "fairness_key",
    "sequence_id": "sequence_id",
    "account_id": "account_id",
}
"""Columns that a table of waiting rows may have, and the field of `DueRow` that each fills."""


def _select(kind: str) -> str:
    table = _table(kind)
    whose = ", ".join(f"{name if name in table.c else 'null'} as {field}" for name, field in WHOSE.items())
    return (
        f"select '{kind}' as kind, id, {whose}, {STATE} as state from {table.name}"  # noqa: S608 - our own names
        f" where {STATE} <> all (cast(:quiet as text[])) and"
    )


@functools.cache
def _rows_due() -> TextClause:
    """Return the statement over every registered table; the dispatcher has imported `models.tables`."""
    # Accounts that sleep over a callback: it was stored without a wake while another transaction held the account.
    callbacks = (
        f"({_select('account')} wake_at > (select service_now()) and id in (select account_id from network_callbacks"  # noqa: S608 - our own names
        " where processed_at is null and due_at <= (select service_now())) limit :limit)"
    )
    return text(
        f"{callbacks} union all "
        + " union all ".join(
            f"({_select(kind)} rings > answered limit :limit)"
            f" union all ({_select(kind)} wake_at < (select service_now()) - make_interval(secs => :overdue)"
            " order by wake_at limit :limit)"
            for kind in WAITING
        )
    )


async def rows_due(
    session: AsyncSession, *, limit: int, overdue_seconds: float = OVERDUE_SECONDS, quiet: Collection[str] = ()
) -> list[DueRow]:
    """Return the rows that count an unanswered wake, are overdue by `overdue_seconds`, or have a callback due.

    Rows whose state is in `quiet` are left out.
    """
    asked = {"limit": limit, "overdue": overdue_seconds, "quiet": list(quiet)}
    rows = await session.execute(_rows_due(), asked)
    found = (DueRow(Subject(kind, row_id), *whose_and_state) for kind, row_id, *whose_and_state in rows)
    return list({row.subject: row for row in found}.values())
