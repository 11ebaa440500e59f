"""SIGTERM under load: work is finished or handed over, nothing is lost or done twice, and the exit code is 0."""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event
from uuid import uuid4

import httpx
import pytest

from tests.journeys.extra_process import ExtraProcess, extra_process
from tests.journeys.installation import Installation, installed
from tests.journeys.receiver import Receiver
from tests.journeys.recruiter import Recruiter
from tests.journeys.test_run_survives import assert_same, forget_profiles
from tests.journeys.test_webhooks import emit, log, made, until

pytestmark = [pytest.mark.timeout(400), pytest.mark.slow]

LATENCY_MS = 250
SLOW_MS = 1_500
LASTING_MS = 12_000
"""Longer than the stack waits for the requests of an API that ends."""
BEGUN_SECONDS = 0.5
CALLERS = 4
EVENTS = 60
LEADS = 5
SEARCH = "/v1/people/search"
ENGINEERS = {"filters": {"countries": ["BE"]}, "limit": LEADS, "view": "compact"}

RECEIVER_SECONDS = 0.4
"""The latency of every delivery, long enough for the signal to come during some."""

Charged = tuple[list[str], list[tuple[str, int]]]


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with installed("--population", "3000") as running:
        running.fault(fault="latency", latency_ms=LATENCY_MS)
        yield running


@pytest.fixture(scope="module")
def calm(installation: Installation) -> Charged:
    """Return candidates and charges of an undisturbed run."""
    recruiter = Recruiter.join(installation.facts)
    run = recruiter.finished(recruiter.start_run())
    assert run["status"] == "completed"
    return [row["profile_id"] for row in recruiter.candidates(run["id"])], recruiter.charges()


def asked(installation: Installation) -> int:
    """Return the number of calls that the people source has received."""
    return sum(installation.people_log()["calls"].values())


@pytest.fixture(scope="module")
def calls(installation: Installation, calm: Charged) -> int:
    """Return the number of calls that such a run makes."""
    forget_profiles(installation.facts)
    before, recruiter = asked(installation), Recruiter.join(installation.facts)
    assert_same(recruiter, recruiter.start_run(), calm)
    return asked(installation) - before


def assert_ended_in_order(victim: ExtraProcess) -> None:
    """Assert that it ended with exit code 0 and without any error in its log."""
    assert victim.ended() == 0, victim.log()
    for word in ("Traceback", "panicked", "[error", "Exception"):
        assert word not in victim.log(), victim.log()


@pytest.mark.parametrize("name", ["worker", "upstream"])
def test_a_worker_that_gets_sigterm_finishes_or_hands_over_its_work(
    installation: Installation, calm: Charged, calls: int, name: str
) -> None:
    forget_profiles(installation.facts)
    before = asked(installation)
    recruiter, receiver = Recruiter.join(installation.facts), Receiver(delay=RECEIVER_SECONDS)
    endpoint = made(recruiter, receiver.url)
    with extra_process(installation, name) as victim:
        installation.command("kill", name)  # so that the extra process does all the work
        try:
            run_id = recruiter.start_run()
            emit(installation, recruiter, EVENTS)
            if name == "worker":
                until(lambda: len(receiver.received) > EVENTS // 4)
            else:
                until(lambda: recruiter.run(run_id)["status"] == "running")
                time.sleep(2 * LATENCY_MS / 1000)
            victim.ask_to_end()
            assert_ended_in_order(victim)
        finally:
            installation.command("restart", name)
    assert_same(recruiter, run_id, calm)
    assert asked(installation) - before == calls, "a call was made twice"
    until(lambda: len(set(receiver.deliveries())) >= EVENTS)
    time.sleep(2)
    noted = {one["id"]: len(one["attempts"]) for one in log(recruiter, endpoint)}
    received = Counter(receiver.deliveries())
    receiver.shutdown()
    receiver.server_close()
    assert {one: count for one, count in received.items() if count > noted[one]} == {}, "an attempt was repeated"


@dataclass
class Asked:
    """A request with its time, id and result; status is null without an answer."""

    id: str
    at: float
    status: int | None = None


@dataclass
class Load:
    """Callers that send one request after another to one process, each over its own connection."""

    url: str
    recruiter: Recruiter
    stop: Event = field(default_factory=Event)
    asked: list[Asked] = field(default_factory=list)

    def headers(self, one: Asked) -> dict[str, str]:
        key = self.recruiter.api_key
        return {"Authorization": f"Bearer {key}", "X-Request-Id": one.id, "Idempotency-Key": one.id}

    def call(self) -> None:
        while not self.stop.is_set():
            one = Asked(f"load-{uuid4().hex}", time.monotonic())
            self.asked.append(one)
            try:
                path = f"{self.url}{SEARCH}"
                answer = httpx.post(path, json=ENGINEERS, headers=self.headers(one), timeout=60, trust_env=False)
                one.status = answer.status_code
            except httpx.TransportError:
                time.sleep(0.05)

    def under_way(self) -> list[Asked]:
        """Return the requests sent a while ago that have no answer yet."""
        return [one for one in self.asked if one.status is None and one.at < time.monotonic() - BEGUN_SECONDS]


@pytest.mark.parametrize(
    ("latency_ms", "answered"), [(SLOW_MS, {200}), (LASTING_MS, {409, 429})], ids=["that_end", "that_last"]
)
def test_an_api_that_gets_sigterm_answers_open_requests_and_refuses_new_ones(
    installation: Installation, latency_ms: int, answered: set[int]
) -> None:
    """A caller that waits for a long upstream call has to retry, and gets its answer from the other process."""
    recruiter = Recruiter.join(installation.facts)
    installation.no_faults()
    installation.fault(fault="latency", latency_ms=latency_ms)
    with extra_process(installation, "api") as victim, ThreadPoolExecutor(CALLERS) as callers:
        load = Load(victim.url, recruiter)
        running: list[Future[None]] = [callers.submit(load.call) for _ in range(CALLERS)]
        try:
            until(lambda: len(load.under_way()) == CALLERS)
            met = load.under_way()
            victim.ask_to_end()
            assert_ended_in_order(victim)
        finally:
            load.stop.set()
            for one in running:
                one.result()
    assert {one.status for one in met} <= answered, met
    lost = [one for one in load.asked if one.status is None]
    assert lost, "it went on taking requests"
    assert not [one.id for one in lost if one.id in victim.log()], "it began what it did not answer"
    assert {one.status for one in load.asked} <= {200, 503, None} | answered
    installation.no_faults()
    installation.fault(fault="latency", latency_ms=LATENCY_MS)
    for asked in met:
        assert recruiter.call("POST", SEARCH, json=ENGINEERS, headers=load.headers(asked)).status_code == 200
    charges = dict(recruiter.charges())
    assert charges == {"lead": LEADS}, "who is found again is not paid again"
