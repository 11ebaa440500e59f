"""Under way: an action that was claimed and has no result yet, or whose result nobody saw."""

from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from models.base.clock import service_time
from models.base.steps import Decision, Do
from models.outreach.engine import context, plan
from models.outreach.engine.context import EnrollmentContext
from models.outreach.engine.plan import (
    OUTREACH_RECONCILE,
    Ending,
    Obstacle,
    Writer,
    complete_decision,
    end_action,
    end_enrollment,
    local_time,
    network_call,
    render_for_context,
    sent_hashes,
    timed,
    unplan,
)
from models.outreach.rules.answers import SENDING_LIVES, ReadingBack, Seen, next_check, overdue
from models.outreach.rules.sequences import (
    DueStep,
    Failed,
    Next,
    SequenceStep,
    Skip,
    Wait,
    WaitReason,
    next_step,
    repeats,
)
from models.outreach.rules.states import (
    FINAL_ENROLLMENTS,
    ActionOutcome,
    ActionReason,
    EnrollmentReason,
    EnrollmentStatus,
)
from models.outreach.tables import Action, Enrollment

A_MOMENT = timedelta(seconds=1)


def claimed(action: Action) -> datetime:
    """When the action was claimed. Raises `ValueError` for one that never was."""
    if action.claimed_at is None:
        raise ValueError("the action was not claimed")
    return action.claimed_at


def readings_of(action: Action) -> list[ReadingBack]:
    """What was read back of the action since its claim."""
    return [ReadingBack(datetime.fromisoformat(one["at"]), Seen(one["seen"])) for one in action.readings]


def give_up_call(action: Action, now: datetime) -> None:
    """Turn a call that has outlived its limit into one whose outcome nobody saw."""
    if action.outcome == ActionOutcome.SENDING and overdue(claimed(action), now):
        action.outcome = ActionOutcome.RECONCILING.value
        action.readings = []


def decide_claimed(scene: EnrollmentContext, action: Action) -> Decision:
    """What an action under way needs: its result, a reading of the network, or a person."""
    give_up_call(action, scene.now)
    if action.outcome == ActionOutcome.SENDING:
        until = claimed(action) + SENDING_LIVES + A_MOMENT
        return Decision(
            Do.WAIT, scene.now, reason=f"{_what(action)} is being done; its result comes by then", until=until
        )
    if action.outcome == ActionOutcome.UNKNOWN:
        return Decision(
            Do.WAIT, scene.now, reason=f"nobody saw what became of the {_what(action)}: a person has to settle it"
        )
    at = next_check(claimed(action), readings_of(action))
    if at is not None and at > scene.now:
        return Decision(
            Do.WAIT, scene.now, reason=f"looks at {local_time(scene, at)} what became of the {_what(action)}", until=at
        )
    number = len(action.readings)
    summary = f"looks what became of the {_what(action)}, {number + 1}."
    return network_call(scene, OUTREACH_RECONCILE, summary, number=number)


def _what(action: Action) -> str:
    return str(action.type).replace("_", " ")


# Stepping: which step an open enrollment takes next, and what becomes of the one that is planned.


async def advance(session: AsyncSession, writer: Writer, scene: EnrollmentContext, enrollment: Enrollment) -> Decision:
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


def _following(scene: EnrollmentContext, enrollment: Enrollment, *, without: Action | None) -> Next:
    return next_step(
        scene.steps,
        scene.started(without=without),
        scene.connection(),
        enrolled_at=enrollment.created_at,
        now=scene.now,
    )


async def _fell_out(session: AsyncSession, scene: EnrollmentContext, failed: Failed) -> Decision:
    refused = failed.action.outcome is ActionOutcome.REFUSED
    reason = EnrollmentReason.ACTION_REFUSED if refused else EnrollmentReason.ACTION_FAILED
    await end_enrollment(session, scene, EnrollmentStatus.FAILED, reason)
    return Decision(Do.DONE, scene.now)


async def _planned(
    session: AsyncSession, writer: Writer, scene: EnrollmentContext, action: Action, following: Next
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
        return Decision(Do.WAIT, scene.now, reason=f"{str(action.type).replace('_', ' ')} waits for approval")
    return await timed(session, scene, action)


def _too_early(action: Action, wait: Wait) -> bool:
    """Whether the planned time lies before what the step waits for; enrolling books a first step behind its wait."""
    at = action.scheduled_at
    return wait.reason is WaitReason.ACCEPTANCE or at is None or at < wait.until


async def _text(
    session: AsyncSession, writer: Writer, scene: EnrollmentContext, action: Action, step: SequenceStep
) -> ActionReason | None:
    """Bring the text up to date while nothing has fixed it, and hold what has to be approved (again).

    The answer is why the step is passed over, null when it is not.
    """
    holds = scene.sequence is not None and scene.sequence.approve_every_message
    if action.text_fixed:
        return await plan.hold_for_approval_again(session, writer, scene, action, step)
    rendered = await render_for_context(session, writer, scene, step)
    problem = rendered.problem or _repeat(scene, rendered.text)
    if problem is None:
        action.text = rendered.text
        if holds:
            await plan.hold_for_approval(session, scene, action)
    return problem


def _repeat(scene: EnrollmentContext, text: str | None) -> ActionReason | None:
    return ActionReason.TEXT_ALREADY_SENT if repeats(text, sent_hashes(scene)) else None


async def _unplanned(
    session: AsyncSession, scene: EnrollmentContext, enrollment: Enrollment, following: Next
) -> Decision | None:
    """Begin the next step where one is due; null: it was planned or passed over, look again."""
    match following:
        case Wait():
            return _waits(scene, following)
        case Skip(step=step, reason=reason, at=at):
            action = await _new(session, scene, enrollment, step)
            end_action(session, scene, action, ActionOutcome.SKIPPED, reason)
            action.ended_at = at
            return None
        case DueStep(step=step, since=since):
            action = await _new(session, scene, enrollment, step)
            action.not_before = since
            return None
    await end_enrollment(session, scene, EnrollmentStatus.COMPLETED, None)
    return Decision(Do.DONE, scene.now)


async def _new(session: AsyncSession, scene: EnrollmentContext, enrollment: Enrollment, step: SequenceStep) -> Action:
    action = await context.new_step_action(session, scene, enrollment, step)
    scene.actions.append(action)
    return action


def _waits(scene: EnrollmentContext, wait: Wait) -> Decision:
    what = str(wait.step.type).replace("_", " ")
    if wait.reason is WaitReason.ACCEPTANCE:
        reason = f"waits for acceptance until {local_time(scene, wait.until)}"
    else:
        reason = f"{what} is due at {local_time(scene, wait.until)}"
    return Decision(Do.WAIT, scene.now, reason=reason, until=wait.until)


def _show(scene: EnrollmentContext, enrollment: Enrollment, following: Next) -> None:
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


# What an enrollment or a direct send needs next: read from its rows and the rules, under the locks of its scene.


UNCLAIMED = frozenset({ActionOutcome.SCHEDULED, ActionOutcome.AWAITING_APPROVAL})


async def decide_send(session: AsyncSession, writer: Writer, subject_id: str) -> Decision:
    """Say what an enrollment or direct send needs next; answers every ring up to now and sets `wake_at`."""
    scene = await context.lock_context(session, subject_id)
    if scene is None:
        return Decision(Do.DONE, await service_time(session), reason="is gone")
    return await decide_locked(session, writer, scene)


async def decide_locked(session: AsyncSession, writer: Writer, scene: EnrollmentContext) -> Decision:
    """The same for a scene that is locked."""
    row = scene.waiting
    row.answered = row.rings
    decision = await _decide(session, writer, scene)
    return write_decision(scene, decision)


def write_decision(scene: EnrollmentContext, decision: Decision) -> Decision:
    """Write what the decision means for the waiting row."""
    # A call is due until it has begun: whoever died before that is replaced.
    scene.waiting.wake_at = scene.now if decision.do is Do.ACT else decision.until
    if scene.enrollment is not None:
        planned = scene.action if scene.action and scene.action.outcome == ActionOutcome.SCHEDULED else None
        scene.enrollment.next_action_at = planned.scheduled_at if planned else None
    return complete_decision(scene, decision)


async def _decide(session: AsyncSession, writer: Writer, scene: EnrollmentContext) -> Decision:
    action, enrollment = scene.action, scene.enrollment
    if action is not None and ActionOutcome(action.outcome) not in UNCLAIMED:
        return decide_claimed(scene, action)
    if action is None and enrollment is None:
        return Decision(Do.DONE, scene.now)
    if enrollment is not None and EnrollmentStatus(enrollment.status) in FINAL_ENROLLMENTS:
        if action is not None:  # nothing that is planned outlives its enrollment
            plan.end_action(session, scene, action, ActionOutcome.CANCELLED)
        return Decision(Do.DONE, scene.now)
    obstacle = await plan.find_obstacle(session, scene)
    if obstacle is not None:
        return await _stopped(session, scene, obstacle)
    if enrollment is None:
        return await timed(session, scene, scene.actions[0])
    return await advance(session, writer, scene, enrollment)


async def _stopped(session: AsyncSession, scene: EnrollmentContext, obstacle: Ending | Obstacle) -> Decision:
    if isinstance(obstacle, Obstacle):
        return _held(scene, obstacle)
    await plan.end_context(session, scene, obstacle)
    return Decision(Do.DONE, scene.now)


def _held(scene: EnrollmentContext, hold: Obstacle) -> Decision:
    action, enrollment = scene.action, scene.enrollment
    if action is not None and action.outcome == ActionOutcome.SCHEDULED:
        unplan(action)
    if enrollment is not None and hold.pauses is not None:
        enrollment.status, enrollment.reason = EnrollmentStatus.PAUSED.value, hold.pauses.value
    if hold.look_again is None:
        return Decision(Do.WAIT, scene.now, reason=hold.reason)
    return Decision(Do.WAIT, scene.now, reason=hold.reason, until=scene.now + hold.look_again)
