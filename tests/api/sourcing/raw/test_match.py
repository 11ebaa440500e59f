"""Finding one person: charged only for a clear match, never for a guess."""

from dataclasses import replace
from typing import Any

import httpx
import pytest

from models.base.database import Database
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.sourcing.raw.conftest import Calls, Provider, charged, spend, suppress
from tests.api.sourcing.sourcing import fund

PATH = "/v1/people:match"


async def match(workspace: Workspace, **body: Any) -> httpx.Response:
    return await spend(workspace, PATH, body)


@pytest.fixture
async def person(provider: Provider) -> dict[str, Any]:
    people = await provider.some(100)
    names = [each["full_name"] for each in people]
    return next(each for each in people if names.count(each["full_name"]) == 1 and each["job_company_name"])


@pytest.mark.usefixtures("calls")
async def test_a_match_costs_a_lead_and_a_live_profile_and_later_nothing(
    workspace: Workspace, database: Database, person: dict[str, Any]
) -> None:
    await fund(database, workspace)
    ask = {"full_name": person["full_name"], "company": person["job_company_name"]}
    answer = await spend(workspace, PATH, ask)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["match"]["full_name"].lower() == person["full_name"]
    assert found["confidence"] >= 0.6
    assert {"name", "company"} <= set(found["matched_on"])
    assert (found["charged_credits"], found["alternatives"]) == (3, [])
    again = (await spend(workspace, PATH, ask)).json()
    assert (again["match"]["id"], again["charged_credits"]) == (found["match"]["id"], 0)
    assert await charged(database, workspace) == {"lead": 1, "live_profile": 2}


@pytest.mark.usefixtures("calls")
async def test_a_near_tie_is_no_match_and_free(
    workspace: Workspace, database: Database, person: dict[str, Any], calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fund(database, workspace)
    source = calls.activity._source
    identify = source.identify

    async def twins(*args: Any) -> Any:
        (one,) = await identify(*args)
        other = one.profile.model_copy(update={"profile_url": None})
        return (one, replace(one, source_id="another", confidence=one.confidence - 0.05, profile=other))

    monkeypatch.setattr(source, "identify", twins)
    found = (await match(workspace, full_name=person["full_name"], company=person["job_company_name"])).json()
    assert (found["match"], found["confidence"], found["charged_credits"]) == (None, None, 0)
    assert [set(each) for each in found["alternatives"]] == [{"full_name", "title", "company"}] * 2
    assert await charged(database, workspace) == {}


@pytest.mark.usefixtures("calls")
async def test_no_match_and_low_confidence_are_free(
    workspace: Workspace, database: Database, person: dict[str, Any]
) -> None:
    await fund(database, workspace)
    no_match = (await match(workspace, first_name="Nobody", last_name="Atall", domain="acme.example")).json()
    assert (no_match["match"], no_match["alternatives"], no_match["charged_credits"]) == (None, [], 0)
    ask = {"full_name": person["full_name"], "company": person["job_company_name"], "min_confidence": 1}
    unsure = (await spend(workspace, PATH, ask)).json()
    assert unsure["match"] is None
    assert len(unsure["alternatives"]) == 1
    assert await charged(database, workspace) == {}


@pytest.mark.usefixtures("calls")
async def test_a_suppressed_person_is_refused_and_free(
    workspace: Workspace, database: Database, person: dict[str, Any]
) -> None:
    await fund(database, workspace)
    ask = {"full_name": person["full_name"], "company": person["job_company_name"]}
    found = (await spend(workspace, PATH, ask)).json()
    await suppress(database, workspace, found["match"]["id"])
    for never_paid in ("delete from leads where profile_id = :p", "delete from cached_profiles where profile_id = :p"):
        await run_sql(database, never_paid, p=found["match"]["id"])
    before = await charged(database, workspace)
    error_of(await spend(workspace, PATH, ask), 409, "suppressed")
    assert await charged(database, workspace) == before
    unsure = (await spend(workspace, PATH, ask | {"min_confidence": 1})).json()
    assert (unsure["match"], unsure["alternatives"]) == (None, [])


@pytest.mark.parametrize("confidence", [0.6, 1])
async def test_a_suppression_that_comes_after_the_charge_still_wins(
    workspace: Workspace, database: Database, person: dict[str, Any], calls: Calls, confidence: float
) -> None:
    await fund(database, workspace)
    ask = {"full_name": person["full_name"], "company": person["job_company_name"]}
    found = (await spend(workspace, PATH, ask)).json()["match"]["id"]
    calls.then(lambda: suppress(database, workspace, found))
    answer = await spend(workspace, PATH, ask | {"min_confidence": confidence})
    if confidence == 1:
        assert answer.json()["alternatives"] == []
    else:
        error_of(answer, 409, "suppressed")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "full_name"),
        ({"first_name": "A"}, "full_name"),
        ({"full_name": "A B", "last_name": "B", "company": "C"}, "full_name"),
        ({"full_name": "A B"}, "company"),
        ({"full_name": "A B", "company": "C", "domain": "c.example"}, "domain"),
        ({"full_name": "A B", "domain": "no domain"}, "domain"),
        ({"full_name": "A B", "company_id": "co_unknown"}, "company_id"),
        ({"full_name": "A B", "company": "C", "location_id": "loc_1"}, "location_id"),
        ({"full_name": "A B", "company": "C", "profile_url": "https://evil.example/in/a"}, "profile_url"),
        ({"full_name": "A B", "company": "C", "min_confidence": 1.5}, "min_confidence"),
        ({"full_name": "A\nB", "company": "C"}, "full_name"),
        ({"full_name": "A B", "company": "C", "email": "a@b.example"}, "email"),
    ],
)
async def test_bad_input_is_named_and_nothing_is_asked(
    workspace: Workspace, calls: Calls, body: dict[str, Any], field: str
) -> None:
    error_of(await spend(workspace, PATH, body), 400, "invalid_request", field)
    assert calls.started == []
