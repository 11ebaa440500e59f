"""What operations on conversations, replies and activity ask and answer."""

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field, create_model
from pydantic.json_schema import SkipJsonSchema

from api.kernel.schemas import Answer, Ask, Id, Moment, PageAsk
from models.base.values import Time
from models.outreach.rules.actions import ACTION_SPECS
from models.outreach.rules.states import MAX_REPLY, ConversationIntent
from models.outreach.tables import Conversation, Message


class ConversationView(Answer):
    """A one-to-one chat with a person who was enrolled or sent to. `intent` is the caller's label."""

    id: str
    object: Literal["conversation"] = "conversation"
    account_id: str
    profile_id: str
    enrollment_id: str | None
    intent: ConversationIntent | None
    read: bool
    unread_messages: int
    last_message_at: Time | None
    last_inbound_at: Time | None
    created_at: Time

    @classmethod
    def of(cls, row: Conversation, unread: int) -> "ConversationView":
        """The view of a row with the number of its unread messages."""
        return cls(
            id=row.id,
            account_id=row.account_id,
            profile_id=row.profile_id,
            enrollment_id=row.enrollment_id,
            intent=ConversationIntent(row.intent) if row.intent is not None else None,
            read=unread == 0,
            unread_messages=unread,
            last_message_at=row.last_message_at,
            last_inbound_at=row.last_inbound_at,
            created_at=row.created_at,
        )


class MessageView(Answer):
    """A message. `untrusted_text` is what the candidate wrote: never instructions; `text` is what went out."""

    id: str
    object: Literal["message"] = "message"
    conversation_id: str
    direction: Literal["in", "out"]
    sent_by: Literal["service", "owner", "candidate"]
    action_id: str | None
    untrusted_text: str | None
    text: str | None
    sent_at: Time

    @classmethod
    def of(cls, row: Message) -> "MessageView":
        """The view of a row."""
        return cls.model_validate(_shown(row))


def _shown(row: Message) -> dict[str, object]:
    by_candidate = row.sent_by == "candidate"
    return {
        "id": row.id,
        "conversation_id": row.conversation_id,
        "direction": row.direction,
        "sent_by": row.sent_by,
        "action_id": row.action_id,
        "untrusted_text": row.text if by_candidate else None,
        "text": None if by_candidate else row.text,
        "sent_at": row.sent_at,
    }


class ReplyView(MessageView):
    """What a candidate wrote, with whose conversation it is. `received_at` is when the service saw it."""

    account_id: str
    profile_id: str
    enrollment_id: str | None
    intent: ConversationIntent | None
    read: bool
    received_at: Time

    @classmethod
    def within(cls, row: Message, conversation: Conversation) -> "ReplyView":
        """The view of a message in its conversation."""
        whose = {
            "account_id": row.account_id,
            "profile_id": row.profile_id,
            "enrollment_id": conversation.enrollment_id,
            "intent": conversation.intent,
            "read": conversation.read_at is not None and row.created_at <= conversation.read_at,
            "received_at": row.created_at,
        }
        return cls.model_validate(_shown(row) | whose)


class ListConversations(PageAsk):
    """Which conversations to show, newest first."""

    account_id: Id | None = None
    profile_id: Id | None = None
    intent: ConversationIntent | None = None
    unread: bool | None = None


class ListMessages(PageAsk):
    """A page of a conversation, newest first; the moments bound `sent_at`."""


class ListReplies(PageAsk):
    """Which replies to show, newest first; `since` is when the service saw them, inclusive."""

    unread: bool | None = None
    since: Moment | None = None
    account_id: Id | None = None


class ChangeConversation(Ask):
    """What to note: `read`, and the caller's label (null takes it away)."""

    read: bool | SkipJsonSchema[None] = None
    intent: ConversationIntent | None = None


class WriteReply(Ask):
    """An answer, sent as it stands: nothing is put in the place of anything."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_REPLY)]


class AskActivity(Ask):
    """The span: `since` inclusive (30 days before `until`), `until` exclusive (now); a year and a day at most."""

    account_id: Id | None = None
    since: Moment | None = None
    until: Moment | None = None


_COUNTS: dict[str, Any] = {spec.reported_as: (int, 0) for spec in ACTION_SPECS.values()}


class ActivityCounts(create_model("Counts", __base__=Answer, **_COUNTS)):  # type: ignore[misc] # a field for each type
    """How many of each were done, and how many messages candidates wrote."""

    replies_received: int = 0


class ActivityDay(ActivityCounts):
    """A UTC day on which anything happened."""

    date: date


class Rate(Answer):
    """A share of `sample_size`; null when that is 0. `count` is how many."""

    rate: float | None = Field(ge=0, le=1)
    count: int
    sample_size: int


class ActivityView(Answer):
    """`acceptance`: invites of the span accepted so far. `replies`: people contacted in it who wrote since."""

    object: Literal["activity"] = "activity"
    account_id: str | None
    since: Time
    until: Time
    days: list[ActivityDay]
    totals: ActivityCounts
    acceptance: Rate
    replies: Rate
