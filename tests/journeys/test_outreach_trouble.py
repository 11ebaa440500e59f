"""Sends on a running installation in trouble: six hours without the provider, and two workers at once."""

import contextlib
import signal
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import psutil
import pytest

from stack.children import PROJECT
from tests.journeys.installation import Installation, installed
from tests.journeys.network_log import broken_promises, duplicates, moment, seeds_of
from tests.journeys.outreach import Json, Outreach

pytestmark = [pytest.mark.timeout(900), pytest.mark.slow]

BRUSSELS = ZoneInfo("Europe/Brussels")
DUE = 40
PER_DAY = 20
OUTAGE_HOURS = 6
WARM_UP = timedelta(days=15)
GREETING: Json = {"type": "message", "body": "Hi {{first_name}}. {{privacy_notice}}"}
REMINDER: Json = {"type": "message", "wait_days": 4, "is_follow_up": True, "body": "Still there, {{first_name}}?"}


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OUTREACH_CHATS_MINUTES", "1440")  # polls would be most of the work
        with installed("--population", "1000", "--virtual-time") as running:
            yield running


def connected(outreach: Outreach, count: int) -> list[Json]:
    """Return `count` relations of the owner, none of whom acts on their own."""
    outreach.order("switches", natural=False)
    people = outreach.strangers(count)
    for one in people:
        outreach.act("people", one["person_id"], tie="connected")
    return people


def next_tuesday(after: datetime) -> datetime:
    """Return 7 a.m. of the next Tuesday in Brussels."""
    local = after.astimezone(BRUSSELS)
    days = (1 - local.weekday()) % 7 or 7
    return (local + timedelta(days=days)).replace(hour=7, minute=0, second=0, microsecond=0)


@pytest.mark.parametrize("fault", ["server_error", "connection_lost"])
def test_sends_that_were_due_during_six_hours_without_the_provider_go_out_one_at_a_time_afterwards(
    installation: Installation, fault: str
) -> None:
    outreach = Outreach.begin(installation)
    people = connected(outreach, DUE + 1)
    first, rest = people[:1], people[1:]
    warm = outreach.sequence("Warms up", [GREETING])
    outreach.enroll(warm, first)
    tuesday = next_tuesday(outreach.now() + WARM_UP)
    outreach.until(tuesday)
    sequence_id = outreach.sequence("Through trouble", [GREETING, REMINDER], daily_pace_limit=PER_DAY)
    assert outreach.enroll(sequence_id, rest)["enrolled"] == DUE

    monday = tuesday + timedelta(days=6, minutes=30)  # both days' reminders fall on the weekend before
    outreach.until(monday)
    greeted = outreach.log()
    assert len(greeted) == DUE + 1
    installation.fault(provider="network", fault=fault)
    outreach.until(monday + timedelta(hours=OUTAGE_HOURS, minutes=30))
    assert outreach.log() == greeted
    installation.no_faults()
    over = outreach.now()
    outreach.advance("3d")

    log, actions = outreach.log(), outreach.listed("/v1/outreach/actions")
    reminders = log[len(greeted) :]
    assert len({entry["person_id"] for entry in reminders}) == len(reminders) == DUE
    assert duplicates(log) == []
    assert {one["outcome"] for one in actions} == {"sent"}
    assert all(moment(entry) > over for entry in reminders)
    profiles = outreach.profiles(warm, first) | outreach.profiles(sequence_id, rest)
    assert broken_promises(log, seeds_of(log, actions, profiles), outreach.terms()) == []
    assert moment(reminders[-1]) - over < timedelta(hours=4), "forty rests of at most three minutes take two hours"
    assert {one["status"] for one in outreach.listed("/v1/outreach/enrollments")} == {"completed"}


@contextlib.contextmanager
def second_worker(installation: Installation) -> Iterator[Path]:
    """Start a second worker in the same way as the installation's own, and return its log."""
    first = psutil.Process(installation.pid("worker"))
    ready = installation.home.parent / "second.ready"
    command = [str(ready) if one.endswith(".ready") else one for one in first.cmdline()]
    said = installation.home.parent / "second.log"
    with said.open("wb") as log:
        running = subprocess.Popen(command, cwd=PROJECT, env=first.environ(), stdout=log, stderr=subprocess.STDOUT)
    try:
        deadline = datetime.now(UTC) + timedelta(seconds=60)
        while not ready.exists():
            assert running.poll() is None, said.read_text()
            assert datetime.now(UTC) < deadline, said.read_text()
        yield said
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(60)


def test_two_workers_send_once(installation: Installation) -> None:
    outreach = Outreach.begin(installation)
    people = connected(outreach, 16)
    sequence_id = outreach.sequence("Two workers", [GREETING, {**REMINDER, "wait_days": 1}])
    with second_worker(installation) as said:
        assert outreach.enroll(sequence_id, people)["enrolled"] == len(people)
        outreach.advance("10d")
        both = [said.read_text(), (installation.home / "logs" / "worker.log").read_text()]
    log, actions = outreach.log(), outreach.listed("/v1/outreach/actions")
    assert len(log) == 2 * len(people)
    assert duplicates(log) == []
    assert {one["attempts"] for one in actions} == {1}
    assert broken_promises(log, seeds_of(log, actions, outreach.profiles(sequence_id, people)), outreach.terms()) == []
    mine = [[one["id"] for one in actions if one["id"] in text] for text in both]
    assert all(mine), "both worked, else this says nothing"
    assert not set(mine[0]) & set(mine[1])
