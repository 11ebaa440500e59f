"""Fire: the processes of an installation are killed and frozen at random moments, and what each hit met is counted."""

import asyncio
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import asyncpg

from stack import control
from tests.journeys.installation import Installation

VICTIMS = ("worker", "worker", "api")
PAUSE_SECONDS = (0.5, 3.0)
"""Between two hits."""
FROZEN_SECONDS = (1.0, 16.0)
"""Past the ten seconds after which a claim is too old to be called, and the five of a look at the database."""
LONG_FREEZE = 135.0
"""Past every time-out of a send; one freeze in `LONG_ONE_IN` is such."""
LONG_ONE_IN = 40
AIMED_ONE_IN = 3
"""One hit in so many waits for a call to the network to be under way; the others come when they come."""
AIM_SECONDS = 4.0
CALLING = "select count(*) from actions where outcome = 'sending'"


@dataclass
class Fire:
    """Hits processes of an installation from a thread of its own; `left` says how many hits are to come."""

    installation: Installation
    chance: random.Random
    left: int
    done: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)
    """The hits among them that came while a call was under way."""
    failure: BaseException | None = None
    _pids: dict[str, int] = field(default_factory=dict)

    def run(self, enough: threading.Event) -> None:
        """Hit until told that it is enough, or no hit is left."""
        try:
            with asyncio.Runner() as runner:
                url = self.installation.facts["database_url"].replace("+asyncpg", "")
                watch = runner.run(asyncpg.connect(url))
                try:
                    while self.left > 0 and not enough.is_set():
                        time.sleep(self.chance.uniform(*PAUSE_SECONDS))
                        self._hit(runner, watch)
                        self.left -= 1
                finally:
                    runner.run(watch.close())
        except Exception as error:  # noqa: BLE001 - told by whoever waits for the thread
            self.failure = error

    def _hit(self, runner: asyncio.Runner, watch: "asyncpg.Connection[asyncpg.Record]") -> None:
        victim, killed = self.chance.choice(VICTIMS), self.chance.random() < 0.5
        long = not killed and self.chance.randrange(LONG_ONE_IN) == 0
        frozen = LONG_FREEZE if long else self.chance.uniform(*FROZEN_SECONDS)
        aim = AIM_SECONDS if self.chance.randrange(AIMED_ONE_IN) == 0 else 0.0
        pid = self._pids.get(victim) or self.installation.facts["processes"][victim]
        calling = _call_under_way(runner, watch, aim)
        name = f"{victim} {'killed' if killed else 'frozen for long' if long else 'frozen'}"
        if killed:
            os.kill(pid, signal.SIGKILL)
            asked = {"do": "restart", "process": victim}
            self._pids[victim] = int(control.ask(self.installation.home / "control.sock", asked)["pid"])
        else:
            os.kill(pid, signal.SIGSTOP)
            try:
                time.sleep(frozen)
            finally:
                os.kill(pid, signal.SIGCONT)
        self.done[name] += 1
        self.met[name] += calling


def _call_under_way(runner: asyncio.Runner, watch: "asyncpg.Connection[asyncpg.Record]", within: float) -> bool:
    deadline = time.monotonic() + within
    while not (found := bool(runner.run(watch.fetchval(CALLING)))) and time.monotonic() < deadline:
        time.sleep(0.005)
    return found


@contextmanager
def under(fire: Fire) -> Iterator[None]:
    """Have the processes hit meanwhile."""
    enough = threading.Event()
    thread = threading.Thread(target=fire.run, args=(enough,))
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join()
    if fire.failure is not None:
        raise fire.failure
