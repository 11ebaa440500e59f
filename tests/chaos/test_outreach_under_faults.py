"""Sequences continue while worker and API are killed and frozen at random moments: `make chaos HITS=500 SEED=1`.

With MINUTES=… the hits end after this time, even if some are left. The network's own log is the truth: no person gets
a message twice or after a stop, no enrollment is lost, and hours, rests and caps hold.
"""

import math
import os
import time
from collections import Counter
from dataclasses import dataclass

import pytest

from tests.chaos.process_faults import ProcessFaults
from tests.chaos.progress import report
from tests.chaos.sequences import ENDED_AFTER_DAYS, OCCURRENCES, Sequences
from tests.chaos.service_time import ServiceTime
from tests.chaos.targets import API, WORKER
from tests.journeys.installation import installed

TARGETS = (WORKER, API)
CALLS_TAKE_MS = 80
"""Long enough for a hit during a call."""
MANY_HITS = 400
"""With at least this many hits there was time for everything that can occur to people."""
HOURS = 3
"""Service time that passes before it is checked whether hits are left."""
CALM_DAYS = 5
"""Days that pass at a time after the hits, until all started work has ended."""


@dataclass(frozen=True)
class Size:
    """Number of hits and of recruiters, each of whom enrolls `people_a_day`."""

    hits: int
    recruiters: int
    people_a_day: int
    accept_timeout_days: int
    chats_minutes: int
    """Interval of reading chats without a callback: under virtual time most of the work."""

    minutes: float = math.inf
    """The hits end after this time, and the work up to then is checked."""


def survives(size: Size, seed: int, patch: pytest.MonkeyPatch) -> None:
    """Hit an installation under load, let all work end, and check the promises."""
    began = time.monotonic()
    patch.setenv("OUTREACH_CHATS_MINUTES", str(size.chats_minutes))
    with installed("--population", "6000", "--virtual-time") as installation:
        installation.fault(provider="network", fault="latency", latency_ms=CALLS_TAKE_MS)
        loads = [
            Sequences(
                installation,
                people_a_day=size.people_a_day,
                accept_timeout_days=size.accept_timeout_days,
                report=report,
            )
            for _ in range(size.recruiters)
        ]
        process_faults = ProcessFaults(installation, TARGETS, hits=size.hits, seed=seed)
        time_of_service = ServiceTime(installation.facts, process_faults.interrupted, report)
        time_of_service.to_monday()
        part = 0
        with process_faults.injected():
            while process_faults.has_hits_left and time.monotonic() - began < size.minutes * 60:
                day, hour = divmod(part * HOURS, 24)
                for load in loads if hour == 0 else ():
                    load.day(day)
                time_of_service.days(HOURS / 24)
                part += 1
                progress = "; ".join(load.progress() for load in loads)
                report(
                    f"{time.monotonic() - began:.0f} s, day {day}, {hour + HOURS} h: {process_faults.tally}; {progress}"
                )
        installation.no_faults()
        process_faults.interrupted.wait_for_all()
        occurred = sum((load.occurred for load in loads), Counter[str]())
        calm = 0
        while calm < ENDED_AFTER_DAYS and not all(load.has_ended() for load in loads):
            time_of_service.days(CALM_DAYS)
            calm += CALM_DAYS
        report(f"{time.monotonic() - began:.0f} s: {process_faults.tally}; {calm} days of calm")
        assert [fault for load in loads for fault in load.faults()] == []
        if process_faults.tally.done.total() >= MANY_HITS:
            assert process_faults.tally.unmet(TARGETS) == []
            assert set(occurred) >= OCCURRENCES, occurred


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
def test_after_many_hits_no_message_is_doubled_and_no_person_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    hits, seed = int(os.environ.get("HITS", "30")), int(os.environ.get("SEED", "1"))
    minutes = float(os.environ.get("MINUTES", "inf"))
    size = Size(hits, recruiters=2, people_a_day=4, accept_timeout_days=14, chats_minutes=360, minutes=minutes)
    survives(size, seed, monkeypatch)
