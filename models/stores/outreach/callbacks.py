"""Callbacks of the provider: stored raw and encrypted as they came, worked through one by one, and forgotten.

A body lives until its callback is done with or given up. A callback counts an attempt when it is begun, so that one
whose processing ends the process is given up too in the end.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.ids import new_id
from models.rules.outreach.callbacks import RETURNED, returned
from models.secrets import Vault
from models.stores.doorbells import CHANNEL
from models.stores.outreach.connecting import hash_of
from models.tables import NetworkCallback, OutreachAccount

BODY_PURPOSE = "network callback"
ATTEMPTS = 8
"""After so many a callback is given up: the polls find what it told."""
FIRST_WAIT = timedelta(seconds=5)
RETURN_WAITS = timedelta(minutes=2)
"""So long the provider's own word of a sign-in is waited for before the browser's is followed up."""
PER_SECOND = 50
"""So many of one account are taken within a second of wall time; more are asked to come again."""


async def account_of(session: AsyncSession, *, provider_id: str | None, state_hash: bytes | None) -> str | None:
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
    ), rung as (
      update outreach_accounts a set rings = rings + 1 from kept where :ring and a.id = kept.account_id returning 1
    )
    select pg_notify(:channel, '') from rung
    """
)

RECENT = text("select count(*) from network_callbacks where account_id = :id and received_at > :since")


async def may_keep(session: AsyncSession, account_id: str) -> bool:
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

    One is kept for each state: whoever has a link can have the provider asked once.
    """
    event_id = f"{RETURNED}:{hash_of(state).hex()}"
    sealed = vault.seal(BODY_PURPOSE, returned(event_id, provider_id, state))
    return Arrived(event_id, RETURNED, account_id, sealed)


async def keep(session: AsyncSession, arrived: Arrived, *, ring: bool = True, after: timedelta = timedelta()) -> None:
    """Store a callback, due `after` some time, and ring its account; one that is known already changes nothing.

    It waits half a second at most for whoever holds the account, for the provider waits for an answer.
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
        "ring": ring,
    }
    await session.execute(KEEP, values)


async def is_due(session: AsyncSession, account_id: str, now: datetime) -> bool:
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


async def ahead(session: AsyncSession, account_id: str) -> list[datetime]:
    """When the next callback of the account is tried again: at most one moment."""
    query = select(col(NetworkCallback.due_at)).where(
        col(NetworkCallback.account_id) == account_id, col(NetworkCallback.processed_at).is_(None)
    )
    return list(await session.scalars(query.order_by(col(NetworkCallback.due_at)).limit(1)))


@dataclass(frozen=True, slots=True)
class Opened:
    """A callback to process: its id, and the body as it came."""

    id: str
    raw: bytes


async def begin(session: AsyncSession, vault: Vault, account_id: str) -> Opened | None:
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
    return Opened(row.id, vault.open(BODY_PURPOSE, row.body))


async def done(session: AsyncSession, callback_id: str) -> None:
    """A callback is done with: its body goes."""
    row = await _locked(session, callback_id)
    row.processed_at, row.body = row.processed_at or await service_time(session), None


async def failed(session: AsyncSession, callback_id: str) -> bool:
    """An attempt failed: true when it was the last, and the callback is given up."""
    row = await _locked(session, callback_id)
    if row.failures < ATTEMPTS or row.processed_at is not None:
        return False
    row.processed_at, row.body = await service_time(session), None
    return True


async def put_off(session: AsyncSession, callback_id: str, *, after: timedelta) -> None:
    """The network could not be asked: the attempt does not count, and is made again later."""
    row = await _locked(session, callback_id)
    row.failures = max(0, row.failures - 1)
    row.due_at = await service_time(session) + after


async def _locked(session: AsyncSession, callback_id: str) -> NetworkCallback:
    return (
        await session.scalars(select(NetworkCallback).where(col(NetworkCallback.id) == callback_id).with_for_update())
    ).one()
