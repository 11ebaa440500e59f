"""The upstream queue: five concurrent calls in the installation, and fair turns for all workspaces."""

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest
from sqlalchemy import text

from models.base.database import Database
from models.base.tenants import all_tenants
from tests.journeys.installation import Installation
from tests.journeys.recruiter import Recruiter

pytestmark = pytest.mark.timeout(300)

CROWD = 12
LATENCY_MS = 400
"""The latency of every upstream call, long enough for all slots to be taken."""
TITLES = ("Data Engineer", "Nurse", "Accountant", "Software Engineer", "Sales Manager", "Electrician")


@pytest.fixture
def installation(killed_installation: Installation) -> Iterator[Installation]:
    killed_installation.fault(fault="latency", latency_ms=LATENCY_MS)
    yield killed_installation
    killed_installation.no_faults()


def ask(n: int) -> dict[str, object]:
    """Start runs that share no page."""
    return {"intent": {"must": {"titles": [TITLES[n % 6]], "location": {"countries": ["DE" if n < 6 else "FR"]}}}}


async def begun(installation: Installation, run_ids: list[str]) -> None:
    """Return when every run has asked for its first call."""
    database = Database(installation.facts["database_url"], pool_size=0).within(all_tenants("tests"))
    async with database.transaction() as session:
        count = text("select count(*) from runs where id = any(:ids) and call_number > 0")
        while await session.scalar(count, {"ids": run_ids}) < len(run_ids):  # noqa: ASYNC110 - the worker asks
            await asyncio.sleep(0.1)
    await database.close()


def test_a_single_run_is_served_in_turn_and_never_after_a_crowd_of_another_workspace(
    installation: Installation,
) -> None:
    crowd, single = Recruiter.join(installation.facts), Recruiter.join(installation.facts)
    installation.command("kill", "upstream")  # so that the first calls of all runs wait together
    try:
        many = [crowd.start_run(target=60, **ask(n)) for n in range(CROWD)]
        one = single.start_run(target=30)
        asyncio.run(begun(installation, [*many, one]))
    finally:
        installation.command("restart", "upstream")
    done = single.finished(one)
    assert done["status"] == "completed"
    later = [run_id for run_id in many if crowd.finished(run_id)["finished_at"] > done["finished_at"]]
    assert len(later) >= CROWD / 4  # in order of arrival it would be none
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
