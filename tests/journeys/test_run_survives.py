"""Whichever process is killed or frozen at any moment of a run: same candidates, same ledger, no second charge."""

import asyncio
import os
import random
import signal
import time
from collections.abc import Iterator

import pytest
from sqlalchemy import text

from models.base.database import Database
from models.base.tenants import all_tenants
from tests.journeys.installation import Facts, Installation
from tests.journeys.recruiter import Recruiter

pytestmark = pytest.mark.timeout(400)

FROZEN_SECONDS = 14
"""Longer than the heartbeat time-out of an upstream call and the lease of its slot."""
LATENCY_MS = 250
"""The latency of every upstream call, long enough for a kill during one."""


@pytest.fixture(scope="module")
def installation(killed_installation: Installation) -> Iterator[Installation]:
    killed_installation.fault(fault="latency", latency_ms=LATENCY_MS)
    yield killed_installation
    killed_installation.no_faults()


@pytest.fixture(scope="module")
def facts(installation: Installation) -> Facts:
    return installation.facts


def forget_profiles(facts: Facts) -> None:
    """Empty the profile cache, so that every run pays for its profiles."""

    async def work() -> None:
        database = Database(facts["database_url"], pool_size=0).within(all_tenants("tests"))
        async with database.transaction() as session:
            await session.execute(text("delete from cached_profiles"))
        await database.close()

    asyncio.run(work())


@pytest.fixture(scope="module")
def calm(facts: Facts) -> tuple[list[str], list[tuple[str, int]]]:
    """Return candidates and charges of an undisturbed run."""
    forget_profiles(facts)
    recruiter = Recruiter.join(facts)
    run = recruiter.finished(recruiter.start_run())
    assert run["status"] == "completed"
    return [row["profile_id"] for row in recruiter.candidates(run["id"])], recruiter.charges()


@pytest.mark.parametrize("victim", ["api", "worker", "upstream", "temporal", "postgres"])
def test_a_run_survives_the_kill_of(
    victim: str, installation: Installation, facts: Facts, calm: tuple[list[str], list[tuple[str, int]]]
) -> None:
    forget_profiles(facts)
    recruiter = Recruiter.join(facts)
    run_id = recruiter.start_run()
    time.sleep(random.Random(victim).uniform(0.1, 1.2))
    installation.command("kill", victim)
    installation.command("restart", victim)
    assert_same(recruiter, run_id, calm)


@pytest.mark.parametrize("victim", ["worker", "upstream"])
def test_a_run_survives_the_freezing_of(
    victim: str, installation: Installation, facts: Facts, calm: tuple[list[str], list[tuple[str, int]]]
) -> None:
    forget_profiles(facts)
    recruiter = Recruiter.join(facts)
    run_id = recruiter.start_run()
    time.sleep(0.5)
    pid = installation.pid(victim)
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(FROZEN_SECONDS)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert_same(recruiter, run_id, calm)


def assert_same(recruiter: Recruiter, run_id: str, calm: tuple[list[str], list[tuple[str, int]]]) -> None:
    """Assert that the run ends like the undisturbed one, and was charged for what it delivered."""
    run = recruiter.finished(run_id, within=180)
    candidates, charges = calm
    assert [row["profile_id"] for row in recruiter.candidates(run_id)] == candidates
    assert recruiter.charges() == charges
    assert run["spent"]["credits"] == sum(paid for _, paid in charges)
    assert recruiter.get("/v1/billing/balance")["balance_credits"] == 1250 - run["spent"]["credits"]
