"""Holding: a text that waits for somebody's approval is fixed, and is held anew when its person's data has changed."""

from sqlalchemy.ext.asyncio import AsyncSession

from models.rules.events import EventType
from models.rules.outreach.sequences import Step
from models.rules.outreach.states import ActionOutcome, ActionReason
from models.stores.outreach.planning import unplan
from models.stores.outreach.scenes import Scene
from models.stores.outreach.telling import tell
from models.stores.outreach.texts import Writer, known, render, values_hash
from models.tables import Action


async def hold(session: AsyncSession, scene: Scene, action: Action) -> None:
    """Hold an action whose text is rendered until somebody approves or rejects it. It reserves nothing."""
    action.outcome = ActionOutcome.AWAITING_APPROVAL.value
    action.text_fixed, action.approved_at = True, None
    action.values_hash = values_hash(await known(session, scene))
    unplan(action)
    tell(session, EventType.ACTION_AWAITING_APPROVAL, action, scene.now)


async def hold_again(
    session: AsyncSession, writer: Writer, scene: Scene, action: Action, step: Step
) -> ActionReason | None:
    """Render a held or approved text anew if the person's data has changed since; what was approved is held again.

    A text that a call was already made with stays as it is. The answer is why the step is passed over, null when it is
    not.
    """
    if action.values_hash is None or action.attempts > 0:
        return None
    if action.values_hash == values_hash(await known(session, scene)):
        return None
    rendered = await render(session, writer, scene, step)
    if rendered.problem is not None:
        return rendered.problem
    changed = action.text != rendered.text
    action.text = rendered.text
    if changed:
        await hold(session, scene, action)
    action.values_hash = values_hash(await known(session, scene))
    return None
