"""Customers: made, changed and disabled; each with registers of its own, all on one balance."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import httpx
import pytest

from models.base.database import Database
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.sourcing.sourcing import DATA_ENGINEER, fund

PATH = "/v1/customers"
SignUp = Callable[[], Awaitable[Workspace]]
URL = "https://www.linkedin.com/in/someone-met"


async def made(workspace: Workspace, **body: Any) -> dict[str, Any]:
    answer = await workspace.http.post(PATH, json={"name": "One"} | body)
    assert answer.status_code == 201, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


async def inside(workspace: Workspace, **body: Any) -> dict[str, str]:
    """The header that selects a new customer."""
    return {"Service-Customer": (await made(workspace, **body))["id"]}


async def test_a_customer_is_shown_as_it_was_made_and_read_and_listed(workspace: Workspace) -> None:
    shown = await made(workspace, name="Acme", external_id="a-1", daily_cap_credits=40)
    stated = {
        "object": "customer",
        "name": "Acme",
        "external_id": "a-1",
        "daily_cap_credits": 40,
        "spent_today_credits": 0,
        "status": "active",
    }
    assert shown == stated | {"id": shown["id"], "created_at": shown["created_at"]}
    assert (await workspace.http.get(f"{PATH}/{shown['id']}")).json() == shown
    assert (await workspace.http.get(PATH)).json()["data"] == [shown]


async def test_a_change_keeps_what_is_left_out_and_null_takes_away(workspace: Workspace) -> None:
    customer = await made(workspace, external_id="a-1", daily_cap_credits=40)
    path = f"{PATH}/{customer['id']}"
    assert (await workspace.http.patch(path, json={"name": "Two"})).json() == customer | {"name": "Two"}
    without = {"external_id": None, "daily_cap_credits": None}
    assert (await workspace.http.patch(path, json=without)).json() == customer | {"name": "Two"} | without
    for field in ("name", "status"):
        error_of(await workspace.http.patch(path, json={field: None}), 400, "invalid_request", field)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 1000}, "name"),
        ({"external_id": ""}, "external_id"),
        ({"external_id": "x" * 201}, "external_id"),
        ({"daily_cap_credits": -1}, "daily_cap_credits"),
        ({"status": "gone"}, "status"),
        ({"id": "cus_1"}, "id"),
    ],
)
async def test_bad_input_names_its_field_and_changes_nothing(
    workspace: Workspace, body: dict[str, Any], field: str
) -> None:
    customer = await made(workspace)
    error_of(await workspace.http.post(PATH, json={"name": "Two"} | body), 400, "invalid_request", field)
    error_of(await workspace.http.patch(f"{PATH}/{customer['id']}", json=body), 400, "invalid_request", field)
    assert (await workspace.http.get(PATH)).json()["data"] == [customer]


async def test_an_external_id_is_one_customers_in_a_workspace(workspace: Workspace, sign_up: SignUp) -> None:
    await made(workspace, external_id="a-1")
    second = await made(workspace, external_id="a-2")
    taken = {"name": "Other", "external_id": "a-1"}
    error_of(await workspace.http.post(PATH, json=taken), 409, "conflict", "external_id")
    path = f"{PATH}/{second['id']}"
    error_of(await workspace.http.patch(path, json={"external_id": "a-1"}), 409, "conflict", "external_id")
    assert (await workspace.http.patch(path, json={"external_id": "a-2"})).json() == second
    await made(await sign_up(), external_id="a-1")


REGISTERS: list[tuple[str, str, dict[str, Any]]] = [
    ("/v1/seen:import", "/v1/seen", {"people": [{"profile_url": URL}]}),
    ("/v1/lists", "/v1/lists", {"name": "Mine"}),
    ("/v1/runs", "/v1/runs", {"intent": DATA_ENGINEER}),
]


@pytest.mark.parametrize(("making", "listing", "body"), REGISTERS, ids=[listing for _, listing, _ in REGISTERS])
async def test_what_a_customer_has_is_seen_from_nowhere_else(
    workspace: Workspace, database: Database, making: str, listing: str, body: dict[str, Any]
) -> None:
    await fund(database, workspace)
    one, two = await inside(workspace), await inside(workspace)
    kept = await workspace.http.post(making, json=body, headers=one | {"Idempotency-Key": uuid4().hex})
    assert kept.is_success, kept.text

    async def shown(headers: dict[str, str]) -> int:
        return len((await workspace.http.get(listing, headers=headers)).json()["data"])

    assert [await shown(headers) for headers in (one, two, {})] == [1, 0, 0]


async def test_customers_spend_one_balance_each_up_to_its_own_cap(workspace: Workspace, database: Database) -> None:
    await fund(database, workspace, 100)
    capped, other = await inside(workspace, daily_cap_credits=5), await inside(workspace)
    for headers in (capped, other, {}):
        shown = await workspace.http.post("/v1/runs?dry_run=true", json={"intent": DATA_ENGINEER}, headers=headers)
        assert shown.json()["balance_credits"] == 100
    await run_sql(database, SPENT, customer=capped["Service-Customer"], workspace=workspace.id)
    assert (await workspace.http.get(f"{PATH}/{capped['Service-Customer']}")).json()["spent_today_credits"] == 5
    error = error_of(await run(workspace, capped), 402, "daily_credit_cap_reached")
    assert error["details"]["cap"] == "customer"
    assert error["details"]["resets_at"].endswith("T00:00:00.000Z")
    for headers in (other, {}):
        assert (await run(workspace, headers)).is_success


SPENT = """insert into daily_spends (subject_id, day, workspace_id, credits)
           values (:customer, (service_now() at time zone 'UTC')::date, :workspace, 5)"""


async def run(workspace: Workspace, headers: dict[str, str]) -> httpx.Response:
    ask = {"intent": DATA_ENGINEER}
    return await workspace.http.post("/v1/runs", json=ask, headers=headers | {"Idempotency-Key": uuid4().hex})


async def test_changes_of_customers_are_in_the_audit(workspace: Workspace) -> None:
    customer = await made(workspace)
    await workspace.http.patch(f"{PATH}/{customer['id']}", json={"status": "disabled"})
    noted = (await workspace.http.get("/v1/audit-entries")).json()["data"]
    about = [(one["action"], one["subject_id"]) for one in noted if one["subject_id"] == customer["id"]]
    assert about == [("customer.changed", customer["id"]), ("customer.created", customer["id"])]
