"""Preview: `POST /v1/outreach/enrollments?dry_run=true` of 500 people on an account with 5,000 actions, 1,000 booked.

Measures the CPU seconds of the API process, client included (aim: under 1). The floor reads the same people and actions
with two bare queries and writes a JSON answer of the same size.
"""

import asyncio
import json
import shutil
import statistics
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import httpx

from api.app import create_app
from benchmarks.api import database, join
from models.base.database import Database
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.settings import Settings
from models.base.tenants import UNHELD, all_tenants
from models.outreach.tables import Action, OutreachAccount
from models.people.store import people

AIM = 1.0
SECRET = "a secret of the benchmark, long enough"  # noqa: S105 - of an installation that lives for a minute
PEOPLE = 500
ACTIONS = 5_000
BOOKED = 1_000
TEMPLATES = ("network_first", "network_invite_note_message")
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class World:
    """A workspace with an account that has sent messages, and people who got no message from it."""

    url: str
    key: str
    account_id: str
    profile_ids: list[str]


async def fill(url: str) -> World:
    """Create the workspace, its account and people."""
    now = datetime.now(UTC)
    account = new_id("acc", now)
    connection = await asyncpg.connect(url.replace("+asyncpg", ""), server_settings=UNHELD)
    workspace, _, secret = await join(connection, now)
    profile_ids = await _people(connection, workspace, PEOPLE, now, known=True)
    done = await _people(connection, workspace, ACTIONS, now, known=False)
    await _at_work(url, workspace, account, done, now)
    await connection.execute("analyze")
    await connection.close()
    return World(url, secret, account, profile_ids)


async def _people(
    connection: "asyncpg.Connection[asyncpg.Record]", workspace: str, count: int, now: datetime, *, known: bool
) -> list[str]:
    """Write people with a profile URL and return their ids; `known`: with a cached profile of the workspace."""
    vault = Vault(SECRET)
    ids = [new_id("prof", now) for _ in range(count)]
    urls = [f"https://www.linkedin.com/in/{profile_id}" for profile_id in ids]
    await connection.executemany("insert into people (id, created_at) values ($1, $2)", [(one, now) for one in ids])
    await connection.executemany(
        "insert into person_keys (hash, profile_id, kind, value) values ($1, $2, 'url', $3)",
        [(people.url_hash(vault, url), one, url) for one, url in zip(ids, urls, strict=True)],
    )
    if known:
        contents = [json.dumps(_profile(one, url)) for one, url in zip(ids, urls, strict=True)]
        await connection.executemany(
            "insert into cached_profiles (profile_id, source, content, fetched_at) values ($1, 'bench', $2, $3)",
            [(one, content, now) for one, content in zip(ids, contents, strict=True)],
        )
        await connection.executemany(
            "insert into profile_copies (workspace_id, tenant_id, profile_id, created_at) values ($1, $1, $2, $3)",
            [(workspace, one, now) for one in ids],
        )
    return ids


def _profile(profile_id: str, url: str) -> Json:
    jobs = [{"title": "Data Engineer", "company": f"Company {n} B.V.", "start_date": f"{2010 + n}"} for n in range(8)]
    return {
        "id": profile_id,
        "source": "bench",
        "profile_url": url,
        "full_name": "dr. ADA Lovelace, PhD",
        "first_name": "ADA",
        "current": {"title": "Data Engineer", "company": "Analytical Engines B.V."},
        "experience": jobs,
        "skills": [f"skill {n}" for n in range(40)],
    }


async def _at_work(url: str, workspace: str, account: str, ids: list[str], now: datetime) -> None:
    """Write an account with messages and visits: most in the last 150 days, the others scheduled."""
    opened = Database(url, pool_size=1).within(all_tenants("a benchmark"))
    began = now - timedelta(days=200)
    async with opened.transaction() as session:
        session.add(
            OutreachAccount(
                id=account,
                workspace_id=workspace,
                tenant_id=workspace,
                status="active",
                network_user_id="user",
                provider_id="provider",
                warmup_started_at=began,
                created_at=began,
            )
        )
        await session.flush()
        session.add_all(_action(workspace, account, profile_id, place, now) for place, profile_id in enumerate(ids))
    await opened.close()


def _action(workspace: str, account: str, profile_id: str, place: int, now: datetime) -> Action:
    booked = place < BOOKED
    done_at = None if booked else now - timedelta(minutes=45 * place)
    return Action(
        id=new_id("act", now),
        workspace_id=workspace,
        tenant_id=workspace,
        account_id=account,
        profile_id=profile_id,
        type="message" if place % 2 else "profile_visit",
        outcome="scheduled" if booked else "sent",
        seed=profile_id,
        scheduled_at=now + timedelta(minutes=20 * place + 5) if booked else None,
        claimed_at=done_at,
        ended_at=done_at,
        created_at=now,
    )


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU time of this process and wall time, in seconds."""

    cpu: float
    wall: float


async def preview(http: httpx.AsyncClient, sequence_id: str, world: World) -> tuple[Cost, Json]:
    """Preview the enrollment of all people."""
    body = {"sequence_id": sequence_id, "profile_ids": world.profile_ids}
    cpu, wall = time.process_time(), time.perf_counter()
    answer = await http.post("/v1/outreach/enrollments?dry_run=true", json=body)
    cost = Cost(time.process_time() - cpu, time.perf_counter() - wall)
    return cost, answer.raise_for_status().json()


async def floor(connection: "asyncpg.Connection[asyncpg.Record]", world: World, answer: Json) -> Cost:
    """Return the cost of reading the same people and actions with bare queries and writing as much JSON."""
    cpu, wall = time.process_time(), time.perf_counter()
    await connection.fetch(
        "select k.profile_id, k.value, c.content ->> 'first_name' from person_keys k join cached_profiles c"
        " using (profile_id) where k.profile_id = any($1)",
        world.profile_ids,
    )
    await connection.fetch(
        "select seed, type, scheduled_at, claimed_at, ended_at from actions where account_id = $1"
        " and (outcome = 'scheduled' or claimed_at > now() - interval '8 days')",
        world.account_id,
    )
    json.dumps(answer).encode()
    return Cost(time.process_time() - cpu, time.perf_counter() - wall)


async def measure(world: World, rounds: int) -> float:
    """Measure both templates and the floor in turn, print the table, and return the highest median CPU of a preview."""
    app = create_app(
        Settings(database_url=world.url, secret_key=SECRET, rate_limit_per_minute=1_000_000, log_level="ERROR")
    )
    connection = await asyncpg.connect(world.url.replace("+asyncpg", ""), server_settings=UNHELD)
    headers = {"Authorization": f"Bearer {world.key}"}
    transport = httpx.ASGITransport(app=app)
    costs: dict[str, list[Cost]] = defaultdict(list)
    counts: dict[str, Json] = {}
    async with httpx.AsyncClient(transport=transport, base_url="http://bench", headers=headers, timeout=60) as http:
        sequences = {template: await saved(http, world, template) for template in TEMPLATES}
        for turn in range(rounds + 1):
            for template, sequence_id in sequences.items():
                cost, answer = await preview(http, sequence_id, world)
                bare = await floor(connection, world, answer)
                counts[template] = answer["counts"]
                if turn > 0:  # the first round is a warm-up
                    costs[template].append(cost)
                    costs["floor"].append(bare)
    await connection.close()
    await app.state.kernel.database.close()
    print(f"preview of {PEOPLE} people, {ACTIONS} actions on the account, median of {rounds} rounds")
    print(f"  {'':<28} {'CPU s':>8} {'clock s':>8}")
    for name, each in costs.items():
        cpu, wall = statistics.median(c.cpu for c in each), statistics.median(c.wall for c in each)
        print(f"  {name:<28} {cpu:8.3f} {wall:8.3f}  {counts.get(name, '')}")
    return max(statistics.median(cost.cpu for cost in costs[template]) for template in TEMPLATES)


async def saved(http: httpx.AsyncClient, world: World, template: str) -> str:
    """Save a sequence from a template and return its id."""
    made = await http.post("/v1/outreach/sequences", json={"account_id": world.account_id, "template": template})
    return str(made.raise_for_status().json()["id"])


def report(rounds: int) -> bool:
    """Measure, print, and return whether the aim is met."""
    folder = Path(tempfile.mkdtemp(prefix="benchmark-"))
    folder.chmod(0o711)  # the system user of the database must be able to traverse it
    try:
        with database(folder) as url:
            world = asyncio.run(fill(url))
            cpu = asyncio.run(measure(world, rounds))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"  CPU of a preview: {cpu:.2f} s (aim: under {AIM})")
    return cpu < AIM
