"""The upstream queue: five concurrent calls in the installation, and fair turns for all workspaces."""

import os
import signal
from collections.abc import Iterator

import pytest

from tests.journeys.installation import Installation, installed
from tests.journeys.recruiter import Recruiter

pytestmark = pytest.mark.timeout(300)

CROWD = 12
TITLES = ("Data Engineer", "Nurse", "Accountant", "Software Engineer", "Sales Manager", "Electrician")


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with installed("--population", "3000") as running:
        running.fault(fault="latency", latency_ms=700)
        yield running


def ask(n: int) -> dict[str, object]:
    """Start runs that share no page."""
    return {"intent": {"must": {"titles": [TITLES[n % 6]], "location": {"countries": ["DE" if n < 6 else "FR"]}}}}


def test_a_single_run_is_served_in_turn_and_never_after_a_crowd_of_another_workspace(
    installation: Installation,
) -> None:
    crowd, single = Recruiter.join(installation.facts), Recruiter.join(installation.facts)
    many = [crowd.start_run(target=60, **ask(n)) for n in range(CROWD)]
    one = single.start_run(target=30)
    done = single.finished(one)
    assert done["status"] == "completed"
    open_ones = [run_id for run_id in many if crowd.run(run_id)["finished_at"] is None]
    assert len(open_ones) >= CROWD / 4  # in order of arrival it would be none
    for run_id in many:
        crowd.finished(run_id)
    assert installation.people_log()["max_in_flight"] <= 5


def test_never_more_than_five_calls_are_in_flight_when_an_upstream_worker_is_killed(
    installation: Installation,
) -> None:
    crowd = Recruiter.join(installation.facts)
    runs = [crowd.start_run(target=60, **ask(n)) for n in range(8)]
    os.kill(installation.pid("upstream"), signal.SIGKILL)
    installation.command("restart", "upstream")
    for run_id in runs:
        assert crowd.finished(run_id, within=200)["status"].startswith("completed")
    assert installation.people_log()["max_in_flight"] <= 5
