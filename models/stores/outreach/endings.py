"""Endings: how an action and a whole enrollment come to their end from a step, with what is told of it."""

from sqlalchemy.ext.asyncio import AsyncSession

from models.rules.events import EventType
from models.rules.outreach.states import (
    FINAL_ENROLLMENTS,
    ActionOutcome,
    ActionReason,
    EnrollmentReason,
    EnrollmentStatus,
)
from models.stores.outreach import enrollments
from models.stores.outreach.obstacles import Ended
from models.stores.outreach.scenes import Scene
from models.stores.outreach.telling import tell
from models.tables import Action

TOLD = {
    ActionOutcome.SENT: EventType.ACTION_SENT,
    ActionOutcome.FAILED: EventType.ACTION_FAILED,
    ActionOutcome.REFUSED: EventType.ACTION_FAILED,
    ActionOutcome.UNKNOWN: EventType.ACTION_FAILED,
}
"""What is told of an action that ended so; nothing of skipped and cancelled ones."""


def end_action(
    session: AsyncSession, scene: Scene, action: Action, outcome: ActionOutcome, reason: str | None = None
) -> None:
    """Bring an action to its end (or, with `unknown`, to a person) and tell of it where that is due."""
    action.outcome, action.reason = outcome.value, reason
    if outcome is not ActionOutcome.UNKNOWN:
        action.ended_at = scene.now
    if outcome in TOLD:
        tell(session, TOLD[outcome], action, scene.now)


async def end(session: AsyncSession, scene: Scene, ended: Ended) -> None:
    """End what the scene is about: the enrollment with its planned action, or the direct send."""
    await end_enrollment(session, scene, ended.status, ended.reason, cancelled=ended.action_reason)


async def end_enrollment(
    session: AsyncSession,
    scene: Scene,
    status: EnrollmentStatus,
    reason: EnrollmentReason | None,
    *,
    cancelled: ActionReason | None = None,
) -> None:
    """End the enrollment, if it is open, and cancel what is planned; a direct send is refused by itself."""
    action, enrollment = scene.action, scene.enrollment
    if action is not None and action.outcome in {ActionOutcome.SCHEDULED, ActionOutcome.AWAITING_APPROVAL}:
        outcome = ActionOutcome.CANCELLED if enrollment is not None else ActionOutcome.REFUSED
        end_action(session, scene, action, outcome, cancelled)
    if enrollment is not None and EnrollmentStatus(enrollment.status) not in FINAL_ENROLLMENTS:
        await enrollments.finish(session, enrollment, status, reason, scene.now)
