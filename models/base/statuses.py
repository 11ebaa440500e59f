"""Statuses that several subjects speak of."""

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
