"""The claim: one transaction that takes an action to be done, or says why not now (design, section 5.1).

Everything is asked again under the locks of the enrollment's context; what is in the way gives a new time or an end.
After the commit the action is `sending`, and only the holder of its number may call the network and write the result.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base import outbox
from models.base.database import service_time
from models.base.steps import Decision, Do, Subject
from models.outreach.engine import decide, plan
from models.outreach.engine.context import EnrollmentContext, facts_for_messages, lock_context, was_touched
from models.outreach.engine.decide import A_MOMENT, claim_time
from models.outreach.engine.plan import OUTREACH_SEND, Writer, give_slot, goes_out, note_why, unplan
from models.outreach.rules.actions import ACTION_SPECS, ActionType, OutreachCap
from models.outreach.rules.answers import SENDING_LIVES
from models.outreach.rules.sequences import text_hash
from models.outreach.rules.slots import SlotMove, check_now
from models.outreach.rules.states import ActionOutcome, ActionReason, EnrollmentStatus
from models.outreach.store import accounts, calendars
from models.outreach.tables import Action, Conversation, Recovery
from models.people.store import people
from models.people.tables import SeenEntry

CALLBACK_WAIT = timedelta(seconds=5)
BUSY_WAIT = timedelta(seconds=15)
SHORT_WAIT = timedelta(minutes=1)
"""What is late by so little waits where it stands: the plan is dense, and another slot would lie behind all of it."""


@dataclass(frozen=True, slots=True)
class ClaimedAction:
    """A claimed action: what to do on its channel, and how to recognise our own part there.

    `person` is the provider's id of the person, null while it is not known; the channel then finds them by
    `profile_url`, which is null for a person who was erased. Messages later than `news_since` that are not `ours` (ids,
    or hashes of texts) are the person's or the owner's; null for an answer within a conversation. The owner's own count
    from `owner_since` on.
    """

    subject_id: str
    action_id: str
    number: int
    type: ActionType
    account_id: str
    provider_id: str
    person: str | None
    profile_url: str | None
    text: str | None
    text_hash: str | None
    chat_id: str | None
    claimed_at: datetime
    news_since: datetime | None
    owner_since: datetime | None
    ours: frozenset[str]


async def claim_action(session: AsyncSession, writer: Writer, subject_id: str, number: int) -> ClaimedAction | Decision:
    """Claim the planned action if the call still counts and nothing is in its way; else say what is next."""
    context = await lock_context(session, subject_id)
    if context is None:
        return Decision(Do.DONE, await service_time(session), reason="is gone")
    action = context.action
    counts = action is not None and action.outcome == ActionOutcome.SCHEDULED and action.call_number == number
    decision = await decide.decide_locked(session, writer, context)
    if action is None or not counts or decision.need != OUTREACH_SEND:
        return decision
    since = await doubtful_since(session, context, action)
    if since is not None and await _findable(session, context):
        # a claim of the backup's time whose call is given up for lost at once
        _mark_claimed(context, action, ActionOutcome.RECONCILING, at=since)
        action.doubted_at = context.now
        return await decide.decide_locked(session, writer, context)
    obstacle = await _in_the_way(session, context, action)
    if obstacle is not None:
        return decide.write_decision(context, obstacle)
    ended = await _ended(session, context, action)
    if ended is not None:
        plan.end_action(session, context, action, *ended)
        return await decide.decide_locked(session, writer, context)
    return await _take(session, context, action)


async def _in_the_way(session: AsyncSession, context: EnrollmentContext, action: Action) -> Decision | None:
    """What keeps the action from being done this moment, with the time for the next look."""
    if await _has_news(session, context):
        return _look_again(context, "waits until the network's news of this account are processed", CALLBACK_WAIT)
    if context.account.trouble is not None:
        return _look_again(context, f"the network is in trouble: {context.account.trouble}", timedelta(minutes=5))
    if await _is_sending(session, context, action):
        return _look_again(context, "waits for the account's call before it", BUSY_WAIT)
    return await _moved(session, context, action)


def _look_again(context: EnrollmentContext, reason: str, after: timedelta) -> Decision:
    return Decision(Do.WAIT, context.now, reason=reason, until=context.now + after)


HAS_NEWS = text(
    "select exists (select from network_callbacks where account_id = :id and processed_at is null"
    " and type <> 'link.returned')"
)


async def _has_news(session: AsyncSession, context: EnrollmentContext) -> bool:
    return bool((await session.execute(HAS_NEWS, {"id": context.account.id})).scalar_one())


GIVE_UP_CALLS = text(
    """
    update actions set outcome = 'reconciling', readings = '[]'
     where account_id = :account and outcome = 'sending' and id <> :action and claimed_at < :since
    returning id, enrollment_id
    """
)
SENDING = text("select exists (select from actions where account_id = :account and outcome = 'sending')")


async def _is_sending(session: AsyncSession, context: EnrollmentContext, action: Action) -> bool:
    """Whether another call of the account may still be under way; one that outlived its limit is read back instead."""
    asked = {"account": context.account.id, "action": action.id, "since": context.now - SENDING_LIVES}
    for row in (await session.execute(GIVE_UP_CALLS, asked)).all():
        subject = Subject("enrollment", row.enrollment_id) if row.enrollment_id else Subject("action", row.id)
        await outbox.wake(session, subject)
    return bool((await session.execute(SENDING, {"account": context.account.id})).scalar_one())


async def _moved(session: AsyncSession, context: EnrollmentContext, action: Action) -> Decision | None:
    """Check caps, hours and rests with what was really done; a new time when one of them forbids this moment."""
    calendar = await calendars.load_calendar(session, context.held, used_only=True, without=action.id)
    request = calendars.request_of(action, context.sequence)
    answer = check_now(calendar, request, context.now)
    if answer is None:
        return None
    if isinstance(answer, SlotMove):
        note_why(action, answer)
        if answer.moved_to - context.now <= SHORT_WAIT and check_now(calendar, request, answer.moved_to) is None:
            action.scheduled_at = answer.moved_to
        else:
            await give_slot(session, context, action, not_before=answer.moved_to)
    else:
        note_why(action, *answer.why)
        unplan(action)
    if isinstance(answer.rule, OutreachCap):
        await calendars.tell_reached(
            session, context.account, answer.rule, next_available_at=action.scheduled_at, now=context.now
        )
    if action.scheduled_at is None:
        return Decision(Do.WAIT, context.now, reason=goes_out(context, action))
    return Decision(Do.WAIT, context.now, reason=goes_out(context, action), until=action.scheduled_at)


async def _ended(
    session: AsyncSession, context: EnrollmentContext, action: Action
) -> tuple[ActionOutcome, ActionReason] | None:
    """Return how the action ends undone: the person was contacted before, or cannot be found on the channel."""
    passed_over = ActionOutcome.SKIPPED if context.enrollment is not None else ActionOutcome.REFUSED
    if action.first_touch and await _contacted_before(session, context, action):
        return passed_over, ActionReason.ALREADY_CONTACTED
    if not await _findable(session, context):
        return passed_over, ActionReason.NOT_FOUND
    return None


async def _findable(session: AsyncSession, context: EnrollmentContext) -> bool:
    return context.account.provider_id is not None and any(await _address(session, context))


async def _contacted_before(session: AsyncSession, context: EnrollmentContext, action: Action) -> bool:
    """Whether the person was contacted before this enrollment or send marked them as contacted itself."""
    ids = await people.ids_of_person(session, context.profile_id or action.profile_id)
    if await was_touched(session, action.tenant_id, ids):
        return True
    marked_at = (context.enrollment.created_at if context.enrollment is not None else action.created_at) - A_MOMENT
    entry = await session.get(
        SeenEntry, (context.tenant.id, context.profile_id or action.profile_id), populate_existing=True
    )
    return entry is not None and entry.contacted_at is not None and entry.contacted_at < marked_at


async def _address(session: AsyncSession, context: EnrollmentContext) -> tuple[str | None, str | None]:
    """Return by what the channel finds the person: the provider's id, or else the profile's URL."""
    if context.person is not None and context.person.network_id is not None:
        return context.person.network_id, None
    profile_id = context.profile_id or context.waiting.profile_id
    return None, (await facts_for_messages(session, context.tenant, [profile_id]))[profile_id].profile_url


async def _take(session: AsyncSession, context: EnrollmentContext, action: Action) -> ClaimedAction:
    _mark_claimed(context, action, ActionOutcome.SENDING, at=context.now)
    context.waiting.wake_at = context.now + SENDING_LIVES + A_MOMENT
    await session.flush()
    return await describe_claimed(session, context, action)


def _mark_claimed(context: EnrollmentContext, action: Action, outcome: ActionOutcome, *, at: datetime) -> None:
    action.outcome = outcome.value
    action.claimed_at, action.attempts, action.call_number = at, action.attempts + 1, action.call_number + 1
    action.text_fixed, action.readings = True, []
    action.text_hash = text_hash(action.text) if action.text is not None else None
    if context.enrollment is not None:
        context.enrollment.status = EnrollmentStatus.ACTIVE.value
        context.enrollment.current_step = action.step_index
        context.enrollment.next_action_at = None


async def describe_claimed(session: AsyncSession, context: EnrollmentContext, action: Action) -> ClaimedAction:
    """Return what a claimed action does on its channel, or may have done.

    Without an address (the person was erased) or a provider's account nothing can be read back.
    """
    person, profile_url = await _address(session, context)
    return ClaimedAction(
        subject_id=context.waiting.id,
        action_id=action.id,
        number=action.call_number,
        type=ActionType(action.type),
        account_id=context.account.id,
        provider_id=context.account.provider_id or "",
        person=person,
        profile_url=profile_url,
        text=action.text,
        text_hash=action.text_hash,
        chat_id=await _chat_id(session, context, action),
        claimed_at=claim_time(action),
        news_since=_news_since(context, action),
        owner_since=context.enrollment.owner_heard_until if context.enrollment is not None else None,
        ours=await ours(session, context, action),
    )


def _news_since(context: EnrollmentContext, action: Action) -> datetime | None:
    if action.conversation_id is not None:
        return None
    return context.enrollment.created_at if context.enrollment is not None else action.created_at


async def _chat_id(session: AsyncSession, context: EnrollmentContext, action: Action) -> str | None:
    conversation = await session.get(Conversation, action.conversation_id) if action.conversation_id else None
    if conversation is not None:  # null once its person was erased
        return conversation.chat_id
    return context.person.chat_id if context.person is not None else None


async def ours(session: AsyncSession, context: EnrollmentContext, action: Action | None) -> frozenset[str]:
    """Ids and text hashes of what was written, or may have been, to the person from this account; `action` left out."""
    profile_id = context.waiting.profile_id
    ids = await people.ids_of_person(session, context.profile_id or profile_id)
    query = select(col(Action.provider_message_id), col(Action.text_hash)).where(
        col(Action.account_id) == context.account.id,
        col(Action.profile_id).in_([*ids, profile_id]),
        col(Action.id) != (action.id if action is not None else ""),
        col(Action.claimed_at).is_not(None),
    )
    return frozenset(mark for row in await session.execute(query) for mark in row if mark is not None)


GATHERING = timedelta(minutes=2)
"""How long people who were not known are gathered before the chats are read again for all of them."""


async def forgotten_texts(session: AsyncSession, writer: Writer, context: EnrollmentContext) -> dict[str, str | None]:
    """Hashes of what may have been written to the person without a row that says so, to the action planned for each.

    An enrollment of before the last recovery may have got as far as any step of its sequence. Without this its own
    words, read back in the chat, would be the owner's.
    """
    last, enrollment = await _last_recovery(session), context.enrollment
    if last is None or enrollment is None or enrollment.created_at > last.at:
        return {}
    planned = {one.step_id: one.id for one in context.actions}
    rendered = [await plan.render_for_context(session, writer, context, step) for step in context.steps]
    return {text_hash(one.text): planned.get(one.step_id) for one in rendered if one.text is not None}


async def hear_again(session: AsyncSession, context: EnrollmentContext) -> None:
    """Have the account's chats since the backup read once more, soon, and with what others in them have said by then.

    For a person whom the restored database did not know on the network: their chat was passed over as a stranger's.
    """
    last, account = await _last_recovery(session), context.account
    if last is None or account.next_chats_poll_at is None:
        return
    if account.chats_read_until is not None:
        account.chats_read_until = min(account.chats_read_until, last.since)
    account.next_chats_poll_at = min(account.next_chats_poll_at, context.now + GATHERING)
    await session.flush()
    await outbox.wake(session, accounts.account_subject(account.id))


async def doubtful_since(session: AsyncSession, context: EnrollmentContext, action: Action) -> datetime | None:
    """Return since when the network may know of this action what no row says; null when there is no doubt.

    A visit is in doubt only when it was due by the recovery: it cannot be read back, and one in doubt counts as done.
    """
    last = await _last_recovery(session)
    if last is None:
        return None
    asked_at = context.enrollment.created_at if context.enrollment is not None else action.created_at
    if asked_at > last.at or (action.doubted_at is not None and action.doubted_at >= last.at):
        return None
    if not ACTION_SPECS[ActionType(action.type)].is_read_back and (action.not_before or asked_at) > last.at:
        return None
    return last.since


async def _last_recovery(session: AsyncSession) -> Recovery | None:
    query = select(Recovery).order_by(col(Recovery.at).desc()).limit(1)
    return (await session.scalars(query)).one_or_none()
