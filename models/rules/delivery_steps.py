"""What a delivery does next: wait for its time or its turn, attempt, or nothing more (specification, "Retries")."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from models.rules.deliveries import IN_FLIGHT, DeliveryStatus, Turn, accepted, retry_after

LEASE = timedelta(minutes=1)
"""An attempt that has not ended after this (service time) is looked after by the dispatcher."""


class Need(StrEnum):
    """What a delivery needs next."""

    ATTEMPT = "attempt"
    TIME = "time"
    TURN = "turn"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a delivery stands. `made` attempts have ended; `single`: the next one is the last."""

    status: DeliveryStatus
    made: int
    single: bool
    turn: Turn | None
    due_at: datetime | None
    wake_at: datetime | None = None

    @property
    def pending(self) -> bool:
        """Whether it may still be attempted."""
        return self.status is DeliveryStatus.PENDING


def closed(standing: Standing, status: DeliveryStatus) -> Standing:
    """The delivery once nothing follows any more."""
    return replace(standing, status=status, turn=None, due_at=None, wake_at=None)


def decided(standing: Standing, *, wanted: bool, given: int, now: datetime) -> tuple[Need, Standing]:
    """What it needs next, and where it stands then: an attempt takes the turn.

    `wanted`: its endpoint is enabled, and was not disabled since the event; `given` counts the turns of others at the
    endpoint.
    """
    if standing.pending and not wanted:
        standing = closed(standing, DeliveryStatus.DROPPED)
    if not standing.pending or standing.due_at is None:
        return Need.NOTHING, standing
    if standing.due_at > now:
        return Need.TIME, replace(standing, wake_at=standing.due_at)
    if standing.turn is not Turn.GIVEN and given >= IN_FLIGHT:
        return Need.TURN, replace(standing, turn=Turn.ASKED, wake_at=None)
    return Need.ATTEMPT, replace(standing, turn=Turn.GIVEN, wake_at=now + LEASE)


def settled(standing: Standing, status_code: int | None, *, now: datetime) -> Standing:
    """Where it stands after one more attempt; its turn is given back. One that was dropped meanwhile stays so."""
    standing = replace(standing, made=standing.made + 1)
    if not standing.pending:
        return standing
    wait = None if standing.single else retry_after(standing.made)
    if accepted(status_code):
        return closed(standing, DeliveryStatus.DELIVERED)
    if wait is None:
        return closed(standing, DeliveryStatus.FAILED)
    return replace(standing, turn=None, due_at=now + wait)
