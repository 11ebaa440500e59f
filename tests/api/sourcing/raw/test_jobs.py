"""Fetching in the background: results in input order, partial failures, one charge whatever is repeated."""

from typing import Any

import pytest
from fastapi import FastAPI

from activities.sourcing.background import JobSteps
from activities.sourcing.people import PeopleCalls
from models.base.database import Database
from models.base.steps import Do
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.sourcing.raw.conftest import Provider, charged, find, spend, suppress
from tests.api.sourcing.raw.driving import drive
from tests.api.sourcing.sourcing import fund

PATH = "/v1/people:fetch"
NOBODY = "https://www.linkedin.com/in/nobody-example"


@pytest.fixture
def steps(app: FastAPI, database: Database, source: PeopleCalls) -> JobSteps:
    return JobSteps(database, app.state.kernel.vault, source)


async def started(workspace: Workspace, **body: Any) -> dict[str, Any]:
    answer = await spend(workspace, PATH, {"async": True} | body)
    assert answer.status_code == 202, answer.text
    job: dict[str, Any] = answer.json()
    assert answer.headers["location"] == f"/v1/jobs/{job['id']}"
    return job


async def told(database: Database, workspace: Workspace) -> list[tuple[str, dict[str, Any]]]:
    rows = await run_sql(
        database, "select type, data from events where workspace_id = :w and type like 'job.%'", w=workspace.id
    )
    return [(kind, data) for kind, data in rows]


@pytest.mark.usefixtures("calls", "provider")
@pytest.mark.parametrize("twice", [False, True])
async def test_a_job_fetches_all_people_and_emits_its_event(
    workspace: Workspace,
    database: Database,
    steps: JobSteps,
    twice: bool,
) -> None:
    await fund(database, workspace)
    one, two = await find(workspace, 2)
    ids = [two["id"], one["id"]]
    job = await started(workspace, profile_ids=ids, profile_urls=[NOBODY, two["profile_url"]], view="compact")
    assert (job["status"], job["total"], job["counts"]) == ("queued", 4, {})
    error_of(await workspace.http.get(f"/v1/jobs/{job['id']}/results"), 409, "conflict")
    await drive(steps.next, steps.fetch, database, job["id"], times=2 if twice else 1)
    ended = (await workspace.http.get(f"/v1/jobs/{job['id']}")).json()
    assert (ended["status"], ended["spent_credits"]) == ("completed", 4)
    assert ended["counts"] == {"found": 2, "not_found": 1, "duplicate": 1}
    first = (await workspace.http.get(f"/v1/jobs/{job['id']}/results?limit=3")).json()
    rest = (await workspace.http.get(f"/v1/jobs/{job['id']}/results?cursor={first['next_cursor']}")).json()
    rows = first["data"] + rest["data"]
    assert [row["input"] for row in rows] == [*ids, NOBODY, two["profile_url"]]
    assert [row["status"] for row in rows] == ["found", "found", "not_found", "duplicate"]
    assert rows[0]["profile"]["title"] == two["title"]
    assert rest["next_cursor"] is None
    assert await charged(database, workspace) == {"lead": 2, "live_profile": 4}
    data = {"job_id": job["id"], "status": "completed", "counts": ended["counts"], "spent_credits": 4}
    assert await told(database, workspace) == [("job.completed", data)]


@pytest.mark.usefixtures("calls")
async def test_people_refused_for_now_are_asked_for_again(
    workspace: Workspace, database: Database, provider: Provider, steps: JobSteps
) -> None:
    await fund(database, workspace)
    three = await find(workspace, 3)
    job = await started(workspace, profile_ids=[one["id"] for one in three])
    await provider.fault("item_error", "person/bulk", status=500, count=1)
    await drive(steps.next, steps.fetch, database, job["id"])
    ended = (await workspace.http.get(f"/v1/jobs/{job['id']}")).json()
    assert (ended["counts"], ended["spent_credits"]) == ({"found": 3}, 6)


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize(
    ("fault", "count", "status", "failure"),
    [
        ("rate_limited", 1, "completed", None),
        ("html_body", 3, "completed", None),
        ("truncated_json", 1, "completed", None),
        ("truncated_json", 3, "failed", "upstream_error"),
    ],
)
async def test_a_job_outlasts_a_busy_source_and_ends_with_an_unusable_one(
    workspace: Workspace,
    database: Database,
    provider: Provider,
    steps: JobSteps,
    fault: str,
    count: int,
    status: str,
    failure: str | None,
) -> None:
    await fund(database, workspace)
    (someone,) = await find(workspace, 1)
    job = await started(workspace, profile_ids=[someone["id"]])
    await provider.fault(fault, "person/bulk", count=count)
    taken = await drive(steps.next, steps.fetch, database, job["id"])
    assert any(step.do is Do.WAIT and step.reason for step in taken)
    ended = (await workspace.http.get(f"/v1/jobs/{job['id']}")).json()
    assert ended["status"] == status
    assert (ended["failure"] or {}).get("code") == failure
    assert [kind for kind, _ in await told(database, workspace)] == [f"job.{status}"]
    assert ended["spent_credits"] == (0 if failure else 2)


@pytest.mark.usefixtures("calls", "provider")
async def test_a_suppressed_person_is_not_fetched_and_disappears_from_results(
    workspace: Workspace, database: Database, steps: JobSteps
) -> None:
    await fund(database, workspace)
    one, two = await find(workspace, 2)
    job = await started(workspace, profile_ids=[one["id"], two["id"]])
    await suppress(database, workspace, one["id"])
    await drive(steps.next, steps.fetch, database, job["id"])
    assert await charged(database, workspace) == {"lead": 2, "live_profile": 2}
    results = f"/v1/jobs/{job['id']}/results"
    assert [row["status"] for row in (await workspace.http.get(results)).json()["data"]] == ["suppressed", "found"]
    await suppress(database, workspace, two["id"])
    shown = (await workspace.http.get(results)).json()["data"]
    assert [(row["status"], row["profile"]) for row in shown] == [("suppressed", None)] * 2


@pytest.mark.usefixtures("calls", "provider")
@pytest.mark.parametrize(
    ("change", "failure"),
    [
        ("update api_keys set revoked_at = now() where workspace_id = :w", "key_revoked"),
        ("update grants set remaining_credits = 0 where workspace_id = :w", "insufficient_credits"),
    ],
)
async def test_a_job_whose_key_or_credits_are_gone_fails(
    workspace: Workspace, database: Database, steps: JobSteps, change: str, failure: str
) -> None:
    await fund(database, workspace)
    (someone,) = await find(workspace, 1)
    job = await started(workspace, profile_ids=[someone["id"]])
    await run_sql(database, change, w=workspace.id)
    await drive(steps.next, steps.fetch, database, job["id"])
    assert await run_sql(database, "select status, failure_code from jobs where id = :j", j=job["id"]) == [
        ("failed", failure)
    ]
    assert await charged(database, workspace) == {"lead": 1}
