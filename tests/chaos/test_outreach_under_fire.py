"""Sequences run on while worker and api are killed and frozen at random moments: `make chaos HITS=500 SEED=1`.

With MINUTES=… what was hit by then is judged, even if hits are left. What the network says is the truth: nobody is
written to twice or after they are left alone, nobody is lost, hours, rests and caps hold.
"""

import math
import os
import time
from collections import Counter
from dataclasses import dataclass

import pytest

from tests.chaos.fire import Fire
from tests.chaos.passing import Passing
from tests.chaos.saying import say
from tests.chaos.sequences import ENDED_AFTER_DAYS, HAPPENINGS, Sequences
from tests.chaos.targets import API, WORKER
from tests.journeys.installation import installed

TARGETS = (WORKER, API)
CALLS_TAKE_MS = 80
"""So that a hit can meet a call under way."""
MANY_HITS = 400
"""From so many on there was time for each thing that can happen to people."""
HOURS = 3
"""Of service time, after which it is asked whether hits are left."""
CALM_DAYS = 5
"""At a time, afterwards, until what was begun has ended."""


@dataclass(frozen=True)
class Size:
    """How many hits meet how many recruiters, each of whom enrolls so many people a day."""

    hits: int
    recruiters: int
    people_a_day: int
    accept_timeout_days: int
    chats_minutes: int
    """How often a chat is read that no callback told of: under virtual time the most of what happens."""

    minutes: float = math.inf
    """After so many nothing further is done under fire, and what was hit by then is judged."""


def survives(size: Size, seed: int, patch: pytest.MonkeyPatch) -> None:
    """Hit an installation at work, let everything end, and hold it against what was promised."""
    began = time.monotonic()
    patch.setenv("OUTREACH_CHATS_MINUTES", str(size.chats_minutes))
    with installed("--population", "6000", "--virtual-time") as installation:
        installation.fault(provider="network", fault="latency", latency_ms=CALLS_TAKE_MS)
        loads = [
            Sequences(
                installation, people_a_day=size.people_a_day, accept_timeout_days=size.accept_timeout_days, say=say
            )
            for _ in range(size.recruiters)
        ]
        fire = Fire(installation, TARGETS, hits=size.hits, seed=seed)
        passing = Passing(installation.facts, fire.casualties, say)
        passing.to_monday()
        part = 0
        with fire.burning():
            while fire.burns and time.monotonic() - began < size.minutes * 60:
                day, hour = divmod(part * HOURS, 24)
                for load in loads if hour == 0 else ():
                    load.day(day)
                passing.days(HOURS / 24)
                part += 1
                told = "; ".join(load.told() for load in loads)
                say(f"{time.monotonic() - began:.0f} s, day {day}, {hour + HOURS} h: {fire.tally}; {told}")
        installation.no_faults()
        fire.casualties.wait_for_all()
        happened = sum((load.happened for load in loads), Counter[str]())
        calm = 0
        while calm < ENDED_AFTER_DAYS and not all(load.has_ended() for load in loads):
            passing.days(CALM_DAYS)
            calm += CALM_DAYS
        say(f"{time.monotonic() - began:.0f} s: {fire.tally}; {calm} days of calm")
        assert [fault for load in loads for fault in load.faults()] == []
        if fire.tally.done.total() >= MANY_HITS:
            assert fire.tally.unmet(TARGETS) == []
            assert set(happened) >= HAPPENINGS, happened


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
def test_many_hits_double_nothing_and_lose_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    hits, seed = int(os.environ.get("HITS", "30")), int(os.environ.get("SEED", "1"))
    minutes = float(os.environ.get("MINUTES", "inf"))
    size = Size(hits, recruiters=2, people_a_day=4, accept_timeout_days=14, chats_minutes=360, minutes=minutes)
    survives(size, seed, monkeypatch)
