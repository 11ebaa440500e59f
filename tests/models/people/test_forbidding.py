"""An opt-out or erasure that commits while a chunk is being fetched or delivered wins."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database
from models.base.secrets import Vault
from models.base.steps import Decision
from models.base.tenants import Tenant
from models.people.rules.profiles import Profile
from models.people.rules.registers import SuppressionReason
from models.people.store import people, seen, suppressions
from models.people.store.people import Sighting
from models.sourcing.engine import decide
from models.sourcing.engine import deliver as engine_deliver
from models.sourcing.engine.decide import RUN_FETCH_PROFILES
from tests.interleaving import interleaving, until_blocked
from tests.models.conftest import Member
from tests.models.sourcing.run_world import SOURCE, World

Forbid = Callable[[AsyncSession, Tenant, str], Awaitable[object]]


async def by_hand(session: AsyncSession, tenant: Tenant, profile_id: str) -> None:
    await suppressions.suppress(session, tenant, profile_id, reason=SuppressionReason.MANUAL)


async def by_opt_out(session: AsyncSession, _: Tenant, profile_id: str) -> None:
    await suppressions.suppress(session, None, profile_id, reason=SuppressionReason.OPT_OUT)


async def by_erasure(session: AsyncSession, tenant: Tenant, profile_id: str) -> None:
    await suppressions.erase_person(session, tenant.workspace_id, profile_id)


WAYS = [by_hand, by_opt_out, by_erasure]


@pytest.fixture
def world(database: Database, vault: Vault, member: Member) -> World:
    return World(database, vault, member, "market", tiers=(8,))


async def at_its_chunk(world: World) -> tuple[str, Decision, list[str]]:
    """A run whose profiles are next: its id, what it needs, and its people."""
    run_id = await world.start()
    while True:
        decision = await world.database.run(lambda session: decide.decide_run(session, run_id))
        if decision.need == RUN_FETCH_PROFILES:
            return run_id, decision, list((await world.run(run_id)).chunk or ())
        await world.act(run_id, decision, None)


async def names_left(database: Database, source_id: str) -> list[str]:
    """Tables that contain a person's name."""
    found = []
    for table in ("candidates", "cached_profiles", "seen_entries", "person_keys"):
        query = text(f"select 1 from {table} t where t::text like :needle limit 1")
        async with database.transaction() as session:
            found += [table] * len((await session.execute(query, {"needle": f"%{source_id}%"})).all())
    return found


@pytest.mark.parametrize("forbid", WAYS)
async def test_who_is_forbidden_while_profiles_are_fetched_is_not_delivered(world: World, forbid: Forbid) -> None:
    run_id, decision, chunk = await at_its_chunk(world)
    number = decision.number
    ask = await world.database.run(lambda session: engine_deliver.begin_profiles(session, run_id, number))
    assert ask is not None
    fetched = await world.profiles(ask.live)
    async with world.database.transaction() as session:
        await people.lock_people(session, chunk[:1])
        await forbid(session, world.member.tenant, chunk[0])
    await world.database.run(lambda session: engine_deliver.deliver_chunk(session, run_id, number, fetched))
    assert (await world.run(run_id)).omitted_suppressed == 1
    assert len(await world.candidates(run_id)) == 7
    ledger = await world.ledger()
    assert ("lead", 7) in ledger
    assert ("live_profile", 14) in ledger


@pytest.mark.parametrize("forbid", WAYS)
async def test_who_is_forbidden_is_not_delivered_from_the_cache_either(world: World, forbid: Forbid) -> None:
    await world.drive(await world.start(mark_seen=False))
    run_id = await world.start()
    decision = await world.database.run(lambda session: decide.decide_run(session, run_id))
    assert decision.need == RUN_FETCH_PROFILES
    chunk = list((await world.run(run_id)).chunk or ())
    async with world.database.transaction() as session:
        await people.lock_people(session, chunk[:1])
        await forbid(session, world.member.tenant, chunk[0])
    await world.database.run(lambda session: engine_deliver.deliver_chunk(session, run_id, decision.number, {}))
    assert (await world.run(run_id)).omitted_suppressed == 1
    assert len(await world.candidates(run_id)) == 7


@pytest.mark.parametrize("forbid", WAYS)
async def test_a_delivery_waits_for_who_forbids_and_reads_again(world: World, forbid: Forbid) -> None:
    run_id, decision, chunk = await at_its_chunk(world)
    number = decision.number
    ask = await world.database.run(lambda session: engine_deliver.begin_profiles(session, run_id, number))
    assert ask is not None
    fetched = await world.profiles(ask.live)
    async with world.database.transaction() as session:
        await people.lock_people(session, chunk[:1])
        await forbid(session, world.member.tenant, chunk[0])
        task = asyncio.create_task(
            world.database.run(lambda inner: engine_deliver.deliver_chunk(inner, run_id, number, fetched))
        )
        await until_blocked(world.database, task)
    await task
    assert len(await world.candidates(run_id)) == 7
    async with world.database.transaction() as session:
        delivered = await session.scalars(text("select profile_id from candidates"))
        assert chunk[0] not in list(delivered)


@pytest.mark.parametrize("forbid", WAYS)
async def test_who_forbids_waits_for_a_delivery_and_takes_it_back(world: World, forbid: Forbid) -> None:
    run_id, decision, chunk = await at_its_chunk(world)
    number = decision.number
    ask = await world.database.run(lambda session: engine_deliver.begin_profiles(session, run_id, number))
    assert ask is not None
    fetched = await world.profiles(ask.live)

    async def work(session: AsyncSession) -> None:
        await people.lock_people(session, chunk[:1])
        await forbid(session, world.member.tenant, chunk[0])

    async with world.database.transaction() as session:
        await engine_deliver.deliver_chunk(session, run_id, number, fetched)
        task = asyncio.create_task(world.database.run(work))
        await until_blocked(world.database, task)
    await task
    async with world.database.transaction() as session:
        assert await suppressions.suppressed_among(session, world.member.tenant, chunk) == {chunk[0]}
    if forbid is by_erasure:
        name = fetched[chunk[0]].full_name or ""
        assert await names_left(world.database, name.removeprefix("Person ")) == []


async def test_a_sighting_waits_for_an_erasure_and_keeps_no_name(
    database: Database, vault: Vault, member: Member
) -> None:
    """The source names a second key, the profile URL, in the moment in which the person is erased."""
    workspace_id = member.tenant.workspace_id
    known = Sighting(SOURCE, "pdl-ada", None)
    (ada,) = (await database.run(lambda s: people.identify(s, vault, [known], workspace_id=workspace_id))).values()
    again = Sighting(SOURCE, "pdl-ada", "https://www.linkedin.com/in/ada-lovelace")
    async with database.transaction() as session:
        await people.lock_people(session, [ada])
        await suppressions.erase_person(session, workspace_id, ada)
        task = asyncio.create_task(
            database.run(lambda inner: people.identify(inner, vault, [again], workspace_id=workspace_id))
        )
        await until_blocked(database, task)
    assert await task == {"pdl-ada": ada}
    assert await names_left(database, "ada-lovelace") == []
    assert await names_left(database, "pdl-ada") == []


async def test_a_note_meets_an_erasure(database: Database, vault: Vault, member: Member) -> None:
    """A write about a person locks them: a later erasure finds what was written."""
    url = "https://www.linkedin.com/in/ada"
    ids = await database.run(lambda s: people.people_by_url(s, vault, [url], workspace_id=member.tenant.workspace_id))

    async def erase(session: AsyncSession) -> None:
        await people.lock_people(session, [ids[url]])
        await suppressions.erase_person(session, member.tenant.workspace_id, ids[url])

    async with database.transaction() as session:
        await people.lock_people(session, [ids[url]])
        (await seen.seen_entry(session, member.tenant, ids[url])).note = "Ada Lovelace"
        await session.flush()
        task = asyncio.create_task(database.run(erase))
        await until_blocked(database, task)
    await task
    assert await names_left(database, "Lovelace") == []


async def test_more_people_are_held_at_once_than_there_are_advisory_locks(
    database: Database, vault: Vault, member: Member
) -> None:
    urls = [f"https://www.linkedin.com/in/somebody-{n}" for n in range(20_000)]
    async with database.transaction() as session:
        found = await people.people_by_url(session, vault, urls, workspace_id=member.tenant.workspace_id)
        assert len(await people.lock_people(session, set(found.values()))) == 20_000


async def fetched_live(world: World, run_id: str, number: int) -> dict[str, Profile]:
    ask = await world.database.run(lambda session: engine_deliver.begin_profiles(session, run_id, number))
    assert ask is not None
    return await world.profiles(ask.live)


async def deliver(world: World, run_id: str, number: int, fetched: dict[str, Profile]) -> None:
    await world.database.run(lambda session: engine_deliver.deliver_chunk(session, run_id, number, fetched))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("forbid", [by_opt_out, by_erasure])
async def test_who_is_forbidden_before_any_statement_of_a_delivery_is_not_shown(
    database: Database, vault: Vault, member: Member, forbid: Forbid
) -> None:
    orders: set[bool] = set()
    with interleaving(database) as race:
        for at in range(200):
            world = World(database, vault, member, f"market-{at:03}", tiers=(3,))
            run_id, decision, chunk = await at_its_chunk(world)
            number = decision.number
            fetched = await fetched_live(world, run_id, number)

            async def forbidding(person: str = chunk[0]) -> None:
                async def work(session: AsyncSession) -> None:
                    await people.lock_people(session, [person])
                    await forbid(session, member.tenant, person)

                await database.run(work)

            paid = len(await world.candidates(run_id))
            race.start(at, forbidding)
            await deliver(world, run_id, number, fetched)
            if not await race.over():
                break
            orders.add(race.first)
            delivered = len(await world.candidates(run_id)) - paid
            assert delivered <= (2 if race.first or forbid is by_erasure else 3), f"delivered after statement {at}"
            async with database.transaction() as session:
                assert await suppressions.suppressed_among(session, member.tenant, chunk) == {chunk[0]}
            if forbid is by_erasure:
                name = fetched[chunk[0]].full_name or ""
                assert await names_left(database, name.removeprefix("Person ")) == [], f"left after statement {at}"
    assert orders == {True, False}
