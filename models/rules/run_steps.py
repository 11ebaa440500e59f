"""What a run does next: when it stops, and which people of a page it fetches (contract, section 5 "Run")."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from models.rules.run_states import FailureCode, FinishDetail, RunStatus, StopReason

CHUNK = 50
"""People whose profiles are fetched in one upstream call."""
UNUSABLE_ANSWERS = 3
"""After so many unusable answers in a row a run fails."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A final state. `failure` goes with `failed`, the others with `completed`."""

    status: RunStatus
    reason: StopReason | None = None
    detail: FinishDetail | None = None
    failure: FailureCode | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """What is asked of a run before every step."""

    cancelled: bool
    key_valid: bool
    workspace_suspended: bool
    customer_disabled: bool
    delivered: int
    target: int
    deadline_at: datetime | None


def stop_now(standing: Standing, now: datetime) -> Stop | None:
    """Whether the run ends here, whatever is left to search."""
    if standing.cancelled:
        return Stop(RunStatus.ABORTED)
    forbidden = _forbidden(standing)
    if forbidden is not None:
        return failed(forbidden)
    if standing.delivered >= standing.target:
        return Stop(RunStatus.COMPLETED, StopReason.FINISH, FinishDetail.TARGET_REACHED)
    if standing.deadline_at is not None and now >= standing.deadline_at:
        return Stop(RunStatus.COMPLETED, StopReason.TIME)
    return None


def _forbidden(standing: Standing) -> FailureCode | None:
    if standing.workspace_suspended:
        return FailureCode.WORKSPACE_SUSPENDED
    if standing.customer_disabled:
        return FailureCode.CUSTOMER_DISABLED
    return None if standing.key_valid else FailureCode.KEY_REVOKED


def failed(code: FailureCode) -> Stop:
    """A run stopped by an error."""
    return Stop(RunStatus.FAILED, failure=code)


def exhausted(*, delivered: int) -> Stop:
    """Nobody is left on the ladder."""
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

    `known` are people the tenant has seen or the run has delivered. Somebody twice on the page counts as known.
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
    """How many of the people, in order, the credits pay for."""
    spent = 0
    for count, price in enumerate(prices):
        spent += price
        if spent > credits:
            return count
    return len(prices)
