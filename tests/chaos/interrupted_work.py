"""Work that a killed worker left behind, so that virtual time need not wait until Temporal notices.

Temporal notices only after 120 s that a call died with its worker. In an installation with a real clock, everything
else goes on meanwhile. It does so here too: virtual time does not wait for the rows of these calls. One worker serves
the queue, so that a send that was under way when the worker died has no other sender.
"""

import asyncio
import threading
import time
from dataclasses import dataclass, field

from stack.virtual_time import UNDER_WAY, State
from tests.chaos.watch import Watch

MISSED_SECONDS = 125.0
"""Temporal retries a call's activity 120 s after its start."""
SETTLED_SECONDS = 0.5
"""After a kill: by then, everything that the process had sent to the database and the network has arrived."""
UNMOVED_SECONDS = 3.0
"""Work that the new worker has not resumed after this time waits until Temporal notices the old worker's death."""
SENDING = "select 'action ' || id as action, 'enrollment ' || enrollment_id as enrollment from actions"


@dataclass
class InterruptedWork:
    """Rows that wait until Temporal notices a dead worker; one thread kills and writes, another waits and reads."""

    _until: dict[str, float] = field(default_factory=dict)
    """Interrupted sends and their enrollments, with the monotonic time until which they may stay unchanged."""
    _left: dict[str, tuple[str, float]] = field(default_factory=dict)
    """Other work that was under way, with its state at that time."""
    _back_at: float | None = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    async def note_after_kill(self, watch: Watch) -> None:
        """Note the work of a worker that is dead, before the next worker starts."""
        await asyncio.sleep(SETTLED_SECONDS)
        sends = await watch.fetch(SENDING + " where outcome = 'sending'")
        others = await watch.fetch(UNDER_WAY.text)
        until = time.monotonic() + MISSED_SECONDS
        with self._lock:
            self._back_at = None
            for row in sends:
                self._until |= {who: until for who in row.values() if who is not None}
            for who, state in others:
                kind = who.partition(" ")[0]
                if kind != "action":
                    self._left[who] = state, until

    def note_restart(self) -> None:
        """Note that the next worker is running."""
        with self._lock:
            if self._back_at is None:
                self._back_at = time.monotonic()

    def wait_for_all(self) -> None:
        """Wait for everything again: without hits, months pass faster than Temporal notices a dead worker."""
        with self._lock:
            self._until.clear()
            self._left.clear()

    def without(self, under_way: State) -> State:
        """Return the work that virtual time has to wait for."""
        now = time.monotonic()
        with self._lock:
            if self._back_at is None:
                return under_way
            self._left = {who: self._left[who] for who, state in under_way if self._left.get(who, ("", 0))[0] == state}
            unmoved = {who for who, (_, until) in self._left.items() if self._back_at + UNMOVED_SECONDS < now < until}
            dead = {who for who, until in self._until.items() if now < until}
            return tuple((who, state) for who, state in under_way if who not in dead and who not in unmoved)
