"""Stepping: which step an open enrollment takes next, and what becomes of the one that is planned.

The rules say what is next (`models.rules.outreach.steps`); this writes it: an action with its text and its time, held
for approval, or skipped.
"""

from sqlalchemy.ext.asyncio import AsyncSession

from models.rules.outreach.sequences import Step
from models.rules.outreach.states import ActionOutcome, ActionReason, EnrollmentReason, EnrollmentStatus
from models.rules.outreach.steps import (
    Due,
    Failed,
    Next,
    Skip,
    Wait,
    WaitReason,
    next_step,
    repeats,
)
from models.stores.outreach import facts, holding
from models.stores.outreach.answers import Decision, Need, shown
from models.stores.outreach.endings import end_action, end_enrollment
from models.stores.outreach.planning import unplan
from models.stores.outreach.scenes import Scene
from models.stores.outreach.texts import Writer, render, sent_hashes
from models.stores.outreach.timing import timed
from models.tables import Action, Enrollment


async def advance(session: AsyncSession, writer: Writer, scene: Scene, enrollment: Enrollment) -> Decision:
    """Say what the enrollment, which is open and held by nothing, does next, and write what that changes."""
    while True:
        action = scene.action
        following = _following(scene, enrollment, without=action)
        if isinstance(following, Failed):
            return await _fell_out(session, scene, following)
        if action is not None:
            decision = await _planned(session, writer, scene, action, following)
        else:
            decision = await _unplanned(session, scene, enrollment, following)
        if decision is not None:
            _show(scene, enrollment, following)
            return decision


def _following(scene: Scene, enrollment: Enrollment, *, without: Action | None) -> Next:
    return next_step(
        scene.steps,
        scene.started(without=without),
        scene.connection(),
        enrolled_at=enrollment.created_at,
        now=scene.now,
    )


async def _fell_out(session: AsyncSession, scene: Scene, failed: Failed) -> Decision:
    refused = failed.action.outcome is ActionOutcome.REFUSED
    reason = EnrollmentReason.ACTION_REFUSED if refused else EnrollmentReason.ACTION_FAILED
    await end_enrollment(session, scene, EnrollmentStatus.FAILED, reason)
    return Decision(Need.NOTHING)


async def _planned(
    session: AsyncSession, writer: Writer, scene: Scene, action: Action, following: Next
) -> Decision | None:
    """What becomes of the planned action; null: it was passed over, look again."""
    step = next((one for one in scene.steps if one.id == action.step_id), None)
    if step is None:
        end_action(session, scene, action, ActionOutcome.CANCELLED, ActionReason.STEP_REMOVED)
        return None
    match following:
        case Skip(step=skipped, reason=reason) if skipped.id == step.id:
            end_action(session, scene, action, ActionOutcome.SKIPPED, reason)
            return None
        case Wait(step=waiting) if waiting.id == step.id and _too_early(action, following):
            unplan(action)  # an edit made it wait longer
            return _waits(scene, following)
    problem = await _text(session, writer, scene, action, step)
    if problem is not None:
        end_action(session, scene, action, ActionOutcome.SKIPPED, problem)
        return None
    if action.outcome == ActionOutcome.AWAITING_APPROVAL:
        return Decision(Need.RING, reason=f"{str(action.type).replace('_', ' ')} waits for approval")
    return await timed(session, scene, action)


def _too_early(action: Action, wait: Wait) -> bool:
    """Whether the planned time lies before what the step waits for; enrolling books a first step behind its wait."""
    at = action.scheduled_at
    return wait.reason is WaitReason.ACCEPTANCE or at is None or at < wait.until


async def _text(session: AsyncSession, writer: Writer, scene: Scene, action: Action, step: Step) -> ActionReason | None:
    """Bring the text up to date while nothing has fixed it, and hold what has to be approved (again).

    The answer is why the step is passed over, null when it is not.
    """
    holds = scene.sequence is not None and scene.sequence.approve_every_message
    if action.text_fixed:
        return await holding.hold_again(session, writer, scene, action, step)
    rendered = await render(session, writer, scene, step)
    problem = rendered.problem or _repeat(scene, rendered.text)
    if problem is None:
        action.text = rendered.text
        if holds:
            await holding.hold(session, scene, action)
    return problem


def _repeat(scene: Scene, text: str | None) -> ActionReason | None:
    return ActionReason.TEXT_ALREADY_SENT if repeats(text, sent_hashes(scene)) else None


async def _unplanned(session: AsyncSession, scene: Scene, enrollment: Enrollment, following: Next) -> Decision | None:
    """Begin the next step where one is due; null: it was planned or passed over, look again."""
    match following:
        case Wait():
            return _waits(scene, following)
        case Skip(step=step, reason=reason, at=at):
            action = await _new(session, scene, enrollment, step)
            end_action(session, scene, action, ActionOutcome.SKIPPED, reason)
            action.ended_at = at
            return None
        case Due(step=step, since=since):
            action = await _new(session, scene, enrollment, step)
            action.not_before = since
            return None
    await end_enrollment(session, scene, EnrollmentStatus.COMPLETED, None)
    return Decision(Need.NOTHING)


async def _new(session: AsyncSession, scene: Scene, enrollment: Enrollment, step: Step) -> Action:
    action = await facts.new_step_action(session, scene, enrollment, step)
    scene.actions.append(action)
    return action


def _waits(scene: Scene, wait: Wait) -> Decision:
    what = str(wait.step.type).replace("_", " ")
    if wait.reason is WaitReason.ACCEPTANCE:
        reason = f"waits for acceptance until {shown(scene, wait.until)}"
    else:
        reason = f"{what} is due at {shown(scene, wait.until)}"
    return Decision(Need.TIME, reason=reason, until=wait.until)


def _show(scene: Scene, enrollment: Enrollment, following: Next) -> None:
    """The status as an open enrollment shows it; one that has ended keeps its end."""
    action = scene.action
    if enrollment.finished_at is not None:
        return
    enrollment.reason = None
    if action is not None and action.outcome == ActionOutcome.AWAITING_APPROVAL:
        enrollment.status = EnrollmentStatus.AWAITING_APPROVAL.value
    elif isinstance(following, Wait) and following.reason is WaitReason.ACCEPTANCE:
        enrollment.status = EnrollmentStatus.WAITING_FOR_ACCEPT.value
    elif any(one.claimed_at is not None for one in scene.actions) or enrollment.status not in {
        EnrollmentStatus.SCHEDULED,
        EnrollmentStatus.PAUSED,
    }:
        enrollment.status = EnrollmentStatus.ACTIVE.value
    else:
        enrollment.status = EnrollmentStatus.SCHEDULED.value
