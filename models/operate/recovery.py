"""After a restore, mark as unknown what may already have been sent (`docs/operations.md`).

A restored database lacks what was sent since its backup. One row records the restore. From then on, claiming an action
that was requested before the restore, or a later step of an enrollment from before it, gives the action an unknown
outcome dated to the backup (`models.outreach.engine.claim`). Reading back from the network then decides as after a
lost answer: it was done, it is to be done, or a person decides.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

import models.tables  # noqa: F401 - registers every waiting row
from models.base import outbox
from models.base.database import service_time
from models.base.tables import OPEN_WHEN
from models.outreach.tables import Recovery

LAST_STAMP = text(
    """
    select greatest(
      (select max(last) from event_clocks),
      (select max(coalesce(claimed_at, created_at)) from actions),
      (select max(created_at) from enrollments),
      (select max(created_at) from workspaces))
    """
)
CATCH_UP = text(
    """
    update outreach_accounts
       set next_look_at = :now, next_chats_poll_at = :now, next_invites_poll_at = :now, rings = rings + 1
     where status not in ('removed', 'connecting')
    """
)
IN_DOUBT = text(
    """
    select count(*) filter (where outcome in ('scheduled', 'awaiting_approval', 'sending', 'reconciling')) as actions,
           (select count(*) from enrollments where finished_at is null) as enrollments
      from actions
    """
)


@dataclass(frozen=True, slots=True)
class BegunRecovery:
    """What a recovery covers: its start, the open actions and enrollments, and the number of rows that were woken."""

    since: datetime
    at: datetime
    actions: int
    enrollments: int
    woken: int


async def last_stamp(session: AsyncSession) -> datetime | None:
    """Return the newest business time in the database; the backup is not older. Null if the database is empty."""
    found: datetime | None = (await session.execute(LAST_STAMP)).scalar_one()
    return found


async def begin_recovery(session: AsyncSession, *, since: datetime) -> BegunRecovery:
    """Mark everything requested until now as uncertain, have every account read again, and wake every open row.

    No worker may be running. Raises `ValueError` for a time in the future.
    """
    now = await service_time(session)
    if since > now:
        raise ValueError("the time of the backup must not be in the future")
    session.add(Recovery(id=f"rec_{now.timestamp():.0f}", since=since, at=now))
    await session.execute(CATCH_UP, {"now": now})
    woken = 0
    for kind, open_when in OPEN_WHEN.items():
        woken += await outbox.wake_where(session, kind, f"wake_at is not null or ({open_when})")
    open_ones = (await session.execute(IN_DOUBT)).one()
    return BegunRecovery(since, now, open_ones.actions, open_ones.enrollments, woken)
