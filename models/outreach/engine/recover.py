"""Recovery: after a restore, what the network may already know is read back before it is done (`docs/operations.md`).

A restored database has forgotten what was sent since its backup. One row says so; from then on the claim of every
action that was asked for before it, and of every later step of an enrollment of before it, turns the action into one
whose outcome nobody saw, as old as the backup. Reading back decides as it does for a lost answer: done, to be done, or
left to a person.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base import outbox
from models.base.clock import service_time
from models.outreach.engine import plan
from models.outreach.engine.context import EnrollmentContext
from models.outreach.engine.plan import Writer
from models.outreach.rules.sequences import text_hash
from models.outreach.rules.states import ActionType
from models.outreach.store import accounts
from models.outreach.tables import Action, Recovery
from models.tables import WAITING

GATHERING = timedelta(minutes=2)
"""How long people who were not known are gathered before the chats are read again for all of them."""
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
LEASED = "false"
"""Whoever works on such a row has given it a time to wake at, so that it waits like any other."""
OPEN: Mapping[str, str] = {
    "run": "finished_at is null",
    "job": "finished_at is null",
    "contacts": "finished_at is null",
    "enrollment": "finished_at is null",
    "action": "enrollment_id is null and outcome in ('scheduled', 'awaiting_approval', 'sending', 'reconciling')",
    "account": "status <> 'removed' or provider_id is not null",
    "mail": "secret is not null",
    "client": "url is not null and fetched_at is null and failed_at is null",
    "housekeeping": "true",
    "delivery": LEASED,
    "payment": LEASED,
    "callback": "processed_at is null",
    "refill": LEASED,
    "outreach_plan": LEASED,
}
"""Which rows of each kind are not over: some were in the middle of a call, whose workflow has ended or is lost."""
IN_DOUBT = text(
    """
    select count(*) filter (where outcome in ('scheduled', 'awaiting_approval', 'sending', 'reconciling')) as actions,
           (select count(*) from enrollments where finished_at is null) as enrollments
      from actions
    """
)


@dataclass(frozen=True, slots=True)
class BegunRecovery:
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


async def begin_recovery(session: AsyncSession, *, since: datetime) -> BegunRecovery:
    """Put in doubt what was asked for until now, have every account read afresh, and ring all that is not over.

    No worker may run. Raises `ValueError` for a time that is still to come.
    """
    now = await service_time(session)
    if since > now:
        raise ValueError("the backup cannot be of a time to come")
    session.add(Recovery(id=f"rec_{now.timestamp():.0f}", since=since, at=now))
    await session.execute(CATCH_UP, {"now": now})
    rung = 0
    for kind, table in WAITING.items():
        name = table.__table__.name  # type: ignore[attr-defined] # SQLModel hides it from the checker
        rung += len(
            (
                await session.execute(
                    text(
                        f"update {name} set rings = rings + 1"  # noqa: S608 - our own words
                        f" where wake_at is not null or ({OPEN[kind]}) returning 1"
                    )
                )
            ).all()
        )
    open_ones = (await session.execute(IN_DOUBT)).one()
    return BegunRecovery(since, now, open_ones.actions, open_ones.enrollments, rung)


async def forgotten_texts(session: AsyncSession, writer: Writer, scene: EnrollmentContext) -> dict[str, str | None]:
    """Hashes of what may have been written to the person without a row that says so, to the action planned for each.

    An enrollment of before the last recovery may have got as far as any step of its sequence. Without this its own
    words, read back in the chat, would be the owner's.
    """
    last, enrollment = await _last(session), scene.enrollment
    if last is None or enrollment is None or enrollment.created_at > last.at:
        return {}
    planned = {one.step_id: one.id for one in scene.actions}
    rendered = [await plan.render_for_context(session, writer, scene, step) for step in scene.steps]
    return {text_hash(one.text): planned.get(one.step_id) for one in rendered if one.text is not None}


async def hear_again(session: AsyncSession, scene: EnrollmentContext) -> None:
    """Have the account's chats since the backup read once more, soon, and with what others in them have said by then.

    For a person whom the restored database did not know on the network: their chat was passed over as a stranger's.
    """
    last, account = await _last(session), scene.account
    if last is None or account.next_chats_poll_at is None:
        return
    if account.chats_read_until is not None:
        account.chats_read_until = min(account.chats_read_until, last.since)
    account.next_chats_poll_at = min(account.next_chats_poll_at, scene.now + GATHERING)
    await session.flush()
    await outbox.wake(session, accounts.account_subject(account.id))


async def doubtful_since(session: AsyncSession, scene: EnrollmentContext, action: Action) -> datetime | None:
    """Since when the network may know of this action what no row tells; null when there is no doubt.

    A visit is in doubt only when it was due by the recovery: it cannot be read back, and one in doubt counts as done.
    """
    last = await _last(session)
    if last is None:
        return None
    asked_at = scene.enrollment.created_at if scene.enrollment is not None else action.created_at
    if asked_at > last.at or (action.doubted_at is not None and action.doubted_at >= last.at):
        return None
    if action.type == ActionType.PROFILE_VISIT and (action.not_before or asked_at) > last.at:
        return None
    return last.since


async def _last(session: AsyncSession) -> Recovery | None:
    query = select(Recovery).order_by(col(Recovery.at).desc()).limit(1)
    return (await session.scalars(query)).one_or_none()
