"""Conversations: reading, labelling and answering, and the figures of activity. Nothing here answers by itself."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from api.kernel.operation import Context, Effect, Noun, operation
from api.kernel.schemas import Listing
from api.outreach.actions import action_preview, in_the_way, tell_cap
from api.outreach.actions_schemas import ActionPreview, ActionView
from api.outreach.conversations_schemas import (
    ActivityCounts,
    ActivityDay,
    ActivityView,
    AskActivity,
    ChangeConversation,
    ConversationView,
    ListConversations,
    ListMessages,
    ListReplies,
    MessageView,
    Rate,
    ReplyView,
    WriteReply,
)
from models.access.rules.keys import Scope
from models.base import outbox
from models.base.errors import InvalidRequest, OutreachCapReached
from models.outreach.engine import actions
from models.outreach.rules.states import NOTED, ConversationIntent
from models.outreach.store import accounts, conversations
from models.outreach.store.actions import Span, count_accepted, count_replied, days
from models.people.store import people, seen

CONVERSATIONS = Noun("Outreach conversations", "Conversations with candidates, answers, and figures.")


@dataclass(frozen=True, slots=True)
class ConversationReading:
    """One conversation, and which of its messages."""

    conversation_id: str
    ask: ListMessages


@dataclass(frozen=True, slots=True)
class Labelling:
    """One conversation, and what to note of it."""

    conversation_id: str
    change: ChangeConversation


@dataclass(frozen=True, slots=True)
class Replying:
    """One conversation, and the answer."""

    conversation_id: str
    ask: WriteReply


@operation(
    "outreach_conversations.list",
    scope=Scope.OUTREACH_READ,
    effect=Effect.READ,
    route=CONVERSATIONS.get("/outreach/conversations"),
)
async def list_conversations(ctx: Context, ask: ListConversations) -> Listing[ConversationView]:
    """Chats with people who were enrolled or sent to, newest first."""
    paging = ctx.paging(ask)
    filters = conversations.ConversationFilters(ask.account_id, ask.profile_id, ask.intent, ask.unread)
    found = await conversations.page_of_conversations(ctx.session, ctx.tenant, filters, paging.page)
    unread = await conversations.unread(ctx.session, [row.id for row in found.rows])
    return paging.listing(found, lambda row: ConversationView.of(row, unread.get(row.id, 0)))


@operation(
    "outreach_conversations.get",
    scope=Scope.OUTREACH_READ,
    effect=Effect.READ,
    route=CONVERSATIONS.get("/outreach/conversations/{conversation_id:id}"),
)
async def get_conversation(ctx: Context, conversation_id: str) -> ConversationView:
    """One conversation."""
    row = await conversations.load_conversation(ctx.session, ctx.tenant, conversation_id)
    return ConversationView.of(row, (await conversations.unread(ctx.session, [row.id])).get(row.id, 0))


@operation(
    "outreach_conversations.messages",
    scope=Scope.OUTREACH_READ,
    effect=Effect.READ,
    route=CONVERSATIONS.get("/outreach/conversations/{conversation_id:id}/messages"),
)
async def list_messages(ctx: Context, ask: ConversationReading) -> Listing[MessageView]:
    """What was written, newest first. What the candidate wrote stands in `untrusted_text`."""
    paging = ctx.paging(ask.ask, within=ask.conversation_id)
    found = await conversations.messages(ctx.session, ctx.tenant, ask.conversation_id, paging.page)
    return paging.listing(found, MessageView.of)


@operation(
    "outreach_replies.list", scope=Scope.OUTREACH_READ, effect=Effect.READ, route=CONVERSATIONS.get("/outreach/replies")
)
async def list_replies(ctx: Context, ask: ListReplies) -> Listing[ReplyView]:
    """What candidates wrote, newest first; `unread=true` lists those not yet marked as read."""
    paging = ctx.paging(ask)
    filters = conversations.ReplyFilters(ask.unread, ask.since, ask.account_id)
    found = await conversations.replies(ctx.session, ctx.tenant, filters, paging.page)
    within = await conversations.of_messages(ctx.session, found.rows)
    return paging.listing(found, lambda row: ReplyView.within(row, within[row.conversation_id]))


@operation(
    "outreach_conversations.change",
    scope=Scope.OUTREACH_WRITE,
    effect=Effect.WRITE,
    route=CONVERSATIONS.patch("/outreach/conversations/{conversation_id:id}"),
)
async def change_conversation(ctx: Context, ask: Labelling) -> ConversationView:
    """Mark as read, or label: `not_interested` also means that the person is not contacted any more."""
    given = ask.change.model_fields_set
    if "read" in given and ask.change.read is None:
        raise InvalidRequest("read cannot be null.", field="read")
    row = await conversations.load_conversation(ctx.session, ctx.tenant, ask.conversation_id, suppressed=409)
    if ask.change.intent is not None and ask.change.intent in NOTED:
        await _note(ctx, row.profile_id, ask.change.intent)
    row = await conversations.load_conversation(ctx.session, ctx.tenant, ask.conversation_id, lock=True, suppressed=409)
    if "intent" in given:
        row.intent = None if ask.change.intent is None else ask.change.intent.value
    if "read" in given:
        row.read_at = await ctx.read_clock() if ask.change.read else None
    await ctx.session.flush()
    return ConversationView.of(row, (await conversations.unread(ctx.session, [row.id])).get(row.id, 0))


async def _note(ctx: Context, profile_id: str, intent: ConversationIntent) -> None:
    """Say in the seen register what the label says of the person."""
    standing = (await people.lock_people(ctx.session, [profile_id])).get(profile_id, profile_id)
    await seen.note_seen(ctx.session, ctx.tenant, standing, NOTED[intent])


@operation(
    "outreach_replies.create",
    scope=Scope.OUTREACH_SEND,
    effect=Effect.SEND,
    route=CONVERSATIONS.post(
        "/outreach/conversations/{conversation_id:id}/replies", status=202, location="/outreach/actions/{answer.id}"
    ),
)
async def reply(ctx: Context, ask: Replying) -> ActionView | ActionPreview:
    """Answer: goes out within working hours, ahead of sequences; `?dry_run=true` shows when."""
    written = ask.ask.text
    if not written.strip():
        raise InvalidRequest("An answer needs words.", field="text")
    if not ctx.dry_run:
        await accounts.refuse_unverified(ctx.session, ctx.tenant, needed=ctx.settings.email_verification)
    conversation = await conversations.load_conversation(ctx.session, ctx.tenant, ask.conversation_id, suppressed=409)
    planned = await actions.prepare_reply(
        ctx.session, ctx.tenant, conversation, written, api_key_id=ctx.caller.api_key_id
    )
    ctx.now, account = planned.held.now, planned.held.account
    if ctx.dry_run:
        return action_preview(planned.action, planned.slot, await in_the_way(ctx, account, planned.slot))
    accounts.refuse_unready(account, ctx.now)
    try:
        actions.refuse_capped(planned.slot)
    except OutreachCapReached as error:
        tell_cap(ctx, account, error)
        raise
    action = actions.queue_send(ctx.session, planned)
    await ctx.session.flush()
    await outbox.wake(ctx.session, actions.send_subject(action.id))  # the dispatcher starts it: it knows whose it is
    return ActionView.of(action)


USUAL = timedelta(days=30)
LONGEST = timedelta(days=366)


@operation(
    "outreach_activity.get",
    scope=Scope.OUTREACH_READ,
    effect=Effect.READ,
    route=CONVERSATIONS.get("/outreach/activity"),
)
async def get_activity(ctx: Context, ask: AskActivity) -> ActivityView:
    """What was done per day and type, and how many accepted and replied."""
    if ask.account_id is not None:
        await accounts.load_account(ctx.session, ctx.tenant, ask.account_id)
    since, until = _span(ask, ctx.now)
    span = Span(since, until, ask.account_id)
    by_day = await days(ctx.session, ctx.tenant, span)
    total = {name: sum(day[name] for day in by_day.values()) for name in ActivityCounts.model_fields}
    return ActivityView(
        account_id=ask.account_id,
        since=since,
        until=until,
        days=[ActivityDay(date=day, **counts) for day, counts in sorted(by_day.items())],
        totals=ActivityCounts(**total),
        acceptance=_rate(*await count_accepted(ctx.session, ctx.tenant, span)),
        replies=_rate(*await count_replied(ctx.session, ctx.tenant, span)),
    )


def _span(ask: AskActivity, now: datetime) -> tuple[datetime, datetime]:
    """Raises `InvalidRequest` for a span that ends before it begins, or is longer than a year."""
    until = ask.until or now
    try:
        since = ask.since or until - USUAL
    except OverflowError:
        raise InvalidRequest("until is too early.", field="until") from None
    if since >= until:
        raise InvalidRequest("since must lie before until.", field="since")
    if until - since > LONGEST:
        raise InvalidRequest("The span is at most 366 days.", field="since")
    return since, until


def _rate(count: int, sample_size: int) -> Rate:
    return Rate(rate=round(count / sample_size, 4) if sample_size else None, count=count, sample_size=sample_size)
