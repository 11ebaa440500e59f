"""Cached profiles as tenants read them, and e-mail addresses by which people are found.

A tenant has a right to the copies it paid for, reads them without a charge and can give them up. Addresses are kept as
keyed hashes alone, so that an erasure by address finds its person.
"""

from collections.abc import Collection, Mapping

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.database import service_time, widened
from models.base.errors import NotCached, NotFound, Suppressed
from models.base.secrets import Vault
from models.base.tenants import Tenant, all_tenants
from models.people.rules.profiles import Profile
from models.people.store import people, suppressions
from models.people.store.people import CACHE_LIFE
from models.people.tables import CachedProfile, ProfileCopy

GIVE = text(
    """
    insert into profile_copies (workspace_id, tenant_id, profile_id, created_at)
    select :workspace, :tenant, profile_id, :now from cached_profiles where profile_id = any(cast(:ids as text[]))
     order by profile_id on conflict do nothing
    """
)


async def give_copies(session: AsyncSession, tenant: Tenant, profile_ids: Collection[str]) -> None:
    """Let the tenant read the cached profiles of these locked people from now on."""
    if profile_ids:
        named = {"workspace": tenant.workspace_id, "tenant": tenant.id, "ids": list(profile_ids)}
        await session.execute(GIVE, named | {"now": await service_time(session)})


async def readable_profiles(session: AsyncSession, tenant: Tenant, profile_ids: Collection[str]) -> dict[str, Profile]:
    """Return the cached profiles of these people that the tenant has a right to, by current id."""
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


async def read_profile(session: AsyncSession, tenant: Tenant, profile_id: str) -> Profile:
    """Return the cached profile that the tenant has a right to. Raises `NotFound`, `Suppressed`, `NotCached`."""
    standing = await _standing(session, profile_id)
    found = (await readable_profiles(session, tenant, [standing])).get(standing)
    if await suppressions.suppressed_among(
        session, tenant, [standing]
    ):  # read last: an opt-out in between hides the person
        raise Suppressed(status=404)
    if found is None:
        raise NotCached("This profile is not in the cache.")
    return found


GIVE_UP = text("delete from profile_copies where tenant_id = :tenant and profile_id = :id returning profile_id")
DROP_UNUSED = text(
    "delete from cached_profiles c where profile_id = :id"
    " and not exists (select 1 from profile_copies o where o.profile_id = c.profile_id)"
)


async def give_up_copy(session: AsyncSession, tenant: Tenant, profile_id: str) -> None:
    """End the tenant's right to the copy; the profile leaves the cache when no other tenant has one.

    Raises `NotFound`, `NotCached`.
    """
    standing = (await people.lock_people(session, [profile_id])).get(profile_id)
    if standing is None:
        raise NotFound("There is no such profile.")
    gone = await session.execute(GIVE_UP, {"tenant": tenant.id, "id": standing})
    if gone.scalar_one_or_none() is None:
        raise NotCached("This profile is not in the cache.")
    async with widened(session, all_tenants("whether another tenant has a right to a cached profile")):
        await session.execute(DROP_UNUSED, {"id": standing})


async def _standing(session: AsyncSession, profile_id: str) -> str:
    standing = (await people.current_ids(session, [profile_id])).get(profile_id)
    if standing is None:
        raise NotFound("There is no such profile.")
    return standing


NAMELESS = text(
    """
    select p.id from people p
     where p.id = any(cast(:ids as text[]))
       and not exists (select 1 from person_keys k where k.profile_id = p.id and k.kind <> 'email')
    """
)


async def people_of_addresses(
    session: AsyncSession, vault: Vault, found: Mapping[str, Collection[str]]
) -> dict[str, str]:
    """Lock these people, with the addresses found of each, and return the current id of each.

    A person known by one of the addresses alone (erased by address before a source named them) is merged with the one
    of that address, who is then suppressed and erased too. Other people who share an address stay separate.
    """
    hashes = {people.email_hash(vault, address): person for person, given in found.items() for address in given}
    owners = await people.owners_of_keys(session, hashes)
    nameless = set((await session.scalars(NAMELESS, {"ids": list(owners.values())})).all())
    standing = await people.lock_people(session, found.keys() | nameless)
    for key, owner in owners.items():
        ids = sorted({standing.get(hashes[key], owner), standing.get(owner, owner)})
        for newer in ids[1:] if owner in nameless else ():
            await people.merge_people(session, survivor=ids[0], newer=newer)
            standing = {one: ids[0] if at == newer else at for one, at in standing.items()}
    return standing


KEEP = text(
    """
    insert into person_keys (hash, profile_id, kind)
    select hash, :id, 'email' from unnest(cast(:hashes as bytea[])) as hash order by hash on conflict do nothing
    """
)


async def keep_addresses(session: AsyncSession, vault: Vault, profile_id: str, addresses: Collection[str]) -> None:
    """Let these addresses lead to a locked person; an address that leads to another person keeps doing so."""
    hashes = [people.email_hash(vault, address) for address in addresses]
    await session.execute(KEEP, {"id": profile_id, "hashes": hashes})
