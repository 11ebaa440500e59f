"""The states of an outreach account and how it moves between them, each move with its event and its re-planning.

The network's own pause is kept apart (`limited_until`): whatever the owner does meanwhile, nothing is sent before its
end. The caller has locked the account (`accounts.lock_account`).
"""

from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.errors import AccountNotReady, AccountPaused
from models.billing.store import payments
from models.events.rules.catalogue import AccountChanged, EventType
from models.events.store import events
from models.outreach.rules.actions import OutreachCap
from models.outreach.rules.answers import AccountPause, MethodHold, Signal, Week, pause_for
from models.outreach.rules.caps import monday, utc_day
from models.outreach.rules.states import AccountStatus, PauseReason
from models.outreach.store import calendars
from models.outreach.store.accounts import LockedAccount

LOOK_AGAIN = timedelta(minutes=5)
"""How often the provider is asked about an account in passing trouble."""
CONNECTING_LOOK_AGAIN = timedelta(minutes=1)
TOLD_AFTER = timedelta(minutes=30)
"""Trouble that lasts this long becomes a pause with its event."""

ACTIVE, PAUSED, CONNECTING = AccountStatus.ACTIVE, AccountStatus.PAUSED, AccountStatus.CONNECTING
DISCONNECTED, NEEDS_REVIEW, REMOVED = AccountStatus.DISCONNECTED, AccountStatus.NEEDS_REVIEW, AccountStatus.REMOVED


class AccountStanding(StrEnum):
    """How an account stands at the provider; the values are those of the network port."""

    READY = "ready"
    CONNECTING = "connecting"
    DISCONNECTED = "disconnected"
    INTERRUPTED = "interrupted"
    RESTRICTED = "restricted"
    SUSPENDED = "suspended"
    UNKNOWN = "unknown"


def _tell(session: AsyncSession, held: LockedAccount, type: EventType, *, reason: str | None = None) -> None:
    account = held.account
    data = AccountChanged(
        account_id=account.id,
        status=account.status,
        reason=reason or account.pause_reason,
        paused_until=account.paused_until,
    )
    events.emit(session, held.tenant, type, data, now=held.now)


def _rest(
    held: LockedAccount, status: AccountStatus, reason: PauseReason | None, until: datetime | None = None
) -> None:
    account = held.account
    account.status, account.pause_reason, account.paused_until, account.paused_at = status, reason, until, held.now


def _limited_until(held: LockedAccount) -> datetime | None:
    until = held.account.limited_until
    return until if until is not None and until > held.now else None


async def activate(session: AsyncSession, held: LockedAccount) -> None:
    """Let the account write, or put it back into the network's pause while one runs.

    A restored record that was paused by hand when it was removed is paused again.
    """
    account = held.account
    by_hand = account.status == CONNECTING and account.pause_reason == PauseReason.MANUAL
    account.review_asked_at = account.trouble = account.trouble_since = account.next_look_at = None
    if account.connected_at is None:
        account.connected_at = held.now
        await payments.wake_outreach_plan(session, account.workspace_id)
    account.next_chats_poll_at = account.next_chats_poll_at or held.now
    account.next_invites_poll_at = account.next_invites_poll_at or held.now
    until = _limited_until(held)
    if by_hand:
        _rest(held, PAUSED, PauseReason.MANUAL)
        _tell(session, held, EventType.ACCOUNT_PAUSED)
    elif until is not None and account.limit_reason is not None:
        _rest(held, PAUSED, PauseReason(account.limit_reason), until)
        _tell(session, held, EventType.ACCOUNT_PAUSED)
    else:
        account.status, account.pause_reason, account.paused_until, account.paused_at = ACTIVE, None, None, None
        account.limit_reason = account.limited_until = None
        _tell(session, held, EventType.ACCOUNT_CONNECTED)
    ask_replanning(held)


async def pause_for_limit(session: AsyncSession, held: LockedAccount, reason: PauseReason, until: datetime) -> None:
    """Pause the account for the network's daily or weekly limit, publish that once, and replan what lies before it."""
    account = held.account
    known = _limited_until(held)
    if known is not None and known >= until:
        return
    account.limit_reason, account.limited_until = reason, until
    if reason is PauseReason.DAILY_LIMIT:
        account.daily_limited_at = held.now
    by_itself = account.status == ACTIVE or (account.status == PAUSED and account.pause_reason != PauseReason.MANUAL)
    if not by_itself:
        return  # it rests already; the network's pause is looked at when that ends
    _rest(held, PAUSED, reason, until)
    _tell(session, held, EventType.ACCOUNT_PAUSED)
    ask_replanning(held)


INVITES_SINCE = text(
    """
    select count(*) from outreach_accounts r join actions x on x.account_id = r.id and x.claimed_at > :since
     where (r.id = :id or r.network_user_id = :network_user_id) and x.type = 'invite'
       and x.outcome in ('sent', 'reconciling', 'unknown')
    """
)


async def limit_reached(
    session: AsyncSession, held: LockedAccount, signal: Signal, *, retry_after: timedelta | None = None
) -> AccountPause | MethodHold | None:
    """Do what the network's warning asks for; the answer says what that was, null when it is about a person only.

    An account pause is applied here; holding one kind of call is the caller's. Escalation from the day to the week:
    provider reference, section 11, rule 3.
    """
    account, now = held.account, held.now
    usage = (await calendars.usage(session, [account], now))[account.id]
    before = account.daily_limited_at
    over = _limited_until(held) is None  # a warning while the pause runs is still the same one
    this_week = over and before is not None and monday(utc_day(before)) == monday(utc_day(now))
    since = 0
    if this_week:
        asked = {"id": account.id, "network_user_id": account.network_user_id, "since": before}
        since = int(await session.scalar(INVITES_SINCE, asked) or 0)
    week = Week(
        invites=usage.counts[OutreachCap.INVITES_PER_WEEK].used,
        cap=calendars.caps_of(account, held.rules).effective(OutreachCap.INVITES_PER_WEEK, utc_day(now)),
        paused_before=this_week,
        invites_since=since,
    )
    answer = pause_for(signal, week, now, retry_after=retry_after)
    if isinstance(answer, AccountPause):
        await pause_for_limit(session, held, answer.reason, answer.until)
    return answer


async def pause_is_over(session: AsyncSession, held: LockedAccount) -> None:
    """End a network pause whose time has come."""
    account = held.account
    if account.status == PAUSED and account.paused_until is not None and account.paused_until <= held.now:
        await activate(session, held)


async def pause_account_by_hand(session: AsyncSession, held: LockedAccount) -> None:
    """Pause without end; an account that rests for another reason than the network's pause stays as it is.

    Raises `AccountNotReady` for one that was never connected.
    """
    account = held.account
    if account.status == CONNECTING:
        raise AccountNotReady("The outreach account has to be connected first.", status=account.status)
    if account.status not in (ACTIVE, PAUSED) or account.pause_reason == PauseReason.MANUAL:
        return
    _rest(held, PAUSED, PauseReason.MANUAL)
    _tell(session, held, EventType.ACCOUNT_PAUSED)
    ask_replanning(held)


async def resume_by_hand(session: AsyncSession, held: LockedAccount) -> bool:
    """Resume, or ask the provider first: true when the answer has to be waited for.

    Raises `AccountNotReady` for one that was never connected, `AccountPaused` while a network pause runs.
    """
    account = held.account
    if account.status == CONNECTING:
        raise AccountNotReady("The outreach account has to be connected first.", status=account.status)
    until = _limited_until(held)
    if until is not None and account.status == PAUSED:
        raise AccountPaused(next_available_at=until)
    if account.status == PAUSED and account.pause_reason is not None and account.trouble is None:
        await activate(session, held)
        return False
    if account.status == ACTIVE:
        return False
    account.review_asked_at = account.next_look_at = held.now
    return True


async def disconnected(session: AsyncSession, held: LockedAccount) -> None:
    """The owner has to sign in again: nothing is sent until that is done and reviewed."""
    account = held.account
    account.review_asked_at = account.trouble = account.trouble_since = account.next_look_at = None
    if account.status in (DISCONNECTED, REMOVED):
        return
    account.next_chats_poll_at = account.next_invites_poll_at = None
    _rest(held, DISCONNECTED, PauseReason.DISCONNECTED)
    _tell(session, held, EventType.ACCOUNT_DISCONNECTED)
    ask_replanning(held)


async def restricted(session: AsyncSession, held: LockedAccount) -> None:
    """The network restricted or locked it: nothing is sent until the owner has looked."""
    account = held.account
    account.review_asked_at = account.trouble = account.trouble_since = account.next_look_at = None
    if account.status in (REMOVED, NEEDS_REVIEW):
        return
    _rest(held, NEEDS_REVIEW, PauseReason.RESTRICTED)
    _tell(session, held, EventType.ACCOUNT_PAUSED)
    ask_replanning(held)


async def mark_interrupted(session: AsyncSession, held: LockedAccount, trouble: AccountStanding) -> None:
    """Passing trouble: sends hold and the provider is asked every five minutes; trouble that lasts becomes a pause."""
    account = held.account
    account.review_asked_at = None
    if account.status == REMOVED:
        return
    account.next_look_at = held.now + (CONNECTING_LOOK_AGAIN if account.status == CONNECTING else LOOK_AGAIN)
    if account.status in (CONNECTING, DISCONNECTED, NEEDS_REVIEW):
        return
    account.trouble = trouble
    account.trouble_since = account.trouble_since or held.now
    if account.status == ACTIVE and held.now - account.trouble_since >= TOLD_AFTER:
        _rest(held, PAUSED, None)
        _tell(session, held, EventType.ACCOUNT_PAUSED, reason=trouble.value)
        ask_replanning(held)


async def runs(session: AsyncSession, held: LockedAccount) -> None:
    """The provider says that the account works.

    After a disconnect or a restriction it still waits for its owner; a review that was asked for is passed by this.
    """
    account = held.account
    reviewed = account.review_asked_at is not None
    troubled = account.trouble is not None
    account.review_asked_at = account.trouble = account.trouble_since = account.next_look_at = None
    by_trouble = account.status == PAUSED and account.pause_reason is None
    passed = reviewed and account.status in (DISCONNECTED, NEEDS_REVIEW, PAUSED)
    if account.status == CONNECTING or by_trouble or passed:
        await activate(session, held)
    elif account.status == DISCONNECTED:
        account.status = NEEDS_REVIEW
        account.next_chats_poll_at = account.next_invites_poll_at = held.now
    elif troubled:
        ask_replanning(held)


async def stands(session: AsyncSession, held: LockedAccount, standing: AccountStanding) -> None:
    """Take over what the provider says of the account."""
    match standing:
        case AccountStanding.READY:
            await runs(session, held)
        case AccountStanding.DISCONNECTED:
            await disconnected(session, held)
        case AccountStanding.RESTRICTED:
            await restricted(session, held)
        case _:
            await mark_interrupted(session, held, standing)


def ask_replanning(held: LockedAccount) -> None:
    """Have what the account plans planned again. It is locked; this wakes it."""
    held.account.replan_asked = True
    held.account.rings += 1
