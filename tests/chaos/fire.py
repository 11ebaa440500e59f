"""Fire: every target is hit from a thread of its own, so that hits overlap, and what each hit met is counted."""

import asyncio
import math
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.chaos.casualties import Casualties
from tests.chaos.hits import Blow, Hit, drawn
from tests.chaos.targets import Target, Victim
from tests.chaos.watch import Watch
from tests.journeys.installation import Installation

LOOK_SECONDS = 0.003
DAWN_SECONDS = 0.1
"""How often a hit looks whether its day has come."""


@dataclass
class Tally:
    """What was done so far; `at_work` and `together` count the hits that met work, and those with another down too."""

    done: Counter[str] = field(default_factory=Counter)
    at_work: Counter[str] = field(default_factory=Counter)
    together: int = 0
    longest: float = 0.0
    frozen_past_claim: int = 0

    def unmet(self, targets: Sequence[Target]) -> list[str]:
        """Processes that no hit met at work."""
        met = {name.partition(" ")[0] for name, count in self.at_work.items() if count}
        return [one.process for one in targets if one.process not in met]

    def unhit(self, targets: Sequence[Target]) -> list[str]:
        """Processes that were not hit at all."""
        hit = {name.partition(" ")[0] for name in self.done}
        return [one.process for one in targets if one.process not in hit]

    def __str__(self) -> str:
        what = ", ".join(f"{name} {count}" for name, count in sorted(self.done.items()))
        return (
            f"{self.done.total()} hits ({what}); {self.at_work.total()} met work; {self.together} with the other down; "
            f"{self.frozen_past_claim} frozen for more than 10 s, the longest for {self.longest:.0f} s"
        )


class Fire:
    """Hits the targets of an installation, each as its plan says, until all hits are done or it is stopped."""

    def __init__(
        self, installation: Installation, targets: Sequence[Target], *, hits: int, seed: int, a_day: int | None = None
    ) -> None:
        """`a_day`: about so many hits wait for each `another_day`; null: one follows on the other."""
        self.tally, self.casualties = Tally(), Casualties()
        self._url = installation.facts["database_url"].replace("+asyncpg", "")
        self._plans = drawn(seed, targets, hits)
        self._a_day = {
            name: len(plan) if a_day is None else math.ceil(len(plan) * a_day / hits)
            for name, plan in self._plans.items()
        }
        self._days = 0 if a_day is not None else 1
        self._victims = [Victim(installation, target) for target in targets]
        self._stopped, self._lock = threading.Event(), threading.Lock()
        self._threads = [
            threading.Thread(target=self._guarded, args=(victim, self._plans[victim.target.process]))
            for victim in self._victims
        ]
        self._failures: list[BaseException] = []

    @property
    def burns(self) -> bool:
        """Whether hits are still to come. Raises what went wrong in hitting."""
        if self._failures:
            raise self._failures[0]
        return any(thread.is_alive() for thread in self._threads)

    def another_day(self) -> None:
        """Let the hits of one more day be done."""
        self._days += 1

    @contextmanager
    def burning(self) -> Iterator[None]:
        """Hit meanwhile; at the end every process runs again."""
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            for thread in self._threads:
                thread.join()
        assert not self.burns

    def _guarded(self, victim: Victim, plan: Sequence[Hit]) -> None:
        try:
            asyncio.run(self._work_off(victim, plan))
        except Exception as error:  # noqa: BLE001 - raised by `burns` in the thread that waits
            self._failures.append(error)

    async def _work_off(self, victim: Victim, plan: Sequence[Hit]) -> None:
        watch = Watch(self._url)
        try:
            for number, hit in enumerate(plan):
                if not self._has_come(victim, number) or self._stopped.wait(hit.pause):
                    return
                met = await self._at_work(watch, victim.target, hit.aim)
                self._count(victim, hit, met=met)
                await self._strike(watch, victim, hit)
        finally:
            await watch.close()

    def _has_come(self, victim: Victim, number: int) -> bool:
        """Wait for the day of a hit; false when the fire is stopped before."""
        while number >= self._days * self._a_day[victim.target.process]:
            if self._stopped.wait(DAWN_SECONDS):
                return False
        return True

    async def _at_work(self, watch: Watch, target: Target, within: float) -> bool:
        deadline = time.monotonic() + within
        while not (found := await watch.holds(target.at_work)):
            if time.monotonic() >= deadline:
                break
            await asyncio.sleep(LOOK_SECONDS)
        return found

    async def _strike(self, watch: Watch, victim: Victim, hit: Hit) -> None:
        if hit.blow is Blow.FREEZE:
            victim.freeze(hit.frozen)
            return
        victim.kill()
        if victim.target.sends:
            await self.casualties.found_after_a_kill(watch)
        victim.restart()
        if victim.target.sends:
            self.casualties.is_back()

    def _count(self, victim: Victim, hit: Hit, *, met: bool) -> None:
        name = f"{victim.target.process} {hit.blow}"
        with self._lock:
            self.tally.done[name] += 1
            self.tally.at_work[name] += met
            self.tally.together += any(not other.is_up for other in self._victims if other is not victim)
            self.tally.longest = max(self.tally.longest, hit.frozen)
            self.tally.frozen_past_claim += hit.frozen > 10
