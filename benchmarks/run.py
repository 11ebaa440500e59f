"""`python -m benchmarks.run`: a run of 60 people compared with the same upstream calls by a plain asyncio script.

Both call the same sandbox with the same latency per call, in turn, within one execution of this program. The floor
makes the calls that the run's log shows, with the production adapter alone. Prints the times, their ratio (aim: at most
1.25 at 200 ms), and Temporal history events per run and per delivered candidate.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import text
from temporalio.client import Client

from activities.sourcing.people import KnownNames
from activities.upstream.people_data_labs.source import PeopleDataLabs
from models.base.database import Database
from models.base.tenants import all_tenants
from models.market.reference import reference
from models.sourcing.rules.filters import TierFilters
from stack.account import sign_up
from stack.children import PROJECT

FINAL = {"completed", "completed_no_audience", "failed", "aborted"}
INTENT = {"must": {"titles": ["Data Engineer"], "location": {"countries": ["BE", "NL", "DE", "FR", "GB"]}}}
TARGET = 60
PAGE = 50
Json = dict[str, Any]


@contextmanager
def installation(population: int) -> Iterator[Json]:
    """Start a separate installation, and yield its facts."""
    with tempfile.TemporaryDirectory(prefix="bench-run-") as home:
        Path(home).chmod(0o755)
        facts, data = Path(home) / "facts.json", f"{home}/data"
        command = [sys.executable, "-m", "stack"]
        up = ["up", "--detach", "--population", str(population), "--data-dir", data, "--json", str(facts)]
        subprocess.run([*command, *up], cwd=PROJECT, check=True, capture_output=True)
        try:
            choices = json.loads(Path(data, "choices.json").read_text())
            yield json.loads(facts.read_text()) | {"people_api_key": choices["people_api_key"]}
        finally:
            subprocess.run([*command, "down", "--data-dir", data], cwd=PROJECT, check=True, capture_output=True)


def set_latency(facts: Json, milliseconds: int) -> None:
    """Add this latency to every call of the people provider."""
    fault = {"provider": "people", "operation": "*", "fault": "latency", "latency_ms": milliseconds, "rate": 1}
    httpx.post(f"{facts['sandbox_url']}/_control/faults", json=fault, trust_env=False).raise_for_status()


async def timed_run(facts: Json, database: Database) -> tuple[float, str]:
    """Return the seconds from the request to the finished run, by the database's times, and the run's id."""
    account = await asyncio.to_thread(sign_up, facts["api_url"], facts["sandbox_url"], name="Benchmark")
    async with database.transaction() as session:
        for table in ("cached_profiles", "query_totals"):
            await session.execute(text(f"delete from {table}"))  # noqa: S608 - two names of our own
    headers = {"Authorization": f"Bearer {account.api_key}"}
    async with httpx.AsyncClient(base_url=facts["api_url"], headers=headers, trust_env=False, timeout=30) as http:
        began = time.perf_counter()
        key = {"Idempotency-Key": account.workspace_id}
        answer = await http.post("/v1/runs", json={"intent": INTENT, "target": TARGET}, headers=key)
        run_id = str(answer.raise_for_status().json()["run"]["id"])
    while True:
        async with database.transaction() as session:
            status = await session.scalar(text("select status from runs where id = :id"), {"id": run_id})
        if status in FINAL:
            return time.perf_counter() - began, run_id
        await asyncio.sleep(0.01)


async def timed_floor(source: PeopleDataLabs, filters: TierFilters) -> float:
    """Return the seconds that a plain script takes for a page, its profiles, the next page and the missing ones."""
    directory = KnownNames(reference())
    began = time.perf_counter()
    wanted, token = TARGET, None
    while wanted > 0:
        page = await source.search(filters, directory, size=PAGE, token=token)
        ids = [person.source_id for person in page.people][:wanted]
        await source.fetch(ids, directory)
        wanted, token = wanted - len(ids), page.next_token
    return time.perf_counter() - began


async def first_tier(database: Database, run_id: str) -> TierFilters:
    """Return the filters by which the run's people were found."""
    async with database.transaction() as session:
        tier = await session.scalar(
            text(
                "select p.content #> '{tiers,0,filters}' from search_plans p join runs r on r.plan_id = p.id"
                " where r.id = :id"
            ),
            {"id": run_id},
        )
    return TierFilters.model_validate(tier)


async def history_events(facts: Json, run_id: str) -> int:
    """Return the number of events in the run's Temporal history."""
    client = await Client.connect(facts["temporal_address"])
    history = await client.get_workflow_handle(f"run/{run_id}").fetch_history()
    return len(history.events)


async def measure(facts: Json, *, rounds: int, latency_ms: int) -> None:
    """Measure run and floor in turn, then print the table."""
    database = Database(facts["database_url"], pool_size=2).within(all_tenants("a benchmark"))
    source = PeopleDataLabs(base_url=facts["sandbox_url"], api_key=facts["people_api_key"])
    set_latency(facts, latency_ms)
    ours: list[float] = []
    floor: list[float] = []
    events = 0
    try:
        for turn in range(rounds + 1):
            seconds, run_id = await timed_run(facts, database)
            least = await timed_floor(source, await first_tier(database, run_id))
            if turn > 0:  # the first round is a warm-up
                ours.append(seconds)
                floor.append(least)
            events = await history_events(facts, run_id)
    finally:
        await source.close()
        await database.close()
    ratio = statistics.median(ours) / statistics.median(floor)
    print(f"{TARGET} people, {latency_ms} ms for each upstream call, median of {rounds} rounds")
    print(f"  run        {statistics.median(ours):7.3f} s   ({min(ours):.3f} to {max(ours):.3f})")
    print(f"  floor      {statistics.median(floor):7.3f} s   ({min(floor):.3f} to {max(floor):.3f})")
    print(f"  ratio      {ratio:7.2f}     aim: at most 1.25")
    print(f"  Temporal history events: {events} for the run, {events / TARGET:.2f} for each candidate")


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--latency-ms", type=int, default=200)
    parser.add_argument("--population", type=int, default=20_000)
    asked = parser.parse_args()
    with installation(asked.population) as facts:
        asyncio.run(measure(facts, rounds=asked.rounds, latency_ms=asked.latency_ms))


if __name__ == "__main__":
    main()
