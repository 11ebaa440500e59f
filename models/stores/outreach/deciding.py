"""What an enrollment or a direct send needs next: read from its rows and the rules, under the locks of its scene.

Asked again it answers the same. Nothing here calls the network, and a claim asks the same question once more before it
takes the action.
"""

from sqlalchemy.ext.asyncio import AsyncSession

from models.rules.outreach.states import FINAL_ENROLLMENTS, ActionOutcome, EnrollmentStatus
from models.stores.outreach import endings, obstacles, scenes, stepping, underway
from models.stores.outreach.answers import Decision, Need, complete
from models.stores.outreach.obstacles import Ended, Hold
from models.stores.outreach.planning import unplan
from models.stores.outreach.scenes import Scene
from models.stores.outreach.texts import Writer
from models.stores.outreach.timing import timed

UNCLAIMED = frozenset({ActionOutcome.SCHEDULED, ActionOutcome.AWAITING_APPROVAL})
CALLS = frozenset({Need.SEND, Need.READ})


async def decide(session: AsyncSession, writer: Writer, subject_id: str) -> Decision:
    """Say what an enrollment or direct send needs next; answers every ring up to now and sets `wake_at`."""
    scene = await scenes.of_subject(session, subject_id)
    if scene is None:
        return Decision(Need.NOTHING, reason="is gone")
    return await decide_in(session, writer, scene)


async def decide_in(session: AsyncSession, writer: Writer, scene: Scene) -> Decision:
    """The same for a scene that is locked."""
    row = scene.waiting
    row.answered = row.rings
    decision = await _decide(session, writer, scene)
    return settle(scene, decision)


def settle(scene: Scene, decision: Decision) -> Decision:
    """Write what the decision means for the waiting row."""
    # A call is due until it has begun: whoever died before that is replaced.
    scene.waiting.wake_at = scene.now if decision.need in CALLS else decision.until
    if scene.enrollment is not None:
        planned = scene.action if scene.action and scene.action.outcome == ActionOutcome.SCHEDULED else None
        scene.enrollment.next_action_at = planned.scheduled_at if planned else None
    return complete(scene, decision)


async def _decide(session: AsyncSession, writer: Writer, scene: Scene) -> Decision:
    action, enrollment = scene.action, scene.enrollment
    if action is not None and ActionOutcome(action.outcome) not in UNCLAIMED:
        return underway.decide(scene, action)
    if action is None and enrollment is None:
        return Decision(Need.NOTHING)
    if enrollment is not None and EnrollmentStatus(enrollment.status) in FINAL_ENROLLMENTS:
        if action is not None:  # nothing that is planned outlives its enrollment
            endings.end_action(session, scene, action, ActionOutcome.CANCELLED)
        return Decision(Need.NOTHING)
    obstacle = await obstacles.of(session, scene)
    if obstacle is not None:
        return await _stopped(session, scene, obstacle)
    if enrollment is None:
        return await timed(session, scene, scene.actions[0])
    return await stepping.advance(session, writer, scene, enrollment)


async def _stopped(session: AsyncSession, scene: Scene, obstacle: Ended | Hold) -> Decision:
    if isinstance(obstacle, Hold):
        return _held(scene, obstacle)
    await endings.end(session, scene, obstacle)
    return Decision(Need.NOTHING)


def _held(scene: Scene, hold: Hold) -> Decision:
    action, enrollment = scene.action, scene.enrollment
    if action is not None and action.outcome == ActionOutcome.SCHEDULED:
        unplan(action)
    if enrollment is not None and hold.pauses is not None:
        enrollment.status, enrollment.reason = EnrollmentStatus.PAUSED.value, hold.pauses.value
    if hold.look_again is None:
        return Decision(Need.RING, reason=hold.reason)
    return Decision(Need.TIME, reason=hold.reason, until=scene.now + hold.look_again)
