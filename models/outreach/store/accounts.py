"""Outreach accounts: found, listed, locked, and whether one may write now."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.access.store import workspaces
from models.base.clock import service_time
from models.base.errors import AccountNotReady, AccountPaused, Forbidden, NotFound, UpstreamBusy
from models.base.ids import new_id
from models.base.paging import Page, Slice, fetch, newest_first
from models.base.subjects import Subject
from models.base.tenants import Tenant, customer_of
from models.outreach.rules.pauses import AccountGate, gate, next_available_at
from models.outreach.rules.states import AccountStatus
from models.outreach.store import sequences
from models.outreach.store.sequences import Rules
from models.outreach.tables import OutreachAccount

LOOK_AGAIN_SECONDS = 300
"""How often the provider is asked about an account in passing trouble."""


@dataclass(frozen=True, slots=True)
class LockedAccount:
    """An account and its tenant's settings, both locked, and service time read after that."""

    account: OutreachAccount
    rules: Rules
    now: datetime

    @property
    def tenant(self) -> Tenant:
        """Whose account it is."""
        return tenant_of_account(self.account)


def account_subject(account_id: str) -> Subject:
    """The account as a waiting row."""
    return Subject("account", account_id)


def tenant_of_account(account: OutreachAccount) -> Tenant:
    """Whose account it is."""
    return Tenant(account.workspace_id, customer_of(account.tenant_id))


def new(tenant: Tenant, *, name: str | None, now: datetime) -> OutreachAccount:
    """A record of an account that nobody has signed in to yet."""
    return OutreachAccount(
        id=new_id("acc", now), workspace_id=tenant.workspace_id, tenant_id=tenant.id, name=name, created_at=now
    )


def _of(tenant: Tenant, account_id: str) -> Select[OutreachAccount]:
    return select(OutreachAccount).where(
        col(OutreachAccount.id) == account_id, col(OutreachAccount.tenant_id) == tenant.id
    )


async def get_account(session: AsyncSession, tenant: Tenant, account_id: str) -> OutreachAccount:
    """An account of the tenant, removed ones included. Raises `NotFound`."""
    row = (await session.scalars(_of(tenant, account_id))).one_or_none()
    if row is None:
        raise NotFound("There is no such outreach account.")
    return row


async def list_accounts(
    session: AsyncSession, tenant: Tenant, page: Page, *, status: AccountStatus | None = None
) -> Slice[OutreachAccount]:
    """The tenant's accounts, newest first; removed ones only when they are asked for."""
    query = select(OutreachAccount).where(col(OutreachAccount.tenant_id) == tenant.id)
    if status is None:
        query = query.where(col(OutreachAccount.status) != AccountStatus.REMOVED)
    else:
        query = query.where(col(OutreachAccount.status) == status)
    created_at = col(OutreachAccount.created_at)
    return await fetch(
        session, query, page, order=newest_first(created_at, col(OutreachAccount.id)), created_at=created_at
    )


async def lock_account(session: AsyncSession, tenant: Tenant, account_id: str) -> LockedAccount:
    """An account of the tenant with its settings, locked in this order. Raises `NotFound`."""
    await get_account(session, tenant, account_id)
    rules = await sequences.lock_settings(session, tenant)
    query = _of(tenant, account_id).with_for_update(key_share=True).execution_options(populate_existing=True)
    account = (await session.scalars(query)).one()
    return LockedAccount(account, rules, await service_time(session))


async def lock_account_by_id(session: AsyncSession, account_id: str) -> LockedAccount:
    """The same for a step, which knows the account alone."""
    row = (await session.scalars(select(OutreachAccount).where(col(OutreachAccount.id) == account_id))).one()
    return await lock_account(session, tenant_of_account(row), account_id)


async def unfinished(session: AsyncSession, tenant: Tenant) -> Sequence[OutreachAccount]:
    """Records of the tenant that nobody has signed in to yet, oldest first."""
    query = select(OutreachAccount).where(
        col(OutreachAccount.tenant_id) == tenant.id,
        col(OutreachAccount.status) == AccountStatus.CONNECTING,
        col(OutreachAccount.provider_id).is_(None),
    )
    return (await session.scalars(query.order_by(col(OutreachAccount.created_at)))).all()


def refuse_unready(account: OutreachAccount, now: datetime) -> None:
    """Refuse what needs an account that writes.

    Raises `NotFound` for a removed account, `AccountNotReady`, `AccountPaused`, and `UpstreamBusy` while the network
    is in passing trouble.
    """
    status = AccountStatus(account.status)
    match gate(status, account.paused_until, now):
        case AccountGate.REMOVED:
            raise NotFound("This outreach account was removed.")
        case AccountGate.NOT_READY:
            raise AccountNotReady("The outreach account has to be connected first.", status=status.value)
        case AccountGate.PAUSED:
            raise AccountPaused(next_available_at=next_available_at(status, account.paused_until, now))
        case AccountGate.OPEN if account.trouble is not None:
            raise UpstreamBusy(status=503, retry_after=LOOK_AGAIN_SECONDS)


async def refuse_unverified(session: AsyncSession, tenant: Tenant, *, needed: bool) -> None:
    """Refuse a workspace whose address is not confirmed, where confirming is `needed`. Raises `Forbidden`."""
    error = await unverified(session, tenant, needed=needed)
    if error is not None:
        raise error


async def unverified(session: AsyncSession, tenant: Tenant, *, needed: bool) -> Forbidden | None:
    """The refusal of a workspace whose address is not confirmed, for a preview to report; null when it may write."""
    if not needed or (await workspaces.find_workspace(session, tenant.workspace_id)).verified_at is not None:
        return None
    return Forbidden(
        "Confirm the workspace's e-mail address before you write to people.",
        fix="Open the link that was mailed at sign-up; POST /v1/workspace/verification sends another.",
    )


def hash_state(state: str) -> bytes:
    """What is kept of a link's one-time state."""
    return hashlib.sha256(state.encode()).digest()
