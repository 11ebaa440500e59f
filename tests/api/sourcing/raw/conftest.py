"""The raw layer end to end, without Temporal: the API, the activity on the same database, the sandbox over HTTP."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI
from temporalio.testing import ActivityEnvironment

from activities.sourcing.calls import RawCalls
from activities.sourcing.people import PeopleCalls
from activities.upstream.people_data_labs import client
from activities.upstream.people_data_labs.source import PeopleDataLabs
from activities.upstream.slots import UpstreamSlots
from api.kernel.kernel import Kernel, UpstreamCaller
from models.base.database import Database
from models.base.steps import Step
from models.market.reference import reference
from stack.children import Child
from stack.ports import LOOPBACK, Ports
from tests.api.conftest import Workspace, empty, run_sql

KEY = "0123456789abcdef" * 4
PEOPLE, SEED = 700, 11
SLOTS = 5


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the URL of a sandbox that only this xdist worker uses; `provider` undoes the changes of a test."""
    folder = tmp_path_factory.mktemp("sandbox")
    ports = Ports()
    port, smtp = ports.take(28190), ports.take(28125)

    def ready(_: int) -> bool:
        try:
            return httpx.get(f"http://{LOOPBACK}:{port}/_control/health", trust_env=False, timeout=2).is_success
        except httpx.HTTPError:
            return False

    child = Child(
        name="sandbox",
        command=[
            *(sys.executable, "-m", "sandbox", "--host", LOOPBACK, "--port", str(port), "--smtp-port", str(smtp)),
            *("--population", str(PEOPLE), "--seed", str(SEED), "--clock-offset", "0"),
            *("--people-api-key", KEY, "--state-dir", str(folder / "state")),
        ],
        log=folder / "log",
        ready=ready,
    )
    try:
        child.start()
        yield f"http://{LOOPBACK}:{port}"
    finally:
        child.stop()
        ports.release()


@dataclass
class Provider:
    """The sandbox's control: faults, states of people, and the call log."""

    http: httpx.AsyncClient

    async def fault(self, kind: str, operation: str = "*", **more: Any) -> None:
        order = {"provider": "people", "operation": operation, "fault": kind} | more
        (await self.http.post("/faults", json=order)).raise_for_status()

    async def healthy(self) -> None:
        await self.http.delete("/faults")
        limits = {"per_minute": dict.fromkeys(("person/search", "person/bulk", "person/identify"), 100_000)}
        (await self.http.post("/people/limits", json=limits)).raise_for_status()
        await self.http.delete("/people/states")

    async def calls(self) -> int:
        """Return the total number of calls."""
        return sum((await self.http.get("/people/log")).json()["calls"].values())

    async def some(self, limit: int = 10) -> list[dict[str, Any]]:
        """Return people as the provider has them."""
        found = (await self.http.get("/people", params={"limit": limit})).json()["data"]
        return [each["record"] for each in found]


@pytest.fixture
async def provider(sandbox: str) -> AsyncIterator[Provider]:
    async with httpx.AsyncClient(base_url=f"{sandbox}/_control", trust_env=False, timeout=30) as http:
        made = Provider(http)
        await made.healthy()
        yield made
        await made.healthy()


@dataclass
class Calls:
    """Makes each started call once and immediately, in this process. While `held`, calls are started but not made.

    Starting a call again does not repeat it, just as Temporal recognizes it by its id.
    """

    activity: RawCalls
    held: bool = False
    started: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    begun: set[str] = field(default_factory=set)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def start(self, call_id: str, *, workspace_id: str) -> None:
        del workspace_id
        self.started.append(call_id)
        if self.held:
            self.waiting.append(call_id)
        elif call_id not in self.begun:
            self.begun.add(call_id)
            self.make(call_id)

    def then(self, afterwards: Callable[[], Awaitable[None]]) -> None:
        """Run `afterwards` after each call, before its caller learns that it has ended."""

        async def start(call_id: str, *, workspace_id: str) -> None:
            del workspace_id
            await self._make(call_id)
            await afterwards()

        self.start = start  # type: ignore[method-assign]  # the test's own start

    async def until_started(self, count: int = 1) -> None:
        """Wait until this many calls have been started since calls are held."""
        async with asyncio.timeout(20):
            while len(self.waiting) < count:  # noqa: ASYNC110 - the list says it
                await asyncio.sleep(0.02)

    def make(self, call_id: str) -> "asyncio.Task[None]":
        """Run the activity."""
        self.tasks.append(asyncio.create_task(self._make(call_id)))
        return self.tasks[-1]

    async def _make(self, call_id: str) -> None:
        await ActivityEnvironment().run(self.activity.call, Step(id=call_id))


@pytest.fixture
async def source(
    app: FastAPI, database: Database, sandbox: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[PeopleCalls]:
    """Yield the people source with slots of this process."""
    monkeypatch.setattr(client, "wait_random_exponential", lambda **_: lambda _state: 0.01)
    adapter = PeopleDataLabs(base_url=sandbox, api_key=KEY)
    slots = UpstreamSlots(database.transaction, slots=SLOTS)
    await slots.open()
    for _ in range(SLOTS):
        await slots.take()
    yield PeopleCalls(adapter, slots, reference)
    await slots.close()
    await adapter.close()


@pytest.fixture
async def calls(app: FastAPI, database: Database, source: PeopleCalls) -> AsyncIterator[Calls]:
    # Data about people is shared by the whole installation: people of other tests must not be known.
    kept = "people suppressions leads idempotency_records upstream_calls jobs contacts companies"
    await empty(database, *kept.split())
    kernel: Kernel = app.state.kernel
    made = Calls(RawCalls(database, kernel.vault, source))
    kernel.upstream = UpstreamCaller(database, made, seconds=20)
    yield made
    await asyncio.gather(*made.tasks)
    kernel.upstream = None


async def spend(
    workspace: Workspace, path: str, body: dict[str, Any], *, key: str | None = None, query: str = ""
) -> httpx.Response:
    """Execute a call that spends, by default with a new Idempotency-Key."""
    return await workspace.http.post(path + query, json=body, headers={"Idempotency-Key": key or uuid4().hex})


async def charged(database: Database, workspace: Workspace) -> dict[str, int]:
    """Return the credits charged so far, by reason."""
    rows = await run_sql(
        database,
        "select reason, -sum(credits)::int from ledger_entries where workspace_id = :w and kind = 'charge' group by 1",
        w=workspace.id,
    )
    return {reason: spent for reason, spent in rows}  # noqa: C416 - rows are not pairs


async def suppress(database: Database, workspace: Workspace, profile_id: str) -> None:
    """Suppress a person as an operation would, by the person's key."""
    await run_sql(
        database,
        "insert into suppressions (id, workspace_id, key_hash, profile_id, reason, created_at)"
        " select 'sup_' || gen_random_uuid(), :w, hash, profile_id, 'manual', now() from person_keys"
        " where profile_id = :p",
        w=workspace.id,
        p=profile_id,
    )


async def find(workspace: Workspace, count: int) -> list[dict[str, Any]]:
    """Find this number of people by a search, each a lead."""
    ask = {"filters": {"titles": {"include": ["engineer"]}}, "limit": count, "view": "compact"}
    answer = await spend(workspace, "/v1/people/search", ask)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["data"]
    return found
