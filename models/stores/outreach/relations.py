"""Relations: an invite was accepted, or its person wrote, and what that means for whoever waits for it."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.rules.events import EventType, InviteAccepted
from models.rules.subjects import Subject
from models.stores import doorbells, events, people
from models.stores.outreach import accounts, claims, facts, news, scenes
from models.stores.outreach.facts import Learned
from models.stores.outreach.scenes import Scene
from models.tables import Enrollment, NetworkPerson

PENDING = text(
    "select network_id from network_people where account_id = :account and relation = 'pending'"
    " and network_id is not null order by network_id"
)


async def pending(session: AsyncSession, account_id: str) -> list[str]:
    """The network's ids of people whose invite from the account is pending, as far as is known."""
    return list(await session.scalars(PENDING, {"account": account_id}))


async def known(session: AsyncSession, account_id: str, network_id: str) -> str | None:
    """Our id of somebody whom the account has to do with; null for anybody else, of whom nothing is kept."""
    query = select(col(NetworkPerson.profile_id)).where(
        col(NetworkPerson.account_id) == account_id, col(NetworkPerson.network_id) == network_id
    )
    found: str | None = await session.scalar(query.order_by(col(NetworkPerson.profile_id)).limit(1))
    return found


async def learn(session: AsyncSession, account_id: str, profile_id: str, learned: Learned) -> None:
    """Take over how account and person stand now; an acceptance is told once, and whoever waits for it is rung."""
    scene = await _scene(session, account_id, profile_id)
    if scene is None:
        await _learn_alone(session, account_id, profile_id, learned)
        return
    accepted = _accepts(scene.person, learned)
    facts.note(session, scene, learned)
    if scene.enrollment is not None:
        await session.flush()
        await doorbells.ring(session, Subject("enrollment", scene.enrollment.id))
        if accepted:
            _tell(session, scene, profile_id)


def _accepts(before: NetworkPerson | None, learned: Learned) -> bool:
    invited = before is not None and before.invited_at is not None and before.relation != "connected"
    return bool(learned.connected) and invited


def _tell(session: AsyncSession, scene: Scene, profile_id: str) -> None:
    enrollment_id = scene.enrollment.id if scene.enrollment is not None else None
    data = InviteAccepted(enrollment_id=enrollment_id, account_id=scene.account.id, profile_id=profile_id)
    events.emit(session, scene.tenant, EventType.INVITE_ACCEPTED, data, now=scene.now)


async def _learn_alone(session: AsyncSession, account_id: str, profile_id: str, learned: Learned) -> None:
    """The same for somebody in no sequence: only direct sends went to them."""
    held = await accounts.locked(session, account_id)
    standing = (await people.hold(session, [profile_id])).get(profile_id)
    person = await session.get(NetworkPerson, (account_id, profile_id), populate_existing=True)
    if person is None:
        return
    scene = Scene(held, None, None, [], person, standing, held.now)
    accepted = _accepts(person, learned)
    facts.note(session, scene, learned)
    if accepted:
        _tell(session, scene, profile_id)


async def _scene(session: AsyncSession, account_id: str, profile_id: str) -> Scene | None:
    """The scene of the person's newest enrollment from this account."""
    query = select(col(Enrollment.id)).where(
        col(Enrollment.account_id) == account_id, col(Enrollment.profile_id) == profile_id
    )
    enrollment_id: str | None = await session.scalar(query.order_by(col(Enrollment.created_at).desc()).limit(1))
    return None if enrollment_id is None else await scenes.of_enrollment(session, enrollment_id)


@dataclass(frozen=True, slots=True)
class Ear:
    """What counts as news in the chat with somebody: as in `claims.Parcel`."""

    enrollment_id: str
    news_since: datetime
    owner_since: datetime | None
    ours: frozenset[str]


async def ear(session: AsyncSession, account_id: str, profile_id: str) -> Ear | None:
    """What to listen for in the chat with somebody; null when no open enrollment waits for anything."""
    scene = await _scene(session, account_id, profile_id)
    if scene is None or scene.enrollment is None or scene.enrollment.finished_at is not None:
        return None
    row = scene.enrollment
    ours = await claims.ours(session, scene, None)
    return Ear(row.id, row.created_at, row.owner_heard_until, ours)


async def heard(session: AsyncSession, enrollment_id: str, *, by_person: bool, at: datetime | None) -> None:
    """The chat of an enrollment has news: it is finished, or holds, and what is planned is cancelled with it."""
    scene = await scenes.of_enrollment(session, enrollment_id)
    if scene is None or scene.enrollment is None:
        return
    if by_person:
        await news.replied(session, scene, at or scene.now)
    else:
        news.owner_wrote(scene, at or scene.now)
    await session.flush()
    await doorbells.ring(session, Subject("enrollment", enrollment_id))
