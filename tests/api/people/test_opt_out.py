"""The opt-out page: only pressing a button acts, for the whole installation, as often as it is pressed."""

import base64
import re
import secrets

import httpx
import pytest
from httpx import Response

from models.base.database import Database
from models.base.tenants import Tenant
from models.people.store import opt_outs
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.kernel.traces import traces
from tests.api.people.people import VAULT, fetched, meet, slug, url


def page_of(profile_id: str) -> str:
    return f"/o/{VAULT.disguise(opt_outs.PURPOSE, profile_id)}"


async def global_suppressions(database: Database, profile_id: str) -> list[str]:
    rows = await run_sql(
        database,
        "select reason from suppressions where workspace_id is null and profile_id = :id",
        id=profile_id,
    )
    return [row.reason for row in rows]


async def press(http: httpx.AsyncClient, page: str, button: str = "stop") -> Response:
    return await http.post(page, data={"ask": button})


async def test_opening_the_page_does_nothing_and_shows_no_personal_data(
    http: httpx.AsyncClient, database: Database
) -> None:
    name = slug()
    profile_id = await fetched(database, Tenant("ws_1"), name)
    for method in ("GET", "HEAD"):
        answer = await http.request(method, page_of(profile_id))
        assert answer.status_code == 200
    shown = await http.get(page_of(profile_id))
    assert shown.headers["content-type"] == "text/html; charset=utf-8"
    assert shown.headers["x-frame-options"] == "DENY"
    assert "<script" not in shown.text
    assert name not in shown.text
    assert profile_id not in shown.text
    assert re.findall(r'<button type="submit" name="ask" value="(\w+)"', shown.text) == ["stop", "erase"]
    assert f'action="{page_of(profile_id)}"' in shown.text
    assert await global_suppressions(database, profile_id) == []


async def test_a_press_suppresses_the_person_in_every_workspace(
    http: httpx.AsyncClient, workspace: Workspace, database: Database, sign_up: object
) -> None:
    name = slug()
    profile_id = await fetched(database, Tenant(workspace.id), name)
    assert (await workspace.http.get(f"/v1/people/{profile_id}")).status_code == 200
    for _ in range(2):
        done = await press(http, page_of(profile_id))
        assert (done.status_code, "Done" in done.text) == (200, True)
        assert await global_suppressions(database, profile_id) == ["opt_out"]
    error_of(await workspace.http.get(f"/v1/people/{profile_id}"), 404, "suppressed")
    (row,) = (await workspace.http.post("/v1/seen:check", json={"profile_urls": [url(name)]})).json()["data"]
    assert row["suppressed"] is True
    assert (await workspace.http.get("/v1/suppressions")).json()["data"] == []
    assert "cached_profiles" in await traces(database, name)


@pytest.mark.parametrize("content", [b"", b"ask=", b"ask=other&x=y", b"\xff\xfe", b"a" * 10_000])
async def test_whatever_is_posted_stops_contact_and_erases_nothing(
    http: httpx.AsyncClient, database: Database, content: bytes
) -> None:
    name = slug()
    profile_id = await fetched(database, Tenant("ws_1"), name)
    assert (await http.post(page_of(profile_id), content=content)).status_code == 200
    assert await global_suppressions(database, profile_id) == ["opt_out"]
    assert "cached_profiles" in await traces(database, name)


async def test_a_person_may_have_everything_erased_everywhere(
    http: httpx.AsyncClient, workspace: Workspace, database: Database
) -> None:
    name = slug()
    profile_id = await fetched(database, Tenant(workspace.id), name)
    await press(http, page_of(profile_id))
    for _ in range(2):
        assert (await press(http, page_of(profile_id), "erase")).status_code == 200
    assert await traces(database, name) == []
    await meet(database, name, workspace_id=workspace.id)
    assert await traces(database, name) == []


async def test_an_invented_link_changes_nothing(http: httpx.AsyncClient, database: Database) -> None:
    (profile_id,) = await meet(database, slug())
    token = VAULT.disguise(opt_outs.PURPOSE, profile_id)
    invented = [secrets.token_urlsafe(16) for _ in range(50)]
    spelled = base64.urlsafe_b64encode(base64.urlsafe_b64decode(token + "==") + b"x").decode().rstrip("=")
    last = token[:-1] + chr(ord(token[-1]) + 1)
    for wrong in [*invented, token[:-1], f"{token}A", spelled, last, "x", profile_id]:
        answer = await press(http, f"/o/{wrong}")
        assert answer.status_code == 404, wrong
        assert "Nothing was changed" in answer.text
    assert await global_suppressions(database, profile_id) == []


async def test_the_link_of_an_id_that_became_an_alias_still_works(http: httpx.AsyncClient, database: Database) -> None:
    (older,) = await meet(database, slug())
    (newer,) = await meet(database, slug())
    await run_sql(database, "update people set alias_of = :older where id = :newer", older=older, newer=newer)
    assert (await press(http, page_of(newer))).status_code == 200
    assert await global_suppressions(database, older) == ["opt_out"]
