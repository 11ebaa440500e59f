"""Suppressions: made once, by any spelling, for whom they are meant, and only manual ones can be lifted."""

from typing import Any

import pytest
from fastapi import FastAPI

from models.base.database import Database
from models.base.tenants import Tenant
from models.people.rules.registers import SuppressionReason
from models.people.store import suppressions
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.people.people import meet, slug, url

UNKNOWN = "prof_" + "0" * 26


def spellings(name: str) -> list[str]:
    """A dozen addresses of one profile."""
    upper = name.upper()
    return [
        url(name),
        f"http://www.linkedin.com/in/{name}",
        f"linkedin.com/in/{name}",
        f"www.linkedin.com/in/{name}/",
        f"https://be.linkedin.com/in/{name}",
        f"https://m.linkedin.com/in/{name}",
        f"https://www.linkedin.com/in/{upper}",
        f"HTTPS://WWW.LINKEDIN.COM/in/{name}",
        f"https://www.linkedin.com/in/{name}?trk=public",
        f"https://www.linkedin.com/in/{name}#about",
        f"https://www.linkedin.com/in/{name}/nl",
        f"https://www.linkedin.com/in/%{ord(name[0]):x}{name[1:]}",
        f"  //linkedin.com/in/{name}  ",
    ]


async def test_a_dozen_spellings_are_one_suppression(workspace: Workspace) -> None:
    answers = [await workspace.http.post("/v1/suppressions", json={"profile_url": one}) for one in spellings(slug())]
    assert [one.status_code for one in answers] == [201] + [200] * 12
    assert len({one.text for one in answers}) == 1
    made = answers[0].json()
    assert made["object"] == "suppression"
    assert (made["reason"], made["customer_id"]) == ("manual", None)
    assert [row["id"] for row in (await workspace.http.get("/v1/suppressions")).json()["data"]] == [made["id"]]


async def test_id_and_url_of_a_person_are_one_suppression(workspace: Workspace, database: Database) -> None:
    name = slug()
    (profile_id,) = await meet(database, name)
    by_id = await workspace.http.post("/v1/suppressions", json={"profile_id": profile_id})
    by_url = await workspace.http.post("/v1/suppressions", json={"profile_url": url(name)})
    assert (by_id.status_code, by_url.status_code) == (201, 200)
    assert by_id.json() == by_url.json()
    assert by_id.json()["profile_id"] == profile_id


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        ({}, 400, "invalid_request", "profile_id"),
        ({"profile_id": UNKNOWN, "profile_url": "linkedin.com/in/ada"}, 400, "invalid_request", "profile_url"),
        ({"profile_id": UNKNOWN}, 404, "not_found", "profile_id"),
        ({"profile_id": "ada"}, 400, "invalid_request", "profile_id"),
        ({"profile_id": 5}, 400, "invalid_request", "profile_id"),
        ({"profile_url": ""}, 400, "invalid_request", "profile_url"),
        ({"profile_url": "https://www.linkedin.com.evil.example/in/ada"}, 400, "invalid_request", "profile_url"),
        ({"profile_url": "https://www.1inkedin.com/in/ada"}, 400, "invalid_request", "profile_url"),
        ({"profile_url": "https://www.linkedin.com/company/acme"}, 400, "invalid_request", "profile_url"),
        ({"profile_url": "https://www.linkedin.com/in/../in/ada"}, 400, "invalid_request", "profile_url"),
        ({"profile_url": "https://www.linkedin.com/in/" + "a" * 3000}, 400, "invalid_request", "profile_url"),
        ({"profile_url": ["linkedin.com/in/ada"]}, 400, "invalid_request", "profile_url"),
        ({"profile": "linkedin.com/in/ada"}, 400, "invalid_request", "profile"),
        ({"profile_url": "linkedin.com/in/ada", "reason": "opt_out"}, 400, "invalid_request", "reason"),
    ],
)
async def test_bad_input_is_named_and_writes_nothing(
    workspace: Workspace, database: Database, body: dict[str, Any], status: int, code: str, field: str
) -> None:
    counted = "select (select count(*) from suppressions), (select count(*) from people)"
    before = await run_sql(database, counted)
    error_of(await workspace.http.post("/v1/suppressions", json=body), status, code, field)
    assert await run_sql(database, counted) == before


async def test_a_manual_suppression_can_be_lifted_once(workspace: Workspace) -> None:
    made = (await workspace.http.post("/v1/suppressions", json={"profile_url": url(slug())})).json()
    gone = await workspace.http.delete(f"/v1/suppressions/{made['id']}")
    assert (gone.status_code, gone.content) == (204, b"")
    error_of(await workspace.http.delete(f"/v1/suppressions/{made['id']}"), 404, "not_found")
    assert (await workspace.http.get("/v1/suppressions")).json()["data"] == []


@pytest.mark.parametrize(
    "reason", [SuppressionReason.OPT_OUT, SuppressionReason.ERASURE, SuppressionReason.SOURCE_OPT_OUT]
)
async def test_what_a_person_asked_for_stays(
    workspace: Workspace, database: Database, reason: SuppressionReason
) -> None:
    (profile_id,) = await meet(database, slug())
    made = (await workspace.http.post("/v1/suppressions", json={"profile_id": profile_id})).json()
    async with database.transaction() as session:
        await suppressions.suppress(session, Tenant(workspace.id), profile_id, reason=reason)
    error_of(await workspace.http.delete(f"/v1/suppressions/{made['id']}"), 409, "conflict")
    (row,) = (await workspace.http.get("/v1/suppressions")).json()["data"]
    assert (row["id"], row["reason"]) == (made["id"], reason)
    again = await workspace.http.post("/v1/suppressions", json={"profile_id": profile_id})
    assert (again.status_code, again.json()["reason"]) == (200, reason)


async def test_the_account_binds_its_customers_and_a_customer_itself(
    workspace: Workspace, app: FastAPI, database: Database
) -> None:
    made = [await workspace.http.post("/v1/customers", json={"name": name}) for name in ("One", "Two")]
    customers = [one.json()["id"] for one in made]
    inside = {"Service-Customer": customers[0]}
    name_of_all, name_of_one = slug(), slug()
    of_all = await workspace.http.post("/v1/suppressions", json={"profile_url": url(name_of_all)})
    of_one = await workspace.http.post("/v1/suppressions", json={"profile_url": url(name_of_one)}, headers=inside)
    assert (of_all.json()["customer_id"], of_one.json()["customer_id"]) == (None, customers[0])

    async def suppressed(headers: dict[str, str]) -> list[bool]:
        ask = {"profile_urls": [url(name_of_all), url(name_of_one)]}
        answer = await workspace.http.post("/v1/seen:check", json=ask, headers=headers)
        return [row["suppressed"] for row in answer.json()["data"]]

    assert await suppressed({}) == [True, False]
    assert await suppressed(inside) == [True, True]
    assert await suppressed({"Service-Customer": customers[1]}) == [True, False]

    async def shown(headers: dict[str, str]) -> list[str]:
        rows = (await workspace.http.get("/v1/suppressions", headers=headers)).json()["data"]
        return [row["id"] for row in rows]

    assert await shown({}) == [of_one.json()["id"], of_all.json()["id"]]
    assert await shown(inside) == [of_one.json()["id"]]
    assert await shown({"Service-Customer": customers[1]}) == []
    error_of(await workspace.http.delete(f"/v1/suppressions/{of_one.json()['id']}"), 404, "not_found")
    assert (await workspace.http.delete(f"/v1/suppressions/{of_one.json()['id']}", headers=inside)).is_success


async def test_suppressions_are_paged_newest_first(workspace: Workspace) -> None:
    bodies = [{"profile_url": url(slug())} for _ in range(3)]
    made = [(await workspace.http.post("/v1/suppressions", json=body)).json()["id"] for body in bodies]
    first = (await workspace.http.get("/v1/suppressions", params={"limit": 2})).json()
    rest = (await workspace.http.get("/v1/suppressions", params={"cursor": first["next_cursor"]})).json()
    assert [row["id"] for row in first["data"] + rest["data"]] == made[::-1]
