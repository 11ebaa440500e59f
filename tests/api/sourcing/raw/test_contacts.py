"""Contact details: shown with their price first, charged once per person and kind, sealed for the account."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from fastapi import FastAPI

from activities.sourcing.background import ContactSteps
from activities.sourcing.people import PeopleCalls
from models.base.database import Database
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.kernel.traces import traces
from tests.api.sourcing.raw.conftest import Provider, charged, find, spend, suppress
from tests.api.sourcing.raw.driving import drive
from tests.api.sourcing.sourcing import fund

PATH = "/v1/people/contacts:fetch"
UNKNOWN_ID = "prof_" + "0" * 26
SignUp = Callable[[], Awaitable[Workspace]]


@pytest.fixture
def steps(app: FastAPI, database: Database, source: PeopleCalls) -> ContactSteps:
    return ContactSteps(database, app.state.kernel.vault, source)


async def started(workspace: Workspace, ids: list[str], *want: str) -> str:
    answer = await spend(workspace, PATH, {"profile_ids": ids, "want": list(want)})
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"/v1/people/contacts/{answer.json()['id']}"
    return str(answer.json()["id"])


async def read(workspace: Workspace, lookup_id: str) -> dict[str, Any]:
    answer = await workspace.http.get(f"/v1/people/contacts/{lookup_id}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def record_of(database: Database, provider: Provider, profile_id: str) -> dict[str, Any]:
    named = "select value from person_keys where kind = 'source' and profile_id = :p"
    ((source_id,),) = await run_sql(database, named, p=profile_id)
    record: dict[str, Any] = (await provider.http.get(f"/people/{source_id}")).json()["record"]
    return record


def disclosed(record: dict[str, Any]) -> dict[str, set[str]]:
    """What the provider gives away of a person, booleans being withheld."""
    emails = [record["work_email"], record["recommended_personal_email"], *_list(record["personal_emails"])]
    phones = [record["mobile_phone"], *_list(record["phone_numbers"])]
    return {
        "email": {each for each in emails if isinstance(each, str)},
        "phone": {each for each in phones if isinstance(each, str)},
    }


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize("times", [1, 2])
async def test_each_found_kind_costs_once_and_a_miss_is_free(
    workspace: Workspace, database: Database, provider: Provider, steps: ContactSteps, times: int
) -> None:
    await fund(database, workspace, 2000)
    people = await find(workspace, 12)
    ids = [one["id"] for one in people]
    body = {"profile_ids": [*ids, UNKNOWN_ID], "want": ["email", "phone"]}
    preview = (await workspace.http.post(f"{PATH}?dry_run=true", json=body)).json()
    assert preview["max_credits"] == 25 * 2 * 12
    lookup_id = await started(workspace, [*ids, UNKNOWN_ID], "email", "phone")
    assert {each["status"] for each in (await read(workspace, lookup_id))["contacts"]} == {None}
    await drive(steps.next, steps.find, database, lookup_id, times=times)
    ended = await read(workspace, lookup_id)
    assert ended["status"] == "completed"
    found = 0
    for each in ended["contacts"][:24]:
        expected = disclosed(await record_of(database, provider, each["profile_id"]))[each["kind"]]
        assert set(each["values"]) == expected
        assert (each["status"], each["charged_credits"]) == (("found", 25) if expected else ("not_found", 0))
        found += bool(expected)
    assert 0 < found < 24
    assert [each["status"] for each in ended["contacts"][24:]] == ["not_found"] * 2
    assert ended["spent_credits"] == 25 * found
    assert await charged(database, workspace) == {"lead": 12, "contact": 25 * found}
    told = await run_sql(
        database, "select data from events where workspace_id = :w and type = 'contacts.completed'", w=workspace.id
    )
    assert [data for (data,) in told] == [
        {"lookup_id": lookup_id, "found": found, "missed": 26 - found, "spent_credits": 25 * found}
    ]


async def somebody_with(database: Database, provider: Provider, workspace: Workspace, kind: str) -> dict[str, Any]:
    for one in await find(workspace, 12):
        if disclosed(await record_of(database, provider, one["id"]))[kind]:
            return one
    raise AssertionError("the population has no such person")


@pytest.mark.usefixtures("calls")
async def test_a_repeat_within_twelve_months_is_free_and_then_costs_again(
    workspace: Workspace, database: Database, provider: Provider, steps: ContactSteps
) -> None:
    await fund(database, workspace)
    one = await somebody_with(database, provider, workspace, "email")
    first = await started(workspace, [one["id"], one["id"]], "email")
    await drive(steps.next, steps.find, database, first)
    assert len((await read(workspace, first))["contacts"]) == 1
    second = await started(workspace, [one["id"]], "email")
    before = await provider.calls()
    await drive(steps.next, steps.find, database, second)
    assert await provider.calls() == before
    again = await read(workspace, second)
    assert again["contacts"][0]["values"] == (await read(workspace, first))["contacts"][0]["values"]
    assert again["spent_credits"] == 0
    move = "update contacts set found_at = found_at - cast(:by as interval) where workspace_id = :w"
    await run_sql(database, move, by=timedelta(days=366), w=workspace.id)
    third = await started(workspace, [one["id"]], "email")
    await drive(steps.next, steps.find, database, third)
    assert (await read(workspace, third))["spent_credits"] == 25


@pytest.mark.usefixtures("calls")
async def test_details_are_sealed_for_the_account_that_paid(
    workspace: Workspace, sign_up: SignUp, database: Database, provider: Provider, steps: ContactSteps
) -> None:
    await fund(database, workspace)
    one = await somebody_with(database, provider, workspace, "email")
    lookup_id = await started(workspace, [one["id"]], "email")
    await drive(steps.next, steps.find, database, lookup_id)
    (value, *_) = (await read(workspace, lookup_id))["contacts"][0]["values"]
    other = await sign_up()
    await fund(database, other)
    error_of(await other.http.get(f"/v1/people/contacts/{lookup_id}"), 404, "not_found")
    theirs = await started(other, [one["id"]], "email")
    await drive(steps.next, steps.find, database, theirs)
    assert (await read(other, theirs))["spent_credits"] == 25
    assert await run_sql(database, "select 1 from contacts c where c::text like :v", v=f"%{value}%") == []
    assert await run_sql(database, "select 1 from cached_profiles c where c::text like :v", v=f"%{value}%") == []


@pytest.mark.usefixtures("calls")
async def test_a_suppressed_person_is_not_looked_up_and_disappears_from_answers(
    workspace: Workspace, database: Database, provider: Provider, steps: ContactSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fund(database, workspace)
    one = await somebody_with(database, provider, workspace, "email")
    assert steps._people is not None
    ask = steps._people.contacts

    async def interleaved(*args: Any) -> Any:
        results = await ask(*args)
        await suppress(database, workspace, one["id"])
        return results

    with monkeypatch.context() as patch:
        patch.setattr(steps._people, "contacts", interleaved)
        during = await started(workspace, [one["id"]], "email")
        await drive(steps.next, steps.find, database, during)
    assert [(each["status"], each["values"]) for each in (await read(workspace, during))["contacts"]] == [
        ("suppressed", [])
    ]
    assert "contact" not in await charged(database, workspace)
    await run_sql(database, "delete from suppressions where workspace_id = :w", w=workspace.id)
    found = await started(workspace, [one["id"]], "email")
    await drive(steps.next, steps.find, database, found)
    assert (await read(workspace, found))["contacts"][0]["values"]
    await suppress(database, workspace, one["id"])
    assert (await read(workspace, found))["contacts"][0]["values"] == []
    before = await provider.calls()
    after = await started(workspace, [one["id"]], "email", "phone")
    await drive(steps.next, steps.find, database, after)
    assert await provider.calls() == before


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize(
    ("fault", "more"),
    [
        ("rate_limited", {}),
        ("server_error", {"count": 3}),
        ("connection_lost", {"count": 2}),
        ("truncated_json", {}),
        ("oversize", {"count": 2}),
        ("item_error", {"status": 500}),
    ],
)
async def test_a_lookup_outlasts_whatever_the_source_does_wrong(
    workspace: Workspace,
    database: Database,
    provider: Provider,
    steps: ContactSteps,
    fault: str,
    more: dict[str, Any],
) -> None:
    await fund(database, workspace)
    one = await somebody_with(database, provider, workspace, "email")
    lookup_id = await started(workspace, [one["id"]], "email")
    await provider.fault(fault, "person/bulk", **{"count": 1} | more)
    await drive(steps.next, steps.find, database, lookup_id)
    assert (await read(workspace, lookup_id))["spent_credits"] == 25


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"want": ["email"]}, "profile_ids"),
        ({"profile_ids": [], "want": ["email"]}, "profile_ids"),
        ({"profile_ids": [UNKNOWN_ID] * 101, "want": ["email"]}, "profile_ids"),
        ({"profile_ids": ["x"], "want": ["email"]}, "profile_ids.0"),
        ({"profile_ids": [UNKNOWN_ID]}, "want"),
        ({"profile_ids": [UNKNOWN_ID], "want": []}, "want"),
        ({"profile_ids": [UNKNOWN_ID], "want": ["fax"]}, "want.0"),
        ({"profile_ids": [UNKNOWN_ID], "want": "email"}, "want"),
        ({"profile_ids": [UNKNOWN_ID], "want": ["email"], "x": 1}, "x"),
    ],
)
async def test_bad_input_is_named(workspace: Workspace, database: Database, body: dict[str, Any], field: str) -> None:
    error_of(await spend(workspace, PATH, body), 400, "invalid_request", field)
    assert await run_sql(database, "select 1 from contact_lookups where workspace_id = :w", w=workspace.id) == []


@pytest.mark.usefixtures("calls", "provider")
async def test_the_most_it_can_cost_must_fit(workspace: Workspace, database: Database) -> None:
    await fund(database, workspace, 26)
    (one,) = await find(workspace, 1)
    body = {"profile_ids": [one["id"]], "want": ["email", "phone"]}
    answer = await spend(workspace, PATH, body)
    error_of(answer, 402, "insufficient_credits")
    assert answer.json()["required_credits"] == 50


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize("before", [True, False])
async def test_an_erasure_by_address_finds_the_person_whenever_the_address_is_found(
    workspace: Workspace,
    database: Database,
    provider: Provider,
    steps: ContactSteps,
    before: bool,
) -> None:
    await fund(database, workspace, 2000)
    one = await somebody_with(database, provider, workspace, "email")
    addresses = disclosed(await record_of(database, provider, one["id"]))["email"]
    erasure = {"email": min(addresses).upper()}
    if before:
        assert (await workspace.http.post("/v1/erasures", json=erasure)).status_code == 202
    lookup_id = await started(workspace, [one["id"]], "email")
    await drive(steps.next, steps.find, database, lookup_id)
    if not before:
        assert (await workspace.http.post("/v1/erasures", json=erasure)).status_code == 202
    assert await traces(database, *addresses) == []
    error_of(await workspace.http.get(f"/v1/people/{one['id']}"), 404, "suppressed")
    assert (await read(workspace, lookup_id))["contacts"] == []
    assert (await charged(database, workspace)).get("contact", 0) == (0 if before else 25)
