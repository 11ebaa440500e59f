"""Identity: one person, one id, however often and by whomever they are sighted."""

import asyncio
from collections.abc import Sequence

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database, service_time
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.tenants import Tenant
from models.billing.store import credits
from models.people.store import people
from models.people.store.people import KnownPerson, Sighting
from models.people.tables import Suppression
from tests.models.conftest import Member

SOURCE = "people_data_labs"


def sighting(source_id: str, slug: str | None = None) -> Sighting:
    return Sighting(SOURCE, source_id, None if slug is None else f"https://www.linkedin.com/in/{slug}")


async def identify(database: Database, vault: Vault, sightings: Sequence[Sighting]) -> dict[str, str]:
    return await database.run(lambda session: people.identify(session, vault, sightings, workspace_id=None))


async def test_a_person_keeps_one_id_when_sighted_again(database: Database, vault: Vault) -> None:
    first = await identify(database, vault, [sighting("a", "ann"), sighting("b", "bob")])
    again = await identify(database, vault, [sighting("b", "bob"), sighting("a", "ann")])
    assert first == again
    assert len(set(first.values())) == 2


async def test_twenty_at_once_agree_on_the_ids(database: Database, vault: Vault) -> None:
    sightings = [sighting(f"s{n}", f"slug-{n}") for n in range(10)]
    found = await asyncio.gather(
        *(identify(database, vault, sightings if n % 2 else list(reversed(sightings))) for n in range(20))
    )
    assert all(one == found[0] for one in found)
    assert len(set(found[0].values())) == 10


async def test_spellings_of_one_profile_url_are_one_person(database: Database, vault: Vault) -> None:
    one = await identify(database, vault, [sighting("a", "jörg")])
    other = await identify(database, vault, [Sighting(SOURCE, "b", "HTTP://de.linkedin.com/in/J%C3%96RG/?trk=x")])
    assert one["a"] == other["b"]


async def test_two_ids_found_to_be_one_person_become_the_older_with_the_union_of_what_is_known(
    database: Database, vault: Vault, member: Member
) -> None:
    older = (await identify(database, vault, [sighting("a")]))["a"]
    newer = (await identify(database, vault, [sighting("b", "ann")]))["b"]
    assert older < newer

    async def know(session: AsyncSession) -> None:
        await people.mark_seen(session, member.tenant, [newer], run_id="run_1")
        await credits.take_leads(session, member.tenant.workspace_id, [newer])
        await session.execute(text("update seen_entries set do_not_contact = true"))
        await people.mark_seen(session, member.tenant, [older], run_id="run_2")

    await database.run(know)
    joined = await identify(database, vault, [sighting("a", "ann")])
    assert joined == {"a": older}
    async with database.transaction() as session:
        known = await people.known_people(session, member.tenant, [older, newer], run_id="run_3")
        assert (
            known[older]
            == known[newer]
            == KnownPerson(older, suppressed=False, seen=True, paid=True, cached=False, delivered=False)
        )
        flagged = await session.scalar(
            text("select do_not_contact from seen_entries where profile_id = :id"), {"id": older}
        )
        assert flagged is True


async def suppress(session: AsyncSession, vault: Vault, workspace: str | None, customer: str | None) -> None:
    now = await service_time(session)
    session.add(
        Suppression(
            id=new_id("sup", now),
            workspace_id=workspace,
            customer_id=customer,
            key_hash=people.url_hash(vault, "https://www.linkedin.com/in/ann"),
            reason="manual",
            created_at=now,
        )
    )
    await session.flush()


async def is_suppressed(session: AsyncSession, tenant: Tenant, profile_id: str) -> bool:
    return (await people.known_people(session, tenant, [profile_id], run_id="run_1"))[profile_id].suppressed


async def test_a_suppression_binds_whom_it_was_made_for(database: Database, vault: Vault, member: Member) -> None:
    ann = (await identify(database, vault, [sighting("a", "ann")]))["a"]
    account = member.tenant
    customer = Tenant(account.workspace_id, "cus_1")
    stranger = Tenant("ws_other")
    for made_at, bound in [
        ((None, None), {account, customer, stranger}),
        ((account.workspace_id, None), {account, customer}),
        ((account.workspace_id, "cus_1"), {customer}),
    ]:
        async with database.transaction() as session:
            await session.execute(text("delete from suppressions"))
            await suppress(session, vault, *made_at)
        async with database.transaction() as session:
            found = {one for one in (account, customer, stranger) if await is_suppressed(session, one, ann)}
        assert found == bound


async def test_a_suppression_by_url_holds_for_a_person_first_sighted_later(
    database: Database, vault: Vault, member: Member
) -> None:
    await database.run(lambda session: suppress(session, vault, member.tenant.workspace_id, None))
    ann = (await identify(database, vault, [sighting("a", "ANN")]))["a"]
    async with database.transaction() as session:
        assert await is_suppressed(session, member.tenant, ann)
