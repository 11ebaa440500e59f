"""Timing: when a planned action goes out, asked anew each time; a time that lies in its account's pause is given up."""

from sqlalchemy.ext.asyncio import AsyncSession

from models.rules.outreach.pauses import Gate, gate
from models.rules.outreach.states import AccountStatus
from models.stores.outreach.answers import Decision, Need, goes_out
from models.stores.outreach.planning import give_slot, held_back_until
from models.stores.outreach.scenes import Scene
from models.tables import Action


async def timed(session: AsyncSession, scene: Scene, action: Action) -> Decision:
    """Say when a planned action goes out: now, at its time, or when something has changed."""
    if action.scheduled_at is None or _rests(scene, action):
        await give_slot(session, scene, action)
    if action.scheduled_at is None:
        return Decision(Need.RING, reason=goes_out(scene, action))
    if action.scheduled_at > scene.now:
        return Decision(Need.TIME, reason=goes_out(scene, action), until=action.scheduled_at)
    return to_send(action)


def _rests(scene: Scene, action: Action) -> bool:
    """Whether the action's time lies where its account does not write."""
    account, at = scene.account, action.scheduled_at
    if at is None:
        return False
    if gate(AccountStatus(account.status), account.paused_until, max(at, scene.now)) is not Gate.OPEN:
        return True
    held = held_back_until(scene, action)
    return held is not None and at < held


def to_send(action: Action) -> Decision:
    """Have the action claimed and done by one call. Every claim takes the number: no call counts behind it."""
    what = str(action.type).replace("_", " ")
    return Decision(Need.SEND, reason=f"{what}, attempt {action.attempts + 1}", number=action.call_number)
