"""Recording: what came of a claimed action's call, what readings of the channel say, and what a reply changes.

A result is written once, by the holder of the call's number (design, section 5). Messages are stored elsewhere: the
account is woken to read its chats.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base import outbox
from models.base.errors import rfc3339
from models.base.steps import Decision
from models.outreach.engine import account_states, claim, decide, plan
from models.outreach.engine.account_states import AccountStanding
from models.outreach.engine.claim import ClaimedAction, describe_claimed
from models.outreach.engine.context import (
    EnrollmentContext,
    Learned,
    forget_erased,
    lock_context,
    note_learned,
    set_connected,
)
from models.outreach.engine.decide import claim_time, give_up_call, readings_of
from models.outreach.engine.plan import Writer, unplan
from models.outreach.rules.actions import ACTION_SPECS, ActionEffect, ActionType
from models.outreach.rules.answers import MethodHold, ReadingBack, ReadingVerdict, Signal, resends_mean_limit, verdict
from models.outreach.rules.states import ActionOutcome, ActionReason, EnrollmentReason, EnrollmentStatus
from models.outreach.store import accounts
from models.outreach.tables import Action, Enrollment


async def record_chat_news(
    session: AsyncSession, context: EnrollmentContext, action: Action | None, *, by_person: bool, at: datetime | None
) -> None:
    """Record that the person or the owner wrote since the enrollment began (or the send was asked for).

    The claimed `action`, which was not executed, is cancelled; so is what is planned.
    """
    reason = ActionReason.REPLIED if by_person else ActionReason.OWNER_WROTE
    if action is not None:
        plan.end_action(session, context, action, _passed_over(context), reason)
    if by_person:
        await record_reply(session, context, at or context.now)
    else:
        owner_wrote(context, at or context.now)
    context.account.next_chats_poll_at = context.now
    await session.flush()
    await outbox.wake(session, accounts.account_subject(context.account.id))


def _passed_over(context: EnrollmentContext) -> ActionOutcome:
    return ActionOutcome.CANCELLED if context.enrollment is not None else ActionOutcome.REFUSED


async def record_reply(session: AsyncSession, context: EnrollmentContext, at: datetime) -> None:
    """End the enrollment, because the person wrote; a reply implies that the invite was accepted."""
    enrollment = context.enrollment
    if enrollment is None:
        return
    enrollment.replied_at = enrollment.replied_at or at
    enrollment.accepted_at = enrollment.accepted_at or at
    await plan.end_enrollment(session, context, EnrollmentStatus.REPLIED, None, cancelled=ActionReason.REPLIED)


def owner_wrote(context: EnrollmentContext, at: datetime) -> None:
    """Hold the enrollment until it is resumed, because the owner wrote by hand at that time, which is no reply.

    Once resumed it goes on despite what the owner wrote until then.
    """
    enrollment = context.enrollment
    if enrollment is None or enrollment.finished_at is not None:
        return
    if enrollment.owner_heard_until is not None and at <= enrollment.owner_heard_until:
        return
    enrollment.owner_heard_until = at
    enrollment.status, enrollment.reason = EnrollmentStatus.PAUSED.value, EnrollmentReason.OWNER_WROTE.value


BACK_OFF = timedelta(minutes=1)
LONGEST_BACK_OFF = timedelta(hours=1)
MOST_DOUBLINGS = 6


@dataclass(frozen=True, slots=True)
class CallResult:
    """What came of a call; `learned` is what the network said of the person on the way."""

    learned: Learned = field(default=Learned(), kw_only=True)


@dataclass(frozen=True, slots=True)
class Done(CallResult):
    """Executed. `message_id` is null when the network did not return it."""

    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class NotNeeded(CallResult):
    """Not executed, and nothing to repeat: the network is so already, or cannot do it with this person."""

    reason: ActionReason


@dataclass(frozen=True, slots=True)
class RefusedSend(CallResult):
    """Not executed: the network does not take it for this person, or at all. `reason` is the action's."""

    reason: str


@dataclass(frozen=True, slots=True)
class Again(CallResult):
    """Not executed: plan it again after this time, or when null after a growing one."""

    code: str
    after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Limited(CallResult):
    """Not executed: the network or the provider says slower. `doubtful`: read back before it is planned again."""

    signal: Signal
    retry_after: timedelta | None = None
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Troubled(CallResult):
    """Not executed: the account cannot act now."""

    standing: AccountStanding


@dataclass(frozen=True, slots=True)
class Unclear(CallResult):
    """It may have been executed."""

    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class Heard(CallResult):
    """Not executed, for the chat has news: the person wrote, or the owner did by hand."""

    by_person: bool
    at: datetime | None
    """Of the first message of the person, or the last of the owner."""


async def record_result(session: AsyncSession, writer: Writer, claimed: ClaimedAction, result: CallResult) -> Decision:
    """Write what came of the call and say what is next. A result that no longer counts changes nothing."""
    context = await lock_context(session, claimed.subject_id)
    if context is None:
        return await decide.decide_send(session, writer, claimed.subject_id)
    action = next((one for one in context.actions if one.id == claimed.action_id), None)
    if action is not None and _counts(action, claimed.number):
        note_learned(session, context, result.learned)
        await _apply(session, context, action, result)
        await forget_erased(session, context, action)
    return await decide.decide_locked(session, writer, context)


def _counts(action: Action, number: int) -> bool:
    return action.call_number == number and action.outcome in {ActionOutcome.SENDING, ActionOutcome.RECONCILING}


async def _apply(session: AsyncSession, context: EnrollmentContext, action: Action, result: CallResult) -> None:
    match result:
        case Done():
            record_sent(session, context, action, at=context.now, message_id=result.message_id)
        case NotNeeded(reason=reason):
            plan.end_action(session, context, action, ActionOutcome.SKIPPED, reason)
            _stands_for_ours(context, reason)
        case RefusedSend(reason=reason):
            plan.end_action(session, context, action, ActionOutcome.FAILED, reason)
            await _look_for_limit(session, context, reason)
        case Again(after=after):
            plan_again(context, action, after=_back_off(action) if after is None else after)
        case Limited():
            await _limited(session, context, action, result)
        case Troubled(standing=standing):
            plan_again(context, action, after=BACK_OFF)
            await _troubled(session, context, standing)
        case Unclear(interrupted=interrupted):
            action.outcome = ActionOutcome.RECONCILING.value
            if interrupted:
                await account_states.mark_interrupted(session, context.held, AccountStanding.INTERRUPTED)
        case Heard():
            await record_chat_news(session, context, action, by_person=result.by_person, at=result.at)


def _stands_for_ours(context: EnrollmentContext, reason: ActionReason) -> None:
    """Count an invite that the owner sent by hand as the enrollment's, at the network's time."""
    if reason is ActionReason.ALREADY_INVITED and context.enrollment is not None and context.person is not None:
        context.enrollment.invited_at = context.person.invited_at


def record_sent(
    session: AsyncSession, context: EnrollmentContext, action: Action, *, at: datetime, message_id: str | None = None
) -> None:
    """Record that the action was done at `at`, with its effect between the account and the person."""
    plan.end_action(session, context, action, ActionOutcome.SENT)
    action.sent_at = action.ended_at = at
    action.failures = 0
    action.provider_message_id = message_id or action.provider_message_id
    known = context.network_person(session)
    match ACTION_SPECS[ActionType(action.type)].effect:
        case ActionEffect.INVITES:
            known.invited_at = at
            if context.enrollment is not None:
                context.enrollment.invited_at = at
            if known.relation == "connected":  # accepted before it was known to be sent
                known.connected_at = None
                set_connected(session, context, known, context.now)
            else:
                known.relation = "pending"
        case ActionEffect.WITHDRAWS:
            known.withdrawn_at = at
            if known.relation == "pending":
                known.relation = "none"
        case ActionEffect.CONNECTS:
            set_connected(session, context, known, at)  # the network takes messages between the connected only
        case ActionEffect.NONE:
            pass


def plan_again(context: EnrollmentContext, action: Action, *, after: timedelta) -> None:
    """Plan the action again after a while, because it was not done."""
    action.outcome = ActionOutcome.SCHEDULED.value
    action.failures += 1
    action.not_before = context.now + after
    unplan(action)


def _back_off(action: Action) -> timedelta:
    doublings: int = 2 ** min(action.failures, MOST_DOUBLINGS)
    return min(BACK_OFF * doublings, LONGEST_BACK_OFF)


async def _limited(session: AsyncSession, context: EnrollmentContext, action: Action, result: Limited) -> None:
    if result.doubtful:
        action.outcome = ActionOutcome.RECONCILING.value
    else:
        plan_again(context, action, after=timedelta())
    await session.flush()
    answer = await account_states.limit_reached(session, context.held, result.signal, retry_after=result.retry_after)
    if isinstance(answer, MethodHold):
        context.account.holds = context.account.holds | {action.type: answer.until.isoformat()}
    elif answer is None and not result.doubtful:
        action.not_before = context.now + _back_off(action)


RESENDS = text(
    """
    select profile_id, ended_at from actions
     where account_id = :account and type = 'invite' and outcome = 'failed' and reason = 'recently_withdrawn'
       and ended_at > coalesce((select max(ended_at) from actions where account_id = :account and type = 'invite'
                                   and outcome = 'sent'), '-infinity')
    """
)


async def _look_for_limit(session: AsyncSession, context: EnrollmentContext, reason: str) -> None:
    """Take several people in a row "invited recently" for a limit of the account (provider, section 11)."""
    if reason != ActionReason.RECENTLY_WITHDRAWN:
        return
    await session.flush()
    rows = (await session.execute(RESENDS, {"account": context.account.id})).all()
    if resends_mean_limit([(row.profile_id, row.ended_at) for row in rows], context.now):
        await account_states.limit_reached(session, context.held, Signal.DAILY)


async def _troubled(session: AsyncSession, context: EnrollmentContext, standing: AccountStanding) -> None:
    await session.flush()
    match standing:
        case AccountStanding.DISCONNECTED:
            await account_states.disconnected(session, context.held)
        case AccountStanding.RESTRICTED:
            await account_states.restricted(session, context.held)
        case _:
            await account_states.mark_interrupted(session, context.held, standing)


@dataclass(frozen=True, slots=True)
class ChannelReading:
    """One reading: when it began and what it showed; `done_at` is the network's time of what was done."""

    reading: ReadingBack
    learned: Learned = field(default=Learned())
    done_at: datetime | None = None
    message_id: str | None = None


async def reading_wanted(session: AsyncSession, subject_id: str, number: int) -> tuple[ClaimedAction, datetime] | None:
    """What to look for on the network, and service time; null when the reading is not wanted any more."""
    context = await lock_context(session, subject_id)
    action = context.action if context is not None else None
    if context is None or action is None:
        return None
    give_up_call(action, context.now)
    if action.outcome != ActionOutcome.RECONCILING or len(action.readings) != number:
        return None
    return await describe_claimed(session, context, action), context.now


async def record_reading(
    session: AsyncSession, writer: Writer, subject_id: str, number: int, read: ChannelReading
) -> Decision:
    """Write a reading, decide by all of them, and say what is next. One that was written already changes nothing."""
    context = await lock_context(session, subject_id)
    if context is None:
        return await decide.decide_send(session, writer, subject_id)
    action = context.action
    if action is not None and action.outcome == ActionOutcome.RECONCILING and len(action.readings) == number:
        was_known = context.person is not None and context.person.network_id is not None
        note_learned(session, context, read.learned)
        action.readings = [*action.readings, {"at": rfc3339(read.reading.at), "seen": read.reading.seen.value}]
        if action.doubted_at is not None and not was_known and read.learned.network_id is not None:
            await claim.hear_again(session, context)
        _conclude(session, context, action, read)
        await forget_erased(session, context, action)
    return await decide.decide_locked(session, writer, context)


def _conclude(session: AsyncSession, context: EnrollmentContext, action: Action, read: ChannelReading) -> None:
    match verdict(claim_time(action), readings_of(action)):
        case ReadingVerdict.DONE:
            record_sent(session, context, action, at=read.done_at or context.now, message_id=read.message_id)
        case ReadingVerdict.NOT_DONE:
            plan_again(context, action, after=timedelta())
        case ReadingVerdict.MOOT:
            plan.end_action(session, context, action, ActionOutcome.SKIPPED, ActionReason.INVITE_NOT_PENDING)
        case ReadingVerdict.UNKNOWN if not ACTION_SPECS[ActionType(action.type)].is_read_back:
            record_sent(session, context, action, at=claim_time(action))
        case ReadingVerdict.UNKNOWN:
            leave_to_a_person(session, context, action)
        case ReadingVerdict.OPEN:
            pass


def leave_to_a_person(session: AsyncSession, context: EnrollmentContext, action: Action) -> None:
    """Mark the outcome unknown: it counts as used, is never sent again by itself, and holds its enrollment.

    An enrollment that a caller or its owner's message paused stays paused after the settling.
    """
    plan.end_action(session, context, action, ActionOutcome.UNKNOWN, ActionReason.OUTCOME_UNKNOWN)
    enrollment = context.enrollment
    if enrollment is not None and enrollment.finished_at is None and not _held_otherwise(enrollment):
        enrollment.status = EnrollmentStatus.PAUSED.value
        enrollment.reason = EnrollmentReason.OUTCOME_UNKNOWN.value


def settle_unknown(session: AsyncSession, context: EnrollmentContext, action: Action, *, sent: bool) -> None:
    """Record what a person says of an unknown action: it was sent, or it was not and gives its place back."""
    if sent:
        record_sent(session, context, action, at=claim_time(action))
        action.reason = None
    else:
        plan.end_action(session, context, action, ActionOutcome.FAILED, ActionReason.OUTCOME_UNKNOWN)
    enrollment = context.enrollment
    if enrollment is not None and enrollment.status == EnrollmentStatus.PAUSED and not _held_otherwise(enrollment):
        enrollment.status, enrollment.reason = EnrollmentStatus.ACTIVE.value, None


def _held_otherwise(enrollment: Enrollment) -> bool:
    """Whether it is paused for a reason that only resuming ends."""
    paused = enrollment.status == EnrollmentStatus.PAUSED
    return paused and enrollment.reason in {EnrollmentReason.MANUAL, EnrollmentReason.OWNER_WROTE}
