"""Hits: what is done to whom, drawn from a seed before anything begins, so that a seed repeats the same hits."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tests.chaos.targets import Target


class Blow(StrEnum):
    """What is done to a process."""

    KILL = "killed"
    FREEZE = "frozen"


@dataclass(frozen=True, slots=True)
class Hit:
    """One hit: `pause` seconds after the target's last, then as soon as it is at work within `aim` seconds."""

    blow: Blow
    pause: float
    aim: float
    frozen: float = 0.0


PAUSE_SECONDS = (0.2, 3.0)
"""For each two targets: the more there are, the longer each has to get something done between its hits."""
AIM_SECONDS = 14.0
"""A worker that takes up the work of a killed one waits ten seconds for the tasks that Temporal gave to that one."""
AIMED_SHARE = 0.7
"""The others come when they come."""
KILLED_SHARE = 0.45
FREEZES: Sequence[tuple[int, tuple[float, float]]] = (
    (50, (0.2, 4.0)),
    (25, (5.5, 9.0)),
    (20, (10.5, 13.0)),
    (12, (16.0, 18.5)),
)
"""How often a freeze lasts how long. Past 2 s a lock is given up, past 5 s a callback and a poll; past 10 s a claim is
too old to be called and Temporal gives a workflow's task to another; past 15 s the database ends the transaction and a
local step's time is over."""
LONGEST_SECONDS = (131.0, 136.0)
"""Past every time-out: 90 s of a call, 120 s of its activity, 130 s after which a send is read back."""
LONGEST_ONE_IN = 60


def drawn(seed: int, targets: Sequence[Target], count: int) -> dict[str, list[Hit]]:
    """The hits of each process, `count` in all, shared out by the targets' shares."""
    shares = sum(target.share for target in targets)
    found: dict[str, list[Hit]] = {}
    left = count
    for target in targets:
        mine = left if target is targets[-1] else min(left, max(1, round(count * target.share / shares)))
        left -= mine
        chance = random.Random(f"{seed} {target.process}")
        found[target.process] = [_hit(chance, number, pause=len(targets) / 2) for number in range(mine)]
    return found


def _hit(chance: random.Random, number: int, *, pause: float) -> Hit:
    pause *= chance.uniform(*PAUSE_SECONDS)
    aim = AIM_SECONDS if chance.random() < AIMED_SHARE else 0.0
    if number % LONGEST_ONE_IN == LONGEST_ONE_IN // 2:
        return Hit(Blow.FREEZE, pause, AIM_SECONDS, chance.uniform(*LONGEST_SECONDS))
    if chance.random() < KILLED_SHARE:
        return Hit(Blow.KILL, pause, aim)
    weights = [weight for weight, _ in FREEZES]
    (range_of,) = chance.choices([between for _, between in FREEZES], weights)
    return Hit(Blow.FREEZE, pause, aim, chance.uniform(*range_of))
