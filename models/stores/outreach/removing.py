"""Removing an account: what it had ahead ends in the same transaction, the provider's part is deleted by the worker."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.database import lock_people
from models.rules.events import EnrollmentChanged, EventType
from models.rules.outreach.states import AccountStatus, PauseReason
from models.stores import events
from models.stores.outreach.accounts import Held
from models.stores.payments import outreach as paying
from models.tables.outreach import OPEN_ENROLLMENTS

CONCERNED = text(
    f"""
    select profile_id from enrollments where account_id = :id and {OPEN_ENROLLMENTS}
    union
    select profile_id from actions where account_id = :id and outcome in ('scheduled', 'awaiting_approval')
    """  # noqa: S608 - our own words
)
END_ENROLLMENTS = text(
    f"""
    update enrollments
       set status = 'failed', reason = 'account_removed', finished_at = :now, next_action_at = null, rings = rings + 1
     where account_id = :id and {OPEN_ENROLLMENTS}
    returning id as enrollment_id, sequence_id, account_id, profile_id, status, reason
    """  # noqa: S608 - our own words
)
CANCEL_ACTIONS = text(
    """
    update actions
       set outcome = 'cancelled', reason = 'account_removed', ended_at = :now,
           rings = rings + case when enrollment_id is null then 1 else 0 end
     where account_id = :id and outcome in ('scheduled', 'awaiting_approval')
    """
)


async def remove(session: AsyncSession, held: Held) -> None:
    """Remove the account: open enrollments fail, planned and held actions are cancelled. The caller rings.

    The record and its history stay, and come back when the same network account is connected here again. What is being
    sent in this moment comes to its own end. Repeating it changes nothing.
    """
    account, now = held.account, held.now
    if account.status == AccountStatus.REMOVED:
        return
    await session.flush()
    await lock_people(session, list(await session.scalars(CONCERNED, {"id": account.id})))
    for row in (await session.execute(END_ENROLLMENTS, {"id": account.id, "now": now})).mappings().all():
        told = EnrollmentChanged.model_validate(dict(row))
        events.emit(session, held.tenant, EventType.ENROLLMENT_FAILED, told, now=now)
    await session.execute(CANCEL_ACTIONS, {"id": account.id, "now": now})
    account.status, account.removed_at = AccountStatus.REMOVED, now
    if account.pause_reason != PauseReason.MANUAL:
        account.pause_reason = account.paused_until = None
    account.trouble = account.trouble_since = account.review_asked_at = account.next_look_at = None
    account.connect_url = account.connect_expires_at = None  # the state stays: a sign-in by the link is undone by it
    account.next_chats_poll_at = account.next_invites_poll_at = None
    account.failures = 0
    await paying.ring(session, account.workspace_id)
