"""Lists: ten thousand people a call, shown with what the account may know of them, without suppressed ones."""

import asyncio
import csv
import io
import tracemalloc
from typing import Any
from uuid import uuid4

import pytest
from fastapi import FastAPI
from sqlalchemy import event

from api.people.schemas import LIST_COLUMNS
from models.base.database import Database
from models.base.tenants import Tenant
from models.people.store import lists
from tests.api.conftest import Workspace, application, client, error_of, run_sql
from tests.api.people.people import fetched, meet, slug, url
from tests.api.people.test_suppressions import UNKNOWN, spellings
from tests.api.sourcing.sourcing import deliver, fund, profile, start

CSV = {"Accept": "text/csv"}
HEADER = ",".join(LIST_COLUMNS)


@pytest.fixture
async def address(workspace: Workspace) -> str:
    """A list's path."""
    made = await workspace.http.post("/v1/lists", json={"name": "Mine"})
    assert made.status_code == 201, made.text
    assert made.headers["location"] == f"/v1/lists/{made.json()['id']}"
    return f"/v1/lists/{made.json()['id']}"


async def add(workspace: Workspace, address: str, **body: Any) -> dict[str, Any]:
    answer = await workspace.http.post(f"{address}/people", json=body)
    assert answer.status_code == 201, answer.text
    read: dict[str, Any] = answer.json()
    return read


async def rows(workspace: Workspace, address: str, **query: Any) -> list[dict[str, Any]]:
    answer = await workspace.http.get(f"{address}/people", params=query)
    assert answer.status_code == 200, answer.text
    read: list[dict[str, Any]] = answer.json()["data"]
    return read


async def test_a_list_is_made_read_changed_and_deleted(workspace: Workspace) -> None:
    made = (await workspace.http.post("/v1/lists", json={"name": "Go", "description": "Ghent"})).json()
    address = f"/v1/lists/{made['id']}"
    assert made["people_count"] == 0
    assert (await workspace.http.get(address)).json() == made
    assert (await workspace.http.get("/v1/lists")).json()["data"] == [made]
    changed = (await workspace.http.patch(address, json={"name": "Rust", "description": None})).json()
    assert changed == made | {"name": "Rust", "description": None, "updated_at": changed["updated_at"]}
    await add(workspace, address, profile_urls=[url(slug())])
    assert (await workspace.http.get("/v1/lists")).json()["data"][0]["people_count"] == 1
    assert (await workspace.http.delete(address)).status_code == 204
    for answer in (
        await workspace.http.get(address),
        await workspace.http.patch(address, json={}),
        await workspace.http.delete(address),
        await workspace.http.get(f"{address}/people"),
        await workspace.http.get(f"{address}/people", headers=CSV),
        await workspace.http.post(f"{address}/people", json={"profile_urls": [url(slug())]}),
    ):
        error_of(answer, 404, "not_found")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"name": "two\nlines"}, "name"),
        ({"name": "n" * 201}, "name"),
        ({"name": "x", "description": 5}, "description"),
        ({"name": "x", "people": []}, "people"),
    ],
)
async def test_a_bad_list_is_named(workspace: Workspace, address: str, body: dict[str, Any], field: str) -> None:
    error_of(await workspace.http.post("/v1/lists", json=body), 400, "invalid_request", field)
    assert len((await workspace.http.get("/v1/lists")).json()["data"]) == 1
    if body:
        error_of(await workspace.http.patch(address, json=body), 400, "invalid_request", field)


async def test_a_person_is_in_a_list_once_whatever_the_spelling(
    workspace: Workspace, database: Database, address: str
) -> None:
    name = slug()
    (profile_id,) = await meet(database, name)
    done = await add(
        workspace, address, profile_ids=[profile_id], profile_urls=spellings(name), status="shortlisted", note="first"
    )
    assert (done["added"], done["already_there"]) == (1, 0)
    assert done["omitted"] == {"suppressed": 0, "duplicates": 13}
    again = await add(workspace, address, profile_urls=[url(name), url(slug())], note="second")
    assert (again["added"], again["already_there"]) == (1, 1)
    kept = {row["profile_id"]: row for row in await rows(workspace, address)}[profile_id]
    assert (kept["status"], kept["note"], kept["profile_url"]) == ("shortlisted", "first", url(name))


async def test_rows_show_what_the_account_has_a_right_to_know(
    workspace: Workspace, database: Database, address: str, sign_up: Any
) -> None:
    await fund(database, workspace)
    run = (await start(workspace.http)).json()["run"]
    (delivered,) = await deliver(database, run, [profile(4)])
    cached = await fetched(database, Tenant(workspace.id), name := slug())
    other = await sign_up()
    foreign = await fetched(database, Tenant(other.id), slug())
    await add(workspace, address, profile_ids=[delivered, cached, foreign])
    found = {row["profile_id"]: row for row in await rows(workspace, address)}
    assert found[delivered]["full_name"] == "Person 4"
    assert (found[delivered]["tier"], found[delivered]["distance_km"]) == (1, 4.0)
    assert (found[cached]["full_name"], found[cached]["title"]) == (f"Full {name}", "Engineer")
    assert (found[foreign]["full_name"], found[foreign]["title"], found[foreign]["company"]) == (None, None, None)


async def test_an_entry_is_changed_and_removed(workspace: Workspace, database: Database, address: str) -> None:
    (profile_id,) = await meet(database, slug())
    entry = f"{address}/people/{profile_id}"
    error_of(await workspace.http.patch(entry, json={"note": "x"}), 404, "not_found")
    error_of(await workspace.http.delete(entry), 404, "not_found")
    await add(workspace, address, profile_ids=[profile_id])
    changed = (await workspace.http.patch(entry, json={"status": "hired", "note": "x"})).json()
    assert (changed["status"], changed["note"], changed["object"]) == ("hired", "x", "list_person")
    cleared = (await workspace.http.patch(entry, json={"status": None})).json()
    assert (cleared["status"], cleared["note"]) == (None, "x")
    for bad, field in (({"status": "no"}, "status"), ({"note": 5}, "note"), ({"tier": 1}, "tier")):
        error_of(await workspace.http.patch(entry, json=bad), 400, "invalid_request", field)
    assert (await workspace.http.delete(entry)).status_code == 204
    assert await rows(workspace, address) == []
    error_of(await workspace.http.delete(f"{address}/people/{UNKNOWN}"), 404, "not_found")


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 400, "profile_ids"),
        ({"profile_ids": ["x"]}, 400, "profile_ids.0"),
        ({"profile_ids": [UNKNOWN]}, 404, "profile_ids.0"),
        ({"profile_urls": [url("ada"), "https://example.com/in/ada"]}, 400, "profile_urls.1"),
        ({"profile_urls": [url("ada")], "status": "no"}, 400, "status"),
        ({"profile_urls": ["linkedin.com/in/a"] * 10_001}, 400, "profile_urls"),
        ({"profile_ids": [UNKNOWN], "profile_urls": ["linkedin.com/in/a"] * 10_000}, 400, "profile_urls"),
        ({"people": []}, 400, "people"),
    ],
)
async def test_a_bad_addition_is_named_and_adds_no_person(
    workspace: Workspace, database: Database, address: str, body: dict[str, Any], status: int, field: str
) -> None:
    before = await run_sql(database, "select count(*) from people")
    code = "not_found" if status == 404 else "invalid_request"
    error_of(await workspace.http.post(f"{address}/people", json=body), status, code, field)
    assert await rows(workspace, address) == []
    assert await run_sql(database, "select count(*) from people") == before


async def test_suppressed_people_are_hidden_and_not_added(
    workspace: Workspace, database: Database, address: str
) -> None:
    before, after = slug(), slug()
    await add(workspace, address, profile_urls=[url(before)])
    made = [
        (await workspace.http.post("/v1/suppressions", json={"profile_url": url(name)})).json()
        for name in (before, after)
    ]
    done = await add(workspace, address, profile_urls=[url(before), url(after)])
    assert (done["added"], done["omitted"]["suppressed"]) == (0, 2)
    assert await rows(workspace, address) == []
    assert (await workspace.http.get(address)).json()["people_count"] == 0
    assert (await workspace.http.get(f"{address}/people", headers=CSV)).text == f"{HEADER}\r\n"
    entry = f"{address}/people/{made[0]['profile_id']}"
    error_of(await workspace.http.patch(entry, json={"note": "x"}), 409, "suppressed")
    await workspace.http.delete(f"/v1/suppressions/{made[0]['id']}")
    assert len(await rows(workspace, address)) == 1


async def test_ten_thousand_are_added_in_a_handful_of_statements_and_paged_once_each(
    workspace: Workspace, database: Database, address: str
) -> None:
    prefix = uuid4().hex[:8]
    urls = [f"linkedin.com/in/{prefix}-{n}" for n in range(10_000)]
    statements = 0

    def note(*_: Any) -> None:
        nonlocal statements
        statements += 1

    event.listen(database.engine.sync_engine, "before_cursor_execute", note)
    try:
        done = await add(workspace, address, profile_urls=urls)
    finally:
        event.remove(database.engine.sync_engine, "before_cursor_execute", note)
    assert done["added"] == 10_000
    assert statements < 25
    text = (await workspace.http.get(f"{address}/people", headers=CSV, params={"limit": 1})).text
    read = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len({row["profile_id"] for row in read}) == len(read) == 10_000
    assert {row["profile_url"] for row in read} == {f"https://www.{one}" for one in urls}


async def drained(app: FastAPI, workspace: Workspace, path: str) -> int:
    """Read a spreadsheet as a server would send it, keeping nothing; gives its bytes. (httpx would keep it whole.)"""
    headers = [(b"accept", b"text/csv"), (b"authorization", f"Bearer {workspace.api_key}".encode())]
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
        "client": ("192.0.2.1", 1234),
        "server": ("api.test", 80),
        "scheme": "http",
        "http_version": "1.1",
    }
    sent = 0

    async def send(message: Any) -> None:
        nonlocal sent
        sent += len(message.get("body", b""))

    async def receive() -> Any:
        await asyncio.Event().wait()

    await app(scope, receive, send)
    return sent


async def test_a_spreadsheet_is_streamed_in_memory_that_does_not_grow(
    app: FastAPI, workspace: Workspace, address: str
) -> None:
    """Three times the rows take no more: what is held is one page."""
    peaks = []
    for count in (2000, 4000):
        urls = [f"linkedin.com/in/{uuid4().hex}" for _ in range(count)]
        await add(workspace, address, profile_urls=urls)
        tracemalloc.start()
        sent = await drained(app, workspace, f"{address}/people")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert sent > 80 * count
    assert peaks[1] < peaks[0] + 300_000


@pytest.mark.usefixtures("database_limits")
async def test_an_addition_meets_a_deletion_of_the_list(
    workspace: Workspace, database: Database, address: str, module_database_url: str
) -> None:
    """The transaction that adds people locks the list until its end."""
    async with (
        application(module_database_url) as limited,
        client(limited, api_key=workspace.api_key) as http,
        database.transaction() as session,
    ):
        await lists.load_people_list(session, Tenant(workspace.id), address.rpartition("/")[2], keep=True)
        error_of(await http.delete(address), 409, "conflict")
    assert (await workspace.http.delete(address)).status_code == 204
