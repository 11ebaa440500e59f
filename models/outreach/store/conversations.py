"""Conversations as callers read and label them. Those with people suppressed since are hidden."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Select, and_, exists, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.errors import NotFound, Suppressed
from models.base.paging import Page, Slice, fetch, newest_first
from models.base.tenants import Tenant
from models.outreach.rules.states import ConversationIntent
from models.outreach.tables import Conversation, Message
from models.people.store import suppressions
from models.people.store.people import ids_of_person


@dataclass(frozen=True, slots=True)
class ConversationFilters:
    """Which conversations to show; null is any. `profile_id` may be any id that means the person."""

    account_id: str | None = None
    profile_id: str | None = None
    intent: ConversationIntent | None = None
    unread: bool | None = None


def _of(tenant: Tenant) -> Select[Conversation]:
    return select(Conversation).where(col(Conversation.tenant_id) == tenant.id)


async def load_conversation(
    session: AsyncSession, tenant: Tenant, conversation_id: str, *, lock: bool = False, suppressed: int = 404
) -> Conversation:
    """The tenant's conversation. Raises `NotFound`, and `Suppressed` with the status given."""
    query = _of(tenant).where(col(Conversation.id) == conversation_id)
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    found = (await session.scalars(query)).one_or_none()
    if found is None:
        raise NotFound("There is no such conversation.")
    if await suppressions.suppressed_among(session, tenant, [found.profile_id]):
        raise Suppressed(status=suppressed)
    return found


async def page_of_conversations(
    session: AsyncSession, tenant: Tenant, filters: ConversationFilters, page: Page
) -> Slice[Conversation]:
    """The tenant's conversations, newest first."""
    query = _of(tenant).where(~suppressions.is_suppressed_for(tenant, col(Conversation.profile_id)))
    if filters.account_id is not None:
        query = query.where(col(Conversation.account_id) == filters.account_id)
    if filters.profile_id is not None:
        ids = [filters.profile_id, *await ids_of_person(session, filters.profile_id)]
        query = query.where(col(Conversation.profile_id).in_(ids))
    if filters.intent is not None:
        query = query.where(col(Conversation.intent) == filters.intent)
    if filters.unread is not None:
        waits = exists(
            select(col(Message.id)).where(col(Message.conversation_id) == col(Conversation.id), _is_unread())
        )
        query = query.where(waits if filters.unread else ~waits)
    created_at = col(Conversation.created_at)
    return await fetch(
        session, query, page, order=newest_first(created_at, col(Conversation.id)), created_at=created_at
    )


def _is_unread() -> ColumnElement[bool]:
    """Whether a message is the person's and came since the conversation was last marked as read."""
    read_at = col(Conversation.read_at)
    return and_(col(Message.direction) == "in", or_(read_at.is_(None), col(Message.created_at) > read_at))


UNREAD = text(
    """
    select c.id, count(m.id) as unread
      from conversations c
      left join messages m on m.conversation_id = c.id and m.direction = 'in'
                          and (c.read_at is null or m.created_at > c.read_at)
     where c.id = any(cast(:ids as text[])) group by c.id
    """
)


async def unread(session: AsyncSession, conversation_ids: Collection[str]) -> dict[str, int]:
    """Count the unread messages of each conversation's person in one statement."""
    rows = await session.execute(UNREAD, {"ids": list(conversation_ids)})
    return {row.id: row.unread for row in rows}


async def messages(session: AsyncSession, tenant: Tenant, conversation_id: str, page: Page) -> Slice[Message]:
    """What was written in a conversation, newest first. Raises as `get`."""
    await load_conversation(session, tenant, conversation_id)
    sent_at = col(Message.sent_at)
    query = select(Message).where(col(Message.conversation_id) == conversation_id)
    return await fetch(session, query, page, order=newest_first(sent_at, col(Message.id)), created_at=sent_at)


@dataclass(frozen=True, slots=True)
class ReplyFilters:
    """Which replies to show: those that came at `since` or later; null is any."""

    unread: bool | None = None
    since: datetime | None = None
    account_id: str | None = None


async def replies(session: AsyncSession, tenant: Tenant, filters: ReplyFilters, page: Page) -> Slice[Message]:
    """What people wrote to the tenant, newest arrival first."""
    query = select(Message).where(
        col(Message.tenant_id) == tenant.id,
        col(Message.direction) == "in",
        ~suppressions.is_suppressed_for(tenant, col(Message.profile_id)),
    )
    created_at = col(Message.created_at)
    if filters.since is not None:
        query = query.where(created_at >= filters.since)
    if filters.account_id is not None:
        query = query.where(col(Message.account_id) == filters.account_id)
    if filters.unread is not None:
        waits = exists(
            select(col(Conversation.id)).where(col(Conversation.id) == col(Message.conversation_id), _is_unread())
        )
        query = query.where(waits if filters.unread else ~waits)
    return await fetch(session, query, page, order=newest_first(created_at, col(Message.id)), created_at=created_at)


async def of_messages(session: AsyncSession, rows: Collection[Message]) -> dict[str, Conversation]:
    """The conversations of these messages, by their ids."""
    query = select(Conversation).where(col(Conversation.id).in_({row.conversation_id for row in rows}))
    return {row.id: row for row in await session.scalars(query)}


async def last_is_theirs(session: AsyncSession, conversation_id: str) -> bool:
    """Whether the last word is the person's: nothing of ours was sent after it, is going out, or may have."""
    query = select(col(Message.sent_by)).where(col(Message.conversation_id) == conversation_id)
    last = await session.scalar(query.order_by(col(Message.sent_at).desc(), col(Message.id).desc()).limit(1))
    return last == "candidate" and not await session.scalar(ANSWERED, {"id": conversation_id})


ANSWERED = text(
    """
    select exists (
      select from conversations c join actions a on a.profile_id = c.profile_id and a.conversation_id = c.id
       where c.id = :id and (a.outcome in ('scheduled', 'sending', 'reconciling', 'unknown')
                             or a.outcome = 'sent' and a.claimed_at > c.last_inbound_at)
    )
    """
)
