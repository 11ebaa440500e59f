"""Recovery: after a restore, what the network may already know is read back before it is done (`docs/operations.md`).

A restored database has forgotten what was sent since its backup. One row says so; from then on the claim of every
action that was asked for before it, and of every later step of an enrollment of before it, turns the action into one
whose outcome nobody saw, as old as the backup. Reading back decides as it does for a lost answer: done, to be done, or
left to a person.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.rules.outreach.states import ActionType
from models.stores.outreach.scenes import Scene
from models.tables import WAITING, Action, Recovery

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
class Begun:
    """What a recovery will look at: since when, how many open actions and enrollments, and how many rows were rung."""

    since: datetime
    at: datetime
    actions: int
    enrollments: int
    rung: int


async def last_stamp(session: AsyncSession) -> datetime | None:
    """The newest business time that the database holds: the backup is no older. Null for an empty one."""
    found: datetime | None = (await session.execute(LAST_STAMP)).scalar_one()
    return found


async def begin(session: AsyncSession, *, since: datetime) -> Begun:
    """Put in doubt what was asked for until now, have every account read afresh, and ring every row that waits.

    No worker may run. Raises `ValueError` for a time that is still to come.
    """
    now = await service_time(session)
    if since > now:
        raise ValueError("the backup cannot be of a time to come")
    session.add(Recovery(id=f"rec_{now.timestamp():.0f}", since=since, at=now))
    await session.execute(CATCH_UP, {"now": now})
    rung = 0
    for table in WAITING.values():
        name = table.__table__.name  # type: ignore[attr-defined] # SQLModel hides it from the checker
        rung += len(
            (
                await session.execute(
                    text(f"update {name} set rings = rings + 1 where wake_at is not null returning 1")  # noqa: S608
                )
            ).all()
        )
    open_ones = (await session.execute(IN_DOUBT)).one()
    return Begun(since, now, open_ones.actions, open_ones.enrollments, rung)


async def doubtful_since(session: AsyncSession, scene: Scene, action: Action) -> datetime | None:
    """Since when the network may know of this action what no row tells; null when there is no doubt.

    A visit is in doubt only when it was due by the recovery: it cannot be read back, and one in doubt counts as done.
    """
    query = select(Recovery).order_by(col(Recovery.at).desc()).limit(1)
    last = (await session.scalars(query)).one_or_none()
    if last is None:
        return None
    asked_at = scene.enrollment.created_at if scene.enrollment is not None else action.created_at
    if asked_at > last.at or (action.doubted_at is not None and action.doubted_at >= last.at):
        return None
    if action.type == ActionType.PROFILE_VISIT and (action.not_before or asked_at) > last.at:
        return None
    return last.since
