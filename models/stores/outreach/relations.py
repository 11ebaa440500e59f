"""Relations: whom an account has to do with on the network, and what a look at one of them says about the two."""

from dataclasses import dataclass

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.rules.identity import InvalidProfileUrl
from models.rules.subjects import Subject
from models.secrets import Vault
from models.stores import doorbells, people
from models.stores.outreach import accounts, facts, scenes
from models.stores.outreach.facts import Learned
from models.stores.outreach.scenes import Scene
from models.tables import Enrollment, NetworkPerson

PROFILE = "https://www.linkedin.com/in/{slug}"

PENDING = text(
    "select network_id from network_people where account_id = :account and relation = 'pending'"
    " and network_id is not null order by network_id"
)


async def pending(session: AsyncSession, account_id: str) -> list[str]:
    """The network's ids of people whose invite from the account is pending, as far as is known."""
    return list(await session.scalars(PENDING, {"account": account_id}))


@dataclass(frozen=True, slots=True)
class Met:
    """Somebody whom the account has to do with: our id, the network's where it is known, whether they are connected."""

    profile_id: str
    network_id: str | None
    connected: bool


async def met(session: AsyncSession, account_id: str, network_id: str) -> Met | None:
    """Who has this id on the network; null for anybody else, of whom nothing is read or kept."""
    of_account = select(NetworkPerson).where(col(NetworkPerson.account_id) == account_id)
    query = of_account.where(col(NetworkPerson.network_id) == network_id)
    return _met((await session.scalars(query.order_by(col(NetworkPerson.profile_id)).limit(1))).one_or_none())


BY_ADDRESS = text(
    "select n.profile_id from person_keys k join network_people n on n.profile_id = k.profile_id"
    " where k.hash = :hash and n.account_id = :account"
)


async def named(session: AsyncSession, vault: Vault, account_id: str, person: str) -> Met | None:
    """The same by an id of the network, or by what the address of a profile ends in."""
    found = await met(session, account_id, person)
    if found is not None:
        return found
    try:
        address = people.url_hash(vault, PROFILE.format(slug=person))
    except InvalidProfileUrl:
        return None
    profile_id = await session.scalar(BY_ADDRESS, {"hash": address, "account": account_id})
    return None if profile_id is None else _met(await session.get(NetworkPerson, (account_id, profile_id)))


def _met(row: NetworkPerson | None) -> Met | None:
    return None if row is None else Met(row.profile_id, row.network_id, row.relation == "connected")


async def learn(session: AsyncSession, account_id: str, profile_id: str, learned: Learned) -> None:
    """Take over how account and person stand now; an acceptance is told once, and whoever waits for it is rung."""
    scene = await scene_of(session, account_id, profile_id)
    if scene is None or scene.person is None:
        return  # erased meanwhile: nothing is known of them any more
    before = scene.person.relation
    facts.note(session, scene, learned)
    await session.flush()
    enrollment = scene.enrollment
    if enrollment is not None and enrollment.finished_at is None and scene.person.relation != before:
        await doorbells.ring(session, Subject("enrollment", enrollment.id))


async def scene_of(session: AsyncSession, account_id: str, profile_id: str) -> Scene | None:
    """Everything about the two, locked: with their newest enrollment, or alone when only direct sends went out.

    Null for ids that nobody has.
    """
    ids = await scenes.ids_of(session, profile_id)
    query = select(col(Enrollment.id)).where(
        col(Enrollment.account_id) == account_id, col(Enrollment.profile_id).in_([*ids, profile_id])
    )
    newest = query.order_by(col(Enrollment.created_at).desc(), col(Enrollment.id).desc()).limit(1)
    enrollment_id: str | None = await session.scalar(newest)
    if enrollment_id is not None:
        return await scenes.of_enrollment(session, enrollment_id)
    held = await accounts.locked(session, account_id)
    standing = (await people.hold(session, [profile_id])).get(profile_id)
    if standing is None:
        return None
    person = await session.get(NetworkPerson, (account_id, standing), populate_existing=True)
    return Scene(held, None, None, [], person, standing, held.now)
