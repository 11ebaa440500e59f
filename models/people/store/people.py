"""Identity of people by keyed hashes, merging two ids of one person, and what runs need to know of each person."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.database import lock_people_rows, service_time, widened
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.tenants import Tenant, all_tenants
from models.people.outreach_port import outreach
from models.people.rules.identity import InvalidProfileUrl, canonical_profile_url, person_key
from models.people.rules.profiles import Profile
from models.people.store import suppressions
from models.people.tables import CachedProfile

CACHE_LIFE = timedelta(days=30)
_PURPOSE = "person"


@dataclass(frozen=True, slots=True)
class Sighting:
    """A person as a source names them: the source's id, the profile URL if given, and the URL that was asked for."""

    source: str
    source_id: str
    profile_url: str | None
    asked_at: str | None = None


@dataclass(frozen=True, slots=True)
class _Key:
    hash: bytes
    kind: str
    source: str | None
    value: str | None


def source_hash(vault: Vault, source: str, source_id: str) -> bytes:
    """Return the key of a person by a source's id."""
    return vault.keyed_hash(_PURPOSE, f"source:{source}:{source_id}")


def url_hash(vault: Vault, profile_url: str) -> bytes:
    """Return the key of a person by any spelling of the profile URL. Raises `InvalidProfileUrl`."""
    return vault.keyed_hash(_PURPOSE, f"url:{person_key(profile_url)}")


def _keys(vault: Vault, sighting: Sighting) -> list[_Key]:
    keys = [
        _Key(source_hash(vault, sighting.source, sighting.source_id), "source", sighting.source, sighting.source_id)
    ]
    for address in {sighting.profile_url, sighting.asked_at} - {None}:
        try:
            url = canonical_profile_url(address or "")
        except InvalidProfileUrl:
            continue  # a source may give a URL that is invalid: its own id still names the person
        keys.append(_Key(url_hash(vault, url), "url", None, url))
    return keys


def email_hash(vault: Vault, address: str) -> bytes:
    """Return the key of a person by an e-mail address, whatever its letter case."""
    return vault.keyed_hash(_PURPOSE, f"email:{address.strip().casefold()}")


async def identify(
    session: AsyncSession, vault: Vault, sightings: Sequence[Sighting], *, workspace_id: str | None
) -> dict[str, str]:
    """Lock the sighted people and return our id of each, by source id; a person who is new gets one.

    Two ids found to be one person become one: the older survives, the other is its alias. Repeated and concurrent calls
    give the same ids. `workspace_id` is the account that sees them: of a person erased there only the id and keyed
    hashes are kept.
    """
    keys: dict[str, list[_Key]] = {}
    for sighting in sightings:
        keys.setdefault(sighting.source_id, []).extend(_keys(vault, sighting))
    return await _identified(session, keys, workspace_id)


async def people_by_url(
    session: AsyncSession, vault: Vault, profile_urls: Collection[str], *, workspace_id: str | None
) -> dict[str, str]:
    """Lock the people whom a caller names by profile URL and return our ids by the URL as given, as `identify` does.

    Raises `InvalidProfileUrl`.
    """
    canonical = {url: canonical_profile_url(url) for url in profile_urls}
    keys = {one: [_Key(url_hash(vault, one), "url", None, one)] for one in canonical.values()}
    ids = await _identified(session, keys, workspace_id)
    return {url: ids[one] for url, one in canonical.items()}


async def person_by_email(session: AsyncSession, vault: Vault, address: str) -> str:
    """Lock the person with this e-mail address and return our id. The address itself is not kept."""
    key = _Key(email_hash(vault, address), "email", None, None)
    return (await _identified(session, {"": [key]}, None))[""]


async def _identified(
    session: AsyncSession, keys: Mapping[str, Sequence[_Key]], workspace_id: str | None
) -> dict[str, str]:
    every = {key.hash: key for found in keys.values() for key in found}
    known = await _known(session, every)
    now = await service_time(session)
    wanted: dict[bytes, str] = {}
    for found in keys.values():
        there = [known.get(key.hash) or wanted.get(key.hash) for key in found]
        profile_id = min((one for one in there if one), default=None) or new_id("prof", now)
        wanted.update({key.hash: profile_id for key in found if key.hash not in known})
    await _insert(session, [(every[one], wanted[one]) for one in sorted(wanted)], now)
    settled = await _locked(session, every)
    for found in keys.values():
        ids = sorted({settled[key.hash] for key in found})
        for newer in ids[1:]:
            await merge_people(session, survivor=ids[0], newer=newer)
            settled = {one: ids[0] if old == newer else old for one, old in settled.items()}
    await _keep_values(session, every.values(), workspace_id)
    return {name: settled[found[0].hash] for name, found in keys.items()}


async def _known(session: AsyncSession, hashes: Collection[bytes]) -> dict[bytes, str]:
    rows = await session.execute(
        text("select hash, profile_id from person_keys where hash = any(cast(:hashes as bytea[]))"),
        {"hashes": list(hashes)},
    )
    return {key_hash: profile_id for key_hash, profile_id in rows}  # noqa: C416 - rows are not pairs


async def owners_of_keys(session: AsyncSession, hashes: Collection[bytes]) -> dict[bytes, str]:
    """Return the person of each key; keys of no person are missing."""
    return await _known(session, list(hashes))


SUPPRESSED_KEYS = text(
    """
    select key_hash from suppressions
     where key_hash = any(cast(:hashes as bytea[]))
       and (workspace_id is null
            or (workspace_id = :workspace and (customer_id is null or customer_id = cast(:customer as text))))
    """
)


async def suppressed_keys(session: AsyncSession, tenant: Tenant, hashes: Collection[bytes]) -> set[bytes]:
    """Return which of these keys are suppressed for the tenant, whether we know the person or only the key."""
    asked = {"hashes": list(hashes), "workspace": tenant.workspace_id, "customer": tenant.customer_id}
    return set((await session.scalars(SUPPRESSED_KEYS, asked)).all())


async def _locked(session: AsyncSession, hashes: Collection[bytes]) -> dict[bytes, str]:
    """Lock the people of these keys and return them as they are once the locks are held."""
    locked: set[str] = set()
    while True:
        found = await _known(session, hashes)
        missing = set(found.values()) - locked
        if not missing:
            return found
        await lock_people_rows(session, missing)
        locked |= missing


INSERT_PEOPLE = text(
    """
    insert into people (id, created_at) select distinct id, cast(:now as timestamptz)
      from unnest(cast(:ids as text[])) as id order by id on conflict do nothing
    """
)
INSERT_KEYS = text(
    """
    insert into person_keys (hash, profile_id, kind, source)
    select * from unnest(cast(:hashes as bytea[]), cast(:ids as text[]), cast(:kinds as text[]),
                         cast(:sources as text[])) on conflict do nothing
    """
)


async def _insert(session: AsyncSession, keys: Sequence[tuple[_Key, str]], now: datetime) -> None:
    """Write new keys and people. The value of a key is written later, under the person's lock."""
    if not keys:
        return
    ids = [profile_id for _, profile_id in keys]
    await session.execute(INSERT_PEOPLE, {"ids": ids, "now": now})
    await session.execute(
        INSERT_KEYS,
        {
            "hashes": [key.hash for key, _ in keys],
            "ids": ids,
            "kinds": [key.kind for key, _ in keys],
            "sources": [key.source for key, _ in keys],
        },
    )


KEEP_VALUES = text(
    """
    update person_keys k set value = given.value
      from unnest(cast(:hashes as bytea[]), cast(:values as text[])) as given(hash, value)
     where k.hash = given.hash and k.value is null and given.value is not null
       and not exists (select 1 from person_keys o join suppressions s on s.key_hash = o.hash
                        where o.profile_id = k.profile_id and s.reason <> 'manual'
                          and (s.workspace_id is null or s.workspace_id = cast(:workspace as text)))
    """
)


async def _keep_values(session: AsyncSession, keys: Collection[_Key], workspace_id: str | None) -> None:
    """Write the value of each key, unless the person opted out or was erased."""
    ordered = sorted(keys, key=lambda key: key.hash)
    await session.execute(
        KEEP_VALUES,
        {
            "hashes": [key.hash for key in ordered],
            "values": [key.value for key in ordered],
            "workspace": workspace_id,
        },
    )


async def lock_people(session: AsyncSession, profile_ids: Collection[str]) -> dict[str, str]:
    """Lock these people and return the current id of each; unknown ids are missing."""
    locked: set[str] = set()
    wanted = set(profile_ids)
    current: dict[str, str] = {}
    while not wanted <= locked:
        await lock_people_rows(session, wanted - locked)
        locked |= wanted
        current = await current_ids(session, profile_ids)
        wanted = set(current.values())
    return current


async def current_ids(session: AsyncSession, profile_ids: Collection[str]) -> dict[str, str]:
    """Return the current id of each person, which differs for an alias; unknown ids are missing."""
    rows = await session.execute(
        text("select id, coalesce(alias_of, id) from people where id = any(cast(:ids as text[]))"),
        {"ids": list(profile_ids)},
    )
    return {profile_id: current for profile_id, current in rows}  # noqa: C416 - rows are not pairs


MERGE = (
    "update people set alias_of = :survivor where id = :newer or alias_of = :newer",
    "update person_keys set profile_id = :survivor where profile_id = :newer",
    "update suppressions set profile_id = :survivor where profile_id = :newer",
    """insert into leads (workspace_id, profile_id, created_at)
       select workspace_id, :survivor, created_at from leads where profile_id = :newer on conflict do nothing""",
    "delete from leads where profile_id = :newer",
    """insert into seen_entries (workspace_id, tenant_id, profile_id, status, do_not_contact, tags, note, first_seen_at,
                                 contacted_at, last_contacted_at, run_ids, created_at)
       select workspace_id, tenant_id, :survivor, status, do_not_contact, tags, note, first_seen_at, contacted_at,
              last_contacted_at, run_ids, created_at from seen_entries where profile_id = :newer
       on conflict (tenant_id, profile_id) do update set
         do_not_contact = seen_entries.do_not_contact or excluded.do_not_contact,
         first_seen_at = least(seen_entries.first_seen_at, excluded.first_seen_at),
         contacted_at = least(seen_entries.contacted_at, excluded.contacted_at),
         last_contacted_at = greatest(seen_entries.last_contacted_at, excluded.last_contacted_at),
         run_ids = array(select distinct unnest(seen_entries.run_ids || excluded.run_ids))""",
    "delete from seen_entries where profile_id = :newer",
    """insert into list_people (workspace_id, tenant_id, list_id, profile_id, status, note, created_at, updated_at)
       select workspace_id, tenant_id, list_id, :survivor, status, note, created_at, updated_at from list_people
        where profile_id = :newer on conflict do nothing""",
    "delete from list_people where profile_id = :newer",
    """insert into cached_profiles (profile_id, source, content, fetched_at)
       select cast(:survivor as text), source, content || jsonb_build_object('id', cast(:survivor as text)), fetched_at
         from cached_profiles where profile_id = :newer on conflict do nothing""",
    """insert into profile_copies (workspace_id, tenant_id, profile_id, created_at)
       select workspace_id, tenant_id, :survivor, created_at from profile_copies where profile_id = :newer
       on conflict do nothing""",
    "delete from cached_profiles where profile_id = :newer",
    """insert into contacts (workspace_id, tenant_id, profile_id, kind, sealed, found_at)
       select workspace_id, tenant_id, :survivor, kind, sealed, found_at from contacts where profile_id = :newer
       on conflict do nothing""",
    "delete from contacts where profile_id = :newer",
)


async def merge_people(session: AsyncSession, *, survivor: str, newer: str) -> None:
    """Make two locked ids one person: everything known of the newer id goes to the older.

    If one of them is erased, so is the other.
    """
    async with widened(session, all_tenants("two ids turn out to be one person in all accounts")):
        for statement in MERGE:
            await session.execute(text(statement), {"survivor": survivor, "newer": newer})
        await outreach().take_over(session, survivor=survivor, newer=newer)
        await suppressions.erase_again(session, survivor)


SOURCE_IDS = text(
    """
    select profile_id, array_agg(value order by value) from person_keys
     where kind = 'source' and source = :source and value is not null
       and profile_id = any(cast(:ids as text[])) group by profile_id
    """
)


async def source_ids(session: AsyncSession, source: str, profile_ids: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the source's ids of each person; people whom the source never named are missing."""
    rows = await session.execute(SOURCE_IDS, {"source": source, "ids": list(profile_ids)})
    return {profile_id: tuple(values) for profile_id, values in rows}


@dataclass(frozen=True, slots=True)
class KnownPerson:
    """What a tenant and one of its runs know of a person. `profile_id` is the person's current id."""

    profile_id: str
    suppressed: bool
    seen: bool
    paid: bool
    cached: bool
    delivered: bool


KNOWN = text(
    """
    with asked as materialized (
      select id, coalesce(alias_of, id) as person from people where id = any(cast(:ids as text[]))
    )
    select a.id, a.person,
           exists (select 1 from person_keys k join suppressions s on s.key_hash = k.hash
                    where k.profile_id = a.person
                      and (s.workspace_id is null or (s.workspace_id = :workspace
                           and (s.customer_id is null or s.customer_id = cast(:customer as text))))) as suppressed,
           exists (select 1 from seen_entries e where e.tenant_id = :tenant and e.profile_id = a.person
                      and (e.first_seen_at is not null or e.contacted_at is not null or e.do_not_contact)
                   offset 0) as seen,
           exists (select 1 from leads l
                    where l.workspace_id = :workspace and l.profile_id = a.person offset 0) as paid,
           exists (select 1 from cached_profiles c
                    where c.profile_id = a.person and c.fetched_at > service_now() - cast(:life as interval)) as cached,
           exists (select 1 from candidates d where d.run_id = :run and d.profile_id = a.person) as delivered
      from asked a
    """
)
"""Materialised and looked up one by one (`offset 0`): otherwise row security keeps the planner from the indexes."""


async def known_people(
    session: AsyncSession, tenant: Tenant, profile_ids: Collection[str], *, run_id: str
) -> dict[str, KnownPerson]:
    """Return what is known of each person, by the id given; unknown ids are missing."""
    rows = await session.execute(
        KNOWN,
        {
            "ids": list(profile_ids),
            "workspace": tenant.workspace_id,
            "customer": tenant.customer_id,
            "tenant": tenant.id,
            "run": run_id,
            "life": CACHE_LIFE,
        },
    )
    return {row.id: KnownPerson(*row[1:]) for row in rows}


MARK_SEEN = text(
    """
    insert into seen_entries as e (workspace_id, tenant_id, profile_id, status, do_not_contact, tags, first_seen_at,
                                   run_ids, created_at)
    select :workspace, :tenant, id, 'seen', false, '{}', :now, array[cast(:run as text)], :now
      from unnest(cast(:ids as text[])) as id order by id
    on conflict (tenant_id, profile_id) do update set
      first_seen_at = coalesce(e.first_seen_at, excluded.first_seen_at),
      run_ids = case when :run = any(e.run_ids) then e.run_ids else e.run_ids || cast(:run as text) end
    """
)


async def mark_seen(session: AsyncSession, tenant: Tenant, profile_ids: Collection[str], *, run_id: str) -> None:
    """Add these people to the tenant's seen register."""
    now = await service_time(session)
    await session.execute(
        MARK_SEEN,
        {
            "workspace": tenant.workspace_id,
            "tenant": tenant.id,
            "ids": sorted(profile_ids),
            "run": run_id,
            "now": now,
        },
    )


async def cached_profiles(session: AsyncSession, profile_ids: Collection[str]) -> dict[str, Profile]:
    """Return the full profiles of these people that were fetched within `CACHE_LIFE`."""
    now = await service_time(session)
    rows = await session.scalars(
        select(CachedProfile).where(
            col(CachedProfile.profile_id).in_(list(profile_ids)), col(CachedProfile.fetched_at) > now - CACHE_LIFE
        )
    )
    return {row.profile_id: Profile.model_validate(row.content) for row in rows}


async def store_profiles(session: AsyncSession, profiles: Mapping[str, Profile]) -> None:
    """Put full profiles into the cache; the newest copy of each stays."""
    if not profiles:
        return
    statement = insert(CachedProfile)
    rows: list[dict[str, Any]] = [
        {
            "profile_id": profile_id,
            "source": profile.source,
            "content": profile.model_dump(mode="json"),
            "fetched_at": profile.fetched_at,
        }
        for profile_id, profile in sorted(profiles.items())
    ]
    await session.execute(
        statement.on_conflict_do_update(
            index_elements=["profile_id"],
            set_={name: statement.excluded[name] for name in ("source", "content", "fetched_at")},
            where=statement.excluded.fetched_at >= col(CachedProfile.fetched_at),
        ),
        rows,
    )


IDS_OF_PERSON = text("select id from people where id = :id or alias_of = :id")


async def ids_of_person(session: AsyncSession, profile_id: str) -> Sequence[str]:
    """Return every id of the person with this current id."""
    return list(await session.scalars(IDS_OF_PERSON, {"id": profile_id}))
