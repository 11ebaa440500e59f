"""Injection of process faults: each target is hit from its own thread, so that hits overlap, and hits are counted."""

import asyncio
import math
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.chaos.hits import Hit, HitKind, drawn
from tests.chaos.interrupted_work import InterruptedWork
from tests.chaos.targets import Target, TargetProcess
from tests.chaos.watch import Watch
from tests.journeys.installation import Installation

LOOK_SECONDS = 0.003
DAY_CHECK_SECONDS = 0.1
"""How often a hit checks whether its day has come."""


@dataclass
class Tally:
    """Hits so far; `at_work` counts those on a busy process, `together` those while another process was down."""

    done: Counter[str] = field(default_factory=Counter)
    at_work: Counter[str] = field(default_factory=Counter)
    together: int = 0
    longest: float = 0.0
    frozen_past_claim: int = 0

    def unmet(self, targets: Sequence[Target]) -> list[str]:
        """Return the processes that were never hit while at work."""
        met = {name.partition(" ")[0] for name, count in self.at_work.items() if count}
        return [one.process for one in targets if one.process not in met]

    def unhit(self, targets: Sequence[Target]) -> list[str]:
        """Return the processes that were not hit at all."""
        hit = {name.partition(" ")[0] for name in self.done}
        return [one.process for one in targets if one.process not in hit]

    def __str__(self) -> str:
        what = ", ".join(f"{name} {count}" for name, count in sorted(self.done.items()))
        return (
            f"{self.done.total()} hits ({what}); {self.at_work.total()} at work; {self.together} with another down; "
            f"{self.frozen_past_claim} frozen for more than 10 s, the longest for {self.longest:.0f} s"
        )


class ProcessFaults:
    """Hits the targets of an installation by their plans, until all hits are done or it is stopped."""

    def __init__(
        self, installation: Installation, targets: Sequence[Target], *, hits: int, seed: int, a_day: int | None = None
    ) -> None:
        """Draw the plans; about `a_day` hits wait for each `next_day`, null: hits do not wait for days."""
        self.tally, self.interrupted = Tally(), InterruptedWork()
        self._url = installation.facts["database_url"].replace("+asyncpg", "")
        self._plans = drawn(seed, targets, hits)
        self._a_day = {
            name: len(plan) if a_day is None else math.ceil(len(plan) * a_day / hits)
            for name, plan in self._plans.items()
        }
        self._days = 0 if a_day is not None else 1
        self._processes = [TargetProcess(installation, target) for target in targets]
        self._stopped, self._lock = threading.Event(), threading.Lock()
        self._threads = [
            threading.Thread(target=self._guarded, args=(process, self._plans[process.target.process]))
            for process in self._processes
        ]
        self._failures: list[BaseException] = []

    @property
    def has_hits_left(self) -> bool:
        """Whether hits are still to come. Raises the first error of a hitting thread."""
        if self._failures:
            raise self._failures[0]
        return any(thread.is_alive() for thread in self._threads)

    def next_day(self) -> None:
        """Release the hits of one more day."""
        self._days += 1

    @contextmanager
    def injected(self) -> Iterator[None]:
        """Hit processes during the block; at its end every process runs again."""
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            for thread in self._threads:
                thread.join()
        assert not self.has_hits_left

    def _guarded(self, process: TargetProcess, plan: Sequence[Hit]) -> None:
        try:
            asyncio.run(self._hit_by_plan(process, plan))
        except Exception as error:  # noqa: BLE001 - raised by `has_hits_left` in the thread that waits
            self._failures.append(error)

    async def _hit_by_plan(self, process: TargetProcess, plan: Sequence[Hit]) -> None:
        watch = Watch(self._url)
        try:
            for number, hit in enumerate(plan):
                if not self._has_come(process, number) or self._stopped.wait(hit.pause):
                    return
                met = await self._at_work(watch, process.target, hit.aim)
                self._count(process, hit, met=met)
                await self._strike(watch, process, hit)
        finally:
            await watch.close()

    def _has_come(self, process: TargetProcess, number: int) -> bool:
        """Wait for the day of a hit; return false when stopped before."""
        while number >= self._days * self._a_day[process.target.process]:
            if self._stopped.wait(DAY_CHECK_SECONDS):
                return False
        return True

    async def _at_work(self, watch: Watch, target: Target, within: float) -> bool:
        deadline = time.monotonic() + within
        while not (found := await watch.holds(target.at_work)):
            if time.monotonic() >= deadline:
                break
            await asyncio.sleep(LOOK_SECONDS)
        return found

    async def _strike(self, watch: Watch, process: TargetProcess, hit: Hit) -> None:
        if hit.kind is HitKind.FREEZE:
            process.freeze(hit.frozen)
            return
        process.kill()
        if process.target.sends:
            await self.interrupted.note_after_kill(watch)
        process.restart()
        if process.target.sends:
            self.interrupted.note_restart()

    def _count(self, process: TargetProcess, hit: Hit, *, met: bool) -> None:
        name = f"{process.target.process} {hit.kind}"
        with self._lock:
            self.tally.done[name] += 1
            self.tally.at_work[name] += met
            self.tally.together += any(not other.is_up for other in self._processes if other is not process)
            self.tally.longest = max(self.tally.longest, hit.frozen)
            self.tally.frozen_past_claim += hit.frozen > 10
