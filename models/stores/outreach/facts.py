"""Facts: what an account knows of a person on the network, and new actions with what depends on earlier ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.ids import new_id
from models.rules.events import EventType, InviteAccepted
from models.rules.outreach.sequences import Step
from models.rules.outreach.states import ActionType
from models.stores import events, suppressions
from models.stores.outreach import persons
from models.stores.outreach.scenes import Scene, ids_of
from models.tables import Action, Enrollment, NetworkPerson

TOUCHES = frozenset({ActionType.INVITE, ActionType.MESSAGE})
A_MILLISECOND = timedelta(milliseconds=1)


TOUCHED = text(
    """
    select exists (
      select from actions where tenant_id = :tenant and profile_id = any(cast(:ids as text[]))
         and type in ('invite', 'message') and outcome in ('sent', 'sending', 'reconciling', 'unknown')
    )
    """
)


async def was_touched(session: AsyncSession, tenant_id: str, profile_ids: Sequence[str]) -> bool:
    """Whether the tenant invited or wrote to the person whom these ids all mean, or may have."""
    asked = {"tenant": tenant_id, "ids": list(profile_ids)}
    touched: bool = (await session.execute(TOUCHED, asked)).scalar_one()
    return touched


async def new_step_action(session: AsyncSession, scene: Scene, enrollment: Enrollment, step: Step) -> Action:
    """A new action for a step of the enrollment: planned, without a text or a time yet."""
    await session.flush()
    ids = await ids_of(session, scene.profile_id or enrollment.profile_id)
    touched = step.type in TOUCHES and await was_touched(session, enrollment.tenant_id, ids)
    action = Action(
        id=new_id("act", scene.now),
        workspace_id=enrollment.workspace_id,
        tenant_id=enrollment.tenant_id,
        type=step.type.value,
        seed=await persons.seed_of(session, scene.account.id, enrollment.profile_id, step.id or step.type),
        account_id=scene.account.id,
        profile_id=enrollment.profile_id,
        enrollment_id=enrollment.id,
        sequence_id=enrollment.sequence_id,
        step_id=step.id,
        step_index=scene.steps.index(step),
        first_touch=step.type in TOUCHES and not touched,
        starts_sequence=not any(one.claimed_at for one in scene.actions),
        created_at=_after(scene),
    )
    session.add(action)
    return action


def _after(scene: Scene) -> datetime:
    """Now, but later than every action before: their order is that of their creation."""
    return max([scene.now, *(one.created_at + A_MILLISECOND for one in scene.actions)])


@dataclass(frozen=True, slots=True)
class Learned:
    """What a look at the network said of the person; null is nothing said.

    `connected` and `pending` as the network shows them now, `invited_at` the time of the pending invite.
    """

    network_id: str | None = None
    connected: bool | None = None
    pending: bool | None = None
    invited_at: datetime | None = None
    chat_id: str | None = None


def note(session: AsyncSession, scene: Scene, learned: Learned) -> None:
    """Write down what was learned of the person."""
    known = scene.network_person(session)
    known.network_id = learned.network_id or known.network_id
    known.chat_id = learned.chat_id or known.chat_id
    if learned.connected is None:
        return
    known.read_at = scene.now
    if learned.connected:
        set_connected(session, scene, known, scene.now)
    elif learned.pending:
        known.relation = "pending"
        known.invited_at = learned.invited_at or known.invited_at or scene.now
    else:
        known.relation = "none"


def set_connected(session: AsyncSession, scene: Scene, known: NetworkPerson, at: datetime) -> None:
    """The two are connected: what waits for the acceptance goes on, and an accepted invite is told of once."""
    accepted = _accepts(known)
    known.relation = "connected"
    if accepted or known.connected_at is None:
        known.connected_at = at if known.invited_at is None else max(at, known.invited_at)
    if scene.enrollment is not None and scene.enrollment.accepted_at is None:
        scene.enrollment.accepted_at = at
    if accepted:
        enrollment_id = scene.enrollment.id if scene.enrollment is not None else None
        data = InviteAccepted(
            enrollment_id=enrollment_id, account_id=scene.account.id, profile_id=scene.profile_id or known.profile_id
        )
        events.emit(session, scene.tenant, EventType.INVITE_ACCEPTED, data, now=scene.now)


def _accepts(known: NetworkPerson) -> bool:
    """Whether being connected now means that the last invite, which nobody withdrew, was accepted, and is news."""
    invited = known.invited_at
    if invited is None or (known.withdrawn_at is not None and known.withdrawn_at >= invited):
        return False
    return known.connected_at is None or known.connected_at < invited


ERASED = text(
    f"""
    select exists (
      select from person_keys k join suppressions s on s.key_hash = k.hash
       where k.profile_id = :id and s.reason = 'erasure' and {suppressions.BINDS}
    )
    """  # noqa: S608 - a constant of the suppressions
)


async def forget_erased(session: AsyncSession, scene: Scene, action: Action) -> None:
    """Drop what a call told of somebody who was erased while it was under way; that it was made stays."""
    whom = {"id": scene.profile_id or action.profile_id}
    if not (await session.execute(ERASED, whom | suppressions.parameters(scene.tenant))).scalar_one():
        return
    action.provider_message_id = None
    person, scene.person = scene.person, None
    if person is not None:
        await session.flush()
        await session.delete(person)
