"""The provider's cached answers of the network: at most an hour old, unless a caller asks for fresher ones."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sandbox.clock import Clock, rfc3339
from sandbox.network.wire import Json
from sandbox.state import State

LIFE_SECONDS = 3600.0
_KEPT = timedelta(days=30)
_MAX_AGE = re.compile(r"max-age=(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Copy:
    """A cached answer and its age in seconds."""

    body: Json
    age: int


class Cache:
    """All cached answers; a write drops those that it makes stale, but acts of people drop none."""

    def __init__(self, state: State, clock: Clock) -> None:
        self._state, self._clock = state, clock

    @property
    def life_seconds(self) -> float:
        """How long a copy is given out."""
        return self._state.number("network_cache_seconds", LIFE_SECONDS)

    def change_life(self, seconds: float) -> None:
        """Set how long a cached answer is used."""
        self._state.remember("network_cache_seconds", seconds)

    def find(self, key: str, headers: Mapping[str, str]) -> Copy | None:
        """Return a cached answer that the caller accepts; None when they ask for a fresh one."""
        wanted = headers.get("cache-control", "").lower()
        if "no-cache" in wanted or "no-store" in wanted:
            return None
        asked = _MAX_AGE.search(wanted)
        longest = min(self.life_seconds, float(asked.group(1))) if asked else self.life_seconds
        row = self._state.database.execute("select at, body from network_cache where key = ?", (key,)).fetchone()
        if row is None:
            return None
        age = (self._clock.now() - datetime.fromisoformat(row[0])).total_seconds()
        return Copy(json.loads(row[1]), max(0, int(age))) if 0 <= age <= longest else None

    def keep(
        self, key: str, body: Json, *, account_id: str, operation: str, person: int | None, headers: Mapping[str, str]
    ) -> None:
        """Cache an answer, unless the caller forbids it."""
        if "no-store" in headers.get("cache-control", "").lower():
            return
        now = self._clock.now()
        self._state.database.execute("delete from network_cache where at < ?", (rfc3339(now - _KEPT),))
        self._state.database.execute(
            "insert or replace into network_cache values (?, ?, ?, ?, ?, ?)",
            (key, account_id, operation, person, rfc3339(now), json.dumps(body)),
        )

    def drop(self, account_id: str, operations: frozenset[str], *, person: int | None) -> None:
        """Drop an account's cached answers of these operations: those about this person, and those without a person."""
        marks = ",".join("?" * len(operations))
        self._state.database.execute(
            f"delete from network_cache where account_id = ? and operation in ({marks})"  # noqa: S608 - only placeholders
            " and (person is null or person = ?)",
            (account_id, *operations, person),
        )

    def clear(self) -> None:
        """Drop all cached answers."""
        self._state.database.execute("delete from network_cache")
