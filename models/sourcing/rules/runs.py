"""Run states: which there are, which are final, and what may be asked in each (specification, "Run status values")."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from models.base.statuses import RunStatus, StopReason
from models.base.steps import Call, Queue


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

HEARTBEAT_SECONDS = 3.0
UPSTREAM_CALL_SECONDS = 60.0
"""The most one upstream call takes, its repetition included."""
BACKGROUND_PRIORITY = 3
"""Behind the calls that a caller waits for (2)."""
QUEUE_SECONDS = 60.0
"""A call that has queued for longer is shown on its run."""

MOST = 2_147_483_647
"""The largest bound of a budget."""

MIN_TARGET = 30
MAX_TARGET = 60
DEFAULT_TARGET = 30
DEFAULT_ADD_TARGET = 20
MAX_ADD_TARGET = 60


def upstream_call(
    step: str,
    workspace_id: str,
    summary: str,
    *,
    number: int,
    queued: str | None = None,
    queue_seconds: float = QUEUE_SECONDS,
) -> Call:
    """Return the next step that calls the people source for background work, in the workspace's turn.

    `queued` is the step that shows on the row that the call has waited for `queue_seconds`.
    """
    return Call(
        step=step,
        number=number,
        queue=Queue.UPSTREAM,
        summary=summary,
        limit_seconds=2 * UPSTREAM_CALL_SECONDS,
        heartbeat_seconds=3 * HEARTBEAT_SECONDS,
        fairness_key=workspace_id,
        priority=BACKGROUND_PRIORITY,
        queued=queued,
        queued_after=queue_seconds,
    )


def retry_delay(failures: int) -> timedelta:
    """Return how long to leave a busy source alone when it does not say: 30 s doubling up to 15 minutes."""
    doublings = min(max(failures, 1) - 1, 10)
    return min(timedelta(seconds=30) * (1 << doublings), timedelta(minutes=15))


# What a run does next: when it stops, and which people of a page it fetches (contract, section 5 "Run").


CHUNK = 50
"""People whose profiles are fetched in one upstream call."""
UNUSABLE_ANSWERS = 3
"""A run fails after this many unusable answers in a row."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A final state. `failure` goes with `failed`, the others with `completed`."""

    status: RunStatus
    reason: StopReason | None = None
    detail: FinishDetail | None = None
    failure: FailureCode | None = None


@dataclass(frozen=True, slots=True)
class RunStanding:
    """What is asked of a run before every step."""

    cancelled: bool
    key_valid: bool
    workspace_suspended: bool
    customer_disabled: bool
    delivered: int
    target: int
    deadline_at: datetime | None


def stop_now(standing: RunStanding, now: datetime) -> Stop | None:
    """Return whether the run ends here, whatever is left to search."""
    if standing.cancelled:
        return Stop(RunStatus.ABORTED)
    forbidden = _forbidden(standing)
    if forbidden is not None:
        return failed_stop(forbidden)
    if standing.delivered >= standing.target:
        return Stop(RunStatus.COMPLETED, StopReason.FINISH, FinishDetail.TARGET_REACHED)
    if standing.deadline_at is not None and now >= standing.deadline_at:
        return Stop(RunStatus.COMPLETED, StopReason.TIME)
    return None


def _forbidden(standing: RunStanding) -> FailureCode | None:
    if standing.workspace_suspended:
        return FailureCode.WORKSPACE_SUSPENDED
    if standing.customer_disabled:
        return FailureCode.CUSTOMER_DISABLED
    return None if standing.key_valid else FailureCode.KEY_REVOKED


def failed_stop(code: FailureCode) -> Stop:
    """Return the end of a run that an error stopped."""
    return Stop(RunStatus.FAILED, failure=code)


def exhausted(*, delivered: int) -> Stop:
    """Return the end of a run that has read the whole ladder."""
    if delivered == 0:
        return Stop(RunStatus.COMPLETED_NO_AUDIENCE)
    return Stop(RunStatus.COMPLETED, StopReason.FINISH, FinishDetail.LADDER_EXHAUSTED)


@dataclass(frozen=True, slots=True)
class Room:
    """How much may still be delivered and spent. Null profile fetches means no bound."""

    people: int
    credits: int
    profile_fetches: int | None


@dataclass(frozen=True, slots=True)
class Price:
    """The most one person can cost."""

    credits: int
    live: bool


@dataclass(frozen=True, slots=True)
class Walk:
    """How far a page was walked: `walked` people, of whom `chunk` are to be delivered.

    `limit` says that the next person would have gone beyond the room; it ends the run when `chunk` is empty.
    """

    walked: int
    duplicates: int
    suppressed: int
    chunk: tuple[str, ...]
    credits: int
    live: int
    limit: StopReason | None = None


def walk(
    people: Sequence[str],
    *,
    suppressed: Collection[str],
    known: Collection[str],
    price: Callable[[str], Price],
    room: Room,
) -> Walk:
    """Sort out one page: leave out suppressed and known people, stop at the room's end.

    `known` are people the tenant has seen or the run has delivered. A person who is on the page twice counts as known.
    """
    chunk: dict[str, Price] = {}
    duplicates = omitted = walked = 0
    limit: StopReason | None = None
    for person in people:
        if len(chunk) == min(room.people, CHUNK):
            break
        if person in suppressed:
            omitted += 1
        elif person in known or person in chunk:
            duplicates += 1
        else:
            limit = _limit([*chunk.values(), price(person)], room)
            if limit is not None:
                break
            chunk[person] = price(person)
        walked += 1
    prices = chunk.values()
    return Walk(
        walked=walked,
        duplicates=duplicates,
        suppressed=omitted,
        chunk=tuple(chunk),
        credits=sum(one.credits for one in prices),
        live=sum(one.live for one in prices),
        limit=limit,
    )


def _limit(prices: Sequence[Price], room: Room) -> StopReason | None:
    if sum(one.credits for one in prices) > room.credits:
        return StopReason.BUDGET
    if room.profile_fetches is not None and sum(one.live for one in prices) > room.profile_fetches:
        return StopReason.PROFILE_CAP
    return None


def affordable(prices: Sequence[int], credits: int) -> int:
    """Return how many of the people, in order, the credits can pay for."""
    spent = 0
    for count, price in enumerate(prices):
        spent += price
        if spent > credits:
            return count
    return len(prices)
