"""Casualties: what a killed worker was in the middle of, so that time need not stand still until Temporal notices.

A call that died with its worker is missed by Temporal only after its 120 s. In an installation whose clock runs by
itself everybody else's day goes on meanwhile; so it does here, and the calls' own rows are left out of what time waits
for. Only the dead are: one worker serves the queue, so that what was being sent when it died is sent by nobody.
"""

import asyncio
import threading
import time
from dataclasses import dataclass, field

from stack.virtual_time import UNDER_WAY, State
from tests.chaos.watch import Watch

MISSED_SECONDS = 125.0
"""A call's activity is begun again 120 s after its start."""
SETTLED_SECONDS = 0.5
"""After a kill: what the process had still sent to the database and to the network has arrived."""
UNMOVED_SECONDS = 3.0
"""What the new worker has not taken up for so long after its start waits for Temporal to miss the old one."""
SENDING = "select 'action ' || id as action, 'enrollment ' || enrollment_id as enrollment from actions"


@dataclass
class Casualties:
    """Who waits for Temporal to miss a dead worker. Written by the thread that kills, read by the one that waits."""

    _until: dict[str, float] = field(default_factory=dict)
    """Sends that died, and the enrollments they belong to; until when they may stay as they are (monotonic)."""
    _left: dict[str, tuple[str, float]] = field(default_factory=dict)
    """What else was under way, and its state then."""
    _back_at: float | None = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    async def found_after_a_kill(self, watch: Watch) -> None:
        """Note what a worker was in the middle of; it is dead, and the next one not yet started."""
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

    def is_back(self) -> None:
        """The next worker runs."""
        with self._lock:
            if self._back_at is None:
                self._back_at = time.monotonic()

    def wait_for_all(self) -> None:
        """Leave nobody out any more: without fire months pass in less time than Temporal takes to miss the dead."""
        with self._lock:
            self._until.clear()
            self._left.clear()

    def without(self, under_way: State) -> State:
        """What time still has to wait for."""
        now = time.monotonic()
        with self._lock:
            if self._back_at is None:
                return under_way
            self._left = {who: self._left[who] for who, state in under_way if self._left.get(who, ("", 0))[0] == state}
            unmoved = {who for who, (_, until) in self._left.items() if self._back_at + UNMOVED_SECONDS < now < until}
            dead = {who for who, until in self._until.items() if now < until}
            return tuple((who, state) for who, state in under_way if who not in dead and who not in unmoved)
