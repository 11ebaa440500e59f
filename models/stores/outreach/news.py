"""News: what a person's reply, the owner's own message or an acceptance means for the enrollment they are in.

The words themselves are not handled here: the account is rung to read its chats, which stores them and tells of them.
"""

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from models.rules.outreach.states import ActionOutcome, ActionReason, EnrollmentReason, EnrollmentStatus
from models.stores import doorbells
from models.stores.outreach import accounts, endings
from models.stores.outreach.scenes import Scene
from models.tables import Action


async def heard(
    session: AsyncSession, scene: Scene, action: Action | None, *, by_person: bool, at: datetime | None
) -> None:
    """The chat with the scene's person has news since the enrollment began (or the send was asked for).

    The claimed `action`, which was not executed, is cancelled; so is what is planned.
    """
    reason = ActionReason.REPLIED if by_person else ActionReason.OWNER_WROTE
    if action is not None:
        endings.end_action(session, scene, action, _passed_over(scene), reason)
    if by_person:
        await replied(session, scene, at or scene.now)
    else:
        owner_wrote(scene, at or scene.now)
    scene.account.next_chats_poll_at = scene.now
    await session.flush()
    await doorbells.ring(session, accounts.subject(scene.account.id))


def _passed_over(scene: Scene) -> ActionOutcome:
    return ActionOutcome.CANCELLED if scene.enrollment is not None else ActionOutcome.REFUSED


async def replied(session: AsyncSession, scene: Scene, at: datetime) -> None:
    """The person wrote: the enrollment has reached its end. A reply implies that the invite was accepted."""
    enrollment = scene.enrollment
    if enrollment is None:
        return
    enrollment.replied_at = enrollment.replied_at or at
    enrollment.accepted_at = enrollment.accepted_at or at
    await endings.end_enrollment(session, scene, EnrollmentStatus.REPLIED, None, cancelled=ActionReason.REPLIED)


def owner_wrote(scene: Scene, at: datetime) -> None:
    """The owner wrote by hand, last at that time, which is no reply: the enrollment holds until somebody resumes it.

    Once resumed it goes on whatever the owner wrote until then.
    """
    enrollment = scene.enrollment
    if enrollment is None or enrollment.finished_at is not None:
        return
    if enrollment.owner_heard_until is not None and at <= enrollment.owner_heard_until:
        return
    enrollment.owner_heard_until = at
    enrollment.status, enrollment.reason = EnrollmentStatus.PAUSED.value, EnrollmentReason.OWNER_WROTE.value
