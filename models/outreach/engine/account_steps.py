"""The steps of an account as transactions: what is due, when something is due next, and planning again.

`wake_at` is null only while a step is under way or nothing is left to do: an account with nothing ahead looks again in
a month. A change of settings, caps or an account asks for planning again; the account's next step does it in one pass
over its calendar, in the original order, and wakes the rows whose time became earlier. The others wake at their old
time and find the new one.
"""

from collections.abc import Sequence as Ordered
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base import outbox
from models.base.steps import Call, Decision, Do, Queue
from models.base.tenants import Tenant
from models.outreach.engine import account_states, plan
from models.outreach.engine.account_states import AccountStanding
from models.outreach.engine.connect import link_is_wanted
from models.outreach.rules.caps import unit
from models.outreach.rules.slots import Slot, find_slot
from models.outreach.rules.states import AccountStatus, ActionOutcome, EnrollmentStatus
from models.outreach.store import accounts, calendars
from models.outreach.store.accounts import LockedAccount, lock_account_by_id
from models.outreach.tables import Action, Enrollment, OutreachAccount, OutreachSequence

PLANNED = (EnrollmentStatus.SCHEDULED, EnrollmentStatus.ACTIVE, EnrollmentStatus.WAITING_FOR_ACCEPT)
"""Enrollments whose planned action has a time; held ones get theirs when they go on."""


ASK_TENANT = text(
    "update outreach_accounts set replan_asked = true where tenant_id = :tenant and status <> 'removed' returning id"
)


async def ask_tenant(session: AsyncSession, tenant: Tenant) -> None:
    """Have what every account of a tenant plans planned again. Its settings are locked."""
    await session.flush()
    asked = (await session.scalars(ASK_TENANT, {"tenant": tenant.id})).all()
    await outbox.wake_many(session, "account", asked)


@dataclass(frozen=True, slots=True)
class _Planned:
    action: Action
    enrollment: Enrollment | None
    sequence: OutreachSequence | None


async def replan(session: AsyncSession, held: LockedAccount) -> None:
    """Give everything that the account plans a new time, in the order in which it was planned.

    The account is locked. What waits without a time comes behind what has one.
    """
    planned = await _planned(session, held.account.id)
    ids = {one.action.id for one in planned}
    calendar = await calendars.load_calendar(session, held, without_all=ids)
    for one in planned:
        action, before = one.action, one.action.scheduled_at
        bounds = [held.now, action.not_before, _held_back_until(held, action)]
        request = calendars.request_of(action, one.sequence)
        answer = find_slot(calendar, request, max(at for at in bounds if at is not None))
        if isinstance(answer, Slot):
            calendar.book(request, answer.at)
        if (answer.at if isinstance(answer, Slot) else None) != before:
            plan.write_slot(action, answer)
            _show(one, before)
    if planned:
        await session.flush()
        await outbox.notify(session)


def _held_back_until(held: LockedAccount, action: Action) -> datetime | None:
    written = held.account.holds.get(action.type)
    return None if written is None else datetime.fromisoformat(written)


def _show(one: _Planned, before: datetime | None) -> None:
    """Show the new time on the enrollment, and wake the row when it is earlier than the time it sleeps until."""
    at = one.action.scheduled_at
    earlier = at is not None and (before is None or at < before)
    if one.enrollment is not None:
        one.enrollment.next_action_at = at
    if earlier:
        (one.enrollment or one.action).rings += 1


async def _planned(session: AsyncSession, account_id: str) -> list[_Planned]:
    """Everything that is planned and unclaimed, its enrollments and actions locked in this order, as it was planned."""
    enrollments = {row.id: row for row in await _enrollments(session, account_id)}
    query = (
        select(Action)
        .where(col(Action.account_id) == account_id, col(Action.outcome) == ActionOutcome.SCHEDULED)
        .order_by(col(Action.id))
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    actions = [
        row for row in await session.scalars(query) if row.enrollment_id is None or row.enrollment_id in enrollments
    ]
    sequences = {row.id: row for row in await _sequences(session, {row.sequence_id for row in enrollments.values()})}
    found = []
    for action in actions:
        enrollment = enrollments.get(action.enrollment_id or "")
        found.append(_Planned(action, enrollment, sequences.get(enrollment.sequence_id) if enrollment else None))
    return sorted(found, key=_order)


def _order(one: _Planned) -> tuple[bool, datetime, int, datetime, str]:
    action, enrollment = one.action, one.enrollment
    first = action.scheduled_at or (enrollment.created_at if enrollment else action.created_at)
    place = enrollment.position if enrollment else 0
    return action.scheduled_at is None, first, place, action.created_at, action.id


async def _enrollments(session: AsyncSession, account_id: str) -> Ordered[Enrollment]:
    query = (
        select(Enrollment)
        .where(col(Enrollment.account_id) == account_id, col(Enrollment.status).in_(PLANNED))
        .order_by(col(Enrollment.id))
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    return (await session.scalars(query)).all()


async def _sequences(session: AsyncSession, ids: set[str]) -> Ordered[OutreachSequence]:
    return (await session.scalars(select(OutreachSequence).where(col(OutreachSequence.id).in_(ids)))).all()


CHATS_EVERY = timedelta(minutes=15)
INVITES_EVERY = timedelta(hours=4)
INVITES_LIVE = timedelta(days=180)
"""A pending invite without an open enrollment is looked for this long; then it lapses."""
INVITES_JITTER = 0.2
IDLE = timedelta(days=30)
MESSAGES_KEPT = timedelta(days=30)
"""How long the messages of a removed account are kept."""
DELETE_AGAIN = timedelta(minutes=1)
DELETE_AGAIN_AT_MOST = timedelta(hours=1)
POLLED = (AccountStatus.ACTIVE, AccountStatus.PAUSED, AccountStatus.NEEDS_REVIEW)


ACCOUNT_CONNECT = "account.connect"
ACCOUNT_PROCESS = "account.process"
ACCOUNT_LOOK = "account.look"
ACCOUNT_READ_CHATS = "account.read_chats"
ACCOUNT_READ_INVITES = "account.read_invites"
ACCOUNT_DELETE = "account.delete"
CALL_LIMIT_SECONDS = 120
SUMMARY_OF_STEP = {
    ACCOUNT_CONNECT: "makes a link to sign in by",
    ACCOUNT_PROCESS: "works through a callback of the provider",
    ACCOUNT_LOOK: "asks how the account stands",
    ACCOUNT_READ_CHATS: "looks for messages that no callback announced",
    ACCOUNT_READ_INVITES: "looks for invites that were answered",
    ACCOUNT_DELETE: "disconnects the account at the provider",
}


async def decide_account(session: AsyncSession, account_id: str) -> Decision:
    """Say what the account needs next; answers every wake up to now and sets `wake_at`."""
    held = await lock_account_by_id(session, account_id)
    account = held.account
    account.answered, account.wake_at = account.rings, None
    if account.status == AccountStatus.REMOVED:
        return await _after_removal(session, held)
    await account_states.pause_is_over(session, held)
    if account.replan_asked:
        account.replan_asked = False
        await replan(session, held)
    account.answered = account.rings
    step = await _due(session, held)
    if step is not None:
        return _call(account, step, held.now)
    account.wake_at = min([*_ahead(account), *await accounts.next_callback_at(session, account.id), held.now + IDLE])
    return _wait(account, held.now)


def _call(account: OutreachAccount, step: str, now: datetime) -> Decision:
    """The next call of the provider, which makes every earlier one void."""
    account.call_number += 1
    what = SUMMARY_OF_STEP[step]
    call = Call(
        step=step,
        number=account.call_number,
        queue=Queue.NETWORK,
        summary=what,
        limit_seconds=CALL_LIMIT_SECONDS,
        fairness_key=account.id,
    )
    return Decision(Do.ACT, now, call, details=f"**{account.status}**: {what}")


def _wait(account: OutreachAccount, now: datetime) -> Decision:
    """A wait until the account's `wake_at`."""
    reason = f"looks again at {account.wake_at or now:%d %b %H:%M:%S} UTC"
    return Decision(
        Do.WAIT, now, until=account.wake_at or now, reason=reason, details=f"**{account.status}**: {reason}"
    )


async def _due(session: AsyncSession, held: LockedAccount) -> str | None:
    """The activity that is due, null for none."""
    account, now = held.account, held.now
    if link_is_wanted(account, now):
        return ACCOUNT_CONNECT
    if await accounts.callback_is_due(session, account.id, now):
        return ACCOUNT_PROCESS
    if account.provider_id is None:
        account.next_look_at = None
        return None
    if _is_past(account.next_look_at, now):
        return ACCOUNT_LOOK
    if account.trouble is not None or account.status not in POLLED:
        return None
    return await _due_poll(session, account, now)


async def _due_poll(session: AsyncSession, account: OutreachAccount, now: datetime) -> str | None:
    if _is_past(account.next_chats_poll_at, now):
        return ACCOUNT_READ_CHATS
    if _is_past(account.next_invites_poll_at, now):
        if await session.scalar(AWAITED, {"id": account.id, "since": now - INVITES_LIVE}):
            return ACCOUNT_READ_INVITES
        account.next_invites_poll_at = next_invites_poll(account.id, now)
    return None


def _is_past(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment <= now


AWAITED = text(
    """
    select exists (
      select from enrollments where account_id = :id and invited_at is not null and accepted_at is null
         and status in ('scheduled', 'active', 'awaiting_approval', 'waiting_for_accept', 'paused')
    ) or exists (
      select from network_people where account_id = :id and relation = 'pending' and network_id is not null
         and invited_at > :since
    )
    """
)


def next_invites_poll(account_id: str, now: datetime) -> datetime:
    """In about four hours, at a moment of the account's own."""
    share = unit(f"{account_id}:{now.isoformat()}:invites") - 0.5
    return now + INVITES_EVERY * (1 + INVITES_JITTER * share)


def _ahead(account: OutreachAccount) -> list[datetime]:
    """The times at which something becomes due by itself."""
    times = [account.next_look_at]
    if account.status == AccountStatus.PAUSED:
        times.append(account.paused_until)
    if account.trouble is None and account.status in POLLED:
        times += [account.next_chats_poll_at, account.next_invites_poll_at]
    return [time for time in times if time is not None]


PURGE = text("delete from conversations where account_id = :id")


async def _after_removal(session: AsyncSession, held: LockedAccount) -> Decision:
    """Delete it at the provider, and its messages a month later."""
    account, now = held.account, held.now
    if await accounts.callback_is_due(session, account.id, now):  # an owner signed in by a link of a removed record
        return _call(account, ACCOUNT_PROCESS, now)
    ahead = await accounts.next_callback_at(session, account.id)
    if account.provider_id is not None:
        if account.next_look_at is None or account.next_look_at <= now:
            return _call(account, ACCOUNT_DELETE, now)
        account.wake_at = min([account.next_look_at, *ahead])
        return _wait(account, now)
    over = (account.removed_at or now) + MESSAGES_KEPT
    if over > now and account.network_user_id is not None:
        ahead.append(over)
    if ahead:  # also a record that was merged into an older one hears the browser that comes back from its sign-in
        account.wake_at = min(ahead)
        return _wait(account, now)
    await session.execute(PURGE, {"id": account.id})
    return Decision(Do.DONE, now, details=f"**{account.status}**")


async def provider_id(session: AsyncSession, account_id: str, number: int) -> str | None:
    """The provider's id of the account that a call is for; null when the call is out of date."""
    query = select(col(OutreachAccount.provider_id)).where(
        col(OutreachAccount.id) == account_id, col(OutreachAccount.call_number) == number
    )
    found: str | None = await session.scalar(query)
    return found


async def looked(session: AsyncSession, account_id: str, provider_id: str, standing: AccountStanding | None) -> None:
    """Take over how the provider says that the account stands; null: it has it no longer.

    An answer about another connection than the present one changes nothing.
    """
    held = await lock_account_by_id(session, account_id)
    if held.account.provider_id == provider_id:
        await account_states.stands(session, held, standing or AccountStanding.DISCONNECTED)


async def not_looked(session: AsyncSession, account_id: str, number: int) -> None:
    """The provider could not be asked: a review is answered by that, a look is made again in a while."""
    held = await lock_account_by_id(session, account_id)
    if held.account.call_number == number:
        held.account.review_asked_at = None
        held.account.next_look_at = held.now + account_states.LOOK_AGAIN


@dataclass(frozen=True, slots=True)
class ChatsAsk:
    """Whose chats to read, and up to where they were read; `now` is service time."""

    provider_id: str
    read_until: datetime | None
    now: datetime


async def chats_to_read(session: AsyncSession, account_id: str, number: int) -> ChatsAsk | None:
    """What a poll of chats reads; null when the call is out of date."""
    account = (held := await lock_account_by_id(session, account_id)).account
    if account.call_number != number or account.provider_id is None:
        return None
    return ChatsAsk(account.provider_id, account.chats_read_until, held.now)


async def polled_chats(
    session: AsyncSession, account_id: str, *, read: ChatsAsk | None, every: timedelta = CHATS_EVERY
) -> None:
    """Note that chats were read as asked (null when they could not be), and when they are read again.

    Where they were to be read from was set back meanwhile: then what is due stays due.
    """
    account = (held := await lock_account_by_id(session, account_id)).account
    if read is not None:
        if account.chats_read_until != read.read_until:
            return
        account.chats_read_until = read.now
    account.next_chats_poll_at = held.now + every if account.status in POLLED else None


async def polled_invites(session: AsyncSession, account_id: str) -> None:
    """Note that the pending invites were read, or could not be."""
    account = (held := await lock_account_by_id(session, account_id)).account
    account.next_invites_poll_at = next_invites_poll(account.id, held.now) if account.status in POLLED else None


async def deleted(session: AsyncSession, account_id: str, number: int, *, done: bool) -> None:
    """Note that the provider no longer has the account, or try again later."""
    held = await lock_account_by_id(session, account_id)
    account = held.account
    if account.call_number != number or account.status != AccountStatus.REMOVED:
        return
    if done:
        account.provider_id, account.next_look_at, account.failures = None, None, 0
        return
    account.failures += 1
    wait = min(DELETE_AGAIN * (1 << min(account.failures - 1, 10)), DELETE_AGAIN_AT_MOST)
    account.next_look_at = held.now + wait


CATCH_UP = text(
    """
    update outreach_accounts
       set next_chats_poll_at = service_now() + random() * interval '60 seconds', rings = rings + 1
     where status in ('active', 'paused', 'needs_review') and provider_id is not null
       and next_chats_poll_at > service_now() + interval '1 minute'
       and (chats_read_until is null or chats_read_until < service_now() - interval '2 minutes')
    """
)


async def catch_up(session: AsyncSession) -> None:
    """Have every account's chats read soon: a worker that starts does not know what was missed."""
    await session.execute(CATCH_UP)
