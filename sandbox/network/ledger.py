"""Records of the network: every executed write, the network's limits, and the provider's own rate limits."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

from sandbox.clock import Clock, rfc3339
from sandbox.network.people import Member
from sandbox.network.wire import Json
from sandbox.state import State

Kind = Literal["invite", "withdraw", "message", "visit"]
UNLIMITED_PER_HOUR = 1_000_000
INVITES_PER_DAY, INVITES_PER_WEEK = 100, 200
_HOUR = 3600


class WriteLog:
    """Every executed write in order: the truth about double sends."""

    def __init__(self, state: State, clock: Clock) -> None:
        self._state, self._clock = state, clock

    def note(self, kind: Kind, *, account_id: str, owner: int, person: Member, text: str | None, result: str) -> None:
        """Log an executed write; `result` is the resulting id."""
        body = {
            "at": rfc3339(self._clock.now()),
            "account_id": account_id,
            "kind": kind,
            "person_id": person.id,
            "public_identifier": person.public_identifier,
            "profile_url": person.profile_url,
            "text": text,
            "result": result,
        }
        self._state.database.execute(
            "insert into network_log (owner, kind, body) values (?, ?, ?)", (owner, kind, json.dumps(body))
        )

    def all(self, *, account_id: str | None = None, after: int = 0) -> list[Json]:
        """Return all writes or those of one account, with a number above `after`."""
        rows = self._state.database.execute("select seq, body from network_log where seq > ? order by seq", (after,))
        writes = [{"seq": seq} | json.loads(body) for seq, body in rows.fetchall()]
        return [write for write in writes if account_id in (None, write["account_id"])]

    def clear(self) -> int:
        """Delete all writes and return their number."""
        return self._state.database.execute("delete from network_log").rowcount

    def limit_reached(self, owner: int) -> Literal["daily", "weekly"] | None:
        """Return the limit of the network that an owner's next invite would exceed."""
        midnight = self._clock.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        monday = midnight - timedelta(days=midnight.weekday())
        if self._invites_since(owner, monday) >= INVITES_PER_WEEK:
            return "weekly"
        return "daily" if self._invites_since(owner, midnight) >= INVITES_PER_DAY else None

    def _invites_since(self, owner: int, moment: datetime) -> int:
        (count,) = self._state.database.execute(
            "select count(*) from network_log where owner = ? and kind = 'invite' and json_extract(body, '$.at') >= ?",
            (owner, rfc3339(moment)),
        ).fetchone()
        return int(count)


@dataclass(frozen=True, slots=True)
class Window:
    """The state of one rate limit window after a call; `reset` is in seconds."""

    allowed: bool
    limit: int
    remaining: int
    reset: int

    def headers(self) -> dict[str, str]:
        """Return the rate limit headers."""
        return {
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": str(self.remaining),
            "x-ratelimit-reset": str(self.reset),
        }


@dataclass(slots=True)
class RateLimits:
    """Fixed windows of one hour for each account and operation; cached answers do not count."""

    clock: Clock
    per_hour: dict[str, int] = field(default_factory=dict)
    _windows: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)

    def take(self, account_id: str, operation: str) -> Window:
        """Count a call against its window."""
        limit = self.per_hour.get(operation, self.per_hour.get("*", UNLIMITED_PER_HOUR))
        now = int(self.clock.now().timestamp())
        start = now // _HOUR
        known, count = self._windows.get((account_id, operation), (start, 0))
        count = count + 1 if known == start else 1
        self._windows[account_id, operation] = (start, count)
        return Window(count <= limit, limit, max(0, limit - count), _HOUR - now % _HOUR)

    def change(self, limits: Mapping[str, int]) -> None:
        """Set limits and restart all windows."""
        self.per_hour.update(limits)
        self._windows.clear()
