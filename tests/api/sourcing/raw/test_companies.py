"""Companies looked up live: by id, domain and name, one credit each found, known to all workspaces afterwards."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from models.base.database import Database
from tests.api.conftest import Workspace, empty, error_of, run_sql
from tests.api.sourcing.raw.conftest import Provider, charged, spend
from tests.api.sourcing.sourcing import fund

PATH = "/v1/companies:fetch"
LOOKUP = "/v1/lookups/companies"
UNKNOWN_ID = "co_" + "0" * 26
SignUp = Callable[[], Awaitable[Workspace]]


async def employers(provider: Provider, count: int) -> list[dict[str, str]]:
    """Companies as the provider knows them, each of another domain."""
    found: dict[str, dict[str, str]] = {}
    for record in await provider.some(100):
        if record["job_company_website"] and record["job_company_name"]:
            found[record["job_company_website"]] = {
                "source_id": record["job_company_id"],
                "domain": record["job_company_website"],
                "name": record["job_company_name"],
            }
    return list(found.values())[:count]


async def fetch(workspace: Workspace, **body: list[str]) -> dict[str, Any]:
    answer = await spend(workspace, PATH, body)
    assert answer.status_code == 200, answer.text
    fetched: dict[str, Any] = answer.json()
    return fetched


@pytest.fixture(autouse=True)
async def nobody_looked_up_before(calls: object, database: Database) -> None:
    await empty(database, "companies")


async def test_each_company_found_costs_one_and_the_others_nothing(
    workspace: Workspace, database: Database, provider: Provider
) -> None:
    await fund(database, workspace)
    one, two = await employers(provider, 2)
    body = {
        "domains": [f"https://www.{one['domain']}/about", "nobody-knows.example", one["domain"]],
        "names": ["No Such Firm"],
    }
    preview = (await workspace.http.post(f"{PATH}?dry_run=true", json=body)).json()
    assert (preview["dry_run"], preview["max_credits"]) == (True, 3)
    before = await provider.calls()
    answer = await fetch(workspace, **body)
    assert [row["input"] for row in answer["data"]] == [*body["domains"], *body["names"]]
    assert [row["status"] for row in answer["data"]] == ["found", "not_found", "duplicate", "not_found"]
    assert [row["charged_credits"] for row in answer["data"]] == [1, 0, 0, 0]
    assert await provider.calls() - before == 3
    company = answer["data"][0]["company"]
    assert company["domain"] == one["domain"]
    assert company["name"].lower() == one["name"].lower()
    assert company["id"].startswith("co_")
    assert await charged(database, workspace) == {"live_company": 1}
    assert two["domain"] != one["domain"]


async def test_a_found_company_is_known_to_all_workspaces(
    workspace: Workspace, sign_up: SignUp, database: Database, provider: Provider
) -> None:
    await fund(database, workspace)
    (one,) = await employers(provider, 1)
    company = (await fetch(workspace, domains=[one["domain"]]))["data"][0]["company"]
    other = await sign_up()
    before = await provider.calls()
    again = await fetch(other, company_ids=[company["id"]], domains=[one["domain"].upper()])
    assert [row["status"] for row in again["data"]] == ["cached", "duplicate"]
    assert again["data"][0]["company"] == company
    assert again["charged_credits"] == 0
    assert await provider.calls() == before
    for query in (f"domain={one['domain']}", f"q={company['name']}", f"q={company['name'][:6]}"):
        found = (await other.http.get(f"{LOOKUP}?{query}")).json()["data"]
        assert company["id"] in {each["id"] for each in found}, query


async def test_a_company_is_asked_for_again_after_thirty_days_and_keeps_its_id(
    workspace: Workspace, database: Database, provider: Provider
) -> None:
    await fund(database, workspace)
    (one,) = await employers(provider, 1)
    first = (await fetch(workspace, domains=[one["domain"]]))["data"][0]
    await run_sql(database, "update companies set fetched_at = fetched_at - interval '31 days'")
    for way in ({"company_ids": [first["company"]["id"]]}, {"names": [first["company"]["name"]]}):
        (row,) = (await fetch(workspace, **way))["data"]
        assert row["company"]["id"] == first["company"]["id"]
    assert await charged(database, workspace) == {"live_company": 2}


async def test_people_are_searched_by_a_company_that_was_looked_up(
    workspace: Workspace, database: Database, provider: Provider
) -> None:
    await fund(database, workspace)
    (one,) = await employers(provider, 1)
    company_id = (await fetch(workspace, domains=[one["domain"]]))["data"][0]["company"]["id"]
    ask = {"filters": {"company_ids": [company_id]}, "view": "compact"}
    found = (await spend(workspace, "/v1/people/search", ask)).json()["data"]
    assert {person["company"].lower() for person in found} == {one["name"].lower()}
    planned = await workspace.http.post("/v1/search-plans", json={"intent": {"company_ids": [company_id]}})
    assert planned.status_code == 201, planned.text


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/people/search", {"filters": {"company_ids": [UNKNOWN_ID]}}, "filters.company_ids.0"),
        ("/v1/search-plans", {"intent": {"company_ids": [UNKNOWN_ID]}}, "intent.must.company_ids.0"),
        ("/v1/people:match", {"full_name": "Ada Doe", "company_id": UNKNOWN_ID}, "company_id"),
        (PATH, {}, "company_ids"),
        (PATH, {"names": ["x"] * 26}, "names"),
        (PATH, {"names": ["x"] * 20, "domains": ["a.example"] * 6}, "names"),
        (PATH, {"domains": ["not a domain"]}, "domains.0"),
        (PATH, {"company_ids": ["prof_1"]}, "company_ids.0"),
        (PATH, {"name": ["Acme"]}, "name"),
    ],
)
async def test_a_bad_request_is_named_and_costs_nothing(
    workspace: Workspace, database: Database, provider: Provider, path: str, body: dict[str, Any], field: str
) -> None:
    await fund(database, workspace)
    before = await provider.calls()
    error_of(await spend(workspace, path, body), 400, "invalid_request", field)
    assert await charged(database, workspace) == {}
    assert await provider.calls() == before


async def test_an_unknown_id_is_not_found_without_a_call(workspace: Workspace, provider: Provider) -> None:
    before = await provider.calls()
    (row,) = (await fetch(workspace, company_ids=[UNKNOWN_ID]))["data"]
    assert (row["status"], row["company"], row["charged_credits"]) == ("not_found", None, 0)
    assert await provider.calls() == before


async def test_a_shipped_company_keeps_its_id(workspace: Workspace, database: Database, provider: Provider) -> None:
    await fund(database, workspace)
    shipped = (await workspace.http.get(f"{LOOKUP}?q=siemens")).json()["data"][0]
    (row,) = (await fetch(workspace, company_ids=[shipped["id"]]))["data"]
    assert row["status"] in {"found", "not_found"}
    assert row["company"] is None or row["company"]["id"] == shipped["id"]


async def test_twenty_equal_calls_ask_once_and_pay_once(
    workspace: Workspace, database: Database, provider: Provider
) -> None:
    await fund(database, workspace)
    (one,) = await employers(provider, 1)
    before = await provider.calls()
    body = {"domains": [one["domain"]]}
    answers = await asyncio.gather(*(spend(workspace, PATH, body, key="same") for _ in range(20)))
    assert {answer.status_code for answer in answers} <= {200, 409}
    assert await provider.calls() - before == 1
    assert await charged(database, workspace) == {"live_company": 1}


async def test_two_accounts_that_meet_a_company_at_once_give_it_one_id(
    workspace: Workspace, sign_up: SignUp, database: Database, provider: Provider
) -> None:
    other = await sign_up()
    for one in (workspace, other):
        await fund(database, one)
    (firm,) = await employers(provider, 1)
    answers = await asyncio.gather(*(fetch(each, domains=[firm["domain"]]) for each in (workspace, other)))
    assert len({answer["data"][0]["company"]["id"] for answer in answers}) == 1


async def test_too_few_credits_are_refused_before_anything_is_asked(
    workspace: Workspace, database: Database, provider: Provider
) -> None:
    await run_sql(database, "update grants set remaining_credits = 0 where workspace_id = :w", w=workspace.id)
    before = await provider.calls()
    error_of(await spend(workspace, PATH, {"names": ["Acme"]}), 402, "insufficient_credits")
    assert await provider.calls() == before
