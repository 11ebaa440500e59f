"""The seen register: facts that nothing takes back, imports that merge, checks of five hundred in one statement."""

from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import event

from models.base.database import Database
from models.base.tenants import Tenant
from models.people.store import people
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.people.people import meet, slug, url
from tests.api.people.test_suppressions import UNKNOWN, spellings


async def patch(workspace: Workspace, profile_id: str, **change: Any) -> dict[str, Any]:
    answer = await workspace.http.patch(f"/v1/seen/{profile_id}", json=change)
    assert answer.status_code == 200, answer.text
    read: dict[str, Any] = answer.json()
    return read


async def bring_in(workspace: Workspace, *entries: dict[str, Any]) -> dict[str, Any]:
    answer = await workspace.http.post("/v1/seen:import", json={"people": list(entries)})
    assert answer.status_code == 200, answer.text
    read: dict[str, Any] = answer.json()
    return read


async def listed(workspace: Workspace, **query: Any) -> list[dict[str, Any]]:
    answer = await workspace.http.get("/v1/seen", params=query)
    assert answer.status_code == 200, answer.text
    rows: list[dict[str, Any]] = answer.json()["data"]
    return rows


async def test_a_patch_makes_the_entry_and_then_changes_what_is_given(workspace: Workspace, database: Database) -> None:
    (profile_id,) = await meet(database, slug())
    made = await patch(workspace, profile_id, status="shortlisted", tags=["go", "ghent", "go"])
    assert made["first_seen_at"] == made["created_at"]
    assert (made["profile_id"], made["object"]) == (profile_id, "seen_entry")
    assert (made["tags"], made["note"], made["contacted_at"], made["run_ids"]) == (["go", "ghent"], None, None, [])
    changed = await patch(workspace, profile_id, note="Call on Monday", do_not_contact=True)
    assert changed == made | {"note": "Call on Monday", "do_not_contact": True}
    cleared = await patch(workspace, profile_id, note=None, tags=None, do_not_contact=False)
    assert cleared == made | {"tags": []}
    assert await listed(workspace) == [cleared]


async def test_no_patch_and_no_import_clears_that_a_person_was_contacted(
    workspace: Workspace, database: Database
) -> None:
    (profile_id,) = await meet(database, slug())
    await patch(workspace, profile_id)
    await run_sql(
        database,
        "update seen_entries set contacted_at = '2026-01-02', last_contacted_at = '2026-02-03',"
        " do_not_contact = true where profile_id = :id",
        id=profile_id,
    )
    await patch(workspace, profile_id, status="seen")
    await bring_in(workspace, {"profile_id": profile_id, "status": "rejected", "do_not_contact": False})
    (row,) = await listed(workspace)
    assert (row["status"], row["do_not_contact"]) == ("rejected", True)
    assert row["contacted_at"] == "2026-01-02T00:00:00.000Z"
    assert row["last_contacted_at"] == "2026-02-03T00:00:00.000Z"


async def test_an_import_merges_into_what_is_there(workspace: Workspace, database: Database) -> None:
    name = slug()
    (known,) = await meet(database, name)
    await patch(workspace, known, status="interested", tags=["a", "b"], note="old")
    done = await bring_in(
        workspace,
        {"profile_url": spellings(name)[8], "tags": ["b", "c"], "contacted_at": "2026-03-01"},
        {"profile_url": url(slug()), "do_not_contact": True, "first_seen_at": "2020-01-01T00:00:00Z"},
        {"profile_url": spellings(name)[6], "note": "new", "contacted_at": "2026-02-01", "tags": ["d"]},
    )
    assert (done["created"], done["updated"]) == (1, 1)
    assert done["omitted"] == {"suppressed": 0, "duplicates": 1}
    rows = {row["profile_id"]: row for row in await listed(workspace)}
    merged = rows.pop(known)
    assert (merged["status"], merged["tags"], merged["note"]) == ("interested", ["a", "b", "c", "d"], "new")
    assert merged["contacted_at"] == "2026-02-01T00:00:00.000Z"
    (new,) = rows.values()
    assert (new["status"], new["do_not_contact"], new["contacted_at"]) == ("seen", True, None)
    assert new["first_seen_at"] == "2020-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("entry", "status", "field"),
    [
        ({}, 400, "people.1.profile_id"),
        ({"profile_url": "https://linkedin.evil.example/in/ada"}, 400, "people.1.profile_url"),
        ({"profile_id": UNKNOWN}, 404, "people.1.profile_id"),
        ({"profile_url": "linkedin.com/in/ada", "status": "maybe"}, 400, "people.1.status"),
        ({"profile_url": "linkedin.com/in/ada", "do_not_contact": "yes"}, 400, "people.1.do_not_contact"),
        ({"profile_url": "linkedin.com/in/ada", "tags": [f"t{n}" for n in range(21)]}, 400, "people.1.tags"),
        ({"profile_url": "linkedin.com/in/ada", "tags": [""]}, 400, "people.1.tags.0"),
        ({"profile_url": "linkedin.com/in/ada", "note": "n" * 5001}, 400, "people.1.note"),
        ({"profile_url": "linkedin.com/in/ada", "contacted_at": "2999-01-01"}, 400, "people.1.contacted_at"),
        ({"profile_url": "linkedin.com/in/ada", "run_ids": []}, 400, "people.1.run_ids"),
    ],
)
async def test_one_bad_entry_takes_the_whole_import_back(
    workspace: Workspace, database: Database, entry: dict[str, Any], status: int, field: str
) -> None:
    before = await run_sql(database, "select count(*) from people")
    body = {"people": [{"profile_url": url(slug())}, entry]}
    code = "not_found" if status == 404 else "invalid_request"
    error_of(await workspace.http.post("/v1/seen:import", json=body), status, code, field)
    assert await listed(workspace) == []
    assert await run_sql(database, "select count(*) from people") == before


async def test_more_tags_than_an_entry_holds_are_named_when_merged(workspace: Workspace, database: Database) -> None:
    (profile_id,) = await meet(database, slug())
    before = await patch(workspace, profile_id, tags=[f"old{n}" for n in range(15)])
    entries = [{"profile_url": url(slug())}, {"profile_id": profile_id, "tags": [f"new{n}" for n in range(6)]}]
    refused = await workspace.http.post("/v1/seen:import", json={"people": entries})
    error_of(refused, 400, "invalid_request", "people.1.tags")
    assert await listed(workspace) == [before]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"status": None}, "status"),
        ({"status": "Seen"}, "status"),
        ({"do_not_contact": None}, "do_not_contact"),
        ({"do_not_contact": 1}, "do_not_contact"),
        ({"tags": [f"t{n}" for n in range(21)]}, "tags"),
        ({"tags": "go"}, "tags"),
        ({"tags": ["t" * 51]}, "tags.0"),
        ({"note": 5}, "note"),
        ({"contacted_at": None}, "contacted_at"),
    ],
)
async def test_a_bad_change_is_named(
    workspace: Workspace, database: Database, change: dict[str, Any], field: str
) -> None:
    (profile_id,) = await meet(database, slug())
    error_of(await workspace.http.patch(f"/v1/seen/{profile_id}", json=change), 400, "invalid_request", field)
    assert await listed(workspace) == []


async def test_an_unknown_or_suppressed_person_cannot_be_marked(workspace: Workspace, database: Database) -> None:
    error_of(await workspace.http.patch(f"/v1/seen/{UNKNOWN}", json={}), 404, "not_found")
    (profile_id,) = await meet(database, slug())
    await workspace.http.post("/v1/suppressions", json={"profile_id": profile_id})
    error_of(await workspace.http.patch(f"/v1/seen/{profile_id}", json={"note": "x"}), 409, "suppressed")
    assert await run_sql(database, "select * from seen_entries where profile_id = :id", id=profile_id) == []


async def test_suppressed_people_are_neither_imported_nor_listed(workspace: Workspace, database: Database) -> None:
    known, never_met = slug(), slug()
    (profile_id,) = await meet(database, known)
    await patch(workspace, profile_id, note="kept until lifted")
    for name in (known, never_met):
        await workspace.http.post("/v1/suppressions", json={"profile_url": url(name)})
    assert await listed(workspace) == []
    done = await bring_in(workspace, *({"profile_url": url(name), "note": "again"} for name in (known, never_met)))
    assert (done["created"], done["updated"], done["omitted"]["suppressed"]) == (0, 0, 2)
    rows = await run_sql(database, "select note from seen_entries where workspace_id = :id", id=workspace.id)
    assert [row.note for row in rows] == ["kept until lifted"]


async def test_the_list_is_filtered_before_paging(workspace: Workspace) -> None:
    await bring_in(
        workspace,
        {"profile_url": url(slug()), "status": "hired", "tags": ["x"], "contacted_at": "2026-01-01"},
        {"profile_url": url(slug()), "status": "seen", "do_not_contact": True},
        {"profile_url": url(slug()), "status": "seen", "tags": ["x", "y"]},
    )
    for query, count in [
        ({"status": "seen"}, 2),
        ({"do_not_contact": "true"}, 1),
        ({"do_not_contact": "false"}, 2),
        ({"contacted": "true"}, 1),
        ({"contacted": "false"}, 2),
        ({"tag": "x"}, 2),
        ({"tag": "y", "status": "hired"}, 0),
    ]:
        assert len(await listed(workspace, **query)) == count, query
    for field in ("status", "do_not_contact", "contacted"):
        error_of(await workspace.http.get("/v1/seen", params={field: "many"}), 400, "invalid_request", field)


async def test_entries_of_one_moment_are_each_shown_once(workspace: Workspace) -> None:
    await bring_in(workspace, *({"profile_url": url(slug())} for _ in range(7)))
    shown, cursor = [], None
    while True:
        page = (
            await workspace.http.get("/v1/seen", params={"limit": 3} | ({"cursor": cursor} if cursor else {}))
        ).json()
        shown += [row["id"] for row in page["data"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(shown) == len(set(shown)) == 7


async def test_a_check_answers_in_order_what_is_known(workspace: Workspace, database: Database) -> None:
    names = [slug() for _ in range(4)]
    ids = await meet(database, *names[:3])
    async with database.transaction() as session:
        await people.mark_seen(session, Tenant(workspace.id), [ids[0]], run_id="run_1")
        await people.mark_seen(session, Tenant(workspace.id), [ids[1]], run_id="run_1")
    await bring_in(workspace, {"profile_id": ids[0], "contacted_at": "2026-01-01", "tags": ["t"]})
    await workspace.http.post("/v1/suppressions", json={"profile_id": ids[1]})
    inputs = [ids[0], UNKNOWN, spellings(names[1])[4], url(names[2]), url(names[3])]
    body = {"profile_ids": inputs[:2], "profile_urls": inputs[2:]}
    rows = (await workspace.http.post("/v1/seen:check", json=body)).json()["data"]
    assert [row["input"] for row in rows] == inputs
    assert [row["profile_id"] for row in rows] == [ids[0], None, ids[1], ids[2], None]
    assert [row["seen"] for row in rows] == [True, False, True, False, False]
    assert [row["contacted"] for row in rows] == [True, False, False, False, False]
    assert [row["suppressed"] for row in rows] == [False, False, True, False, False]
    assert [row["status"] for row in rows] == ["seen", None, None, None, None]
    assert [row["tags"] for row in rows] == [["t"], [], [], [], []]
    count = "select count(*) from people"
    before = await run_sql(database, count)
    await workspace.http.post("/v1/seen:check", json=body)
    assert await run_sql(database, count) == before, "a check creates no person"


async def test_a_suppressed_person_is_recognised_by_every_identifier(workspace: Workspace, database: Database) -> None:
    """Also by the keys that the suppression does not hold the hash of."""
    for _ in range(3):
        name = slug()
        (profile_id,) = await meet(database, name)
        await workspace.http.post("/v1/suppressions", json={"profile_id": profile_id})
        body = {"profile_ids": [profile_id], "profile_urls": [url(name)]}
        rows = (await workspace.http.post("/v1/seen:check", json=body)).json()["data"]
        assert [row["suppressed"] for row in rows] == [True, True]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "profile_ids"),
        ({"profile_ids": []}, "profile_ids"),
        ({"profile_ids": ["ada"]}, "profile_ids.0"),
        ({"profile_ids": [UNKNOWN] * 501}, "profile_ids"),
        ({"profile_ids": [UNKNOWN] * 300, "profile_urls": ["linkedin.com/in/ada"] * 201}, "profile_urls"),
        ({"profile_urls": ["linkedin.com/in/ada", "example.com/in/ada"]}, "profile_urls.1"),
        ({"urls": ["linkedin.com/in/ada"]}, "urls"),
    ],
)
async def test_a_bad_check_is_named(workspace: Workspace, body: dict[str, Any], field: str) -> None:
    error_of(await workspace.http.post("/v1/seen:check", json=body), 400, "invalid_request", field)


async def test_five_hundred_are_checked_in_one_statement(workspace: Workspace, database: Database) -> None:
    ids = await meet(database, *(slug() for _ in range(250)))
    body = {"profile_ids": ids, "profile_urls": [url(slug()) for _ in range(250)]}
    statements: list[str] = []

    def note(*arguments: Any) -> None:
        statements.append(str(arguments[2]))

    event.listen(database.engine.sync_engine, "before_cursor_execute", note)
    try:
        answer = await workspace.http.post("/v1/seen:check", json=body)
    finally:
        event.remove(database.engine.sync_engine, "before_cursor_execute", note)
    assert len(answer.json()["data"]) == 500
    assert len([one for one in statements if "seen_entries" in one or "people" in one]) == 1
    assert len(statements) <= 3, statements


async def test_ten_thousand_are_imported_in_a_handful_of_statements(workspace: Workspace, database: Database) -> None:
    prefix = uuid4().hex[:8]
    entries = [{"profile_url": f"linkedin.com/in/{prefix}-{n}", "status": "seen"} for n in range(10_000)]
    statements = 0

    def note(*_: Any) -> None:
        nonlocal statements
        statements += 1

    event.listen(database.engine.sync_engine, "before_cursor_execute", note)
    try:
        done = await bring_in(workspace, *entries)
    finally:
        event.remove(database.engine.sync_engine, "before_cursor_execute", note)
    assert done["created"] == 10_000
    assert statements < 25
    again = await bring_in(workspace, *entries)
    assert (again["created"], again["updated"]) == (0, 10_000)
    one_more = await workspace.http.post("/v1/seen:import", json={"people": [*entries, entries[0]]})
    error_of(one_more, 400, "invalid_request", "people")
