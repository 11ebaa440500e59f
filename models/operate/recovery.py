"""After a restore, put in doubt what the network may already know (`docs/operations.md`).

A restored database has forgotten what was sent since its backup. One row says so. From then on the claim of every
action that was asked for before the restore, and of every later step of an enrollment of before it, turns the action
into one whose outcome is unknown and as old as the backup (`models.outreach.engine.claim`). Reading the network back
then decides as after a lost answer: done, to be done, or left to a person.
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
    """What a recovery will look at: since when, how many open actions and enrollments, and how many rows were woken."""

    since: datetime
    at: datetime
    actions: int
    enrollments: int
    woken: int


async def last_stamp(session: AsyncSession) -> datetime | None:
    """Return the newest business time in the database, which the backup is no older than; null when it is empty."""
    found: datetime | None = (await session.execute(LAST_STAMP)).scalar_one()
    return found


async def begin_recovery(session: AsyncSession, *, since: datetime) -> BegunRecovery:
    """Put in doubt what was asked for until now, have every account read again, and wake every open row.

    No worker may run. Raises `ValueError` for a time in the future.
    """
    now = await service_time(session)
    if since > now:
        raise ValueError("the backup cannot be of a time to come")
    session.add(Recovery(id=f"rec_{now.timestamp():.0f}", since=since, at=now))
    await session.execute(CATCH_UP, {"now": now})
    woken = 0
    for kind, open_when in OPEN_WHEN.items():
        woken += await outbox.wake_where(session, kind, f"wake_at is not null or ({open_when})")
    open_ones = (await session.execute(IN_DOUBT)).one()
    return BegunRecovery(since, now, open_ones.actions, open_ones.enrollments, woken)
