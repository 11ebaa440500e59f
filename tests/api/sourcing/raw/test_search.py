"""Searching the source one to one: what is refused, paged, left out and charged."""

from typing import Any

import httpx
import pytest

from models.base.database import Database
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.sourcing.raw.conftest import Calls, Provider, charged, spend, suppress
from tests.api.sourcing.sourcing import fund

ENGINEERS = {"titles": {"include": ["engineer", "manager"]}, "countries": ["DE", "GB"]}
PATH = "/v1/people/search"


async def search(workspace: Workspace, key: str | None = None, **body: Any) -> httpx.Response:
    return await spend(workspace, PATH, {"filters": ENGINEERS, "limit": 10} | body, key=key)


@pytest.mark.usefixtures("calls")
async def test_each_person_is_charged_once_in_the_account(
    workspace: Workspace, database: Database, provider: Provider
) -> None:
    await fund(database, workspace)
    first = await search(workspace)
    assert first.status_code == 200, first.text
    page = first.json()
    assert page["charged_credits"] == len(page["data"]) == 10
    assert page["omitted"] == {"suppressed": 0, "duplicates": 0, "seen": None}
    again = (await search(workspace, limit=15)).json()
    assert again["charged_credits"] == 5
    assert await charged(database, workspace) == {"lead": 15}
    assert page["data"][0]["object"] == "person"
    assert page["data"][0]["profile"] is None


@pytest.mark.usefixtures("calls", "provider")
async def test_the_cursor_covers_each_person_once(workspace: Workspace, database: Database) -> None:
    await fund(database, workspace)
    all_people: list[str] = []
    cursor = None
    while True:
        page = (await search(workspace, limit=20, cursor=cursor, view="compact")).json()
        all_people += [row["profile_id"] for row in page["data"]]
        cursor = page["next_cursor"]
        assert page["has_more"] is (cursor is not None)
        if cursor is None:
            break
    assert len(all_people) == len(set(all_people)) > 20
    assert await charged(database, workspace) == {"lead": len(all_people)}


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize("fault", ["duplicate_rows", "refused_scroll_token"])
async def test_no_person_is_shown_or_charged_twice_when_the_source_repeats_rows(
    workspace: Workspace, database: Database, provider: Provider, fault: str
) -> None:
    await fund(database, workspace)
    first = (await search(workspace)).json()
    await provider.fault(fault, "person/search", count=1)
    second = (await search(workspace, cursor=first["next_cursor"])).json()
    assert second["omitted"]["duplicates"] > 0
    shown = [row["profile_id"] for row in first["data"] + second["data"]]
    assert len(shown) == len(set(shown))
    assert await charged(database, workspace) == {"lead": len(shown)}


@pytest.mark.parametrize(
    ("filters", "code", "field"),
    [
        ({"shoe_size": 44}, "unsupported_filter", "filters.shoe_size"),
        ({"open_to_work": True}, "unsupported_filter", "filters.open_to_work"),
        ({"tenure_months": {"min": 3}}, "unsupported_filter", "filters.tenure_months"),
        ({"school_ids": ["sch_1"]}, "unsupported_filter", "filters.school_ids"),
        ({"seniority": ["emperor"]}, "unsupported_filter", "filters.seniority"),
        ({"company_sizes": ["12"]}, "unsupported_filter", "filters.company_sizes"),
        ({"company_types": ["guild"]}, "unsupported_filter", "filters.company_types"),
        ({"degrees": "masters"}, "invalid_request", "filters.degrees"),
        ({"titles": {"include": ["nurse", "woman"]}}, "unsupported_filter", "filters.titles.include"),
        ({"titles": {"include": ["nurse"], "exclude": ["men"]}}, "unsupported_filter", "filters.titles.exclude"),
        ({"skills": {"any": ["christian"]}}, "unsupported_filter", "filters.skills.any"),
        ({"languages": ["woman"]}, "unsupported_filter", "filters.languages"),
        ({"keywords": "under 35"}, "unsupported_filter", "filters.keywords"),
        ({"majors": ["of Turkish origin"]}, "unsupported_filter", "filters.majors"),
        ({"titles": {"include": "engineer"}}, "invalid_request", "filters.titles.include"),
        ({"titles": {"includes": ["engineer"]}}, "invalid_request", "filters.titles.includes"),
        ({"titles": {"include": ["\N{ROCKET}"]}}, "invalid_request", "filters.titles.include.0"),
        ({"keywords": "..."}, "invalid_request", "filters.keywords"),
        ({"countries": ["XX"]}, "invalid_request", "filters.countries.0"),
        ({"location_ids": ["loc_1"]}, "invalid_request", "filters.location_ids.0"),
        ({"experience_years": {"min": 5, "max": 2}}, "invalid_request", "filters.experience_years"),
        ({}, "invalid_request", "filters"),
        (None, "invalid_request", "filters"),
    ],
)
async def test_a_filter_that_cannot_be_applied_is_named_before_anything_is_asked(
    workspace: Workspace, database: Database, calls: Calls, filters: Any, code: str, field: str
) -> None:
    await fund(database, workspace)
    error_of(await search(workspace, filters=filters), 400, code, field)
    assert calls.started == []
    assert await run_sql(database, "select 1 from upstream_calls where workspace_id = :w", w=workspace.id) == []


@pytest.mark.parametrize(("change", "field"), [({"limit": 0}, "limit"), ({"limit": 101}, "limit"), ({"x": 1}, "x")])
async def test_bad_input_is_named(workspace: Workspace, calls: Calls, change: dict[str, Any], field: str) -> None:
    error_of(await search(workspace, **change), 400, "invalid_request", field)
    assert calls.started == []


async def test_the_most_it_can_cost_must_fit_before_anything_is_asked(
    workspace: Workspace, database: Database, calls: Calls
) -> None:
    answer = await search(workspace)
    error_of(answer, 402, "insufficient_credits")
    assert answer.json()["required_credits"] == 10
    preview = await workspace.http.post(f"{PATH}?dry_run=true", json={"filters": ENGINEERS, "limit": 10})
    assert preview.json()["max_credits"] == 10
    assert preview.json()["would_fail"] == {"code": "insufficient_credits"}
    assert calls.started == []


@pytest.mark.usefixtures("calls", "provider")
async def test_a_suppressed_person_is_left_out_and_not_charged(workspace: Workspace, database: Database) -> None:
    await fund(database, workspace)
    first = (await search(workspace, limit=2)).json()
    await suppress(database, workspace, first["data"][0]["profile_id"])
    never_paid = "delete from leads where profile_id = :p"
    await run_sql(database, never_paid, p=first["data"][0]["profile_id"])
    again = (await search(workspace, limit=3)).json()
    assert first["data"][0]["profile_id"] not in [row["profile_id"] for row in again["data"]]
    assert again["omitted"]["suppressed"] == 1
    assert again["charged_credits"] == 1


@pytest.mark.usefixtures("provider")
async def test_a_suppression_that_comes_after_the_charge_still_wins(
    workspace: Workspace, database: Database, calls: Calls
) -> None:
    await fund(database, workspace)
    someone = (await search(workspace, limit=1)).json()["data"][0]["profile_id"]
    calls.then(lambda: suppress(database, workspace, someone))
    again = (await search(workspace, limit=2)).json()
    assert someone not in [row["profile_id"] for row in again["data"]]
    assert again["omitted"]["suppressed"] == 1


@pytest.mark.usefixtures("calls", "provider")
async def test_seen_people_are_left_out_on_request(workspace: Workspace, database: Database) -> None:
    await fund(database, workspace)
    first = (await search(workspace, limit=2)).json()
    await run_sql(
        database,
        "insert into seen_entries (workspace_id, tenant_id, profile_id, status, do_not_contact, tags, first_seen_at,"
        " run_ids, created_at) values (:w, :w, :p, 'seen', false, '{}', now(), '{}', now())",
        w=workspace.id,
        p=first["data"][0]["profile_id"],
    )
    assert len((await search(workspace, limit=2)).json()["data"]) == 2
    without = (await search(workspace, limit=2, exclude_seen=True)).json()
    assert without["omitted"]["seen"] == 1
    assert [row["profile_id"] for row in without["data"]] == [first["data"][1]["profile_id"]]


@pytest.mark.usefixtures("calls", "provider")
async def test_a_damaged_cursor_is_named_and_one_of_other_filters_starts_over(
    workspace: Workspace, database: Database
) -> None:
    await fund(database, workspace)
    first = (await search(workspace, limit=5)).json()
    error_of(await search(workspace, cursor="rubbish"), 400, "invalid_request", "cursor")
    other = {"titles": {"include": ["engineer", "manager", "nobody"]}, "countries": ["DE", "GB"]}
    restarted = (await search(workspace, limit=5, filters=other, cursor=first["next_cursor"])).json()
    assert [row["profile_id"] for row in restarted["data"]] == [row["profile_id"] for row in first["data"]]
