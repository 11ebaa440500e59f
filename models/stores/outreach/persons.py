"""Persons as messages address them: name and company as the tenant may know them, and their opt-out sentence."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.rules.outreach.rendering import Person
from models.rules.outreach.seeds import action_seed
from models.secrets import Vault
from models.stores import opt_outs
from models.stores.people import CACHE_LIFE
from models.tenancy import Tenant

NOTICE = "Rather not hear from me? {link}"
NAMES = ("first_name", "full_name", "company")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a tenant may know of a person for writing. `key` is what seeds name the person by."""

    person: Person
    profile_url: str | None
    key: str


FACTS = text(
    """
    select asked.id, c.content ->> 'first_name' as first_name, c.content ->> 'full_name' as full_name,
           c.content -> 'current' ->> 'company' as company,
           coalesce(url.value, c.content ->> 'profile_url') as profile_url,
           coalesce(encode(url.hash, 'hex'), asked.id) as key
      from unnest(cast(:ids as text[])) as asked(id)
      left join lateral (
        select coalesce(
          (select c.content from cached_profiles c join profile_copies o on o.profile_id = c.profile_id
            where c.profile_id = asked.id and o.tenant_id = :tenant
              and c.fetched_at > service_now() - cast(:life as interval)),
          (select d.content from candidates d
            where d.tenant_id = :tenant
              and d.profile_id in (select p.id from people p where p.id = asked.id or p.alias_of = asked.id)
            order by d.created_at desc, d.id desc limit 1)) as content) as c on true
      left join lateral (
        select k.value, k.hash from person_keys k where k.profile_id = asked.id and k.kind = 'url'
         order by k.value is null, k.hash limit 1) as url on true
    """
)


async def facts(session: AsyncSession, tenant: Tenant, profile_ids: Collection[str]) -> dict[str, Facts]:
    """What the tenant may know of each person, by the id that stands for them; one statement, whatever their number."""
    rows = await session.execute(FACTS, {"ids": list(profile_ids), "tenant": tenant.id, "life": CACHE_LIFE})
    return {row.id: Facts(Person(row.first_name, row.full_name, row.company), row.profile_url, row.key) for row in rows}


def completed(person: Person, given: Mapping[str, str]) -> Person:
    """The person with what the caller said in front: a full name given alone also says what to call them."""
    named = "first_name" in given or "full_name" in given
    return Person(
        first_name=given.get("first_name") if named else person.first_name,
        full_name=given.get("full_name") if named else person.full_name,
        company=given.get("company") or person.company,
    )


async def known(session: AsyncSession, tenant: Tenant, profile_id: str, given: Mapping[str, str]) -> Person:
    """One person as a message of this tenant addresses them. `profile_id` is the id that stands for them."""
    found = await facts(session, tenant, [profile_id])
    return completed(found[profile_id].person, given)


def notice(vault: Vault, public_url: str, profile_id: str) -> str:
    """What `{{privacy_notice}}` becomes: a sentence with the link to the person's own page, always of one length."""
    return NOTICE.format(link=f"{public_url.rstrip('/')}/o/{opt_outs.token(vault, profile_id)}")


SEED = text(
    """
    select coalesce((select encode(k.hash, 'hex') from person_keys k where k.profile_id = :id and k.kind = 'url'
                      order by k.value is null, k.hash limit 1), :id) as key,
           (select count(*) from actions x where x.profile_id = :id and x.account_id = :account) as earlier
    """
)


async def seed_of(session: AsyncSession, account_id: str, profile_id: str, step: str) -> str:
    """The seed of a new action: `step` is the step's id, or the type of a direct send."""
    row = (await session.execute(SEED, {"id": profile_id, "account": account_id})).one()
    return action_seed(account_id, row.key, step, row.earlier)
