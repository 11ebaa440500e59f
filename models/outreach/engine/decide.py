"""Deciding: what an enrollment or a direct send needs next, by its rows and the rules, under the context's locks."""

from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import service_time
from models.base.steps import Decision, Do
from models.outreach.engine import plan
from models.outreach.engine.context import EnrollmentContext, lock_context, new_step_action
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


def claim_time(action: Action) -> datetime:
    """When the action was claimed. Raises `ValueError` for one that never was."""
    if action.claimed_at is None:
        raise ValueError("the action was not claimed")
    return action.claimed_at


def readings_of(action: Action) -> list[ReadingBack]:
    """What was read back of the action since its claim."""
    return [ReadingBack(datetime.fromisoformat(one["at"]), Seen(one["seen"])) for one in action.readings]


def give_up_call(action: Action, now: datetime) -> None:
    """Turn a call that has outlived its limit into one whose outcome is unclear."""
    if action.outcome == ActionOutcome.SENDING and overdue(claim_time(action), now):
        action.outcome = ActionOutcome.RECONCILING.value
        action.readings = []


def decide_claimed(context: EnrollmentContext, action: Action) -> Decision:
    """What an action under way needs: its result, a reading of the network, or a person."""
    give_up_call(action, context.now)
    if action.outcome == ActionOutcome.SENDING:
        until = claim_time(action) + SENDING_LIVES + A_MOMENT
        return Decision(
            Do.WAIT, context.now, reason=f"{_what(action)} is being done; its result comes by then", until=until
        )
    if action.outcome == ActionOutcome.UNKNOWN:
        return Decision(
            Do.WAIT, context.now, reason=f"the outcome of the {_what(action)} is unknown: a person has to settle it"
        )
    at = next_check(claim_time(action), readings_of(action))
    if at is not None and at > context.now:
        return Decision(
            Do.WAIT,
            context.now,
            reason=f"looks at {local_time(context, at)} what became of the {_what(action)}",
            until=at,
        )
    number = len(action.readings)
    summary = f"looks what became of the {_what(action)}, {number + 1}."
    return network_call(context, OUTREACH_RECONCILE, summary, number=number)


def _what(action: Action) -> str:
    return str(action.type).replace("_", " ")


async def advance(
    session: AsyncSession, writer: Writer, context: EnrollmentContext, enrollment: Enrollment
) -> Decision:
    """Say what the enrollment, which is open and held by nothing, does next, and write what that changes."""
    while True:
        action = context.action
        following = _following(context, enrollment, without=action)
        if isinstance(following, Failed):
            return await _fell_out(session, context, following)
        if action is not None:
            decision = await _planned(session, writer, context, action, following)
        else:
            decision = await _unplanned(session, context, enrollment, following)
        if decision is not None:
            _show(context, enrollment, following)
            return decision


def _following(context: EnrollmentContext, enrollment: Enrollment, *, without: Action | None) -> Next:
    return next_step(
        context.steps,
        context.started(without=without),
        context.connection(),
        enrolled_at=enrollment.created_at,
        now=context.now,
    )


async def _fell_out(session: AsyncSession, context: EnrollmentContext, failed: Failed) -> Decision:
    refused = failed.action.outcome is ActionOutcome.REFUSED
    reason = EnrollmentReason.ACTION_REFUSED if refused else EnrollmentReason.ACTION_FAILED
    await end_enrollment(session, context, EnrollmentStatus.FAILED, reason)
    return Decision(Do.DONE, context.now)


async def _planned(
    session: AsyncSession, writer: Writer, context: EnrollmentContext, action: Action, following: Next
) -> Decision | None:
    """Decide about the planned action; null means that it was passed over: look again."""
    step = next((one for one in context.steps if one.id == action.step_id), None)
    if step is None:
        end_action(session, context, action, ActionOutcome.CANCELLED, ActionReason.STEP_REMOVED)
        return None
    match following:
        case Skip(step=skipped, reason=reason) if skipped.id == step.id:
            end_action(session, context, action, ActionOutcome.SKIPPED, reason)
            return None
        case Wait(step=waiting) if waiting.id == step.id and _too_early(action, following):
            unplan(action)  # an edit made it wait longer
            return _waits(context, following)
    problem = await _text(session, writer, context, action, step)
    if problem is not None:
        end_action(session, context, action, ActionOutcome.SKIPPED, problem)
        return None
    if action.outcome == ActionOutcome.AWAITING_APPROVAL:
        return Decision(Do.WAIT, context.now, reason=f"{str(action.type).replace('_', ' ')} waits for approval")
    return await timed(session, context, action)


def _too_early(action: Action, wait: Wait) -> bool:
    """Whether the planned time lies before what the step waits for; enrolling books a first step behind its wait."""
    at = action.scheduled_at
    return wait.reason is WaitReason.ACCEPTANCE or at is None or at < wait.until


async def _text(
    session: AsyncSession, writer: Writer, context: EnrollmentContext, action: Action, step: SequenceStep
) -> ActionReason | None:
    """Bring the text up to date while nothing has fixed it, and hold what has to be approved (again).

    Return why the step is passed over, null when it is not.
    """
    holds = context.sequence is not None and context.sequence.approve_every_message
    if action.text_fixed:
        return await plan.hold_for_approval_again(session, writer, context, action, step)
    rendered = await render_for_context(session, writer, context, step)
    problem = rendered.problem or _repeat(context, rendered.text)
    if problem is None:
        action.text = rendered.text
        if holds:
            await plan.hold_for_approval(session, context, action)
    return problem


def _repeat(context: EnrollmentContext, text: str | None) -> ActionReason | None:
    return ActionReason.TEXT_ALREADY_SENT if repeats(text, sent_hashes(context)) else None


async def _unplanned(
    session: AsyncSession, context: EnrollmentContext, enrollment: Enrollment, following: Next
) -> Decision | None:
    """Begin the next step where one is due; null means that it was planned or passed over: look again."""
    match following:
        case Wait():
            return _waits(context, following)
        case Skip(step=step, reason=reason, at=at):
            action = await _new(session, context, enrollment, step)
            end_action(session, context, action, ActionOutcome.SKIPPED, reason)
            action.ended_at = at
            return None
        case DueStep(step=step, since=since):
            action = await _new(session, context, enrollment, step)
            action.not_before = since
            return None
    await end_enrollment(session, context, EnrollmentStatus.COMPLETED, None)
    return Decision(Do.DONE, context.now)


async def _new(session: AsyncSession, context: EnrollmentContext, enrollment: Enrollment, step: SequenceStep) -> Action:
    action = await new_step_action(session, context, enrollment, step)
    context.actions.append(action)
    return action


def _waits(context: EnrollmentContext, wait: Wait) -> Decision:
    what = str(wait.step.type).replace("_", " ")
    if wait.reason is WaitReason.ACCEPTANCE:
        reason = f"waits for acceptance until {local_time(context, wait.until)}"
    else:
        reason = f"{what} is due at {local_time(context, wait.until)}"
    return Decision(Do.WAIT, context.now, reason=reason, until=wait.until)


def _show(context: EnrollmentContext, enrollment: Enrollment, following: Next) -> None:
    """The status as an open enrollment shows it; one that has ended keeps its end."""
    action = context.action
    if enrollment.finished_at is not None:
        return
    enrollment.reason = None
    if action is not None and action.outcome == ActionOutcome.AWAITING_APPROVAL:
        enrollment.status = EnrollmentStatus.AWAITING_APPROVAL.value
    elif isinstance(following, Wait) and following.reason is WaitReason.ACCEPTANCE:
        enrollment.status = EnrollmentStatus.WAITING_FOR_ACCEPT.value
    elif any(one.claimed_at is not None for one in context.actions) or enrollment.status not in {
        EnrollmentStatus.SCHEDULED,
        EnrollmentStatus.PAUSED,
    }:
        enrollment.status = EnrollmentStatus.ACTIVE.value
    else:
        enrollment.status = EnrollmentStatus.SCHEDULED.value


UNCLAIMED = frozenset({ActionOutcome.SCHEDULED, ActionOutcome.AWAITING_APPROVAL})


async def decide_send(session: AsyncSession, writer: Writer, subject_id: str) -> Decision:
    """Say what an enrollment or direct send needs next; answers every wake up to now and sets `wake_at`."""
    context = await lock_context(session, subject_id)
    if context is None:
        return Decision(Do.DONE, await service_time(session), reason="is gone")
    return await decide_locked(session, writer, context)


async def decide_locked(session: AsyncSession, writer: Writer, context: EnrollmentContext) -> Decision:
    """The same for a context that is locked."""
    row = context.waiting
    row.answered = row.rings
    decision = await _decide(session, writer, context)
    return write_decision(context, decision)


def write_decision(context: EnrollmentContext, decision: Decision) -> Decision:
    """Write what the decision means for the waiting row."""
    # A call is due until it has begun: another process replaces one that died before that.
    context.waiting.wake_at = context.now if decision.do is Do.ACT else decision.until
    if context.enrollment is not None:
        planned = context.action if context.action and context.action.outcome == ActionOutcome.SCHEDULED else None
        context.enrollment.next_action_at = planned.scheduled_at if planned else None
    return complete_decision(context, decision)


async def _decide(session: AsyncSession, writer: Writer, context: EnrollmentContext) -> Decision:
    action, enrollment = context.action, context.enrollment
    if action is not None and ActionOutcome(action.outcome) not in UNCLAIMED:
        return decide_claimed(context, action)
    if action is None and enrollment is None:
        return Decision(Do.DONE, context.now)
    if enrollment is not None and EnrollmentStatus(enrollment.status) in FINAL_ENROLLMENTS:
        if action is not None:  # nothing that is planned outlives its enrollment
            plan.end_action(session, context, action, ActionOutcome.CANCELLED)
        return Decision(Do.DONE, context.now)
    obstacle = await plan.find_obstacle(session, context)
    if obstacle is not None:
        return await _stopped(session, context, obstacle)
    if enrollment is None:
        return await timed(session, context, context.actions[0])
    return await advance(session, writer, context, enrollment)


async def _stopped(session: AsyncSession, context: EnrollmentContext, obstacle: Ending | Obstacle) -> Decision:
    if isinstance(obstacle, Obstacle):
        return _held(context, obstacle)
    await plan.end_context(session, context, obstacle)
    return Decision(Do.DONE, context.now)


def _held(context: EnrollmentContext, hold: Obstacle) -> Decision:
    action, enrollment = context.action, context.enrollment
    if action is not None and action.outcome == ActionOutcome.SCHEDULED:
        unplan(action)
    if enrollment is not None and hold.pauses is not None:
        enrollment.status, enrollment.reason = EnrollmentStatus.PAUSED.value, hold.pauses.value
    if hold.look_again is None:
        return Decision(Do.WAIT, context.now, reason=hold.reason)
    return Decision(Do.WAIT, context.now, reason=hold.reason, until=context.now + hold.look_again)
