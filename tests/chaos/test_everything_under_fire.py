"""All kinds of work go on while every process is killed and frozen and every provider fails: `make chaos HITS=200`.

Runs, fetch jobs, sequences, purchases and webhooks, each held against what the other side of it says in the end. With
MINUTES=… what was hit by then is judged, even if hits are left.
"""

import math
import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from tests.chaos.deadlocks import deadlocks
from tests.chaos.fire import Fire
from tests.chaos.listening import Listening
from tests.chaos.loads import Load
from tests.chaos.passing import Passing
from tests.chaos.purchases import Purchases
from tests.chaos.saying import say
from tests.chaos.searches import Searches
from tests.chaos.sequences import HAPPENINGS, Sequences
from tests.chaos.targets import API, POSTGRES, TEMPORAL, UPSTREAM, WORKER
from tests.chaos.weather import Weather
from tests.journeys.installation import installed

TARGETS = (WORKER, API, UPSTREAM, TEMPORAL, POSTGRES)
CALLS_TAKE_MS = 80
HITS_A_DAY = 10
"""So many days go by under fire that things happen to people on their way."""
PARTS_OF_A_DAY = 4
CALM_DAYS = 5
ENDED_AFTER_DAYS = 60
ACCEPT_TIMEOUT_DAYS = 3


@dataclass(frozen=True)
class Size:
    """How many hits meet how much work; `days_before` of it go by unhit, so that people are on their way."""

    hits: int
    people_a_day: int
    days_before: int = 0
    minutes: float = math.inf


FEW, A_SEED_OF_FEW = Size(hits=9, people_a_day=2), 212
"""In `make test`: each process is hit; all but Temporal and PostgreSQL, which are killed, are frozen too."""
MANY_HITS = 60
"""From so many on each process meets work, and things happen to people meanwhile."""
TOLD = {
    "run.completed",
    "job.completed",
    "enrollment.created",
    "enrollment.completed",
    "enrollment.failed",
    "action.sent",
    "invite.accepted",
    "reply.received",
}
"""What the loads' accounts have to have been told by webhook then."""


def survives(size: Size, seed: int, patch: pytest.MonkeyPatch) -> None:
    """Hit everything while everything is done, let all end, and hold it against what was promised."""
    began = time.monotonic()
    patch.setenv("OUTREACH_CHATS_MINUTES", "1440")  # under virtual time polls are most of what happens
    with installed("--population", "3000", "--virtual-time") as installation:
        for provider in ("people", "network"):
            installation.fault(provider=provider, fault="latency", latency_ms=CALLS_TAKE_MS)
        searches, purchases = Searches(installation), Purchases(installation)
        sequences = Sequences(
            installation, people_a_day=size.people_a_day, accept_timeout_days=ACCEPT_TIMEOUT_DAYS, say=say
        )
        listening = Listening(searches.recruiter, purchases.recruiter, sequences.recruiter)
        loads: list[Load] = [searches, purchases, sequences, listening]
        fire = Fire(installation, TARGETS, hits=size.hits, seed=seed, a_day=HITS_A_DAY)
        weather = Weather(installation, seed)
        passing = Passing(installation.facts, fire.casualties, say)

        def told() -> str:
            return f"{time.monotonic() - began:.0f} s: {fire.tally}; {weather.ordered} faults"

        passing.to_monday()
        for day in range(size.days_before):
            sequences.day(day)
            passing.days(1)
        passing.to_monday()
        say(told())
        before, day = sequences.happened, size.days_before
        with fire.burning(), weather.foul():
            while (fire.burns and time.monotonic() - began < size.minutes * 60) or day == size.days_before:
                fire.another_day()
                passes(day, loads, passing)
                day += 1
                say(f"day {day}, {told()}; {'; '.join(load.told() for load in loads)}")
        fire.casualties.wait_for_all()
        happened, calm = sequences.happened - before, 0
        while calm < ENDED_AFTER_DAYS and (open_still := [load for load in loads if not load.has_ended()]):
            say(f"after {calm} days of calm not ended: {', '.join(type(load).__name__ for load in open_still)}")
            passing.days(CALM_DAYS)
            calm += CALM_DAYS
        say(f"{told()}; {calm} days of calm")
        heard = listening.heard()
        say(f"heard: {dict(sorted(heard.items()))}")
        assert [fault for load in loads for fault in load.faults()] == []
        listening.close()
        assert deadlocks((installation.home / "logs" / "postgres.log").read_text(errors="replace")) == []
        assert fire.tally.unhit(TARGETS) == []
        assert weather.ordered > 0
        if fire.tally.done.total() >= MANY_HITS:
            met_much(fire, happened)
            assert set(heard) >= TOLD, heard


def passes(number: int, loads: Sequence[Load], passing: Passing) -> None:
    """One day of work of every kind."""
    for load in loads:
        load.day(number)
    for part in range(PARTS_OF_A_DAY):
        for load in loads if part == PARTS_OF_A_DAY // 2 else ():
            load.noon()
        passing.days(1 / PARTS_OF_A_DAY)
    for load in loads:
        load.evening()


def met_much(fire: Fire, happened: Counter[str]) -> None:
    """Many hits are worth something only in the middle of something."""
    assert fire.tally.unmet(TARGETS) == []
    assert set(happened) >= HAPPENINGS, happened


@pytest.mark.fire
@pytest.mark.timeout(900)
def test_a_few_hits_on_everything_lose_and_double_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    survives(FEW, A_SEED_OF_FEW, monkeypatch)


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
def test_many_hits_on_everything_lose_and_double_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    hits, seed = int(os.environ.get("HITS", "30")), int(os.environ.get("SEED", "1"))
    minutes = float(os.environ.get("MINUTES", "inf"))
    survives(Size(hits, people_a_day=4, days_before=5, minutes=minutes), seed, monkeypatch)
