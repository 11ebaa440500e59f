"""Run states: which there are, which are final, and what may be asked in each (specification, "Run status values")."""

from datetime import timedelta
from enum import StrEnum


class RunStatus(StrEnum):
    """`waiting_for_quota` returns to `running`; an extension returns a finished run to `queued`."""

    QUEUED = "queued"
    RUNNING = "running"
    FETCHING = "fetching"
    WAITING_FOR_QUOTA = "waiting_for_quota"
    COMPLETED = "completed"
    COMPLETED_NO_AUDIENCE = "completed_no_audience"
    FAILED = "failed"
    ABORTED = "aborted"


class StopReason(StrEnum):
    """Why a run completed."""

    FINISH = "finish"
    BUDGET = "budget"
    PROFILE_CAP = "profile_cap"
    TIME = "time"


class FinishDetail(StrEnum):
    """What `finish` means."""

    TARGET_REACHED = "target_reached"
    LADDER_EXHAUSTED = "ladder_exhausted"


class FailureCode(StrEnum):
    """Why a run failed."""

    KEY_REVOKED = "key_revoked"
    WORKSPACE_SUSPENDED = "workspace_suspended"
    CUSTOMER_DISABLED = "customer_disabled"
    UPSTREAM_ERROR = "upstream_error"
    INTERNAL = "internal"


FAILURE_MESSAGES = {
    FailureCode.KEY_REVOKED: "The API key that started this run was revoked or has expired.",
    FailureCode.WORKSPACE_SUSPENDED: "The workspace is suspended.",
    FailureCode.CUSTOMER_DISABLED: "The customer is disabled.",
    FailureCode.UPSTREAM_ERROR: "The data source answered with something unusable.",
    FailureCode.INTERNAL: "Something went wrong on our side.",
}

FINAL = frozenset({RunStatus.COMPLETED, RunStatus.COMPLETED_NO_AUDIENCE, RunStatus.FAILED, RunStatus.ABORTED})
EXTENDABLE = frozenset({RunStatus.COMPLETED, RunStatus.COMPLETED_NO_AUDIENCE, RunStatus.ABORTED})

LIFE = timedelta(hours=3)
"""How long a run works, from its start and again from each extension."""

MOST = 2_147_483_647
"""The largest bound of a budget."""

MIN_TARGET = 30
MAX_TARGET = 60
DEFAULT_TARGET = 30
DEFAULT_ADD_TARGET = 20
MAX_ADD_TARGET = 60


def retry_delay(failures: int) -> timedelta:
    """How long to leave a busy source alone when it does not say: 30 s doubling up to 15 minutes."""
    doublings = min(max(failures, 1) - 1, 10)
    return min(timedelta(seconds=30) * (1 << doublings), timedelta(minutes=15))
