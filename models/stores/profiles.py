"""Cached profiles as tenants read them: the right to a copy, reading it without a charge, and giving it up."""

from collections.abc import Collection

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.errors import NotCached, NotFound, Suppressed
from models.rules.people import Profile
from models.stores import people, suppressions
from models.stores.people import CACHE_LIFE
from models.tables import CachedProfile, ProfileCopy
from models.tenancy import Tenant

GIVE = text(
    """
    insert into profile_copies (workspace_id, tenant_id, profile_id, created_at)
    select :workspace, :tenant, profile_id, :now from cached_profiles where profile_id = any(cast(:ids as text[]))
     order by profile_id on conflict do nothing
    """
)


async def give(session: AsyncSession, tenant: Tenant, profile_ids: Collection[str]) -> None:
    """Let the tenant read the cached profiles of these people, whom the caller holds, from now on."""
    if profile_ids:
        named = {"workspace": tenant.workspace_id, "tenant": tenant.id, "ids": list(profile_ids)}
        await session.execute(GIVE, named | {"now": await service_time(session)})


async def readable(session: AsyncSession, tenant: Tenant, profile_ids: Collection[str]) -> dict[str, Profile]:
    """The cached profiles of these people that the tenant has a right to, by the ids that stand for the people."""
    now = await service_time(session)
    rows = await session.scalars(
        select(CachedProfile)
        .join(ProfileCopy, col(ProfileCopy.profile_id) == col(CachedProfile.profile_id))
        .where(
            col(ProfileCopy.tenant_id) == tenant.id,
            col(CachedProfile.profile_id).in_(list(profile_ids)),
            col(CachedProfile.fetched_at) > now - CACHE_LIFE,
        )
    )
    return {row.profile_id: Profile.model_validate(row.content) for row in rows}


async def read(session: AsyncSession, tenant: Tenant, profile_id: str) -> Profile:
    """The cached profile, as far as the tenant has a right to it. Raises `NotFound`, `Suppressed`, `NotCached`."""
    standing = await _standing(session, profile_id)
    found = (await readable(session, tenant, [standing])).get(standing)
    if await suppressions.among(session, tenant, [standing]):  # after the copy: who opts out meanwhile is hidden
        raise Suppressed(status=404)
    if found is None:
        raise NotCached("This profile is not in the cache.")
    return found


GIVE_UP = text("delete from profile_copies where tenant_id = :tenant and profile_id = :id returning profile_id")
DROP_UNUSED = text(
    "delete from cached_profiles c where profile_id = :id"
    " and not exists (select 1 from profile_copies o where o.profile_id = c.profile_id)"
)


async def give_up(session: AsyncSession, tenant: Tenant, profile_id: str) -> None:
    """End the tenant's right to the copy; without anybody else's the profile leaves the cache.

    Raises `NotFound`, `NotCached`.
    """
    standing = (await people.hold(session, [profile_id])).get(profile_id)
    if standing is None:
        raise NotFound("There is no such profile.")
    gone = await session.execute(GIVE_UP, {"tenant": tenant.id, "id": standing})
    if gone.scalar_one_or_none() is None:
        raise NotCached("This profile is not in the cache.")
    await session.execute(DROP_UNUSED, {"id": standing})


async def _standing(session: AsyncSession, profile_id: str) -> str:
    standing = (await people.stands_for(session, [profile_id])).get(profile_id)
    if standing is None:
        raise NotFound("There is no such profile.")
    return standing
