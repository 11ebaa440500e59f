"""All kinds of work go on while every process is killed and frozen and every provider fails: `make chaos HITS=200`.

Runs, fetch jobs, sequences, purchases and webhooks, each held against what the other side of it says in the end.
"""

import os

import pytest

from tests.chaos.fire import Fire
from tests.chaos.listening import Listening
from tests.chaos.loads import Load
from tests.chaos.passing import Passing
from tests.chaos.purchases import Purchases
from tests.chaos.saying import say
from tests.chaos.searches import Searches
from tests.chaos.sequences import Sequences
from tests.chaos.targets import API, POSTGRES, TEMPORAL, UPSTREAM, WORKER
from tests.chaos.weather import Weather
from tests.journeys.installation import Installation, installed

CALLS_TAKE_MS = 80
PARTS_OF_A_DAY = 4
CALM_DAYS = 5
ENDED_AFTER_DAYS = 60
ACCEPT_TIMEOUT_DAYS = 3
PEOPLE_A_DAY = 2
FEW, A_SEED_OF_FEW = 9, 1
"""In `make test`."""


def survives(hits: int, seed: int, patch: pytest.MonkeyPatch) -> None:
    """Hit everything while everything is done, let all end, and hold it against what was promised."""
    patch.setenv("OUTREACH_CHATS_MINUTES", "1440")  # under virtual time polls are most of what happens
    with installed("--population", "3000", "--virtual-time") as installation:
        for provider in ("people", "network"):
            installation.fault(provider=provider, fault="latency", latency_ms=CALLS_TAKE_MS)
        searches, purchases = Searches(installation), Purchases(installation)
        sequences = Sequences(installation, people_a_day=PEOPLE_A_DAY, accept_timeout_days=ACCEPT_TIMEOUT_DAYS, say=say)
        listening = Listening(searches.recruiter, purchases.recruiter, sequences.recruiter)
        loads: list[Load] = [searches, purchases, sequences, listening]
        fire = Fire(installation, (WORKER, API, UPSTREAM, TEMPORAL, POSTGRES), hits=hits, seed=seed)
        weather = Weather(installation, seed)
        passing = Passing(installation.facts, fire.casualties, say)
        passing.to_monday()
        day = 0
        with fire.burning(), weather.foul():
            while fire.burns or day == 0:
                for load in loads:
                    load.day(day)
                for _ in range(PARTS_OF_A_DAY):
                    passing.days(1 / PARTS_OF_A_DAY)
                day += 1
                say(f"day {day}: {fire.tally}; {weather.ordered} faults; {'; '.join(load.told() for load in loads)}")
        calm = 0
        while calm < ENDED_AFTER_DAYS and not all(load.has_ended() for load in loads):
            passing.days(CALM_DAYS)
            calm += CALM_DAYS
        say(f"{fire.tally}; {weather.ordered} faults; {calm} days of calm")
        assert [fault for load in loads for fault in load.faults()] == []
        assert deadlocks(installation) == []
        assert fire.tally.at_work.total() > 0, "nothing was hit at work"
        assert weather.ordered > 0


def deadlocks(installation: Installation) -> list[str]:
    """What PostgreSQL's log says of them: its counter starts anew with every crash."""
    log = (installation.home / "logs" / "postgres.log").read_text(errors="replace")
    return [line for line in log.splitlines() if "deadlock detected" in line]


@pytest.mark.timeout(900)
def test_a_few_hits_on_everything_lose_and_double_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    survives(FEW, A_SEED_OF_FEW, monkeypatch)


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
def test_many_hits_on_everything_lose_and_double_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    survives(int(os.environ.get("HITS", "30")), int(os.environ.get("SEED", "1")), monkeypatch)
