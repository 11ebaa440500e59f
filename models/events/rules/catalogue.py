"""The catalogue of events: every type, the shape of its data, and the envelope (specification, "Events").

Data holds ids, statuses and counts, never profile contents or message text. Types whose changes belong to parts of the
service that do not exist yet are declared here all the same, so that their emitters find the shape.
"""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from models.base.statuses import RunStatus, StopReason
from models.base.times import Time

KEPT = timedelta(days=30)
"""How long events are readable, whatever happened to their delivery."""

EXPIRY_NOTICE = timedelta(days=7)
"""How long before a grant expires `credits.expiring` is told."""


class EventType(StrEnum):
    """What can happen on an account. New types may be added at any time: consumers ignore unknown ones."""

    RUN_COMPLETED = "run.completed"
    RUN_FAILED = "run.failed"
    RUN_CANCELLED = "run.cancelled"
    JOB_COMPLETED = "job.completed"
    JOB_FAILED = "job.failed"
    CONTACTS_COMPLETED = "contacts.completed"
    ENROLLMENT_CREATED = "enrollment.created"
    ENROLLMENT_COMPLETED = "enrollment.completed"
    ENROLLMENT_FAILED = "enrollment.failed"
    ACTION_SENT = "action.sent"
    ACTION_FAILED = "action.failed"
    ACTION_AWAITING_APPROVAL = "action.awaiting_approval"
    INVITE_ACCEPTED = "invite.accepted"
    REPLY_RECEIVED = "reply.received"
    ACCOUNT_CONNECTED = "account.connected"
    ACCOUNT_PAUSED = "account.paused"
    ACCOUNT_DISCONNECTED = "account.disconnected"
    OUTREACH_CAP_REACHED = "outreach.cap_reached"
    CREDITS_LOW = "credits.low"
    CREDITS_EXPIRING = "credits.expiring"
    PING = "ping"


class EventData(BaseModel):
    """What an event carries: `data` of its envelope."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RunEnded(EventData):
    """A run reached a final state. `candidates` and `spent_credits` count all of it, extensions included."""

    run_id: str
    plan_id: str
    status: RunStatus
    stop_reason: StopReason | None
    candidates: int
    spent_credits: int


class JobEnded(EventData):
    """An async fetch job ended; `counts` is of rows by status."""

    job_id: str
    status: str
    counts: dict[str, int]
    spent_credits: int


class ContactsFound(EventData):
    """A contact lookup has its answers."""

    lookup_id: str
    found: int
    missed: int
    spent_credits: int


class EnrollmentChanged(EventData):
    """A candidate entered, finished or fell out of a sequence."""

    enrollment_id: str
    sequence_id: str
    account_id: str
    profile_id: str
    status: str
    reason: str | None


class ActionChanged(EventData):
    """An outreach step was sent, failed, or waits for approval; direct sends have no enrollment."""

    action_id: str
    enrollment_id: str | None
    sequence_id: str | None
    account_id: str
    profile_id: str
    type: str
    outcome: str
    reason: str | None


class InviteAccepted(EventData):
    """A candidate accepted an invite."""

    enrollment_id: str | None
    account_id: str
    profile_id: str


class ReplyReceived(EventData):
    """A contacted person wrote."""

    conversation_id: str
    message_id: str
    enrollment_id: str | None
    account_id: str
    profile_id: str


class AccountChanged(EventData):
    """An outreach account changed state."""

    account_id: str
    status: str
    reason: str | None
    paused_until: Time | None


class CapReached(EventData):
    """A safety cap stopped sends for the day or week."""

    account_id: str
    cap: str
    window: str
    next_available_at: Time | None


class CreditsLow(EventData):
    """The balance fell below the workspace's threshold; `grant_id` is the newest grant."""

    grant_id: str
    balance_credits: int
    threshold_credits: int


class CreditsExpiring(EventData):
    """Credits of a grant that are left and expire soon."""

    grant_id: str
    credits: int
    expires_at: Time


class Pinged(EventData):
    """An endpoint was tested."""

    endpoint_id: str


EVENT_MEANINGS: Mapping[EventType, str] = {
    EventType.RUN_COMPLETED: "A run completed, with or without candidates.",
    EventType.RUN_FAILED: "A run failed.",
    EventType.RUN_CANCELLED: "A run was cancelled and has stopped.",
    EventType.JOB_COMPLETED: "An async fetch of profiles has ended.",
    EventType.JOB_FAILED: "An async fetch of profiles has failed.",
    EventType.CONTACTS_COMPLETED: "A contact lookup has its answers.",
    EventType.ENROLLMENT_CREATED: "A candidate entered a sequence.",
    EventType.ENROLLMENT_COMPLETED: "A candidate finished a sequence, or replied.",
    EventType.ENROLLMENT_FAILED: "A candidate fell out of a sequence, or was taken out.",
    EventType.ACTION_SENT: "An outreach step was sent.",
    EventType.ACTION_FAILED: "An outreach step failed, was refused, or its outcome is unknown.",
    EventType.ACTION_AWAITING_APPROVAL: "An outreach step waits for approval.",
    EventType.INVITE_ACCEPTED: "A candidate accepted a connection invite.",
    EventType.REPLY_RECEIVED: "A contacted person wrote.",
    EventType.ACCOUNT_CONNECTED: "An outreach account became active.",
    EventType.ACCOUNT_PAUSED: "An outreach account was paused.",
    EventType.ACCOUNT_DISCONNECTED: "An outreach account was disconnected.",
    EventType.OUTREACH_CAP_REACHED: "A safety cap stopped sends for the day or week.",
    EventType.CREDITS_LOW: "The balance fell below `low_balance_credits`; once for each newest grant.",
    EventType.CREDITS_EXPIRING: "A credit grant expires within 7 days and has credits left; once for each.",
    EventType.PING: "An endpoint is tested.",
}
"""What each type tells, for the documentation."""

DATA_OF: Mapping[EventType, type[EventData]] = {
    EventType.RUN_COMPLETED: RunEnded,
    EventType.RUN_FAILED: RunEnded,
    EventType.RUN_CANCELLED: RunEnded,
    EventType.JOB_COMPLETED: JobEnded,
    EventType.JOB_FAILED: JobEnded,
    EventType.CONTACTS_COMPLETED: ContactsFound,
    EventType.ENROLLMENT_CREATED: EnrollmentChanged,
    EventType.ENROLLMENT_COMPLETED: EnrollmentChanged,
    EventType.ENROLLMENT_FAILED: EnrollmentChanged,
    EventType.ACTION_SENT: ActionChanged,
    EventType.ACTION_FAILED: ActionChanged,
    EventType.ACTION_AWAITING_APPROVAL: ActionChanged,
    EventType.INVITE_ACCEPTED: InviteAccepted,
    EventType.REPLY_RECEIVED: ReplyReceived,
    EventType.ACCOUNT_CONNECTED: AccountChanged,
    EventType.ACCOUNT_PAUSED: AccountChanged,
    EventType.ACCOUNT_DISCONNECTED: AccountChanged,
    EventType.OUTREACH_CAP_REACHED: CapReached,
    EventType.CREDITS_LOW: CreditsLow,
    EventType.CREDITS_EXPIRING: CreditsExpiring,
    EventType.PING: Pinged,
}
"""The shape of each type's data."""

RUN_ENDED: Mapping[RunStatus, EventType] = {
    RunStatus.COMPLETED: EventType.RUN_COMPLETED,
    RunStatus.COMPLETED_NO_AUDIENCE: EventType.RUN_COMPLETED,
    RunStatus.FAILED: EventType.RUN_FAILED,
    RunStatus.ABORTED: EventType.RUN_CANCELLED,
}
"""What is told of a run in each final state."""


class Envelope(BaseModel):
    """An event as it is delivered and read; the fields stand in this order."""

    model_config = ConfigDict(frozen=True)

    id: str
    object: str = "event"
    type: str
    created_at: Time
    customer_id: str | None
    data: dict[str, Any]

    def body(self) -> bytes:
        """The bytes of a delivery: a function of the stored event alone, so that every attempt sends the same."""
        return self.model_dump_json().encode()
