"""The kernel: wakes rows after the commit, does not wait for locks, and reports what blocks it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import text

from api.kernel.kernel import Kernel
from models.base.database import Database
from models.base.steps import Subject
from tests.api.conftest import Workspace, application, client, error_of, run_sql


@dataclass
class RecordingWaker:
    """Notes which rows are woken, and whether each was visible to other sessions by then."""

    database: Database
    woken: list[tuple[str, str | None, bool]] = field(default_factory=list)
    trouble: Exception | None = None
    delay: float = 0

    async def wake(self, subject: Subject, *, workspace_id: str | None = None, customer_id: str | None = None) -> None:
        del customer_id
        if self.trouble:
            raise self.trouble
        await asyncio.sleep(self.delay)
        seen = await run_sql(self.database, "select 1 from mails where id = :id", id=subject.id)
        self.woken.append((subject.kind, workspace_id, bool(seen)))


@pytest.fixture(scope="module")
async def app(module_database_url: str) -> AsyncIterator[FastAPI]:
    async with application(module_database_url) as made:
        yield made


@pytest.fixture
def waker(app: FastAPI, database: Database) -> RecordingWaker:
    kernel: Kernel = app.state.kernel
    kernel.waker = RecordingWaker(database)
    return kernel.waker


async def test_a_wake_up_comes_after_the_commit(waker: RecordingWaker, workspace: Workspace) -> None:
    waker.woken.clear()
    await workspace.http.post("/v1/workspace/verification")
    assert waker.woken == [("mail", workspace.id, True)]


async def test_signing_up_wakes_its_mail(waker: RecordingWaker, http: httpx.AsyncClient) -> None:
    waker.woken.clear()
    await http.post("/v1/workspaces", json={"name": "Acme", "email": "ringing@example.com"})
    assert waker.woken == [("mail", None, True)]


@pytest.mark.parametrize("trouble", [RuntimeError("Failed client connect"), TimeoutError()])
async def test_a_row_that_cannot_be_woken_is_left_to_the_dispatcher(
    waker: RecordingWaker, workspace: Workspace, database: Database, trouble: Exception
) -> None:
    waker.trouble = trouble
    assert (await workspace.http.post("/v1/workspace/verification")).status_code == 200
    unanswered = "select count(*) from mails where workspace_id = :id and rings > answered"
    assert (await run_sql(database, unanswered, id=workspace.id))[0][0] == 2


async def test_a_wake_up_takes_two_seconds_at_most(
    waker: RecordingWaker, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.kernel.kernel.WAKE_SECONDS", 0.05)
    waker.woken.clear()
    waker.delay = 60
    async with asyncio.timeout(20):
        assert (await workspace.http.post("/v1/workspace/verification")).status_code == 200
    assert waker.woken == []


@pytest.mark.usefixtures("database_limits")
async def test_a_row_locked_for_long_is_a_conflict_to_repeat(
    workspace: Workspace, database: Database, module_database_url: str
) -> None:
    async with application(module_database_url) as limited, client(limited, api_key=workspace.api_key) as http:
        async with database.transaction() as session:
            await session.execute(text("select 1 from workspaces where id = :id for update"), {"id": workspace.id})
            answer = await http.patch("/v1/workspace", json={"name": "x"})
            error_of(answer, 409, "conflict")
            assert answer.headers["retry-after"] == "1"
        assert (await http.patch("/v1/workspace", json={"name": "x"})).status_code == 200


async def test_a_key_being_changed_does_not_hold_up_its_requests(workspace: Workspace, database: Database) -> None:
    async with database.transaction() as session:
        await session.execute(text("select 1 from api_keys where workspace_id = :id for update"), {"id": workspace.id})
        assert (await workspace.http.get("/v1/billing/balance")).status_code == 200


OTHERS = """select pg_terminate_backend(pid) from pg_stat_activity
where pid <> pg_backend_pid() and datname = current_database()"""


async def test_a_restarted_database_is_not_felt(
    workspace: Workspace, database: Database, http: httpx.AsyncClient
) -> None:
    for _ in range(3):
        answers = await asyncio.gather(*(workspace.http.get("/v1/workspace") for _ in range(8)))
        assert {answer.status_code for answer in answers} == {200}
        async with database.transaction() as session:
            await session.execute(text("set local role none"))  # the service's own role may not end other connections
            await session.execute(text(OTHERS))
    assert (await http.get("/v1/billing/plans")).status_code == 200
