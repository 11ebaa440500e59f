"""E-mail addresses as keys of people: kept as keyed hashes alone, so that an erasure by address finds its person."""

from collections.abc import Collection, Mapping

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.secrets import Vault
from models.stores import people

NAMELESS = text(
    """
    select p.id from people p
     where p.id = any(cast(:ids as text[]))
       and not exists (select 1 from person_keys k where k.profile_id = p.id and k.kind <> 'email')
    """
)


async def recognise(session: AsyncSession, vault: Vault, found: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Hold these people, by the addresses found of them, and give the id that stands for each.

    Somebody of whom nothing but one of the addresses is known (they were erased by it before anybody met them) is the
    same person, and with that suppressed and erased too. Others may share an address: they stay apart.
    """
    hashes = {people.email_hash(vault, address): person for person, given in found.items() for address in given}
    owners = await people.owners(session, hashes)
    nameless = set((await session.scalars(NAMELESS, {"ids": list(owners.values())})).all())
    standing = await people.hold(session, found.keys() | nameless)
    for key, owner in owners.items():
        ids = sorted({standing.get(hashes[key], owner), standing.get(owner, owner)})
        for newer in ids[1:] if owner in nameless else ():
            await people.merge(session, survivor=ids[0], newer=newer)
            standing = {one: ids[0] if at == newer else at for one, at in standing.items()}
    return standing


KEEP = text(
    """
    insert into person_keys (hash, profile_id, kind)
    select hash, :id, 'email' from unnest(cast(:hashes as bytea[])) as hash order by hash on conflict do nothing
    """
)


async def keep(session: AsyncSession, vault: Vault, profile_id: str, addresses: Collection[str]) -> None:
    """Let these addresses lead to a person, whom the caller holds; one that leads to somebody else goes on doing so."""
    hashes = [people.email_hash(vault, address) for address in addresses]
    await session.execute(KEEP, {"id": profile_id, "hashes": hashes})
