"""The network's side of outreach: callbacks as they came, conversations and messages."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, LargeBinary, UniqueConstraint, text
from sqlmodel import Field

from models.tables.base import TIME, OwnedRow, Row


class NetworkEndpoint(Row, table=True):
    """The endpoint that the provider sends its callbacks to; one row for the installation. `secret` is encrypted."""

    __tablename__ = "network_endpoints"

    url: str = Field(primary_key=True)
    provider_id: str
    secret: bytes = Field(sa_type=LargeBinary)
    previous_secret: bytes | None = Field(default=None, sa_type=LargeBinary)
    """Accepted too while the provider changes over to a new one."""
    relations_told: bool
    """Whether the provider took one of the names for accepted invites; if not, only polling finds them."""
    checked_at: datetime = Field(sa_type=TIME)
    """When the provider last said that it has the endpoint."""
    created_at: datetime = Field(sa_type=TIME)


class NetworkCallback(Row, table=True):
    """A callback of the provider, stored raw and encrypted; `body` is deleted once it is processed."""

    __tablename__ = "network_callbacks"
    __table_args__ = (
        UniqueConstraint("event_id"),
        Index(
            "ix_network_callbacks_open",
            "account_id",
            "received_at",
            "id",
            postgresql_where=text("processed_at is null"),
        ),
        Index("ix_network_callbacks_received_at", "received_at"),
    )

    id: str = Field(primary_key=True)
    event_id: str
    type: str
    account_id: str
    """Ours. Callbacks that name no account of ours are not stored."""
    body: bytes | None = Field(default=None, sa_type=LargeBinary)
    failures: int = 0
    due_at: datetime = Field(sa_type=TIME)
    """When it is tried (again)."""
    received_at: datetime = Field(sa_type=TIME)
    processed_at: datetime | None = Field(default=None, sa_type=TIME)
    """When it was done with, or given up after `failures` attempts."""


class Conversation(OwnedRow, table=True):
    """A one-to-one chat with a person whom this tenant enrolled or sent to. `intent` is the caller's label."""

    __tablename__ = "conversations"
    __table_args__ = (
        UniqueConstraint("account_id", "chat_id"),
        Index("ix_conversations_tenant_id_created_at_id", "tenant_id", "created_at", "id"),
        Index(
            "ix_conversations_intent",
            *("tenant_id", "intent", "created_at", "id"),
            postgresql_where=text("intent is not null"),
        ),
        Index("ix_conversations_profile_id", "profile_id"),
        CheckConstraint("intent in ('interested', 'not_interested', 'question', 'other')", name="intent"),
    )

    id: str = Field(primary_key=True)
    account_id: str = Field(foreign_key="outreach_accounts.id")
    profile_id: str = Field(foreign_key="people.id")
    enrollment_id: str | None = None
    """The enrollment that was open, or last, when the conversation began."""
    chat_id: str
    """The provider's."""
    intent: str | None = None
    read_at: datetime | None = Field(default=None, sa_type=TIME)
    """What was stored up to then is read."""
    last_message_at: datetime | None = Field(default=None, sa_type=TIME)
    last_inbound_at: datetime | None = Field(default=None, sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)


class Message(OwnedRow, table=True):
    """A message of a conversation, as the network shows it; erasure deletes it."""

    __tablename__ = "messages"
    __table_args__ = (
        UniqueConstraint("account_id", "provider_id"),
        Index("ix_messages_conversation_id_sent_at_id", "conversation_id", "sent_at", "id"),
        Index(
            "ix_messages_tenant_id_inbound", "tenant_id", "created_at", "id", postgresql_where=text("direction = 'in'")
        ),
        Index("ix_messages_profile_id", "profile_id"),
        CheckConstraint("direction in ('in', 'out')", name="direction"),
        CheckConstraint("sent_by in ('service', 'owner', 'candidate')", name="sent_by"),
    )

    id: str = Field(primary_key=True)
    conversation_id: str = Field(foreign_key="conversations.id", ondelete="CASCADE")
    account_id: str
    profile_id: str = Field(foreign_key="people.id")
    direction: str
    sent_by: str
    action_id: str | None = None
    provider_id: str
    text: str | None = None
    sent_at: datetime = Field(sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)
