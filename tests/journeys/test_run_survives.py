"""Kill or freeze any process at any moment of a run: the same candidates, the same ledger, no second charge."""

import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from models.database import Database
from stack.children import PROJECT
from tests.journeys.recruiter import Recruiter

pytestmark = pytest.mark.timeout(400)

Facts = dict[str, Any]
FROZEN_SECONDS = 14
"""Past the heartbeat time-out of an upstream call and past the lease of its slot."""
LATENCY_MS = 250
"""Of every upstream call, so that a kill meets one at work."""


def stack(home: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "stack", *arguments, "--data-dir", str(home)]
    done = subprocess.run(command, cwd=PROJECT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """An installation of this module's own: its processes are killed."""
    folder = Path(tempfile.mkdtemp(prefix="survives-"))
    folder.chmod(0o755)
    stack(folder / "data", "up", "--detach", "--population", "3000", "--json", str(folder / "facts.json"))
    yield folder
    stack(folder / "data", "down")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def facts(home: Path) -> Facts:
    read: Facts = json.loads((home / "facts.json").read_text())
    fault = {"provider": "people", "operation": "*", "fault": "latency", "latency_ms": LATENCY_MS, "rate": 1}
    httpx.post(f"{read['sandbox_url']}/_control/faults", json=fault, trust_env=False).raise_for_status()
    return read


def forget_profiles(facts: Facts) -> None:
    """Empty the profile cache, so that every run pays its profiles."""

    async def work() -> None:
        database = Database(facts["database_url"], pool_size=0)
        async with database.transaction() as session:
            await session.execute(text("delete from cached_profiles"))
        await database.close()

    asyncio.run(work())


@pytest.fixture(scope="module")
def calm(facts: Facts) -> tuple[list[str], list[tuple[str, int]]]:
    """Candidates and charges of a run that nothing happened to."""
    recruiter = Recruiter.join(facts)
    run = recruiter.finished(recruiter.start_run())
    assert run["status"] == "completed"
    return [row["profile_id"] for row in recruiter.candidates(run["id"])], recruiter.charges()


@pytest.mark.parametrize("victim", ["api", "worker", "upstream", "temporal", "postgres"])
def test_a_run_survives_the_kill_of(
    victim: str, home: Path, facts: Facts, calm: tuple[list[str], list[tuple[str, int]]]
) -> None:
    forget_profiles(facts)
    recruiter = Recruiter.join(facts)
    run_id = recruiter.start_run()
    time.sleep(random.Random(victim).uniform(0.1, 1.2))
    stack(home / "data", "kill", victim)
    stack(home / "data", "restart", victim)
    assert_same(recruiter, run_id, calm)


@pytest.mark.parametrize("victim", ["worker", "upstream"])
def test_a_run_survives_the_freezing_of(
    victim: str, home: Path, facts: Facts, calm: tuple[list[str], list[tuple[str, int]]]
) -> None:
    forget_profiles(facts)
    recruiter = Recruiter.join(facts)
    run_id = recruiter.start_run()
    time.sleep(0.5)
    pid = pid_of(home, victim)
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(FROZEN_SECONDS)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert_same(recruiter, run_id, calm)


def pid_of(home: Path, name: str) -> int:
    told = home / "status.json"
    stack(home / "data", "status", "--json", str(told))
    return int(json.loads(told.read_text())["processes"][name])


def assert_same(recruiter: Recruiter, run_id: str, calm: tuple[list[str], list[tuple[str, int]]]) -> None:
    """The run ends as the calm one did, and paid what it delivered."""
    run = recruiter.finished(run_id, within=180)
    candidates, charges = calm
    assert [row["profile_id"] for row in recruiter.candidates(run_id)] == candidates
    assert recruiter.charges() == charges
    assert run["spent"]["credits"] == sum(paid for _, paid in charges)
    assert recruiter.get("/v1/billing/balance")["balance_credits"] == 1250 - run["spent"]["credits"]
