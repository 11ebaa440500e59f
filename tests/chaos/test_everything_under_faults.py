"""All kinds of work continue while every process is killed and frozen and every provider fails: `make chaos HITS=200`.

Runs, fetch jobs, sequences, purchases and webhooks are compared with the records of the other side in the end. With
MINUTES=… the hits end after this time, even if some are left.
"""

import math
import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from tests.chaos.deadlocks import deadlocks
from tests.chaos.loads import Load
from tests.chaos.process_faults import ProcessFaults
from tests.chaos.progress import report
from tests.chaos.provider_faults import ProviderFaults
from tests.chaos.purchases import Purchases
from tests.chaos.searches import Searches
from tests.chaos.sequences import OCCURRENCES, Sequences
from tests.chaos.service_time import ServiceTime
from tests.chaos.targets import API, POSTGRES, TEMPORAL, UPSTREAM, WORKER
from tests.chaos.webhooks import Webhooks
from tests.journeys.installation import installed

TARGETS = (WORKER, API, UPSTREAM, TEMPORAL, POSTGRES)
CALLS_TAKE_MS = 80
HITS_A_DAY = 10
"""Enough days pass during the hits for things to occur to people in the sequences."""
PARTS_OF_A_DAY = 4
CALM_DAYS = 5
ENDED_AFTER_DAYS = 60
ACCEPT_TIMEOUT_DAYS = 3


@dataclass(frozen=True)
class Size:
    """Number of hits and amount of work; no hits happen on the first `days_before` days, which fill the sequences."""

    hits: int
    people_a_day: int
    days_before: int = 0
    minutes: float = math.inf


FEW, A_SEED_OF_FEW = Size(hits=9, people_a_day=2), 212
"""In `make test`: each process is killed, and all but Temporal and PostgreSQL are frozen as well."""
MANY_HITS = 60
"""With at least this many hits, each process is hit at work, and things occur to people meanwhile."""
DELIVERED_EVENTS = {
    "run.completed",
    "job.completed",
    "enrollment.created",
    "enrollment.completed",
    "enrollment.failed",
    "action.sent",
    "invite.accepted",
    "reply.received",
}
"""Types of the events that webhooks must have delivered then."""


def survives(size: Size, seed: int, patch: pytest.MonkeyPatch) -> None:
    """Hit every process under load, let all work end, and check the promises."""
    began = time.monotonic()
    patch.setenv("OUTREACH_CHATS_MINUTES", "1440")  # under virtual time, polls would be most of the work
    with installed("--population", "3000", "--virtual-time") as installation:
        for provider in ("people", "network"):
            installation.fault(provider=provider, fault="latency", latency_ms=CALLS_TAKE_MS)
        searches, purchases = Searches(installation), Purchases(installation)
        sequences = Sequences(
            installation, people_a_day=size.people_a_day, accept_timeout_days=ACCEPT_TIMEOUT_DAYS, report=report
        )
        webhooks = Webhooks(searches.recruiter, purchases.recruiter, sequences.recruiter)
        loads: list[Load] = [searches, purchases, sequences, webhooks]
        process_faults = ProcessFaults(installation, TARGETS, hits=size.hits, seed=seed, a_day=HITS_A_DAY)
        provider_faults = ProviderFaults(installation, seed)
        time_of_service = ServiceTime(installation.facts, process_faults.interrupted, report)

        def progress() -> str:
            return f"{time.monotonic() - began:.0f} s: {process_faults.tally}; {provider_faults.injected_count} faults"

        time_of_service.to_monday()
        for day in range(size.days_before):
            sequences.day(day)
            time_of_service.days(1)
        time_of_service.to_monday()
        report(progress())
        before, day = sequences.occurred, size.days_before
        with process_faults.injected(), provider_faults.injected():
            while (
                process_faults.has_hits_left and time.monotonic() - began < size.minutes * 60
            ) or day == size.days_before:
                process_faults.next_day()
                work_one_day(day, loads, time_of_service)
                day += 1
                report(f"day {day}, {progress()}; {'; '.join(load.progress() for load in loads)}")
        process_faults.interrupted.wait_for_all()
        occurred, calm = sequences.occurred - before, 0
        while calm < ENDED_AFTER_DAYS and (open_still := [load for load in loads if not load.has_ended()]):
            report(f"after {calm} days of calm not ended: {', '.join(type(load).__name__ for load in open_still)}")
            time_of_service.days(CALM_DAYS)
            calm += CALM_DAYS
        report(f"{progress()}; {calm} days of calm")
        received = webhooks.received_types()
        report(f"received: {dict(sorted(received.items()))}")
        assert [fault for load in loads for fault in load.faults()] == []
        webhooks.close()
        assert deadlocks((installation.home / "logs" / "postgres.log").read_text(errors="replace")) == []
        assert process_faults.tally.unhit(TARGETS) == []
        assert provider_faults.injected_count > 0
        if process_faults.tally.done.total() >= MANY_HITS:
            assert_hit_at_work(process_faults, occurred)
            assert set(received) >= DELIVERED_EVENTS, received


def work_one_day(number: int, loads: Sequence[Load], time_of_service: ServiceTime) -> None:
    """Do one day of work of every kind."""
    for load in loads:
        load.day(number)
    for part in range(PARTS_OF_A_DAY):
        for load in loads if part == PARTS_OF_A_DAY // 2 else ():
            load.noon()
        time_of_service.days(1 / PARTS_OF_A_DAY)
    for load in loads:
        load.evening()


def assert_hit_at_work(process_faults: ProcessFaults, occurred: Counter[str]) -> None:
    """Assert that every process was hit at work, and that everything occurred to people meanwhile."""
    assert process_faults.tally.unmet(TARGETS) == []
    assert set(occurred) >= OCCURRENCES, occurred


@pytest.mark.chaos
@pytest.mark.timeout(900)
def test_a_few_hits_on_every_process_lose_and_double_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    survives(FEW, A_SEED_OF_FEW, monkeypatch)


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
def test_many_hits_on_every_process_lose_and_double_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    hits, seed = int(os.environ.get("HITS", "30")), int(os.environ.get("SEED", "1"))
    minutes = float(os.environ.get("MINUTES", "inf"))
    survives(Size(hits, people_a_day=4, days_before=5, minutes=minutes), seed, monkeypatch)
