"""Jobs: people fetched in the background, their states and why they fail (contract, section 5 "Raw layer")."""

from datetime import timedelta
from enum import StrEnum

LIFE = timedelta(hours=3)
"""How long a job waits for a busy source."""
ATTEMPTS = 3
"""How often people whom the source refuses for now are asked for, and how many unusable answers end a job."""


class JobStatus(StrEnum):
    """`waiting_for_quota` returns to `running`."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING_FOR_QUOTA = "waiting_for_quota"
    COMPLETED = "completed"
    FAILED = "failed"


FINAL = frozenset({JobStatus.COMPLETED, JobStatus.FAILED})


class JobFailure(StrEnum):
    """Why a job failed. What was fetched until then is charged and readable."""

    KEY_REVOKED = "key_revoked"
    WORKSPACE_SUSPENDED = "workspace_suspended"
    CUSTOMER_DISABLED = "customer_disabled"
    UPSTREAM_ERROR = "upstream_error"
    UPSTREAM_BUSY = "upstream_busy"
    INSUFFICIENT_CREDITS = "insufficient_credits"
    DAILY_CREDIT_CAP_REACHED = "daily_credit_cap_reached"


FAILURE_MESSAGES = {
    JobFailure.KEY_REVOKED: "The API key that started this was revoked or has expired.",
    JobFailure.WORKSPACE_SUSPENDED: "The workspace is suspended.",
    JobFailure.CUSTOMER_DISABLED: "The customer is disabled.",
    JobFailure.UPSTREAM_ERROR: "The data source answered with something unusable.",
    JobFailure.UPSTREAM_BUSY: "The data source was busy for too long.",
    JobFailure.INSUFFICIENT_CREDITS: "The credits were spent elsewhere meanwhile.",
    JobFailure.DAILY_CREDIT_CAP_REACHED: "The daily credit cap was reached meanwhile.",
}

# Contact details: their kinds, their statuses, and how long they are free to read again.


KEPT = timedelta(days=365)
"""A repeat within this time is free (contract, section 5 "Raw layer")."""


class ContactKind(StrEnum):
    """What can be asked for."""

    EMAIL = "email"
    PHONE = "phone"


class ContactStatus(StrEnum):
    """What became of one person and kind. Only `found` costs."""

    FOUND = "found"
    NOT_FOUND = "not_found"
    SUPPRESSED = "suppressed"
    ERROR = "error"
