"""The words of outreach: states of accounts, sequences, enrollments and actions, their reasons, and what may follow."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from models.people.rules.registers import SeenStatus


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """`field` is the dotted path (`steps.2.note`), `message` reads behind it: "has at most 300 characters"."""

    field: str
    message: str


class AccountStatus(StrEnum):
    """`needs_review`: the network or a disconnect stopped it, and its owner has to look."""

    CONNECTING = "connecting"
    ACTIVE = "active"
    PAUSED = "paused"
    DISCONNECTED = "disconnected"
    NEEDS_REVIEW = "needs_review"
    REMOVED = "removed"


class PauseReason(StrEnum):
    """Why an account rests. The first two are the network's and cannot be resumed early."""

    DAILY_LIMIT = "daily_limit"
    WEEKLY_LIMIT = "weekly_limit"
    DISCONNECTED = "disconnected"
    RESTRICTED = "restricted"
    MANUAL = "manual"


class SequenceStatus(StrEnum):
    """Only an `active` one takes people and goes on; `archived` is as `paused`, and left out of the default list."""

    ACTIVE = "active"
    PAUSED = "paused"
    ARCHIVED = "archived"


class EnrollmentStatus(StrEnum):
    """The first five are open."""

    SCHEDULED = "scheduled"
    ACTIVE = "active"
    AWAITING_APPROVAL = "awaiting_approval"
    WAITING_FOR_ACCEPT = "waiting_for_accept"
    PAUSED = "paused"
    COMPLETED = "completed"
    REPLIED = "replied"
    STOPPED = "stopped"
    FAILED = "failed"


class EnrollmentReason(StrEnum):
    """Why an enrollment is `paused`, `stopped` or `failed`."""

    MANUAL = "manual"
    SEQUENCE_PAUSED = "sequence_paused"
    ACCOUNT_PAUSED = "account_paused"
    OWNER_WROTE = "owner_wrote"
    OUTCOME_UNKNOWN = "outcome_unknown"
    SUPPRESSED = "suppressed"
    DO_NOT_CONTACT = "do_not_contact"
    ERASED = "erased"
    ACCOUNT_REMOVED = "account_removed"
    ACTION_FAILED = "action_failed"
    ACTION_REFUSED = "action_refused"
    ALREADY_CONTACTED = "already_contacted"


class ActionOutcome(StrEnum):
    """Where an action stands."""

    SCHEDULED = "scheduled"
    AWAITING_APPROVAL = "awaiting_approval"
    SENDING = "sending"
    RECONCILING = "reconciling"
    SENT = "sent"
    SKIPPED = "skipped"
    REFUSED = "refused"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class ActionReason(StrEnum):
    """Why an action was skipped, refused, failed or cancelled, or a person not enrolled; caps by name stand beside."""

    SUPPRESSED = "suppressed"
    DO_NOT_CONTACT = "do_not_contact"
    ALREADY_CONTACTED = "already_contacted"
    DAILY_PACE_LIMIT = "daily_pace_limit"
    MISSING_FIRST_NAME = "missing_first_name"
    MISSING_COMPANY = "missing_company"
    NOTE_TOO_LONG = "note_too_long"
    NOT_FOUND = "not_found"
    ACCEPT_TIMEOUT = "accept_timeout"
    NOT_INVITED = "not_invited"
    INVITE_NOT_PENDING = "invite_not_pending"
    ALREADY_CONNECTED = "already_connected"
    ALREADY_INVITED = "already_invited"
    RECENTLY_WITHDRAWN = "recently_withdrawn"
    TEXT_ALREADY_SENT = "text_already_sent"
    NO_VISIT_TOKEN = "no_visit_token"  # noqa: S105 - the network gave no token for a visit
    REJECTED = "rejected"
    ABANDONED = "abandoned"
    OUTCOME_UNKNOWN = "outcome_unknown"
    NETWORK_REFUSED = "network_refused"
    REPLIED = "replied"
    OWNER_WROTE = "owner_wrote"
    STOPPED = "stopped"
    STEP_REMOVED = "step_removed"
    ACCOUNT_REMOVED = "account_removed"


OPEN_ENROLLMENTS = frozenset(
    {
        EnrollmentStatus.SCHEDULED,
        EnrollmentStatus.ACTIVE,
        EnrollmentStatus.AWAITING_APPROVAL,
        EnrollmentStatus.WAITING_FOR_ACCEPT,
        EnrollmentStatus.PAUSED,
    }
)
FINAL_ENROLLMENTS = frozenset(EnrollmentStatus) - OPEN_ENROLLMENTS
USED = frozenset({ActionOutcome.SENT, ActionOutcome.SENDING, ActionOutcome.RECONCILING, ActionOutcome.UNKNOWN})
"""Actions that have taken a place of a cap."""
RESERVED = frozenset({ActionOutcome.SCHEDULED})
"""Actions that hold a place of a cap; a held step holds none."""
FINAL_ACTIONS = frozenset(
    {
        ActionOutcome.SENT,
        ActionOutcome.SKIPPED,
        ActionOutcome.REFUSED,
        ActionOutcome.FAILED,
        ActionOutcome.CANCELLED,
    }
)
"""Nothing changes these any more; `unknown` waits for a person."""

_NEXT_ACTION: dict[ActionOutcome, frozenset[ActionOutcome]] = {
    ActionOutcome.AWAITING_APPROVAL: frozenset(
        {
            ActionOutcome.SCHEDULED,
            ActionOutcome.SKIPPED,
            ActionOutcome.REFUSED,
            ActionOutcome.CANCELLED,
        }
    ),
    ActionOutcome.SCHEDULED: frozenset(
        {
            ActionOutcome.AWAITING_APPROVAL,  # the person's data changed what was approved
            ActionOutcome.SENDING,
            ActionOutcome.SKIPPED,
            ActionOutcome.REFUSED,
            ActionOutcome.CANCELLED,
        }
    ),
    ActionOutcome.SENDING: frozenset(
        {
            ActionOutcome.SCHEDULED,  # surely not executed
            ActionOutcome.RECONCILING,
            ActionOutcome.SENT,
            ActionOutcome.SKIPPED,
            ActionOutcome.REFUSED,
            ActionOutcome.FAILED,
            ActionOutcome.CANCELLED,
        }
    ),
    ActionOutcome.RECONCILING: frozenset(
        {
            ActionOutcome.SCHEDULED,  # shown not to be done: once more from the start
            ActionOutcome.SENT,
            ActionOutcome.SKIPPED,  # shown to have become pointless
            ActionOutcome.FAILED,
            ActionOutcome.CANCELLED,
            ActionOutcome.UNKNOWN,
        }
    ),
    ActionOutcome.UNKNOWN: frozenset({ActionOutcome.SENT, ActionOutcome.FAILED}),
}


_NEXT_ACCOUNT: dict[AccountStatus, frozenset[AccountStatus]] = {
    AccountStatus.CONNECTING: frozenset(AccountStatus) - {AccountStatus.CONNECTING},
    AccountStatus.ACTIVE: frozenset(
        {
            AccountStatus.PAUSED,
            AccountStatus.DISCONNECTED,
            AccountStatus.NEEDS_REVIEW,
            AccountStatus.REMOVED,
        }
    ),
    AccountStatus.PAUSED: frozenset(
        {
            AccountStatus.ACTIVE,
            AccountStatus.DISCONNECTED,
            AccountStatus.NEEDS_REVIEW,
            AccountStatus.REMOVED,
        }
    ),
    # reconnected, it is looked at first; reconnecting it may be that look
    AccountStatus.DISCONNECTED: frozenset(
        {
            AccountStatus.NEEDS_REVIEW,
            AccountStatus.ACTIVE,
            AccountStatus.REMOVED,
        }
    ),
    AccountStatus.NEEDS_REVIEW: frozenset(
        {
            AccountStatus.ACTIVE,
            AccountStatus.PAUSED,  # a pause of the network that was running goes on
            AccountStatus.DISCONNECTED,
            AccountStatus.REMOVED,
        }
    ),
    AccountStatus.REMOVED: frozenset({AccountStatus.CONNECTING}),
}


def account_may_become(now: AccountStatus, then: AccountStatus) -> bool:
    """Whether an account may change so; a removed one is connected again like a new one."""
    return then in _NEXT_ACCOUNT[now]


def action_may_become(now: ActionOutcome, then: ActionOutcome) -> bool:
    """Whether an action may change so; final ones change no more."""
    return then in _NEXT_ACTION.get(now, frozenset())


def enrollment_may_become(now: EnrollmentStatus, then: EnrollmentStatus) -> bool:
    """Whether an enrollment may change so: open ones in every way, but none back to `scheduled`; final ones never."""
    if now in FINAL_ENROLLMENTS or now is then:
        return False
    return then is not EnrollmentStatus.SCHEDULED or now is EnrollmentStatus.PAUSED


MAX_REPLY = 8000
"""Characters (code points) of an answer; it has at least one."""


class ConversationIntent(StrEnum):
    """The caller's label of a conversation."""

    INTERESTED = "interested"
    NOT_INTERESTED = "not_interested"
    QUESTION = "question"
    OTHER = "other"


NOTED: Mapping[ConversationIntent, Mapping[str, object]] = {
    ConversationIntent.INTERESTED: {"status": SeenStatus.INTERESTED.value},
    ConversationIntent.NOT_INTERESTED: {"status": SeenStatus.NOT_INTERESTED.value, "do_not_contact": True},
}
"""What a label says of the person in the seen register."""
