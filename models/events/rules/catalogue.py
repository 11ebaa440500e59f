"""The catalogue of events: every type with its data and description (specification, "Events").

Data holds ids, statuses and counts, never profile contents or message text. The OpenAPI document and the pages of the
documentation read types, data and descriptions from here.
"""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict

from models.base.statuses import RunStatus, StopReason
from models.base.values import Time

KEPT = timedelta(days=30)
"""How long events can be read, whether or not they were delivered."""

EXPIRY_NOTICE = timedelta(days=7)
"""How long before a grant expires `credits.expiring` is emitted."""


class EventData(BaseModel):
    """The `data` of an event."""

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
    """An async fetch job ended; `counts` is the number of rows by status."""

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
    """A candidate entered or finished a sequence, or was removed from it."""

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
    """A grant with credits left expires soon."""

    grant_id: str
    credits: int
    expires_at: Time


class Pinged(EventData):
    """An endpoint was tested."""

    endpoint_id: str


class EventType(StrEnum):
    """What can happen on an account. New types may be added at any time: consumers ignore unknown ones."""

    data: type[EventData]
    description: str
    """What the event means, for the OpenAPI document and the documentation."""

    def __new__(cls, value: str, data: type[EventData] = EventData, description: str = "") -> Self:
        """Return the type's name, which carries what belongs to it."""
        made = str.__new__(cls, value)
        made._value_ = value
        made.data, made.description = data, description
        return made

    RUN_COMPLETED = "run.completed", RunEnded, "A run completed, with or without candidates."
    RUN_FAILED = "run.failed", RunEnded, "A run failed."
    RUN_CANCELLED = "run.cancelled", RunEnded, "A run was cancelled and has stopped."
    JOB_COMPLETED = "job.completed", JobEnded, "An async fetch of profiles has ended."
    JOB_FAILED = "job.failed", JobEnded, "An async fetch of profiles has failed."
    CONTACTS_COMPLETED = "contacts.completed", ContactsFound, "A contact lookup has its answers."
    ENROLLMENT_CREATED = "enrollment.created", EnrollmentChanged, "A candidate entered a sequence."
    ENROLLMENT_COMPLETED = "enrollment.completed", EnrollmentChanged, "A candidate finished a sequence, or replied."
    ENROLLMENT_FAILED = (
        "enrollment.failed",
        EnrollmentChanged,
        "A candidate's enrollment failed, or the candidate was removed from the sequence.",
    )
    ACTION_SENT = "action.sent", ActionChanged, "An outreach step was sent."
    ACTION_FAILED = (
        "action.failed",
        ActionChanged,
        "An outreach step failed, was refused, or its outcome is unknown.",
    )
    ACTION_AWAITING_APPROVAL = "action.awaiting_approval", ActionChanged, "An outreach step waits for approval."
    INVITE_ACCEPTED = "invite.accepted", InviteAccepted, "A candidate accepted a connection invite."
    REPLY_RECEIVED = "reply.received", ReplyReceived, "A contacted person wrote."
    ACCOUNT_CONNECTED = "account.connected", AccountChanged, "An outreach account became active."
    ACCOUNT_PAUSED = "account.paused", AccountChanged, "An outreach account was paused."
    ACCOUNT_DISCONNECTED = "account.disconnected", AccountChanged, "An outreach account was disconnected."
    OUTREACH_CAP_REACHED = "outreach.cap_reached", CapReached, "A safety cap stopped sends for the day or week."
    CREDITS_LOW = (
        "credits.low",
        CreditsLow,
        "The balance fell below `low_balance_credits`; once for each newest grant.",
    )
    CREDITS_EXPIRING = (
        "credits.expiring",
        CreditsExpiring,
        f"A credit grant expires within {EXPIRY_NOTICE.days} days and has credits left; once for each.",
    )
    PING = "ping", Pinged, "An endpoint is tested."


RUN_ENDED: Mapping[RunStatus, EventType] = {
    RunStatus.COMPLETED: EventType.RUN_COMPLETED,
    RunStatus.COMPLETED_NO_AUDIENCE: EventType.RUN_COMPLETED,
    RunStatus.FAILED: EventType.RUN_FAILED,
    RunStatus.ABORTED: EventType.RUN_CANCELLED,
}
"""The event of a run in each final state."""
