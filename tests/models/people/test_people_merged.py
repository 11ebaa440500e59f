"""Two ids found to be one person: what lists and copies hold moves, and an erasure of one is an erasure of both."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database, service_time
from models.base.secrets import Vault
from models.people.rules.profiles import Profile
from models.people.store import lists, people, profiles, seen, suppressions
from models.people.store.people import Sighting
from tests.models.conftest import Member
from tests.models.sourcing.run_world import SOURCE

URL = "https://www.linkedin.com/in/ada-lovelace"


async def two_ids(database: Database, vault: Vault, member: Member) -> tuple[str, str]:
    """Ada by her source id, and later by her profile URL."""
    workspace_id = member.tenant.workspace_id
    by_id = await database.run(
        lambda s: people.identify(s, vault, [Sighting(SOURCE, "pdl-ada", None)], workspace_id=workspace_id)
    )
    by_url = await database.run(lambda s: people.people_by_url(s, vault, [URL], workspace_id=workspace_id))
    return by_id["pdl-ada"], by_url[URL]


async def join(database: Database, vault: Vault, member: Member) -> str:
    """The source names both keys."""
    ask = [Sighting(SOURCE, "pdl-ada", URL)]
    found = await database.run(lambda s: people.identify(s, vault, ask, workspace_id=member.tenant.workspace_id))
    return found["pdl-ada"]


async def note_everywhere(session: AsyncSession, member: Member, profile_id: str) -> str:
    """Have the member list, note and fetch the person; gives the list's id."""
    await people.lock_people(session, [profile_id])
    made = await lists.create_people_list(session, member.tenant, name="Mine", description=None)
    await lists.add_to_list(session, made, [profile_id], status=None, note="Ada Lovelace")
    (await seen.seen_entry(session, member.tenant, profile_id)).note = "Ada Lovelace"
    full = Profile(id=profile_id, source=SOURCE, full_name="Ada Lovelace", fetched_at=await service_time(session))
    await people.store_profiles(session, {profile_id: full})
    await profiles.give_copies(session, member.tenant, [profile_id])
    return made.id


async def test_lists_and_copies_move_to_the_older_id(database: Database, vault: Vault, member: Member) -> None:
    older, newer = await two_ids(database, vault, member)
    list_id = await database.run(lambda s: note_everywhere(s, member, newer))
    assert await join(database, vault, member) == older
    async with database.transaction() as session:
        assert (await lists.lock_list_entry(session, list_id, older)).note == "Ada Lovelace"
        for asked in (older, newer):
            read = await profiles.read_profile(session, member.tenant, asked)
            assert (read.id, read.full_name) == (older, "Ada Lovelace")


async def test_who_turns_out_to_be_an_erased_person_is_erased_too(
    database: Database, vault: Vault, member: Member
) -> None:
    older, newer = await two_ids(database, vault, member)
    await database.run(lambda s: note_everywhere(s, member, newer))

    async def erase(session: AsyncSession) -> None:
        await people.lock_people(session, [older])
        await suppressions.erase_person(session, member.tenant.workspace_id, older)

    await database.run(erase)
    assert await join(database, vault, member) == older
    async with database.transaction() as session:
        assert await suppressions.suppressed_among(session, member.tenant, [older]) == {older}
        for table in ("list_people", "seen_entries", "cached_profiles", "profile_copies"):
            assert await session.scalar(text(f"select count(*) from {table}")) == 0, table
        assert list(await session.scalars(text("select value from person_keys where value is not null"))) == []
