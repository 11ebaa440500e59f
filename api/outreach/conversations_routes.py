"""Routes of conversations, replies and activity."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing
from api.outreach import activity, conversations
from api.outreach.actions_schemas import ActionPreview, ActionView
from api.outreach.activity_schemas import ActivityView, AskActivity
from api.outreach.conversations import ConversationReading, Labelling, Replying
from api.outreach.conversations_schemas import (
    ChangeConversation,
    ConversationView,
    ListConversations,
    ListMessages,
    ListReplies,
    MessageView,
    ReplyView,
    WriteReply,
)

router = Router(tags=["Outreach conversations"])
PATH = "/outreach/conversations"
ONE = f"{PATH}/{{conversation_id:id}}"


@router.get(PATH, operation_id="outreach_conversations.list", response_model=Listing[ConversationView])
async def list_conversations(ask: Annotated[ListConversations, Query()], invoke: Invoke) -> Response:
    """Chats with people who were enrolled or sent to, newest first."""
    return await invoke(conversations.list_conversations, ask)


@router.get(ONE, operation_id="outreach_conversations.get", response_model=ConversationView)
async def get_conversation(conversation_id: str, invoke: Invoke) -> Response:
    """One conversation."""
    return await invoke(conversations.get_conversation, conversation_id)


@router.get(f"{ONE}/messages", operation_id="outreach_conversations.messages", response_model=Listing[MessageView])
async def list_messages(conversation_id: str, ask: Annotated[ListMessages, Query()], invoke: Invoke) -> Response:
    """What was written, newest first. What the candidate wrote stands in `untrusted_text`."""
    return await invoke(conversations.list_messages, ConversationReading(conversation_id, ask))


@router.patch(ONE, operation_id="outreach_conversations.change", response_model=ConversationView)
async def change_conversation(conversation_id: str, ask: ChangeConversation, invoke: Invoke) -> Response:
    """Mark as read, or label: `not_interested` also means that the person is not contacted any more."""
    return await invoke(conversations.change_conversation, Labelling(conversation_id, ask))


@router.post(
    f"{ONE}/replies",
    status_code=202,
    operation_id="outreach_replies.create",
    response_model=ActionView | ActionPreview,
)
async def reply(conversation_id: str, ask: WriteReply, invoke: Invoke) -> Response:
    """Answer: goes out within working hours, ahead of sequences; `?dry_run=true` shows when."""
    return await invoke(conversations.reply, Replying(conversation_id, ask), location=_address)


def _address(answer: ActionView | ActionPreview) -> str | None:
    return f"/v1/outreach/actions/{answer.id}" if isinstance(answer, ActionView) else None


@router.get("/outreach/replies", operation_id="outreach_replies.list", response_model=Listing[ReplyView])
async def list_replies(ask: Annotated[ListReplies, Query()], invoke: Invoke) -> Response:
    """What candidates wrote, newest first; `unread=true` is what nobody has read yet."""
    return await invoke(conversations.list_replies, ask)


@router.get("/outreach/activity", operation_id="outreach_activity.get", response_model=ActivityView)
async def get_activity(ask: Annotated[AskActivity, Query()], invoke: Invoke) -> Response:
    """What was done per day and type, and how many accepted and replied."""
    return await invoke(activity.get_activity, ask)
