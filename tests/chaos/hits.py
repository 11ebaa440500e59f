"""Hits on processes, drawn from a seed before anything starts, so that the same seed repeats the same hits."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tests.chaos.targets import Target


class HitKind(StrEnum):
    """What is done to a process."""

    KILL = "killed"
    FREEZE = "frozen"


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit `pause` seconds after the target's last, once it is at work, but after `aim` seconds at the latest."""

    kind: HitKind
    pause: float
    aim: float
    frozen: float = 0.0


PAUSE_SECONDS = (0.2, 3.0)
"""Per two targets: the more targets there are, the longer each can work between its hits."""
AIM_SECONDS = 14.0
"""A worker that replaces a killed one waits ten seconds for the tasks that Temporal had given to it."""
AIMED_SHARE = 0.7
"""The other hits do not wait for the target to be at work."""
KILLED_SHARE = 0.45
FREEZES: Sequence[tuple[int, tuple[float, float]]] = (
    (50, (0.2, 4.0)),
    (25, (5.5, 9.0)),
    (20, (10.5, 13.0)),
    (12, (16.0, 18.5)),
)
"""Weight and seconds of each range of freezes. After 2 s a lock is given up, after 5 s a callback and a poll. After
10 s a claim is too old to be called and Temporal gives a task to another worker; after 15 s the database ends the
transaction and a local activity times out."""
LONGEST_SECONDS = (131.0, 136.0)
"""Longer than every time-out: 90 s for a call, 120 s for its activity, 130 s until a send is read back."""
LONGEST_ONE_IN = 60


def drawn(seed: int, targets: Sequence[Target], count: int) -> dict[str, list[Hit]]:
    """Return the hits of each process, `count` in total, divided by the targets' shares."""
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
        return Hit(HitKind.FREEZE, pause, AIM_SECONDS, chance.uniform(*LONGEST_SECONDS))
    if chance.random() < KILLED_SHARE:
        return Hit(HitKind.KILL, pause, aim)
    weights = [weight for weight, _ in FREEZES]
    (range_of,) = chance.choices([between for _, between in FREEZES], weights)
    return Hit(HitKind.FREEZE, pause, aim, chance.uniform(*range_of))
