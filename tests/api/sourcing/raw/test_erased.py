"""An erasure takes everything that the raw layer keeps of a person, whatever state it is in."""

import asyncio
from typing import Any

import pytest
from fastapi import FastAPI

from activities.sourcing.background import ContactSteps, JobSteps
from activities.sourcing.people import PeopleCalls
from models.base.database import Database
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.kernel.traces import traces
from tests.api.sourcing.raw.conftest import Calls, Provider, find, spend
from tests.api.sourcing.raw.driving import drive
from tests.api.sourcing.sourcing import fund

FETCH = "/v1/people:fetch"
DETAILS = "/v1/people/contacts:fetch"


@pytest.fixture
def jobs(app: FastAPI, database: Database, source: PeopleCalls) -> JobSteps:
    return JobSteps(database, app.state.kernel.vault, source)


@pytest.fixture
def contacts(app: FastAPI, database: Database, source: PeopleCalls) -> ContactSteps:
    return ContactSteps(database, app.state.kernel.vault, source)


async def record_of(database: Database, provider: Provider, profile_id: str) -> dict[str, Any]:
    named = "select value from person_keys where kind = 'source' and profile_id = :p"
    ((source_id,),) = await run_sql(database, named, p=profile_id)
    record: dict[str, Any] = (await provider.http.get(f"/people/{source_id}")).json()["record"]
    return record


async def reachable(database: Database, provider: Provider, found: list[dict[str, Any]]) -> tuple[dict[str, Any], str]:
    """A person whose e-mail address the provider returns, and the address."""
    for one in found:
        record = await record_of(database, provider, one["id"])
        address = record["recommended_personal_email"]
        if isinstance(address, str):
            return one, address
    raise AssertionError("the population has no such person")


def slug_of(person: dict[str, Any]) -> str:
    return str(person["profile_url"]).rsplit("/", 1)[-1]


async def erase(workspace: Workspace, **who: str) -> None:
    answer = await workspace.http.post("/v1/erasures", json=who)
    assert answer.status_code == 202, answer.text


@pytest.mark.usefixtures("calls")
async def test_nothing_that_the_raw_layer_keeps_names_an_erased_person(
    workspace: Workspace, database: Database, provider: Provider, jobs: JobSteps, contacts: ContactSteps
) -> None:
    await fund(database, workspace, 2000)
    found = await find(workspace, 12)
    person, address = await reachable(database, provider, found)
    other = next(one for one in found if one is not person)
    source_id = (await record_of(database, provider, person["id"]))["id"]
    both = {"profile_ids": [person["id"], other["id"]]}
    assert (await spend(workspace, FETCH, both | {"profile_urls": [person["profile_url"]]}, key="kept")).is_success
    in_background = {"profile_ids": [other["id"]], "profile_urls": [person["profile_url"]], "async": True}
    job = (await spend(workspace, FETCH, in_background)).json()["id"]
    await drive(jobs.next, jobs.fetch, database, job)
    lookup = (await spend(workspace, DETAILS, both | {"want": ["email"]})).json()["id"]
    await drive(contacts.next, contacts.find, database, lookup)
    needles = (source_id, slug_of(person), address)
    assert {
        "cached_profiles",
        "person_keys",
        "idempotency_records.body",
        "job_inputs.sealed",
        "contacts.sealed",
    } <= set(await traces(database, *needles))
    await erase(workspace, profile_id=person["id"])
    assert await traces(database, *needles) == []
    kept = ("candidates", "contacts", "contacts_asked", "seen_entries", "list_people", "profile_copies", "job_inputs")
    for table in kept:
        left = f"select 1 from {table} where profile_id = :p"
        assert await run_sql(database, left, p=person["id"]) == [], table
    assert await run_sql(database, "select 1 from scroll_people where profile_id = :p", p=person["id"]) == []
    results = (await workspace.http.get(f"/v1/jobs/{job}/results")).json()["data"]
    assert [(row["input"], row["status"]) for row in results] == [(other["id"], "cached"), (None, "suppressed")]
    assert [row["profile_id"] for row in results] == [other["id"], None]
    left = (await workspace.http.get(f"/v1/people/contacts/{lookup}")).json()["contacts"]
    assert {row["profile_id"] for row in left} == {other["id"]}
    again = await spend(workspace, FETCH, both | {"profile_urls": [person["profile_url"]]}, key="kept")
    error_of(again, 409, "conflict")
    error_of(await workspace.http.get(f"/v1/people/{person['id']}"), 404, "suppressed")
    assert (await workspace.http.get(f"/v1/people/{other['id']}")).is_success


@pytest.mark.usefixtures("provider")
@pytest.mark.parametrize("way", ["profile_id", "profile_url"])
async def test_a_call_that_waits_is_dropped_with_the_person_it_asks_for(
    workspace: Workspace, database: Database, calls: Calls, way: str
) -> None:
    await fund(database, workspace)
    (person,) = await find(workspace, 1)
    calls.held = True
    body = {"profile_ids": [person["id"]]} if way == "profile_id" else {"profile_urls": [person["profile_url"]]}
    waiting = asyncio.create_task(spend(workspace, FETCH, body, key="waits"))
    await calls.until_started()
    await erase(workspace, profile_url=person["profile_url"])
    error_of(await waiting, 409, "conflict")
    assert await traces(database, slug_of(person)) == []
    calls.held = False
    (row,) = (await spend(workspace, FETCH, body, key="waits")).json()["data"]
    assert (row["status"], row["profile"], row["charged_credits"]) == ("suppressed", None, 0)


@pytest.mark.usefixtures("provider")
async def test_a_call_that_waits_for_an_unknown_person_is_dropped_too(
    workspace: Workspace, database: Database, calls: Calls
) -> None:
    await fund(database, workspace)
    calls.held = True
    stranger = "https://www.linkedin.com/in/never-met-before"
    waiting = asyncio.create_task(spend(workspace, FETCH, {"profile_urls": [stranger + "/?x=1"]}))
    await calls.until_started()
    job = (await spend(workspace, FETCH, {"profile_urls": [stranger], "async": True})).json()["id"]
    assert await traces(database, "never-met-before") == ["job_inputs.sealed", "upstream_calls.ask"]
    await erase(workspace, profile_url=stranger)
    error_of(await waiting, 409, "conflict")
    assert await traces(database, "never-met-before") == []
    assert await run_sql(database, "select status from job_inputs where job_id = :j", j=job) == [("suppressed",)]


async def test_an_uncollected_result_is_dropped(
    workspace: Workspace, database: Database, calls: Calls, provider: Provider
) -> None:
    await fund(database, workspace)
    person, other = await find(workspace, 2)
    calls.held = True
    body = {"profile_ids": [person["id"], other["id"]]}
    waiting = asyncio.create_task(spend(workspace, FETCH, body))
    await calls.until_started()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await calls.make(calls.started[-1])
    assert "upstream_calls.result" in await traces(database, slug_of(person))
    await erase(workspace, profile_id=person["id"])
    assert await traces(database, slug_of(person)) == []
    calls.held = False
    before = await provider.calls()
    rows = (await spend(workspace, FETCH, body)).json()
    assert [row["status"] for row in rows["data"]] == ["suppressed", "cached"]
    assert rows["charged_credits"] == 0
    assert await provider.calls() == before


@pytest.mark.usefixtures("provider")
async def test_an_account_drops_its_own_calls_alone(
    workspace: Workspace, sign_up: Any, database: Database, calls: Calls
) -> None:
    other = await sign_up()
    for one in (workspace, other):
        await fund(database, one)
    (person,) = await find(workspace, 1)
    calls.held = True
    waiting = asyncio.create_task(spend(other, FETCH, {"profile_urls": [person["profile_url"]]}))
    await calls.until_started()
    await erase(workspace, profile_id=person["id"])
    calls.make(calls.started[-1])
    answer = await waiting
    assert [row["status"] for row in answer.json()["data"]] == ["found"]


@pytest.mark.usefixtures("calls")
async def test_alternatives_of_a_match_are_forgotten_with_their_person(
    workspace: Workspace, database: Database, provider: Provider
) -> None:
    await fund(database, workspace)
    (record,) = await provider.some(1)
    asked = {"full_name": record["full_name"], "company": record["job_company_name"], "min_confidence": 1.0}
    answer = (await spend(workspace, "/v1/people:match", asked, key="kept")).json()
    assert answer["match"] is None
    named = {each["full_name"] for each in answer["alternatives"]}
    assert record["full_name"] in {name.lower() for name in named}
    url = f"https://www.{record['linkedin_url']}"
    await erase(workspace, profile_url=url)
    error_of(await spend(workspace, "/v1/people:match", asked, key="kept"), 409, "conflict")
    assert "idempotency_records.body" not in await traces(database, record["full_name"])


@pytest.mark.usefixtures("calls", "provider")
async def test_a_job_stores_nothing_about_a_person_erased_before(
    workspace: Workspace, database: Database, jobs: JobSteps
) -> None:
    await fund(database, workspace)
    (person,) = await find(workspace, 1)
    await erase(workspace, profile_id=person["id"])
    body = {"profile_urls": [person["profile_url"]], "async": True}
    job = (await spend(workspace, FETCH, body)).json()["id"]
    await drive(jobs.next, jobs.fetch, database, job)
    assert await traces(database, slug_of(person)) == []
    (row,) = (await workspace.http.get(f"/v1/jobs/{job}/results")).json()["data"]
    assert (row["input"], row["profile_id"], row["status"]) == (None, None, "suppressed")


@pytest.mark.usefixtures("calls", "provider")
async def test_results_and_searches_show_no_copy_that_the_tenant_has_given_up(
    workspace: Workspace, sign_up: Any, database: Database, jobs: JobSteps
) -> None:
    other = await sign_up()
    for one in (workspace, other):
        await fund(database, one)
    (person,) = await find(workspace, 1)
    job = (await spend(workspace, FETCH, {"profile_ids": [person["id"]], "async": True})).json()["id"]
    await drive(jobs.next, jobs.fetch, database, job)
    assert (await spend(other, FETCH, {"profile_ids": [person["id"]]})).json()["data"][0]["status"] == "cached"
    ask = {"filters": {"titles": {"include": ["engineer"]}}, "limit": 1}
    results = f"/v1/jobs/{job}/results"
    for held in (True, False):
        (row,) = (await workspace.http.get(results)).json()["data"]
        (found,) = (await spend(workspace, "/v1/people/search", ask)).json()["data"]
        assert (row["profile"] is not None, found["profile"] is not None) == (held, held)
        if held:
            assert (await workspace.http.delete(f"/v1/people/{person['id']}/cache")).status_code == 204
