"""Enrolling in a database: many people at once, decided on and enrolled at one chosen time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database
from models.outreach.engine import enroll
from models.outreach.engine.enroll import EnrolledPerson, Enrolling, EnrollingDecision, Given, Sources
from models.outreach.store import accounts, calendars, sequences
from models.outreach.store.accounts import LockedAccount
from models.outreach.tables import Enrollment
from models.people.store import people
from models.people.store.people import Sighting
from tests.models.outreach.sending_world import World


@dataclass(frozen=True, slots=True)
class Promise:
    """The decision about one person."""

    profile_id: str | None
    reason: str | None
    at: datetime | None
    next_available_at: datetime | None


def promises(decided: Sequence[EnrollingDecision]) -> list[Promise]:
    return [
        Promise(one.prospect.profile_id, one.reason, one.slot.at if one.slot else None, one.next_available_at)
        for one in decided
    ]


async def crowd(world: World, count: int) -> list[Given]:
    """Return known people, with first names given by the caller."""
    batch = uuid4().hex
    named = [f"crowd-{batch}-{number}" for number in range(count)]
    sightings = [Sighting("people_data_labs", one, f"https://www.linkedin.com/in/{one}") for one in named]
    workspace_id = world.member.tenant.workspace_id
    found = await world.run(lambda s: people.identify(s, world.vault, sightings, workspace_id=workspace_id))
    return [Given(profile_id=found[one], values={"first_name": "Jo"}) for one in named]


async def decide(
    session: AsyncSession, world: World, held: LockedAccount, named: Sequence[EnrolledPerson]
) -> tuple[Enrolling, list[EnrollingDecision]]:
    sequence = await sequences.load_sequence(session, world.member.tenant, world.sequence_id)
    found = await enroll.read_prospects(session, world.vault, held, named)
    into = enroll.into(sequence, held.account, world.writer, await calendars.load_calendar(session, held))
    return into, enroll.decide_enrolling(into, found)


async def preview(world: World, given: Sequence[Given], now: datetime) -> list[Promise]:
    """Return the preview of enrolling at that time; takes no lock."""

    async def work(session: AsyncSession) -> list[Promise]:
        tenant = world.member.tenant
        account = await accounts.load_account(session, tenant, world.account_id)
        held = LockedAccount(account, await accounts.read_settings(session, tenant), now)
        named = await enroll.gather(session, world.vault, tenant, Sources(given=given))
        _, decided = await decide(session, world, held, named)
        return promises(decided)

    return await world.run(work)


async def enter(
    session: AsyncSession, world: World, given: Sequence[Given], now: datetime | None = None
) -> list[EnrollingDecision]:
    """Enroll within a transaction, taking the locks in order."""
    tenant = world.member.tenant
    named = await enroll.gather(session, world.vault, tenant, Sources(given=given))
    held = await accounts.lock_account(session, tenant, world.account_id)
    await sequences.keep_sequence(session, tenant, world.sequence_id)
    named = await enroll.lock_named(session, world.vault, tenant, named)
    held = LockedAccount(held.account, held.rules, now or held.now)
    into, decided = await decide(session, world, held, named)
    await enroll.enter(session, held, into, decided, api_key_id=world.member.api_key_id)
    return decided


async def execute(world: World, given: Sequence[Given], now: datetime | None = None) -> list[Promise]:
    """Enroll in a separate transaction."""
    return promises(await world.run(lambda session: enter(session, world, given, now)))


async def enrollments(world: World) -> list[Enrollment]:
    rows = await world.sql("select id from enrollments order by created_at, position")
    async with world.database.transaction() as session:
        return [await session.get_one(Enrollment, row.id) for row in rows]


class Statements:
    """Counts the statements that a database runs."""

    def __init__(self, database: Database) -> None:
        self.count = 0
        event.listen(database.engine.sync_engine, "before_cursor_execute", self._count)

    def _count(self, *_: object) -> None:
        self.count += 1
