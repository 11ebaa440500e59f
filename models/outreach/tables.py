"""Outreach: settings, accounts, sequences, enrollments and actions."""

from datetime import datetime

from sqlalchemy import Index, LargeBinary, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY, INTEGER
from sqlmodel import Field

from models.base.tables import JSON, TIME, OwnedRow, Payload, Row, WaitingRow, one_of, waiting, waiting_indexes
from models.outreach.rules.actions import ActionType
from models.outreach.rules.states import (
    AccountStatus,
    ActionOutcome,
    ConversationIntent,
    EnrollmentStatus,
    PauseReason,
    SequenceStatus,
)


class OutreachSettings(OwnedRow, table=True):
    """A tenant's working hours and its own lower caps; no row means the defaults."""

    __tablename__ = "outreach_settings"

    tenant_id: str = Field(primary_key=True)
    time_zone: str
    start_hour: int
    end_hour: int
    days: list[int] = Field(sa_type=ARRAY(INTEGER))
    """ISO weekdays, Monday is 1."""
    caps: Payload = Field(default_factory=dict, sa_type=JSON)
    """Cap name to value, only those that were set."""
    updated_at: datetime = Field(sa_type=TIME)


@waiting("account", open_when="status <> 'removed' or provider_id is not null")
class OutreachAccount(OwnedRow, WaitingRow, table=True):
    """A network account that a tenant writes with.

    `provider_id` is the provider's id of the connection, `network_user_id` the owner's on the network: one record in
    the installation holds it at a time. Actions of all records that ever held it count towards its caps.
    """

    __tablename__ = "outreach_accounts"
    __table_args__ = (
        *waiting_indexes("outreach_accounts"),
        Index("ix_outreach_accounts_tenant_id_created_at_id", "tenant_id", "created_at", "id"),
        Index("ix_outreach_accounts_network_user_id", "network_user_id"),
        Index(
            "uq_outreach_accounts_network_user_id",
            "network_user_id",
            unique=True,
            postgresql_where=text("status <> 'removed'"),
        ),
        Index(
            "uq_outreach_accounts_provider_id",
            "provider_id",
            unique=True,
            postgresql_where=text("provider_id is not null"),
        ),
        Index("ix_outreach_accounts_state_hash", "state_hash", postgresql_where=text("state_hash is not null")),
        one_of("status", AccountStatus),
        one_of("pause_reason", PauseReason),
        one_of("limit_reason", (PauseReason.DAILY_LIMIT, PauseReason.WEEKLY_LIMIT)),
    )

    id: str = Field(primary_key=True)
    name: str | None = None
    profile_url: str | None = None
    status: str = "connecting"
    pause_reason: str | None = None
    paused_until: datetime | None = Field(default=None, sa_type=TIME)
    """When the pause ends; null while paused is without end."""
    paused_at: datetime | None = Field(default=None, sa_type=TIME)
    limit_reason: str | None = None
    limited_until: datetime | None = Field(default=None, sa_type=TIME)
    """The network's own pause, kept whatever else the account goes through: it is never ended early."""
    daily_limited_at: datetime | None = Field(default=None, sa_type=TIME)
    """When the network last paused it for a day: a second time within a week pauses it for the week."""
    provider_id: str | None = None
    network_user_id: str | None = None
    state_hash: bytes | None = Field(default=None, sa_type=LargeBinary)
    """Of the one-time value that a connect link carries and the provider gives back."""
    connect_state: bytes | None = Field(default=None, sa_type=LargeBinary)
    """The same value, encrypted: every link carries it until one of them is used."""
    connect_url: bytes | None = Field(default=None, sa_type=LargeBinary)
    """Encrypted; null until the provider has made the link."""
    connect_expires_at: datetime | None = Field(default=None, sa_type=TIME)
    connect_failure: str | None = None
    """Code of why no link could be made or the owner's sign-in was not taken."""
    restored_as: str | None = None
    """The older record of the same network account that took over from this one."""
    caps: Payload = Field(default_factory=dict, sa_type=JSON)
    """Cap name to the account's own value, only those that were set."""
    warmup_started_at: datetime | None = Field(default=None, sa_type=TIME)
    trouble: str | None = None
    """What the provider says is wrong for now (`errored`, `locked`, …): sends hold, the account stays as it is."""
    trouble_since: datetime | None = Field(default=None, sa_type=TIME)
    review_asked_at: datetime | None = Field(default=None, sa_type=TIME)
    """The owner reviewed it: the provider is asked whether it runs, then this is null again."""
    next_look_at: datetime | None = Field(default=None, sa_type=TIME)
    """When the provider is asked next how the account stands."""
    replan_asked: bool = False
    """The account's next step plans again what is planned, once."""
    holds: Payload = Field(default_factory=dict, sa_type=JSON)
    """Action type to the RFC 3339 time until which the provider wants none of it."""
    chats_read_until: datetime | None = Field(default=None, sa_type=TIME)
    """Up to where the catch-up poll has read."""
    next_chats_poll_at: datetime | None = Field(default=None, sa_type=TIME)
    next_invites_poll_at: datetime | None = Field(default=None, sa_type=TIME)
    call_number: int = 0
    failures: int = 0
    created_at: datetime = Field(sa_type=TIME)
    connected_at: datetime | None = Field(default=None, sa_type=TIME)
    removed_at: datetime | None = Field(default=None, sa_type=TIME)


class OutreachSequence(OwnedRow, table=True):
    """Steps that are taken with one person after another, from one account. `version` rises with every change."""

    __tablename__ = "sequences"
    __table_args__ = (
        Index("ix_sequences_tenant_id_created_at_id", "tenant_id", "created_at", "id"),
        Index("ix_sequences_account_id", "account_id"),
        one_of("status", SequenceStatus),
    )

    id: str = Field(primary_key=True)
    account_id: str = Field(foreign_key="outreach_accounts.id")
    name: str
    status: str = "active"
    approve_every_message: bool = False
    daily_pace_limit: int | None = None
    steps: list[Payload] = Field(sa_type=JSON)
    version: int = 1
    created_at: datetime = Field(sa_type=TIME)
    updated_at: datetime = Field(sa_type=TIME)


OPEN_ENROLLMENTS = "status in ('scheduled', 'active', 'awaiting_approval', 'waiting_for_accept', 'paused')"


@waiting("enrollment", open_when="finished_at is null")
class Enrollment(OwnedRow, WaitingRow, table=True):
    """A person in a sequence. `given` is what the caller said of the person for rendering; erasure clears it."""

    __tablename__ = "enrollments"
    __table_args__ = (
        *waiting_indexes("enrollments"),
        Index("ix_enrollments_tenant_id_created_at_id", "tenant_id", "created_at", "id"),
        Index("ix_enrollments_sequence_id_created_at_id", "sequence_id", "created_at", "id"),
        Index("ix_enrollments_tenant_id_status", "tenant_id", "status", "created_at", "id"),
        Index("ix_enrollments_account_id_created_at_id", "account_id", "created_at", "id"),
        Index("ix_enrollments_account_id_open", "account_id", postgresql_where=text(OPEN_ENROLLMENTS)),
        Index("ix_enrollments_sequence_id_open", "sequence_id", postgresql_where=text(OPEN_ENROLLMENTS)),
        Index(
            "ix_enrollments_uninvited",
            "account_id",
            postgresql_where=text(f"{OPEN_ENROLLMENTS} and invited_at is null"),
        ),
        Index("ix_enrollments_profile_id", "profile_id"),
        Index(
            "uq_enrollments_open",
            "tenant_id",
            "profile_id",
            unique=True,
            postgresql_where=text(OPEN_ENROLLMENTS),
        ),
        one_of("status", EnrollmentStatus),
    )

    id: str = Field(primary_key=True)
    sequence_id: str
    account_id: str = Field(foreign_key="outreach_accounts.id")
    profile_id: str = Field(foreign_key="people.id")
    status: str = "scheduled"
    reason: str | None = None
    given: Payload = Field(default_factory=dict, sa_type=JSON)
    """`full_name`, `first_name`, `company`, only those that were given."""
    position: int = 0
    """Its place among those enrolled with it: the order in which an account's calendar is planned."""
    current_step: int | None = None
    """Index of the step last started, as shown."""
    next_action_at: datetime | None = Field(default=None, sa_type=TIME)
    invited_at: datetime | None = Field(default=None, sa_type=TIME)
    accepted_at: datetime | None = Field(default=None, sa_type=TIME)
    replied_at: datetime | None = Field(default=None, sa_type=TIME)
    owner_heard_until: datetime | None = Field(default=None, sa_type=TIME)
    """Up to when messages that the owner wrote by hand are known: only later ones hold it again."""
    created_at: datetime = Field(sa_type=TIME)
    finished_at: datetime | None = Field(default=None, sa_type=TIME)


@waiting(
    "action",
    open_when="enrollment_id is null and outcome in ('scheduled', 'awaiting_approval', 'sending', 'reconciling')",
)
class Action(OwnedRow, WaitingRow, table=True):
    """One thing done or to be done on the network: a step of an enrollment, a direct send, or a reply.

    Only those without an enrollment wait by themselves; a step waits with its enrollment. `text` is what is sent, byte
    for byte; erasure clears it.
    """

    __tablename__ = "actions"
    __table_args__ = (
        *waiting_indexes("actions"),
        UniqueConstraint("enrollment_id", "step_id"),
        Index("uq_actions_sending", "account_id", unique=True, postgresql_where=text("outcome = 'sending'")),
        Index("ix_actions_tenant_id_created_at_id", "tenant_id", "created_at", "id"),
        Index("ix_actions_planned", "account_id", "scheduled_at", postgresql_where=text("outcome = 'scheduled'")),
        Index(
            "ix_actions_first_touches",
            *("account_id", "scheduled_at"),
            postgresql_include=["workspace_id", "tenant_id"],  # what the policy asks: no row has to be read
            postgresql_where=text("outcome = 'scheduled' and first_touch"),
        ),
        Index("ix_actions_account_id_claimed_at", "account_id", "claimed_at"),
        Index("ix_actions_by_hand", "account_id", "created_at", postgresql_where=text("enrollment_id is null")),
        Index("ix_actions_tenant_id_claimed_at", "tenant_id", "claimed_at"),
        Index("ix_actions_tenant_id_sent_at", "tenant_id", "sent_at", postgresql_where=text("outcome = 'sent'")),
        Index("ix_actions_profile_id", "profile_id"),
        Index(
            "ix_actions_held",
            "tenant_id",
            "created_at",
            "id",
            postgresql_where=text("outcome = 'awaiting_approval'"),
        ),
        one_of("type", ActionType),
        one_of("outcome", ActionOutcome),
    )

    id: str = Field(primary_key=True)
    type: str
    outcome: str = "scheduled"
    reason: str | None = None
    why: list[Payload] = Field(default_factory=list, sa_type=JSON)
    seed: str
    account_id: str = Field(foreign_key="outreach_accounts.id")
    profile_id: str = Field(foreign_key="people.id")
    enrollment_id: str | None = Field(default=None, foreign_key="enrollments.id")
    sequence_id: str | None = None
    step_id: str | None = None
    step_index: int | None = None
    conversation_id: str | None = None
    """Of a reply."""
    first_touch: bool = False
    """The first invite or message to the person in this tenant: counts as new outreach."""
    starts_sequence: bool = False
    """The first step of an enrollment: counts for the sequence's pace, and must fall within the horizon."""
    text: str | None = None
    text_fixed: bool = False
    """Held, approved or claimed: rendered no more."""
    text_hash: str | None = None
    """Of `text` when it was claimed; what the network is read back for, also after an erasure."""
    values_hash: str | None = None
    """Of what was known of the person when a text was held: when that changes, it is held again."""
    not_before: datetime | None = Field(default=None, sa_type=TIME)
    """Since when it is due, or may be tried again: its slot is looked for from here on."""
    failures: int = 0
    """Calls in a row that the provider did not execute."""
    approved_at: datetime | None = Field(default=None, sa_type=TIME)
    scheduled_at: datetime | None = Field(default=None, sa_type=TIME)
    claimed_at: datetime | None = Field(default=None, sa_type=TIME)
    sent_at: datetime | None = Field(default=None, sa_type=TIME)
    """When its result came; for an action done without us, the network's time."""
    ended_at: datetime | None = Field(default=None, sa_type=TIME)
    attempts: int = 0
    call_number: int = 0
    readings: list[Payload] = Field(default_factory=list, sa_type=JSON)
    """What reading the network back said since the claim: `{at, seen}`."""
    provider_message_id: str | None = None
    doubted_at: datetime | None = Field(default=None, sa_type=TIME)
    """When a recovery last had it read back before it was done."""
    api_key_id: str | None = None
    created_at: datetime = Field(sa_type=TIME)


class NetworkPerson(OwnedRow, table=True):
    """What an account knows of a person on the network: the provider's id, and where the two stand."""

    __tablename__ = "network_people"
    __table_args__ = (
        Index("ix_network_people_account_id_network_id", "account_id", "network_id"),
        Index("ix_network_people_profile_id", "profile_id"),
        one_of("relation", ("none", "pending", "connected")),
    )

    account_id: str = Field(primary_key=True, foreign_key="outreach_accounts.id")
    profile_id: str = Field(primary_key=True, foreign_key="people.id")
    network_id: str | None = None
    relation: str | None = None
    invited_at: datetime | None = Field(default=None, sa_type=TIME)
    connected_at: datetime | None = Field(default=None, sa_type=TIME)
    withdrawn_at: datetime | None = Field(default=None, sa_type=TIME)
    chat_id: str | None = None
    read_at: datetime | None = Field(default=None, sa_type=TIME)


class CapNotice(Row, table=True):
    """That `outreach.cap_reached` was published for an account, a cap and its window, so that it is published once."""

    __tablename__ = "cap_notices"
    __table_args__ = (Index("ix_cap_notices_created_at", "created_at"),)

    account_id: str = Field(primary_key=True)
    cap: str = Field(primary_key=True)
    window_start: datetime = Field(primary_key=True, sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)


class Recovery(Row, table=True):
    """That the database was restored: the network may know of actions from `since` on that no row has.

    What was asked for before `at` is read back on the network before it is done (`models/operate/recovery.py`).
    """

    __tablename__ = "recoveries"

    id: str = Field(primary_key=True)
    since: datetime = Field(sa_type=TIME)
    at: datetime = Field(sa_type=TIME)


# The network's side of outreach: callbacks as they came, conversations and messages.


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
        one_of("intent", ConversationIntent),
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
        one_of("direction", ("in", "out")),
        one_of("sent_by", ("service", "owner", "candidate")),
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
