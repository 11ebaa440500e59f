"""Planning: a time for an action in its account's calendar, and what keeps it from having one."""

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from models.rules.outreach.slots import Move, Refusal, Slot, find_slot
from models.stores.outreach import calendars
from models.stores.outreach.scenes import Scene
from models.tables import Action
from models.tables.base import Payload

WHY_KEPT = 40
"""Entries of `why` that stay: the newest."""


async def give_slot(session: AsyncSession, scene: Scene, action: Action, *, not_before: datetime | None = None) -> None:
    """Give the action the next time that every rule allows, or none while no rule knows one.

    It is looked for from `not_before` on, from the moment it fell due, and from now. The action's own reservation is
    left out, so that asking again changes nothing.
    """
    await session.flush()
    bounds = [scene.now, not_before, action.not_before, held_back_until(scene, action)]
    calendar = await calendars.load(session, scene.held, without=action.id)
    request = calendars.request_of(action, scene.sequence)
    write_slot(action, find_slot(calendar, request, max(at for at in bounds if at is not None)))


def write_slot(action: Action, found: Slot | Refusal) -> None:
    """Note what the calendar answered."""
    action.scheduled_at = found.at if isinstance(found, Slot) else None
    explain(action, *found.why)


def explain(action: Action, *moves: Move) -> None:
    """Note what moved the action's time; what was said already is not said again."""
    said = list(action.why)
    for move in moves:
        entry: Payload = dict(move.shown())
        if entry not in said:
            said.append(entry)
    action.why = said[-WHY_KEPT:]


def unplan(action: Action) -> None:
    """Take the action out of the calendar: it waits without a time and reserves nothing."""
    action.scheduled_at = None


def held_back_until(scene: Scene, action: Action) -> datetime | None:
    """Until when the provider wants no call of this kind from the account, null when it takes them."""
    written = scene.account.holds.get(action.type)
    if written is None:
        return None
    until = datetime.fromisoformat(written)
    return until if until > scene.now else None
