"""The main job over REST on a running installation: description, preview, run, candidates, extension, cancellation."""

import asyncio
import csv
import io
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from sqlalchemy.engine import make_url
from temporalio.client import Client

from stack.children import PROJECT
from tests.journeys.recruiter import FINAL, Recruiter
from workflows import contracts

pytestmark = pytest.mark.timeout(300)

Facts = dict[str, Any]
DESCRIPTION = (PROJECT / "examples" / "senior-data-engineer-ghent.md").read_text()


@pytest.fixture
def recruiter(running_stack: Facts) -> Recruiter:
    return Recruiter.join(running_stack)


def fault(facts: Facts, **asked: Any) -> None:
    body = {"provider": "people", "operation": "*"} | asked
    httpx.post(f"{facts['sandbox_url']}/_control/faults", json=body, trust_env=False).raise_for_status()


def test_a_description_becomes_a_priced_plan_and_the_confirmed_run_delivers_candidates(recruiter: Recruiter) -> None:
    ask = {"job_description": DESCRIPTION, "target": 30}
    preview = recruiter.call("POST", "/v1/runs?dry_run=true", json=ask)
    assert preview.status_code == 200, preview.text
    plan = preview.json()["plan"]
    assert plan["anchor"] is not None
    assert "Ghent" in plan["summary"]
    assert plan["estimate"]["credits_min"] <= plan["estimate"]["credits_max"] == 90
    assert recruiter.get("/v1/runs")["data"] == []  # a preview stores nothing
    run = recruiter.finished(recruiter.start_run(intent=None, job_description=DESCRIPTION, target=30))
    assert (run["status"], run["stop_reason"]) == ("completed", "finish")
    candidates = recruiter.candidates(run["id"])
    assert len(candidates) == run["progress"]["candidates_delivered"]
    assert {row["tier"] for row in candidates} <= {tier["tier"] for tier in plan["tiers"]}
    assert [row["tier"] for row in candidates] == sorted(row["tier"] for row in candidates)
    near = [row for row in candidates if row["tier"] == 1]
    assert near
    assert all(row["distance_km"] is None or row["distance_km"] <= 45 for row in near)
    assert sum(paid for _, paid in recruiter.charges()) == run["spent"]["credits"]


def test_pages_filters_and_downloads_return_the_same_candidates(recruiter: Recruiter) -> None:
    run = recruiter.finished(recruiter.start_run(target=30))
    rows = recruiter.candidates(run["id"])
    paged: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = recruiter.get(f"/v1/runs/{run['id']}/candidates", params={"limit": 7, "view": "compact"} | cursor)
        paged += [row["profile_id"] for row in page["data"]]
        if not page["has_more"]:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert paged == [row["profile_id"] for row in rows]
    older = recruiter.get(f"/v1/runs/{run['id']}/candidates", params={"min_years": 10, "limit": 100})
    assert {row["profile_id"] for row in older["data"]} == {
        row["profile_id"] for row in rows if row["experience_years"] is not None and row["experience_years"] >= 10
    }
    sheet = recruiter.call("GET", f"/v1/runs/{run['id']}/candidates", headers={"Accept": "text/csv"})
    assert sheet.headers["content-type"].startswith("text/csv")
    assert [row["profile_id"] for row in csv.DictReader(io.StringIO(sheet.text))] == paged


def test_an_extension_delivers_twenty_more_under_the_same_workflow(recruiter: Recruiter) -> None:
    run = recruiter.finished(recruiter.start_run(target=30))
    first = recruiter.candidates(run["id"])
    extended = recruiter.call("POST", f"/v1/runs/{run['id']}/extend", json={}, headers={"Idempotency-Key": uuid4().hex})
    assert extended.status_code == 202, extended.text
    more = recruiter.finished(run["id"])
    assert more["target"] == 50
    assert more["spent"]["pages"] == run["spent"]["pages"]  # the page was already paid
    rows = recruiter.candidates(run["id"])
    assert rows[: len(first)] == first
    assert len(rows) == len({row["profile_id"] for row in rows}) == 50


def test_a_cancelled_run_is_aborted_and_keeps_what_it_delivered(running_stack: Facts, recruiter: Recruiter) -> None:
    fault(running_stack, fault="latency", latency_ms=800, count=6)
    run_id = recruiter.start_run()
    answer = recruiter.call("POST", f"/v1/runs/{run_id}/cancel")
    assert answer.status_code == 200, answer.text
    assert answer.json()["cancel_requested_at"] is not None
    run = recruiter.finished(run_id)
    assert run["status"] == "aborted"
    assert len(recruiter.candidates(run_id)) == run["progress"]["candidates_delivered"]
    again = recruiter.call("POST", f"/v1/runs/{run_id}/cancel")
    assert (again.status_code, again.json()["status"]) == (200, "aborted")


def test_a_busy_source_shows_waiting_for_quota_and_when_the_run_continues(
    running_stack: Facts, recruiter: Recruiter
) -> None:
    fault(running_stack, fault="rate_limited", count=1)
    run_id = recruiter.start_run(target=30)
    deadline = time.monotonic() + 30
    while (seen := recruiter.run(run_id))["status"] not in {"waiting_for_quota", *FINAL}:
        assert time.monotonic() < deadline, seen
        time.sleep(0.5)  # below the 120 requests a minute
    assert seen["status"] == "waiting_for_quota"
    assert seen["retry_at"] is not None
    assert recruiter.charges() == []
    assert recruiter.call("POST", f"/v1/runs/{run_id}/cancel").status_code == 200


def test_an_operator_reads_in_temporal_what_a_run_waits_for(running_stack: Facts, recruiter: Recruiter) -> None:
    run = recruiter.finished(recruiter.start_run(target=30))

    async def look() -> None:
        client = await Client.connect(running_stack["temporal_address"])
        handle = client.get_workflow_handle(f"run/{run['id']}")
        described = await handle.describe()
        assert described.typed_search_attributes.get(contracts.WORKSPACE_ID) == recruiter.workspace_id
        assert described.typed_search_attributes.get(contracts.RUN_STATUS) == "completed"
        assert await described.static_summary()
        history = await handle.fetch_history()
        summaries = [event.user_metadata.summary.data.decode() for event in history.events]
        assert any("reads page 1 of tier 1" in summary for summary in summaries)
        found = [
            row.id
            async for row in client.list_workflows(
                f"WorkspaceId = '{recruiter.workspace_id}' and RunStatus = 'completed'"
            )
        ]
        assert found == [f"run/{run['id']}"]

    asyncio.run(look())


def test_no_name_address_or_text_is_in_temporals_files(running_stack: Facts, recruiter: Recruiter) -> None:
    fault(running_stack, fault="server_error", count=2)
    fault(running_stack, fault="truncated_json", count=1)
    run_id = recruiter.start_run(intent=None, job_description=DESCRIPTION, target=30)
    run = recruiter.run(run_id)
    home = Path(str(make_url(running_stack["database_url"]).query["host"])).parent
    if run["status"] == "waiting_for_quota":
        recruiter.call("POST", f"/v1/runs/{run_id}/cancel")
    done = recruiter.finished(recruiter.start_run(target=30))
    stored = b"".join(path.read_bytes() for path in home.glob("temporal.db*"))
    assert run_id.encode() in stored  # the search itself works
    for row in recruiter.candidates(done["id"]):
        for name in (row["full_name"], row["profile_url"], row["company"]):
            assert name is None or len(name) < 5 or name.encode() not in stored, name
    for words in ("Leie & Lys", "recruiter-", "@example.com", "last kilometre"):
        assert words.encode() not in stored
