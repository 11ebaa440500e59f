"""API keys. Whoever changes keys holds the lock of the workspace (`workspaces.lock`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.ids import new_id
from models.rules.access import PREFIX, Power, Scope
from models.stores.paging import Page, Slice, fetch, newest_first
from models.tables import ApiKey, DailySpend


@dataclass(frozen=True, slots=True)
class NewKey:
    """What a key is made of. `secret_hash` is the SHA-256 of its secret."""

    workspace_id: str
    name: str
    power: Power
    version: str
    secret_hash: bytes
    last4: str
    expires_at: datetime | None = None


def power_of(key: ApiKey) -> Power:
    """How wide a key is."""
    return Power(
        scopes=frozenset(Scope(scope) for scope in key.scopes),
        daily_cap_credits=key.daily_cap_credits,
        customer_id=key.customer_id,
    )


async def create(session: AsyncSession, new: NewKey, *, now: datetime) -> ApiKey:
    """Add a key."""
    key = ApiKey(
        id=new_id("key", now),
        workspace_id=new.workspace_id,
        customer_id=new.power.customer_id,
        name=new.name,
        prefix=PREFIX,
        last4=new.last4,
        secret_hash=new.secret_hash,
        scopes=sorted(new.power.scopes),
        daily_cap_credits=new.power.daily_cap_credits,
        version=new.version,
        expires_at=new.expires_at,
        created_at=now,
    )
    session.add(key)
    await session.flush()
    return key


async def find(session: AsyncSession, workspace_id: str, key_id: str) -> ApiKey | None:
    """A key of the workspace as it is now, revoked ones included."""
    query = select(ApiKey).where(col(ApiKey.id) == key_id, col(ApiKey.workspace_id) == workspace_id)
    return (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()


async def listed(session: AsyncSession, workspace_id: str, page: Page) -> Slice[ApiKey]:
    """Keys of the workspace, revoked ones included, newest first."""
    return await fetch(
        session,
        select(ApiKey).where(col(ApiKey.workspace_id) == workspace_id),
        page,
        order=newest_first(col(ApiKey.created_at), col(ApiKey.id)),
        created_at=col(ApiKey.created_at),
    )


async def other_administrators(session: AsyncSession, workspace_id: str, key_id: str, now: datetime) -> int:
    """How many other keys could still change the account's keys. Grants cannot: their tokens are for MCP alone."""
    keys = await session.scalars(
        select(ApiKey).where(
            col(ApiKey.workspace_id) == workspace_id,
            col(ApiKey.id) != key_id,
            col(ApiKey.kind) == "key",
            col(ApiKey.revoked_at).is_(None),
            or_(col(ApiKey.expires_at).is_(None), col(ApiKey.expires_at) > now),
        )
    )
    return sum(power_of(key).administers for key in keys)


async def spent(session: AsyncSession, subject_ids: Sequence[str], day: date) -> dict[str, int]:
    """Credits spent on a UTC day by each of these keys or customers that spent any."""
    rows = await session.execute(
        select(col(DailySpend.subject_id), col(DailySpend.credits)).where(
            col(DailySpend.subject_id).in_(subject_ids), col(DailySpend.day) == day
        )
    )
    return {row[0]: row[1] for row in rows}
