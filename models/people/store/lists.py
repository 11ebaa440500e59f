"""Lists of people: the lists, their entries, and the facts of a person that the tenant may see."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import delete, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.database import service_time
from models.base.errors import NotFound
from models.base.ids import new_id
from models.base.paging import Page, Slice, fetch, newest_first
from models.base.tenants import Tenant
from models.people.rules.profiles import Profile
from models.people.rules.registers import SeenStatus
from models.people.store import suppressions
from models.people.store.people import CACHE_LIFE
from models.people.tables import ListPerson, PeopleList


async def create_people_list(
    session: AsyncSession, tenant: Tenant, *, name: str, description: str | None
) -> PeopleList:
    """Add an empty list."""
    now = await service_time(session)
    made = PeopleList(
        id=new_id("lst", now),
        workspace_id=tenant.workspace_id,
        tenant_id=tenant.id,
        name=name,
        description=description,
        created_at=now,
        updated_at=now,
    )
    session.add(made)
    await session.flush()
    return made


async def load_people_list(session: AsyncSession, tenant: Tenant, list_id: str, *, keep: bool = False) -> PeopleList:
    """Return the tenant's list; `keep` locks it against deletion until the transaction ends. Raises `NotFound`."""
    query = select(PeopleList).where(col(PeopleList.id) == list_id, col(PeopleList.tenant_id) == tenant.id)
    held = query.with_for_update(read=True, key_share=True) if keep else query
    found = (await session.scalars(held)).one_or_none()
    if found is None:
        raise NotFound("There is no such list.")
    return found


async def page_of_people_lists(session: AsyncSession, tenant: Tenant, page: Page) -> Slice[PeopleList]:
    """Return the tenant's lists, newest first."""
    created_at = col(PeopleList.created_at)
    query = select(PeopleList).where(col(PeopleList.tenant_id) == tenant.id)
    return await fetch(session, query, page, order=newest_first(created_at, col(PeopleList.id)), created_at=created_at)


async def delete_people_list(session: AsyncSession, tenant: Tenant, list_id: str) -> None:
    """Delete the list with its entries. Raises `NotFound`."""
    gone = await session.execute(
        delete(PeopleList)
        .where(col(PeopleList.id) == list_id, col(PeopleList.tenant_id) == tenant.id)
        .returning(col(PeopleList.id))
    )
    if gone.scalar_one_or_none() is None:
        raise NotFound("There is no such list.")


ADD = text(
    """
    insert into list_people (workspace_id, tenant_id, list_id, profile_id, status, note, created_at, updated_at)
    select :workspace, :tenant, :list, id, cast(:status as text), cast(:note as text), :now, :now
      from unnest(cast(:ids as text[])) as id order by id
    on conflict do nothing
    """
)


async def add_to_list(
    session: AsyncSession,
    owner: PeopleList,
    profile_ids: Collection[str],
    *,
    status: SeenStatus | None,
    note: str | None,
) -> int:
    """Put locked people into the list; entries that exist stay unchanged. Return how many are new."""
    done = await session.execute(
        ADD,
        {
            "workspace": owner.workspace_id,
            "tenant": owner.tenant_id,
            "list": owner.id,
            "ids": list(profile_ids),
            "status": status,
            "note": note,
            "now": await service_time(session),
        },
    )
    return int(done.rowcount)  # type: ignore[attr-defined] # an insert's result has it


async def page_of_list_people(session: AsyncSession, tenant: Tenant, list_id: str, page: Page) -> Slice[ListPerson]:
    """Return the list's entries, newest first, without suppressed people. The caller has checked whose list it is."""
    profile_id, created_at = col(ListPerson.profile_id), col(ListPerson.created_at)
    query = select(ListPerson).where(
        col(ListPerson.list_id) == list_id, ~suppressions.is_suppressed_for(tenant, profile_id)
    )
    return await fetch(session, query, page, order=newest_first(created_at, profile_id), created_at=created_at)


async def lock_list_entry(session: AsyncSession, list_id: str, profile_id: str) -> ListPerson:
    """Lock one entry and return it. Raises `NotFound`."""
    query = select(ListPerson).where(col(ListPerson.list_id) == list_id, col(ListPerson.profile_id) == profile_id)
    found = (await session.scalars(query.with_for_update())).one_or_none()
    if found is None:
        raise NotFound("This person is not in the list.")
    return found


async def count_list_people(session: AsyncSession, tenant: Tenant, list_ids: Collection[str]) -> Mapping[str, int]:
    """Return how many people `page_of_list_people` shows of each list; empty lists are missing."""
    rows = await session.execute(COUNT, {"ids": list(list_ids)} | suppressions.suppression_parameters(tenant))
    return {list_id: number for list_id, number in rows}  # noqa: C416 - rows are not pairs


COUNT = text(
    f"""
    with hidden as (select k.profile_id from suppressions s join person_keys k on k.hash = s.key_hash
                     where {suppressions.BINDS})
    select l.list_id, count(*) from list_people l
     where l.list_id = any(cast(:ids as text[]))
       and not exists (select 1 from hidden h where h.profile_id = l.profile_id)
     group by l.list_id
    """  # noqa: S608 - a constant of this module
)


@dataclass(frozen=True, slots=True)
class PersonFacts:
    """What a tenant may see of a person: the newest profile it has a right to, and the results of its own runs."""

    profile: Profile | None
    profile_url: str | None
    tier: int | None
    distance_km: float | None


FACTS = text(
    """
    select asked.id, coalesce(cached.content, delivered.content), url.value, delivered.tier, delivered.distance_km
      from unnest(cast(:ids as text[])) as asked(id)
      left join lateral (
        select c.content from cached_profiles c join profile_copies o on o.profile_id = c.profile_id
         where c.profile_id = asked.id and o.tenant_id = :tenant
           and c.fetched_at > service_now() - cast(:life as interval)) as cached on true
      left join lateral (
        select d.content, d.tier, d.distance_km from candidates d
         where d.tenant_id = :tenant
           and d.profile_id in (select p.id from people p where p.id = asked.id or p.alias_of = asked.id)
         order by d.created_at desc, d.id desc limit 1) as delivered on true
      left join lateral (
        select k.value from person_keys k where k.profile_id = asked.id and k.kind = 'url' and k.value is not null
         order by k.hash limit 1) as url on true
    """
)


async def facts_of_people(
    session: AsyncSession, tenant: Tenant, profile_ids: Collection[str]
) -> dict[str, PersonFacts]:
    """Return what the tenant may see of each person, without a charge."""
    rows = await session.execute(FACTS, {"ids": list(profile_ids), "tenant": tenant.id, "life": CACHE_LIFE})
    return {
        profile_id: PersonFacts(None if content is None else Profile.model_validate(content), url, tier, distance_km)
        for profile_id, content, url, tier, distance_km in rows
    }
