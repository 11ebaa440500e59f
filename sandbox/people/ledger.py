"""The provider's records of calls: the log, the remaining credits, the rate limit windows."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sandbox.clock import Clock, rfc3339
from sandbox.state import State

PROVIDER = "people"
UNLIMITED_PER_MINUTE = 1_000_000
START_CREDITS = 1_000_000
_WINDOW = timedelta(seconds=60)
_RECENT = 200


def key_hash(api_key: str) -> str:
    """Return a name for an API key that does not reveal it."""
    return hashlib.sha256(api_key.encode("utf-8", "surrogatepass")).hexdigest()[:12]


class CallLog:
    """All calls since the last reset, and the highest number in flight at once."""

    def __init__(self, state: State, clock: Clock) -> None:
        self._state = state
        self._clock = clock
        self._in_flight = 0
        self._peak = int(state.number("people_peak"))

    def begin(self) -> datetime:
        """Note the start of a call and return its time."""
        self._in_flight += 1
        if self._in_flight > self._peak:
            self._peak = self._in_flight
            self._state.remember("people_peak", self._peak)
        return self._clock.now()

    def end(
        self, *, at: datetime, operation: str, api_key: str, status: int | None, credits: int, duration_ms: float
    ) -> None:
        """Note the end of a call; without a status it got no answer."""
        self._in_flight -= 1
        self._state.database.execute(
            "insert into calls (provider, at, operation, api_key, status, credits, duration_ms)"
            " values (?, ?, ?, ?, ?, ?, ?)",
            (PROVIDER, rfc3339(at), operation, key_hash(api_key), status, credits, duration_ms),
        )

    def reset(self) -> None:
        """Delete all finished calls; those in flight stay counted."""
        self._state.database.execute("delete from calls where provider = ?", (PROVIDER,))
        self._peak = self._in_flight
        self._state.remember("people_peak", self._peak)

    def summary(self, *, limit: int = _RECENT) -> dict[str, Any]:
        """Return calls per operation and status, the peak, the credits billed, and the latest calls, oldest first."""
        database = self._state.database
        operations: dict[str, dict[str, Any]] = {}
        counted = database.execute(
            "select operation, coalesce(status, 0), count(*), sum(credits) from calls"
            " where provider = ? group by 1, 2 order by 1, 2",
            (PROVIDER,),
        )
        for operation, status, count, credits in counted:
            entry = operations.setdefault(operation, {"calls": 0, "credits": 0, "statuses": {}})
            entry["calls"] += count
            entry["credits"] += credits
            entry["statuses"][str(status or "none")] = count
        latest = database.execute(
            "select at, operation, api_key, status, credits, duration_ms from calls"
            " where provider = ? order by id desc limit ?",
            (PROVIDER, limit),
        ).fetchall()
        names = ("at", "operation", "api_key_hash", "status", "credits", "duration_ms")
        return {
            "calls": {operation: entry["calls"] for operation, entry in operations.items()},
            "operations": operations,
            "in_flight": self._in_flight,
            "max_in_flight": self._peak,
            "credits_billed": sum(entry["credits"] for entry in operations.values()),
            "recent": [dict(zip(names, row, strict=True)) for row in reversed(latest)],
        }


class Credits:
    """The credits of the account, one counter for all keys."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._remaining = int(state.number("people_credits", START_CREDITS))
        self._used = int(state.number("people_credits_used"))

    @property
    def remaining(self) -> int:
        """Credits left."""
        return self._remaining

    def set(self, remaining: int) -> None:
        """Set the balance."""
        self._remaining = remaining
        self._state.remember("people_credits", remaining)

    def spend(self, credits: int) -> None:
        """Charge credits; the last call may exceed the balance."""
        if credits:
            self._used += credits
            self._state.remember("people_credits_used", self._used)
            self.set(max(0, self._remaining - credits))

    def headers(self, *, spent: int, kind: str) -> dict[str, str]:
        """Return the credit headers of one call."""
        return {
            "x-call-credits-spent": str(spent),
            "x-call-credits-type": kind,
            "x-totallimit-remaining": str(self._remaining),
            "x-totallimit-purchased-remaining": str(self._remaining),
            "x-totallimit-overages-remaining": "0",
            "x-lifetime-used": str(self._used),
        }


@dataclass(frozen=True, slots=True)
class Window:
    """The state of one rate limit window after a call."""

    allowed: bool
    limit: int
    remaining: int
    reset: datetime

    def headers(self) -> dict[str, str]:
        """Return the rate limit headers, with objects in single quotes like the provider's."""
        return {
            "x-ratelimit-limit": str({"minute": self.limit, "day": None, "month": None}),
            "x-ratelimit-remaining": str({"minute": self.remaining, "day": None, "month": None}),
            "x-ratelimit-limit.minute": str(self.limit),
            "x-ratelimit-remaining.minute": str(self.remaining),
            "x-ratelimit-reset": self.reset.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }


@dataclass(slots=True)
class RateLimits:
    """Fixed windows of one minute for each key and operation."""

    clock: Clock
    per_minute: dict[str, int]
    _windows: dict[tuple[str, str], tuple[datetime, int]] = field(default_factory=dict)

    def take(self, api_key: str, operation: str) -> Window:
        """Count a call against its window."""
        limit = self.per_minute.get(operation, self.per_minute.get("*", UNLIMITED_PER_MINUTE))
        now = self.clock.now()
        start = datetime.fromtimestamp(now.timestamp() // 60 * 60, UTC)
        known, count = self._windows.get((api_key, operation), (start, 0))
        count = count + 1 if known == start else 1
        self._windows[api_key, operation] = (start, count)
        return Window(allowed=count <= limit, limit=limit, remaining=max(0, limit - count), reset=start + _WINDOW)

    def change(self, limits: Mapping[str, int]) -> None:
        """Set limits and restart all windows."""
        self.per_minute.update(limits)
        self._windows.clear()
