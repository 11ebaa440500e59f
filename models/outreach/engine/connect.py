"""Connecting an account: the link an owner signs in by, and binding what they signed in with to one record.

A network account is bound to one record in the installation. Who signs in with one that this tenant already has, or
had, gets the older record back; one that another tenant holds is refused.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.secrets import Vault
from models.billing.store import payments
from models.outreach.engine import account_states
from models.outreach.engine.account_states import AccountStanding
from models.outreach.rules.states import AccountStatus
from models.outreach.store.accounts import (
    LockedAccount,
    hash_state,
    lock_account,
    lock_account_by_id,
    tenant_of_account,
)
from models.outreach.tables import OutreachAccount

LINK_PURPOSE = "connect link"
LINK_LIFE = timedelta(minutes=30)
REUSED_FOR = timedelta(seconds=20)
"""A repeated call gets the same link within this time; later a new one is made, for the old one may be used up.

Links of one record carry the same state until one of them is used, so that an older link still leads to its record.
"""
STATE_PURPOSE = "connect state"
STATE_BYTES = 32
UNFINISHED = 10
"""So many sign-ins may be open in a tenant at once."""


class ConnectFailure(StrEnum):
    """Why there is no link, or why what an owner signed in with was not taken."""

    UNAVAILABLE = "account_connect_unavailable"
    BUSY = "upstream_busy"
    UPSTREAM = "upstream_error"
    BOUND_ELSEWHERE = "bound_elsewhere"  # another workspace or customer holds this network account
    OTHER_ACCOUNT = "other_network_account"  # reconnecting was done with another account than this record's


def ask_link(account: OutreachAccount, now: datetime) -> None:
    """Have the worker make a link, unless one was asked for just now; the caller wakes the account."""
    left = (account.connect_expires_at or now) - now
    if account.connect_failure is None and left > LINK_LIFE - REUSED_FOR:
        return
    account.connect_url = account.connect_failure = None
    account.connect_expires_at = now + LINK_LIFE


def link_is_wanted(account: OutreachAccount, now: datetime) -> bool:
    """Whether a link was asked for that is not made yet."""
    return (
        account.connect_url is None
        and account.connect_failure is None
        and account.connect_expires_at is not None
        and account.connect_expires_at > now
    )


@dataclass(frozen=True, slots=True)
class LinkAsk:
    """The link to make: its state, until when it holds, and whose sign-in it renews (the provider's id or null)."""

    state: str
    expires_at: datetime
    provider_id: str | None


async def begin_link(session: AsyncSession, vault: Vault, account_id: str, number: int) -> LinkAsk | None:
    """Remember the state of the link that is about to be made; null when none is wanted any more."""
    held = await lock_account_by_id(session, account_id)
    account = held.account
    if account.call_number != number or not link_is_wanted(account, held.now) or account.connect_expires_at is None:
        return None
    if account.connect_state is None:
        state = secrets.token_urlsafe(STATE_BYTES)
        account.connect_state, account.state_hash = vault.seal(STATE_PURPOSE, state.encode()), hash_state(state)
    else:
        state = vault.open(STATE_PURPOSE, account.connect_state).decode()
    return LinkAsk(state, account.connect_expires_at, account.provider_id)


async def keep_link(session: AsyncSession, account_id: str, number: int, sealed: bytes | ConnectFailure) -> None:
    """Keep the link (sealed with `LINK_PURPOSE`), or why there is none."""
    account = (await lock_account_by_id(session, account_id)).account
    if account.call_number != number:
        return
    if isinstance(sealed, ConnectFailure):
        account.connect_failure, account.connect_expires_at = sealed, None
    else:
        account.connect_url = sealed


CLAIMED = text("select exists (select from outreach_accounts where provider_id = :provider_id and id <> :id)")
CLOCKS_DIFFER = timedelta(minutes=1)
"""By so much the provider's clock may be behind."""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """What an owner signed in with, as the provider shows it: its id, the owner's id on the network, name, standing."""

    provider_id: str
    user_id: str
    name: str | None
    profile_url: str | None
    standing: AccountStanding
    created_at: datetime | None = None


async def bind(
    session: AsyncSession, account_id: str, state: str, signed_in: SignedIn, *, confirmed: bool = True
) -> str | None:
    """Bind a sign-in to its record, once: the state is used up.

    `confirmed`: the provider itself named account and state together. Otherwise a browser did, and anything that speaks
    against it leaves everything as it is: nothing is bound, ended or deleted, and the state stays.

    Returns the provider's id of a connection that nothing holds any more and that is to be deleted, else null.
    """
    mine = await lock_account_by_id(session, account_id)
    if mine.account.state_hash != hash_state(state) or not (
        confirmed or await _is_plainly_theirs(session, mine, signed_in)
    ):
        return None
    _use_up(mine.account)
    if mine.account.status == AccountStatus.REMOVED:  # its own workflow deletes what was signed in with
        mine.account.provider_id = mine.account.provider_id or signed_in.provider_id
        return None if mine.account.provider_id == signed_in.provider_id else signed_in.provider_id
    others = await _others(session, mine.account, signed_in.user_id)
    holder = next((one for one in others if one.status != AccountStatus.REMOVED), None)
    if holder is not None and holder.tenant_id != mine.account.tenant_id:
        return await _refuse(session, mine, signed_in, ConnectFailure.BOUND_ELSEWHERE, kept=holder.provider_id)
    known = mine.account.network_user_id
    if known is not None and known != signed_in.user_id:
        return await _refuse(session, mine, signed_in, ConnectFailure.OTHER_ACCOUNT, kept=mine.account.provider_id)
    older = next((one for one in (holder, *reversed(others)) if _is_older(one, mine.account)), None)
    if known is None and older is not None:
        return await _restore(session, mine, older.id, signed_in)
    _carry_over(mine, others)
    return await _take(session, mine, signed_in)


async def _is_plainly_theirs(session: AsyncSession, held: LockedAccount, signed_in: SignedIn) -> bool:
    """Whether an account that only a browser named can be of no other link, record or tenant.

    A record that was connected takes its own network account alone; a new one only what was made after it.
    """
    mine = held.account
    if mine.status == AccountStatus.REMOVED:
        return False
    if await session.scalar(CLAIMED, {"id": mine.id, "provider_id": signed_in.provider_id}):
        return False
    others = await _others(session, mine, signed_in.user_id)
    if any(one.tenant_id != mine.tenant_id and one.status != AccountStatus.REMOVED for one in others):
        return False
    if mine.network_user_id is not None:
        return mine.network_user_id == signed_in.user_id
    return signed_in.created_at is not None and signed_in.created_at >= mine.created_at - CLOCKS_DIFFER


def _is_older(other: OutreachAccount | None, mine: OutreachAccount) -> bool:
    return other is not None and other.tenant_id == mine.tenant_id


def _use_up(account: OutreachAccount) -> None:
    account.state_hash = account.connect_state = account.connect_url = None
    account.connect_expires_at = account.connect_failure = None


async def _others(session: AsyncSession, mine: OutreachAccount, user_id: str) -> Sequence[OutreachAccount]:
    """Every other record that holds or held the network account, in the order they were made."""
    query = select(OutreachAccount).where(
        col(OutreachAccount.network_user_id) == user_id, col(OutreachAccount.id) != mine.id
    )
    return (await session.scalars(query.order_by(col(OutreachAccount.created_at), col(OutreachAccount.id)))).all()


async def _refuse(
    session: AsyncSession, mine: LockedAccount, signed_in: SignedIn, why: ConnectFailure, *, kept: str | None
) -> str | None:
    """Not this account: a record that was never connected ends; what was signed in with is deleted, unless in use."""
    account = mine.account
    account.connect_failure = why
    unused = None if signed_in.provider_id == kept else signed_in.provider_id
    if account.network_user_id is not None:
        return unused
    _end(account, mine.now)
    account.provider_id = unused  # the ended record's own workflow deletes it
    return None


def _end(account: OutreachAccount, now: datetime) -> None:
    account.status, account.removed_at = AccountStatus.REMOVED, now
    account.next_look_at = None


def _carry_over(mine: LockedAccount, others: Sequence[OutreachAccount]) -> None:
    """A network pause goes with the network account, whichever record it was met in."""
    for other in others:
        until = other.limited_until
        if until is not None and until > max(mine.now, mine.account.limited_until or mine.now):
            mine.account.limited_until, mine.account.limit_reason = until, other.limit_reason


async def _take(session: AsyncSession, mine: LockedAccount, signed_in: SignedIn) -> str | None:
    """The record holds the connection; one that it had before is returned to be deleted."""
    account = mine.account
    before = account.provider_id
    account.provider_id, account.network_user_id = signed_in.provider_id, signed_in.user_id
    account.name = account.name or signed_in.name
    account.profile_url = signed_in.profile_url or account.profile_url
    account.failures = 0
    await session.flush()
    await account_states.stands(session, mine, signed_in.standing)
    return before if before != signed_in.provider_id else None


MOVE_SEQUENCES = text("update sequences set account_id = :to where account_id = :from")


async def _restore(session: AsyncSession, mine: LockedAccount, older_id: str, signed_in: SignedIn) -> str | None:
    """The tenant's older record takes the connection over, with its history; the new record ends and points to it."""
    newer = mine.account
    _end(newer, mine.now)
    newer.restored_as = older_id
    await session.execute(MOVE_SEQUENCES, {"to": older_id, "from": newer.id})
    older = await lock_account(session, tenant_of_account(newer), older_id)
    _use_up(older.account)
    if older.account.status == AccountStatus.REMOVED:
        older.account.status, older.account.removed_at = AccountStatus.CONNECTING, None
        await payments.wake_outreach_plan(session, older.account.workspace_id)
    older.account.rings += 1  # its workflow may have ended
    before = older.account.provider_id
    if before == signed_in.provider_id:
        before = None
    older.account.provider_id = signed_in.provider_id
    await session.flush()
    newer.provider_id = before  # the ended record's own workflow deletes it
    return await _take(session, older, signed_in)
