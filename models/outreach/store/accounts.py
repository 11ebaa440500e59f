"""Outreach accounts, their settings and their callbacks: found, listed, locked; and whether an account may write.

The row of settings is the first lock of everything that sends; it is made when it is first locked.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Select, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.access.store import workspaces
from models.base.database import service_time
from models.base.errors import AccountNotReady, AccountPaused, Forbidden, NotFound, UpstreamBusy
from models.base.ids import new_id
from models.base.outbox import CHANNEL
from models.base.paging import Page, Slice, fetch, newest_first
from models.base.secrets import Vault
from models.base.steps import Subject
from models.base.tenants import Tenant, customer_of
from models.outreach.rules.actions import OutreachCap
from models.outreach.rules.answers import AccountGate, gate, next_available_at
from models.outreach.rules.callbacks import RETURNED, SECRET_PURPOSE, returned
from models.outreach.rules.caps import WorkingHours
from models.outreach.rules.states import AccountStatus
from models.outreach.tables import NetworkCallback, NetworkEndpoint, OutreachAccount, OutreachSettings

LOOK_AGAIN_SECONDS = 300
"""How often the provider is asked about an account in passing trouble."""


@dataclass(frozen=True, slots=True)
class Rules:
    """When a tenant's accounts write, and the caps it set: only those, each at most its default."""

    hours: WorkingHours
    caps: Mapping[OutreachCap, int]


def rules_of(row: OutreachSettings | None) -> Rules:
    """What a row says; without one the defaults."""
    if row is None:
        return Rules(WorkingHours(), {})
    hours = WorkingHours(row.time_zone, row.start_hour, row.end_hour, tuple(row.days))
    return Rules(hours, {OutreachCap(name): value for name, value in row.caps.items()})


async def read_settings(session: AsyncSession, tenant: Tenant) -> Rules:
    """The tenant's settings."""
    return rules_of((await session.scalars(_settings_of(tenant))).one_or_none())


async def lock_settings_row(session: AsyncSession, tenant: Tenant) -> OutreachSettings:
    """The tenant's row, closed to others until the transaction ends; made when there was none."""
    query = _settings_of(tenant).with_for_update().execution_options(populate_existing=True)
    row = (await session.scalars(query)).one_or_none()
    if row is None:
        hours = WorkingHours()
        made = insert(OutreachSettings).values(
            workspace_id=tenant.workspace_id,
            tenant_id=tenant.id,
            time_zone=hours.zone,
            start_hour=hours.start_hour,
            end_hour=hours.end_hour,
            days=list(hours.days),
            caps={},
            updated_at=await service_time(session),
        )
        await session.execute(made.on_conflict_do_nothing())
        row = (await session.scalars(query)).one()
    return row


async def lock_settings(session: AsyncSession, tenant: Tenant) -> Rules:
    """Lock the tenant's settings until the transaction ends, against changes and other claims of a send."""
    return rules_of(await lock_settings_row(session, tenant))


def _settings_of(tenant: Tenant) -> Select[OutreachSettings]:
    return select(OutreachSettings).where(col(OutreachSettings.tenant_id) == tenant.id)


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


def new_account(tenant: Tenant, *, name: str | None, now: datetime) -> OutreachAccount:
    """Return a new record, whose owner has not signed in yet."""
    return OutreachAccount(
        id=new_id("acc", now), workspace_id=tenant.workspace_id, tenant_id=tenant.id, name=name, created_at=now
    )


def _of(tenant: Tenant, account_id: str) -> Select[OutreachAccount]:
    return select(OutreachAccount).where(
        col(OutreachAccount.id) == account_id, col(OutreachAccount.tenant_id) == tenant.id
    )


async def load_account(session: AsyncSession, tenant: Tenant, account_id: str) -> OutreachAccount:
    """An account of the tenant, removed ones included. Raises `NotFound`."""
    row = (await session.scalars(_of(tenant, account_id))).one_or_none()
    if row is None:
        raise NotFound("There is no such outreach account.")
    return row


async def page_of_accounts(
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
    return await _lock(session, await load_account(session, tenant, account_id))


async def lock_account_by_id(session: AsyncSession, account_id: str) -> LockedAccount:
    """The same for a step, which knows the account alone."""
    return await _lock(
        session, (await session.scalars(select(OutreachAccount).where(col(OutreachAccount.id) == account_id))).one()
    )


async def _lock(session: AsyncSession, found: OutreachAccount) -> LockedAccount:
    tenant = tenant_of_account(found)
    rules = await lock_settings(session, tenant)
    query = _of(tenant, found.id).with_for_update(key_share=True).execution_options(populate_existing=True)
    return LockedAccount((await session.scalars(query)).one(), rules, await service_time(session))


async def unfinished_accounts(session: AsyncSession, tenant: Tenant) -> Sequence[OutreachAccount]:
    """Return the tenant's records whose owner has not signed in yet, oldest first."""
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


CHECKED_EVERY = timedelta(days=1)


async def callback_secrets(session: AsyncSession, vault: Vault, url: str) -> list[str]:
    """What may have signed a callback: the present secret, and the one before it."""
    row = (await session.scalars(select(NetworkEndpoint).where(col(NetworkEndpoint.url) == url))).one_or_none()
    sealed = [] if row is None else [row.secret, row.previous_secret]
    return [vault.open(SECRET_PURPOSE, one).decode() for one in sealed if one is not None]


async def is_registered(session: AsyncSession, url: str) -> bool:
    """Whether the provider said within a day that it sends to this address."""
    checked: datetime | None = await session.scalar(
        select(col(NetworkEndpoint.checked_at)).where(col(NetworkEndpoint.url) == url)
    )
    return checked is not None and checked > await service_time(session) - CHECKED_EVERY


async def keep_endpoint(
    session: AsyncSession, vault: Vault, *, url: str, provider_id: str, secret: str, relations_told: bool
) -> None:
    """Note that the provider sends to this address and signs with this secret; the one before stays good."""
    now = await service_time(session)
    query = select(NetworkEndpoint).where(col(NetworkEndpoint.url) == url).with_for_update()
    row = (await session.scalars(query)).one_or_none()
    sealed = vault.seal(SECRET_PURPOSE, secret.encode())
    if row is None:
        row = NetworkEndpoint(
            url=url,
            provider_id=provider_id,
            secret=sealed,
            relations_told=relations_told,
            checked_at=now,
            created_at=now,
        )
        session.add(row)
        return
    if vault.open(SECRET_PURPOSE, row.secret).decode() != secret:
        row.previous_secret, row.secret = row.secret, sealed
    row.provider_id, row.relations_told, row.checked_at = provider_id, relations_told, now


BODY_PURPOSE = "network callback"
ATTEMPTS = 8
"""After so many a callback is given up: the polls find what it announced."""
FIRST_WAIT = timedelta(seconds=5)
RETURN_WAITS = timedelta(minutes=2)
"""So long the provider's own word of a sign-in is waited for before the browser's is followed up."""
PER_SECOND = 50
"""So many of one account are taken within a second of wall time; more are asked to come again."""


async def account_of_callback(
    session: AsyncSession, *, provider_id: str | None, state_hash: bytes | None
) -> str | None:
    """Our account that a callback is about: by the one-time state of a connect link, else by the provider's id."""
    if state_hash is not None:
        query = select(col(OutreachAccount.id)).where(col(OutreachAccount.state_hash) == state_hash)
        found: str | None = await session.scalar(query)
        if found is not None:
            return found
    if provider_id is None:
        return None
    known: str | None = await session.scalar(
        select(col(OutreachAccount.id)).where(col(OutreachAccount.provider_id) == provider_id)
    )
    return known


KEEP = text(
    """
    with kept as (
      insert into network_callbacks (id, event_id, type, account_id, body, failures, due_at, received_at)
      values (:id, :event_id, :type, :account_id, :body, 0, :due, :now)
      on conflict (event_id) do nothing returning account_id
    ), woken as (
      update outreach_accounts a set rings = rings + 1 from kept where :wake and a.id = kept.account_id returning 1
    )
    select pg_notify(:channel, '') from woken
    """
)

RECENT = text("select count(*) from network_callbacks where account_id = :id and received_at > :since")


async def may_keep_callback(session: AsyncSession, account_id: str) -> bool:
    """Whether the account's callbacks of the last second leave room for one more."""
    now = await service_time(session)
    recent = await session.scalar(RECENT, {"id": account_id, "since": now - timedelta(seconds=1)})
    return int(recent or 0) < PER_SECOND


@dataclass(frozen=True, slots=True)
class Arrived:
    """A callback to keep: the provider's id of it, what it is, whose, and its body sealed with `BODY_PURPOSE`."""

    event_id: str
    type: str
    account_id: str
    sealed: bytes


WAIT_FOR_ACCOUNT = text("set local lock_timeout = '500ms'")


def browser_returned(vault: Vault, account_id: str, *, provider_id: str, state: str) -> Arrived:
    """The return of an owner's browser, to be kept like a callback and looked at `RETURN_WAITS` later.

    One is kept for each state: the holder of a link can have the provider asked once.
    """
    event_id = f"{RETURNED}:{hash_state(state).hex()}"
    sealed = vault.seal(BODY_PURPOSE, returned(event_id, provider_id, state))
    return Arrived(event_id, RETURNED, account_id, sealed)


async def keep_network_callback(
    session: AsyncSession, arrived: Arrived, *, wake: bool = True, after: timedelta = timedelta()
) -> None:
    """Store a callback, due `after` some time, and wake its account; one that is known already changes nothing.

    It waits half a second at most for the account's lock, for the provider waits for an answer.
    """
    await session.execute(WAIT_FOR_ACCOUNT)
    now = await service_time(session)
    values = {
        "id": new_id("ncb", now),
        "event_id": arrived.event_id,
        "type": arrived.type[:100],
        "account_id": arrived.account_id,
        "body": arrived.sealed,
        "now": now,
        "due": now + after,
        "channel": CHANNEL,
        "wake": wake,
    }
    await session.execute(KEEP, values)


async def callback_is_due(session: AsyncSession, account_id: str, now: datetime) -> bool:
    """Whether a callback of the account waits to be processed now."""
    return bool(
        await session.scalar(
            select(col(NetworkCallback.id))
            .where(
                col(NetworkCallback.account_id) == account_id,
                col(NetworkCallback.processed_at).is_(None),
                col(NetworkCallback.due_at) <= now,
            )
            .limit(1)
        )
    )


async def next_callback_at(session: AsyncSession, account_id: str) -> list[datetime]:
    """When the next callback of the account is tried again: at most one moment."""
    query = select(col(NetworkCallback.due_at)).where(
        col(NetworkCallback.account_id) == account_id, col(NetworkCallback.processed_at).is_(None)
    )
    return list(await session.scalars(query.order_by(col(NetworkCallback.due_at)).limit(1)))


@dataclass(frozen=True, slots=True)
class OpenedCallback:
    """A callback to process: its id, and the body as it came."""

    id: str
    raw: bytes


async def begin_callback(session: AsyncSession, vault: Vault, account_id: str) -> OpenedCallback | None:
    """The oldest callback of the account that is due, one attempt counted; null when none is."""
    now = await service_time(session)
    query = (
        select(NetworkCallback)
        .where(
            col(NetworkCallback.account_id) == account_id,
            col(NetworkCallback.processed_at).is_(None),
            col(NetworkCallback.due_at) <= now,
        )
        .order_by(col(NetworkCallback.received_at), col(NetworkCallback.id))
        .limit(1)
        .with_for_update()
    )
    row = (await session.scalars(query)).one_or_none()
    if row is None or row.body is None:
        return None
    row.failures += 1
    row.due_at = now + FIRST_WAIT * (1 << min(row.failures - 1, 10))
    return OpenedCallback(row.id, vault.open(BODY_PURPOSE, row.body))


async def finish_callback(session: AsyncSession, callback_id: str) -> None:
    """A callback is done with: its body goes."""
    row = await _lock_callback(session, callback_id)
    row.processed_at, row.body = row.processed_at or await service_time(session), None


async def fail_callback(session: AsyncSession, callback_id: str) -> bool:
    """An attempt failed: true when it was the last, and the callback is given up."""
    row = await _lock_callback(session, callback_id)
    if row.failures < ATTEMPTS or row.processed_at is not None:
        return False
    row.processed_at, row.body = await service_time(session), None
    return True


async def put_off_callback(session: AsyncSession, callback_id: str, *, after: timedelta) -> None:
    """The network could not be asked: the attempt does not count, and is made again later."""
    row = await _lock_callback(session, callback_id)
    row.failures = max(0, row.failures - 1)
    row.due_at = await service_time(session) + after


async def _lock_callback(session: AsyncSession, callback_id: str) -> NetworkCallback:
    return (
        await session.scalars(select(NetworkCallback).where(col(NetworkCallback.id) == callback_id).with_for_update())
    ).one()
